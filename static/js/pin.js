// Keeps a PIN on screen up to date: countdown, renewal and status. The server sends changes
// (data-live); while that connection is down, the page polls every three seconds. Without this
// script the page still shows the PIN, with links to refresh it.
(() => {
  "use strict";

  const pollEvery = 3000;
  const reopenAfter = 15000;
  // A PIN expires after this many renewals without any activity. Otherwise the wake lock would drain
  // the battery of a forgotten phone.
  const unattendedRenewals = 10;

  const pins = new Map(); // by element
  let renewals = 0;
  let lock = null;
  let locking = false;

  const headers = { "HX-Request": "true" }; // asks for the fragment, not for the page

  // exchange sends a request and shows its response. It returns false if there was no usable
  // response.
  async function exchange(target, state, path, options) {
    let answer;
    let text;
    try {
      answer = await fetch(path, { cache: "no-store", credentials: "same-origin", ...options, headers: { ...headers, ...options?.headers } });
      text = await answer.text();
    } catch {
      return false;
    }
    const elsewhere = answer.headers.get("HX-Redirect");
    if (elsewhere) {
      location.assign(elsewhere);
      return true;
    }
    if (answer.redirected) { // the session has ended
      location.reload();
      return true;
    }
    if (answer.status === 204) return true; // nothing has changed
    const refused = answer.status === 422 || answer.status === 429; // shown as any answer
    if (!answer.ok && !refused) return false;
    const content = document.createElement("template");
    content.innerHTML = text;
    const next = content.content.querySelector("[data-pin]");
    if (state && next?.dataset.state === state && options?.method !== "POST") return true;
    if (target.isConnected) swap(target, content.content);
    return true;
  }

  function swap(target, content) {
    const focused = target.contains(document.activeElement);
    const nodes = [...content.children];
    const said = content.querySelector("[data-pin-say]")?.textContent.trim();
    target.replaceWith(content);
    scan();
    nodes.forEach((node) => window.htmx?.process(node));
    if (focused) {
      const next = nodes.map((node) => node.querySelector("[autofocus]") ?? node.querySelector("button, a[href]")).find(Boolean) ?? nodes[0];
      if (next && !next.matches("button, a[href], input")) next.tabIndex = -1;
      next?.focus({ preventScroll: true });
    }
    const status = document.querySelector("[data-pin-status]");
    if (status && said) status.textContent = said;
    document.dispatchEvent(new CustomEvent("pin:changed", { detail: { state: nodes[0]?.querySelector("[data-pin]")?.dataset.state ?? nodes[0]?.dataset.state ?? "" } }));
  }

  const targetOf = (element) => element.closest("[data-live-target]") ?? element;

  class Pin {
    constructor(element) {
      this.element = element;
      this.state = element.dataset.state ?? "";
      const seconds = Number(element.dataset.seconds);
      this.deadline = element.dataset.seconds && seconds >= 0 ? Date.now() + seconds * 1000 : null;
      this.left = element.querySelector("[data-pin-left]");
      this.ring = element.querySelector("[data-pin-ring]");
      this.busy = false;
      this.askedAt = 0;
      this.open();
      this.clock = setInterval(() => this.tick(), 250);
      this.tick();
    }

    open() {
      if (!this.element.dataset.live) return;
      const source = new EventSource(this.element.dataset.live);
      this.source = source;
      this.openedAt = Date.now();
      source.addEventListener("open", () => { this.broken = false; });
      source.addEventListener("error", () => { this.broken = true; });
      source.addEventListener("state", (event) => {
        this.broken = false;
        if (event.data !== this.state) this.changed = true; // asked for until the answer is here
        this.tick();
      });
    }

    // ask fetches the current state as a fragment.
    async ask(polling) {
      if (this.busy) return;
      this.busy = true;
      this.askedAt = Date.now();
      await exchange(targetOf(this.element), this.state, this.element.dataset.refresh, { headers: polling ? { "X-Poll": "1" } : {} });
      this.busy = false;
    }

    async renew() {
      if (this.busy) return;
      this.busy = true;
      this.askedAt = Date.now();
      renewals++;
      const done = await exchange(targetOf(this.element), this.state, this.element.dataset.renew, { method: "POST" });
      if (!done) renewals--;
      this.busy = false;
      if (!done && this.left) this.left.textContent = "No connection. Trying again…";
    }

    tick() {
      if (!this.element.isConnected) {
        this.stop();
        return;
      }
      const now = Date.now();
      const due = now - this.askedAt >= pollEvery;
      if (this.source?.readyState === EventSource.CLOSED && now - this.openedAt >= reopenAfter) this.open();
      if (this.changed && due) {
        this.ask(false);
        return;
      }
      if (this.deadline !== null) {
        const seconds = Math.max(0, Math.ceil((this.deadline - now) / 1000));
        if (seconds > 0 && seconds !== this.shown) this.show(seconds);
        if (seconds === 0) {
          if (document.hidden || !due) return;
          if (this.element.dataset.renew && renewals < unattendedRenewals) this.renew();
          else this.ask(false);
          return;
        }
      }
      if (this.broken && due && !document.hidden) this.ask(true);
    }

    show(seconds) {
      this.shown = seconds;
      this.ring?.setAttribute("stroke-dasharray", `${seconds} 90`);
      if (this.left && this.element.dataset.renew) this.left.textContent = `New code in ${seconds} s`;
    }

    stop() {
      clearInterval(this.clock);
      this.source?.close();
      pins.delete(this.element);
      keepAwake();
    }
  }

  // The screen stays on while a code is shown.
  async function keepAwake() {
    const wanted = !document.hidden && [...pins.values()].some((pin) => pin.element.querySelector(".qr"));
    if (!wanted) {
      lock?.release().catch(() => {});
      lock = null;
      return;
    }
    if (lock && !lock.released || locking || !navigator.wakeLock) return;
    locking = true;
    try {
      lock = await navigator.wakeLock.request("screen");
    } catch {
      lock = null; // refused: the battery is low
    }
    locking = false;
  }

  function scan() {
    pins.forEach((pin) => { if (!pin.element.isConnected) pin.stop(); });
    document.querySelectorAll("[data-pin]").forEach((element) => {
      if (!pins.has(element)) pins.set(element, new Pin(element));
    });
    keepAwake();
  }

  // Forms that show a PIN are sent without leaving the page.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.matches("[data-pin-form]")) return;
    event.preventDefault();
    if (form.dataset.sent) return;
    form.dataset.sent = "1";
    const done = await exchange(targetOf(form), "", form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    delete form.dataset.sent;
    if (!done) {
      const trouble = form.querySelector("[data-pin-trouble]");
      if (trouble) trouble.textContent = navigator.onLine ? "That didn't work. Try again." : "You're offline. Try again when you're connected.";
    }
  });

  const attended = () => { renewals = 0; };
  document.addEventListener("pointerdown", attended);
  document.addEventListener("keydown", attended);
  document.addEventListener("visibilitychange", () => {
    keepAwake();
    if (document.hidden) return;
    attended();
    // Phones close connections of background pages, some without an error event.
    pins.forEach((pin) => {
      if (pin.source?.readyState === EventSource.CLOSED) pin.open();
      pin.ask(true);
    });
  });

  new MutationObserver(scan).observe(document.documentElement, { childList: true, subtree: true });
  scan();
})();
