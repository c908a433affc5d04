// The point of sale without page loads: keypad, keyboard and handheld scanners work wherever the
// focus is, and responses replace parts of the page. Without this script the same form works with
// ordinary fields and buttons.
(() => {
  "use strict";

  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const sale = () => one("#sale");
  const dialog = one("#scanner");

  const maxDigits = 12;

  // --- The amount. Digits are added from the right, in the currency's smallest unit.

  const digits = () => one("[data-cents]")?.value ?? "";

  function decimal(cents, decimals) {
    const padded = cents.padStart(decimals + 1, "0");
    const cut = padded.length - decimals;
    const whole = padded.slice(0, cut).replace(/\B(?=(\d{3})+$)/g, ",");
    return decimals ? `${whole}.${padded.slice(cut)}` : whole;
  }

  // ascii replaces the digits of every script and width by 0 to 9, as the server does. Each script has them in a row.
  const ascii = (text) => text.replace(/\p{Nd}/gu, (digit) => {
    let zero = digit.codePointAt(0);
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
    return String((digit.codePointAt(0) - zero) % 10);
  });

  const written = () => decimal(digits(), Number(sale().dataset.decimals));

  function setAmount(cents) {
    const field = one("[data-cents]");
    if (!field) return;
    field.value = cents.replace(/^0+(?=\d)/, "").slice(0, maxDigits);
    all(".pad .wrong").forEach((words) => words.remove());
    show();
    keep();
    preview();
    one(".ask [name=correct]")?.click(); // it asked about another amount
  }

  function press(key) {
    const now = digits();
    if (key === "back") setAmount(now.slice(0, -1));
    else if (now.length + key.length <= maxDigits) setAmount(now + key);
  }

  // show updates everything that depends on the amount and the ticked rewards.
  function show() {
    if (!sale()) return;
    const cents = digits();
    const amount = one("#amount");
    one("[data-digits]").textContent = written();
    amount.classList.toggle("amount-none", cents === "");
    amount.toggleAttribute("data-long", cents.length > 8);
    const total = cents === "" ? "" : `${sale().dataset.symbol}\u00a0${written()}`;
    all("[data-total]").forEach((part) => { part.textContent = total; });
    const letScan = one("[data-let]");
    if (letScan) letScan.disabled = Number(cents) === 0;
    afford();
    const record = one("[data-record]");
    if (record) {
      const used = all(".uses :checked").length;
      record.disabled = cents === "" && used === 0;
      one("[data-record-words]").textContent = cents === "" && used > 0 ? "Redeem" : "Record sale";
    }
  }

  // afford disables the rewards that the balance, less the ticked ones, can't pay for.
  function afford() {
    const side = one("#side");
    for (const unit of ["points", "stamps"]) {
      const boxes = all(`.uses [data-${unit}]`).filter((box) => Number(box.dataset[unit]) > 0);
      const left = boxes.reduce((sum, box) => sum - (box.checked ? Number(box.dataset[unit]) : 0), Number(side?.dataset[unit]));
      boxes.forEach((box) => { box.disabled = !box.checked && Number(box.dataset[unit]) > left; });
    }
  }

  // --- Kept across a reload: the amount, and the form's key while a confirmed sale has no response,
  // so that confirming it again records only one sale.

  const storeName = "till";
  const stored = () => {
    try {
      return JSON.parse(sessionStorage.getItem(storeName)) ?? {};
    } catch {
      return {};
    }
  };
  const store = (value) => {
    try {
      sessionStorage.setItem(storeName, JSON.stringify(value));
    } catch { /* no storage: a reload loses the amount */ }
  };
  function keep() {
    store({ ...stored(), cents: digits(), type: one("[name=transaction_type_id]:checked")?.value });
  }
  function restore(loaded) {
    const was = stored();
    if (loaded && was.key) one("#sale [name=form_key]").value = was.key;
    if (digits() !== "" || !was.cents) return;
    one("[data-cents]").value = was.cents;
    const type = one(`[name=transaction_type_id][value="${CSS.escape(was.type ?? "")}"]`);
    if (type) type.checked = true;
  }

  // --- Requests.

  let busy = false;
  const offlineBar = one("#offline");
  function offline(words) {
    offlineBar.hidden = !words;
    if (words) one("[data-words]", offlineBar).textContent = words;
  }
  // As in form.js, which the till doesn't use: the till replaces parts of its page, and these words stay
  // above them.
  const isOffline = "You're offline. Your input is still here. Try again when you're connected.";
  const noAnswer = "Can't reach the server. Your input is still here. Try again in a moment.";
  const failed = "Something went wrong. Your input is still here. Try again in a moment.";

  let toastTimer;
  function toast(words) {
    const box = one("#trouble");
    box.textContent = words;
    box.hidden = false;
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => { box.hidden = true; }, 8000);
  }

  // ask fetches a part of the page, or null if there is nothing to show. Background requests don't
  // clear a network error: a step without a response stays in the bar.
  async function ask(path, body, byItself = false) {
    let answer;
    try {
      answer = await fetch(path, {
        method: body ? "POST" : "GET", body, headers: { "Hx-Request": "true" }, credentials: "same-origin", cache: "no-store",
        signal: AbortSignal.timeout(20000),
      });
      answer.text_ = await answer.text();
    } catch {
      if (!byItself) offline(navigator.onLine ? noAnswer : isOffline);
      return null;
    }
    if (!byItself) offline("");
    return answer;
  }

  // send sends a form's data and shows the response.
  let sending = null; // until the last request has its response
  function send(path, body) {
    if (busy) return Promise.resolve(false);
    sending = exchange(path, body);
    return sending;
  }

  async function exchange(path, body) {
    busy = true;
    const main = one("#till");
    main.dataset.busy = "";
    const answer = await ask(path, body);
    busy = false;
    delete main.dataset.busy;
    if (!answer) return false;
    const elsewhere = answer.headers.get("Hx-Redirect");
    if (elsewhere) {
      if (/^\/till\/(receipts|customers)\//.test(elsewhere)) return send(elsewhere);
      location.assign(elsewhere);
      return false;
    }
    if ((answer.headers.get("Content-Type") ?? "").startsWith("text/html") && (answer.ok || answer.status === 422 || answer.status === 429)) {
      place(answer.text_);
      return true;
    }
    if (answer.status < 500 && answer.text_) toast(answer.text_);
    else if (answer.status !== 204) offline(failed);
    return false;
  }

  const encoded = (data) => new URLSearchParams([...data].filter(([, value]) => typeof value === "string"));

  // place replaces the page's elements by those of the response with the same ids.
  function place(html) {
    const content = document.createElement("template");
    content.innerHTML = html;
    const arrived = [];
    [...content.content.children].forEach((part) => {
      const old = part.id && document.getElementById(part.id);
      if (!old) return;
      old.replaceWith(part);
      arrived.push(part);
    });
    window.htmx?.process?.(document.body);
    arrive(arrived);
  }

  // arrive initialises the page, or new parts of it.
  function arrive(parts) {
    const receipt = one("[data-receipt]");
    if (receipt) store({});
    if (sale()) {
      all(".plain :is(input, button), button.plain").forEach((field) => { field.disabled = true; });
      one("[data-cents]").disabled = false;
      restore(parts.length === 0);
      show();
      if (digits() !== "" && !parts.some((part) => part.id === "earns")) preview();
    }
    countdown();
    ready();
    const focus = parts.map((part) => (part.matches("[data-focus]") ? part : one("[data-focus]", part))).find(Boolean)
      ?? (parts.length ? one("[data-problem]") : null) ?? one("[data-amount]") ?? one("[data-next]");
    if (parts.length > 0 && !parts.some((part) => part.id === "earns" || part.id === "place")) {
      focus?.focus({ preventScroll: !focus.matches("[data-problem]") });
      say();
    } else if (parts.length === 0) {
      focus?.focus({ preventScroll: true });
    }
  }

  // say announces the current customer to screen readers.
  function say() {
    const name = one("[data-who]");
    one("#said").textContent = name ? `${name.textContent}, ${one(".balances")?.textContent.trim() ?? ""}` : "";
  }

  // --- Preview of what the sale earns.

  let previewTimer;
  let previews = 0;
  function preview() {
    clearTimeout(previewTimer);
    if (!one("#earns")) return;
    one("#earns .bill")?.setAttribute("data-outdated", "");
    const turn = ++previews;
    previewTimer = setTimeout(async () => {
      if (!sale() || !one("#earns")) return;
      const data = new FormData(sale());
      const wanted = ["spend_amount_cents", "transaction_type_id", "location_id", "category", "customer_ulid", "rewards", "vouchers"];
      const query = new URLSearchParams([...data].filter(([name]) => wanted.includes(name)));
      const answer = await ask(`/till/earns?${query}`, undefined, true);
      if (turn === previews && answer?.ok && one("#earns")) place(answer.text_);
    }, 100);
  }

  // --- Steps of the sale.

  async function submit(button) {
    const form = sale();
    if (!form || busy) return;
    const data = new FormData(form, button?.name ? button : null);
    data.delete("enter");
    const path = button?.getAttribute("formaction") ?? form.getAttribute("action");
    const records = path === form.getAttribute("action");
    if (records) {
      const key = data.get("form_key");
      keep();
      store({ ...stored(), key });
      const done = await send(path, encoded(data));
      if (done && sale()) { // refused, or asked about: nothing was recorded
        const { key: _, ...rest } = stored();
        store(rest);
      }
      return;
    }
    await send(path, encoded(data));
  }

  async function next() {
    store({});
    await send("/till");
  }

  // scanned looks a scan up. What was entered stays, unless it is a customer's code.
  let scans = 0;
  async function scanned(text) {
    if (dialog.open) dialog.close();
    const turn = ++scans;
    while (busy) await sending;
    if (turn !== scans) return; // the next scan is here already
    if (!sale()) {
      await scannedElsewhere(text);
      return;
    }
    const data = new FormData(sale());
    ["pin", "phone", "enter"].forEach((name) => data.delete(name));
    data.set("scan", text.trim());
    const focused = document.activeElement?.id;
    const typed = ["phone", "pin"].map((id) => [id, one(`#${id}`)?.value]);
    if (!await send("/till/take", encoded(data)) || !one("[data-problem]")) return;
    typed.forEach(([id, value]) => {
      const field = one(`#${id}`);
      if (field && value) field.value = value;
    });
    if (["amount", "phone", "pin"].includes(focused)) one(`#${focused}`)?.focus({ preventScroll: true });
    boxes();
  }

  // On a receipt, and beside a code that the till shows, a customer's code begins the next sale. Another
  // scan doesn't.
  async function scannedElsewhere(text) {
    const answer = await ask("/till/take", new URLSearchParams({ scan: text.trim() }));
    if (!answer) return;
    if (answer.ok && answer.headers.get("Hx-Redirect") === null) {
      await next();
      if (sale()) place(answer.text_);
      return;
    }
    const refusal = document.createElement("template");
    refusal.innerHTML = answer.text_;
    const words = one("[data-problem]", refusal.content)?.textContent.trim();
    if (words) toast(words);
    else if (answer.headers.get("Hx-Redirect")) location.assign(answer.headers.get("Hx-Redirect"));
    else if (answer.status < 500 && answer.text_) toast(answer.text_);
    else offline(failed);
  }

  const removeCustomer = () => one("[data-leave]")?.click();

  // --- The PIN: one field, drawn as six boxes.

  function boxes() {
    const field = one("[data-pin-field]");
    if (!field) return;
    const pin = ascii(field.value).replace(/\D/g, "").slice(0, 6);
    if (field.value !== pin) field.value = pin;
    all("[data-boxes] > span").forEach((box, i) => {
      box.textContent = field.value[i] ?? "";
      box.toggleAttribute("data-next", i === Math.min(field.value.length, 5));
    });
  }

  // pinTyped submits a PIN with its last digit, unless a scanner may be in the middle of a longer code.
  function pinTyped() {
    boxes();
    const field = one("[data-pin-field]");
    if (field?.value.length === 6 && !keys.goesOn()) submit(field.closest(".row").querySelector("button"));
  }

  // --- Keys.

  // snapshot returns a function that restores the amount, the field and the focus as they are now.
  function snapshot(target) {
    const cents = digits();
    const focused = document.activeElement;
    const field = target instanceof HTMLInputElement && target.type !== "radio" && target.type !== "checkbox" ? target : null;
    const fields = [...new Set([field, one("[data-phone]")])].filter(Boolean).map((input) => [input, input.value]);
    const current = (element) => element?.isConnected ? element : document.getElementById(element?.id); // what took its place
    return () => {
      if (digits() !== cents) setAmount(cents);
      fields.forEach(([input, value]) => {
        const field = current(input);
        if (field && field.value !== value) field.value = value;
      });
      boxes();
      const focus = current(focused);
      if (document.activeElement !== focus) focus?.focus({ preventScroll: true });
    };
  }

  const keys = new window.handheld.Handheld({
    snapshot,
    isAmount: (target) => !isField(target) && sale() !== null,
    scanned,
    typed() {
      if (document.activeElement?.matches("[data-pin-field]")) pinTyped();
    },
  });

  const isField = (element) => element instanceof Element && element.matches("input:not([type=radio], [type=checkbox]), textarea, select");

  document.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const inScan = keys.inside(event.timeStamp);
    if (keys.key(event) || inScan && event.key === " " && !isField(event.target)) { // a space would press a button
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    const { key, target } = event;
    const inField = isField(target);
    if (key === "Escape") escape(event, inField);
    else if (key === "Enter") enter(event, inField);
    else if (inField) return;
    else if (/^\p{Nd}$/u.test(key) && sale()) {
      event.preventDefault();
      press(ascii(key));
    } else if (key === "Backspace" && sale()) {
      event.preventDefault();
      press("back");
    } else if (key === "Delete" && sale()) setAmount("");
    else if (key === "/" && !inScan && one("[data-phone]")) {
      event.preventDefault();
      one("[data-phone]").focus();
    }
  }, true);

  function escape(event, inField) {
    const menu = one("details.menu[open]");
    if (menu) {
      menu.open = false;
      one("summary", menu).focus();
    } else if (inField && event.target.value) {
      event.target.value = "";
      boxes();
    } else if (inField) one("[data-amount]")?.focus();
    else if (one(".ask [name=correct]")) one(".ask [name=correct]").click();
    else if (one("[data-cancel]")) one("[data-cancel]").click();
    else if (one("[data-leave]")) removeCustomer();
    else if (sale()) setAmount("");
    else return;
    event.preventDefault();
  }

  function enter(event, inField) {
    const { target } = event;
    if (target instanceof Element && target.closest("button, a, summary")) return; // it has one of its own
    if (event.repeat) {
      event.preventDefault(); // a key held down records nothing
      return;
    }
    const button = inField ? target.closest(".row")?.querySelector("button") : null;
    const record = one("[data-record]");
    event.preventDefault();
    if (button) submit(button);
    else if (one("[data-next]")) next();
    else if (record && !record.disabled) submit(record);
    else if (!one("[data-who]")) one("[data-pin-field]")?.focus();
  }

  // --- Clicks and changes.

  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (!target) return;
    all("details.menu[open]").forEach((menu) => { if (!menu.contains(target)) menu.open = false; });
    const key = target.closest("[data-key]");
    if (key) press(key.dataset.key);
    else if (target.closest("[data-clear]")) setAmount("");
    else if (target.closest("[data-scan]")) window.tillScanner?.open(scanned);
    else if (target.closest("[data-scan-close]")) dialog.close();
    else if (target.closest("[data-next]")) {
      event.preventDefault();
      next();
    }
  });

  // Focus stays where it was, so that Enter after using the keypad records the sale.
  document.addEventListener("mousedown", (event) => {
    if (event.target.closest?.("[data-key], [data-clear]")) event.preventDefault();
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches?.("[data-pin-field]") && !event.isComposing) pinTyped();
  });
  // An input method, as for Japanese, first composes its digits: changed meanwhile, they would be typed twice.
  document.addEventListener("compositionend", (event) => {
    if (event.target.matches?.("[data-pin-field]")) pinTyped();
  });
  document.addEventListener("focusin", (event) => {
    if (event.target.matches?.("[data-pin-field]")) boxes();
  });
  document.addEventListener("change", (event) => {
    if (!event.target.closest?.("#sale")) return;
    if (event.target.matches("[name=transaction_type_id]")) keep();
    if (event.target.matches("[name=transaction_type_id], [name=category], .uses input")) {
      show();
      preview();
    }
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    const page = document.documentElement;
    if (form.matches("[data-theme-form]")) {
      event.preventDefault();
      const theme = page.dataset.bsTheme === "dark" ? "light" : "dark";
      page.dataset.bsTheme = theme;
      document.cookie = `theme=${theme}; path=/; max-age=31536000; secure; samesite=lax`;
    } else if (form.id === "sale") {
      event.preventDefault();
      if (event.submitter?.name === "enter") return;
      submit(event.submitter);
    } else if (form.matches("[data-send]")) {
      event.preventDefault();
      form.closest("details")?.removeAttribute("open");
      send(form.getAttribute("action"), encoded(new FormData(form, event.submitter)));
    }
  });

  // --- The time left to undo a sale.

  let clock;
  function countdown() {
    clearInterval(clock);
    const form = one("[data-ends]");
    if (!form) return;
    const ends = Date.now() + Number(form.dataset.ends) * 1000;
    const left = one("[data-left]", form);
    clock = setInterval(() => {
      const seconds = Math.ceil((ends - Date.now()) / 1000);
      if (seconds <= 0) {
        clearInterval(clock);
        form.remove();
      } else if (left) left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left`;
    }, 1000);
  }

  // Handheld scanners work while the page has keyboard focus.
  function ready() {
    const chip = one("[data-ready]");
    if (chip) chip.hidden = !document.hasFocus() || !one("#sale, [data-receipt]");
  }
  addEventListener("focus", ready);
  addEventListener("blur", ready);

  addEventListener("offline", () => offline(isOffline));
  addEventListener("online", () => offline(""));
  document.addEventListener("pin:changed", () => arrive([one("#till")].filter(Boolean)));

  // A page from the browser's cache may belong to another person, so it is reloaded.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  if (!navigator.onLine) offline(isOffline);
  const opened = one("[data-auto-submit]");
  if (opened) opened.requestSubmit();
  else arrive([]);
})();
