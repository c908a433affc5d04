// Forms: double-click protection, sending without leaving the page, and errors. Every form works
// without this script.
(() => {
  "use strict";

  const unreachable = "Can't reach the server. Your input is still here. Try again in a moment.";
  const failed = "Something went wrong. Your input is still here. Try again in a moment.";

  // Show request errors. That a form wasn't sent is shown until it is sent again.
  const trouble = (words, stays = false) => {
    const place = document.getElementById("trouble");
    if (!place) return;
    const box = document.createElement("div");
    const dialog = document.querySelector("dialog[open]");
    box.className = "alert alert-important alert-danger mb-0";
    box.textContent = words;
    place.replaceChildren(box);
    if (dialog) { // nothing else is seen or heard then
      box.setAttribute("role", "alert");
      dialog.querySelector(":scope > .alert")?.remove();
      dialog.prepend(box);
    }
    if (!stays) setTimeout(() => box.remove(), 8000);
  };

  // --- Sending.

  const submits = (form) => [...form.elements].filter((el) => el.type === "submit");
  const reopen = (form) => {
    delete form.dataset.sent;
    submits(form).forEach((b) => { b.disabled = false; });
  };

  // A form that was sent can't be sent again by a second click, neither by this script nor by htmx,
  // which would send it after the first response. If the response keeps the page, the form can be
  // sent again.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || form.matches("[data-theme-form]")) return;
    if (form.dataset.sent) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    form.dataset.sent = "1";
    setTimeout(() => { if (form.dataset.sent) submits(form).forEach((b) => { b.disabled = true; }); });
  }, true);
  document.addEventListener("htmx:afterRequest", (event) => {
    const form = event.detail.elt;
    if (form.matches("form[data-sent]") && !event.detail.xhr.getResponseHeader("HX-Redirect")) reopen(form);
  });

  // The browser would put a page of its own in place of a form that it can't send. The form's key stays
  // the same, so a form that did arrive is not run twice.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post") return; // htmx prevents what it sends
    event.preventDefault();
    send(form, event.submitter);
  });

  async function send(form, button) {
    const action = button?.getAttribute("formaction") ?? form.getAttribute("action") ?? location.href;
    const data = new FormData(form, button?.name ? button : null);
    const body = form.enctype === "multipart/form-data" ? data : new URLSearchParams(data);
    let response, text;
    form.classList.add("htmx-request");
    document.getElementById("trouble")?.replaceChildren();
    try {
      response = await fetch(action, { method: "POST", body, headers: { "HX-Request": "true", "HX-Boosted": "true" }, cache: "no-store" });
      text = await response.text();
    } catch {
      trouble(navigator.onLine ? unreachable : "You're offline. Your input is still here. Try again when you're connected.", true);
      reopen(form);
      return;
    } finally {
      form.classList.remove("htmx-request");
    }
    const to = response.redirected ? response.url : response.headers.get("HX-Redirect");
    if (to) {
      leave(to);
    } else if (response.status < 500 && isHTML(response) && document.querySelector("main")) {
      replace(text, form);
      if (response.ok) {
        history.pushState(null, "", action);
        pushed = true;
      }
    } else {
      trouble(isPlain(response) && text ? text : response.status === 404 ? "This no longer exists. Reload the page." : failed, true);
      reopen(form);
    }
  }
  // Back leads from a form's result to the page with the form.
  let pushed = false;
  addEventListener("popstate", () => { if (pushed) location.reload(); });

  const type = (response) => response.headers.get("Content-Type") ?? "";
  const isHTML = (response) => type(response).startsWith("text/html");
  const isPlain = (response) => type(response).startsWith("text/plain");

  // leave opens a page, also one that differs from the current one by its fragment only.
  function leave(to) {
    const url = new URL(to, location.href);
    if (url.hash && url.pathname + url.search === location.pathname + location.search) {
      history.replaceState(null, "", url);
      location.reload();
    } else {
      location.assign(url);
    }
  }

  // replace shows the page that answered a form. Chosen files stay chosen.
  function replace(html, form) {
    const answer = new DOMParser().parseFromString(html, "text/html");
    const main = document.importNode(answer.querySelector("main") ?? answer.body, true);
    const files = [...form.elements].filter((el) => el.type === "file" && el.files.length > 0);
    document.querySelector("dialog[open]")?.close();
    const old = document.querySelector("main");
    old.querySelectorAll("[hx-sync]").forEach(abandon);
    old.replaceWith(main);
    document.title = answer.title;
    document.body.className = answer.body.className;
    files.forEach((old) => {
      const field = main.querySelector(`input[type=file][name="${CSS.escape(old.name)}"]`);
      if (field) field.files = old.files;
    });
    window.htmx?.process(main);
    document.dispatchEvent(new CustomEvent("content:replaced", { detail: main }));
    scrollTo(0, 0);
    main.querySelector("[autofocus]")?.focus(); // as the browser does for a new page
    arrive();
  }

  // arrive sets the focus on a new page: on its errors, or on the text to type over.
  function arrive() {
    document.querySelector("[data-focus]")?.focus();
    document.querySelector("[data-select]")?.select();
  }
  arrive();

  // --- Refused forms.

  const controlOf = (target) => target?.matches("input, select, textarea") ? target : target?.querySelector("input, select, textarea");

  // The summary links to the fields. With Enter, the field gets the focus when the key is released:
  // pressed in a field, it would send the form.
  const follow = (event) => {
    const link = event.target instanceof Element && event.target.closest("[data-refusal] a[href^='#']");
    const control = link && controlOf(document.getElementById(link.hash.slice(1)));
    if (!control) return;
    event.preventDefault();
    const folded = control.closest("details:not([open])"); // filters, on a phone
    if (folded) folded.open = true;
    if (event.type === "keydown") document.addEventListener("keyup", () => control.focus(), { once: true });
    else control.focus();
  };
  document.addEventListener("click", follow);
  document.addEventListener("keydown", (event) => { if (event.key === "Enter") follow(event); });

  // An error is cleared while it is corrected, also in the summary.
  const correct = (event) => {
    const field = event.target instanceof Element && (event.target.closest("[aria-invalid=true], [aria-invalid='']") ?? event.target.closest("fieldset[id]"));
    if (!field) return;
    const notes = (field.getAttribute("aria-describedby") ?? "").split(" ").map((id) => document.getElementById(id));
    const error = notes.find((note) => note?.matches(".invalid-feedback, .wrong"));
    if (!error && !field.hasAttribute("aria-invalid")) return;
    field.removeAttribute("aria-invalid");
    field.classList.remove("is-invalid");
    field.closest(".box-wrong")?.classList.remove("box-wrong");
    const described = notes.filter((note) => note && note !== error).map((note) => note.id).join(" ");
    if (described) field.setAttribute("aria-describedby", described);
    else field.removeAttribute("aria-describedby");
    error?.remove();
    const link = document.querySelector(`[data-refusal] a[href="#${CSS.escape(field.id)}"]`);
    const summary = link?.closest("[data-refusal]");
    link?.closest("li").remove();
    if (!summary) return;
    const left = summary.querySelectorAll("li").length;
    const count = summary.querySelector("[data-count]");
    if (left > 0) count.textContent = left === 1 ? "1 field needs attention" : `${left} fields need attention`;
    else if (summary.querySelectorAll(".refusal-words").length === 1) summary.remove();
    else count.remove();
  };
  document.addEventListener("input", correct);
  document.addEventListener("change", correct);

  // With a list come the errors of its filters, whose fields stay.
  document.addEventListener("htmx:oobAfterSwap", ({ target }) => {
    const field = document.getElementById(target.dataset.errorsOf);
    if (!field) return;
    const error = target.querySelector(".invalid-feedback");
    field.classList.toggle("is-invalid", !!error);
    if (error) {
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-describedby", error.id);
    } else {
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-describedby");
    }
  });

  // --- Requests of htmx.

  // What was asked for what is no longer on the page has nowhere to go.
  const abandon = (el) => window.htmx?.trigger(el, "htmx:abort");
  document.addEventListener("htmx:beforeCleanupElement", ({ target }) => {
    if (target instanceof Element && target.hasAttribute("hx-sync")) abandon(target);
  });

  const polled = (event) => event.target instanceof Element && event.target.matches("[data-poll]");
  document.addEventListener("htmx:sendError", (event) => polled(event) || trouble(unreachable));
  document.addEventListener("htmx:timeout", (event) => polled(event) || trouble("The server took too long. Try again in a moment."));
  // An error response is a sentence or empty, never HTML.
  const plain = (xhr) => (xhr.getResponseHeader("Content-Type") ?? "").startsWith("text/plain");
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!plain(event.detail.xhr)) return;
    event.detail.shouldSwap = false;
    event.detail.isError = true;
  });
  document.addEventListener("htmx:responseError", (event) => {
    if (polled(event)) return;
    const { xhr } = event.detail;
    trouble(xhr.status === 404 ? "This no longer exists. Reload the page." : plain(xhr) ? xhr.responseText : failed);
  });
})();
