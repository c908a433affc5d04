// Dialogs, closing menus, copy buttons and the theme switch. Every page works without this script.
(() => {
  "use strict";
  const page = document.documentElement;

  // Light and dark.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("[data-theme-form]")) return;
    event.preventDefault();
    const theme = page.dataset.bsTheme === "dark" ? "light" : "dark";
    page.dataset.bsTheme = theme;
    document.cookie = `theme=${theme}; path=/; max-age=31536000; secure; samesite=lax`;
  });

  // Back shows a page from the browser's cache. After a sign-out it must not be seen, so it stays
  // hidden until it is reloaded.
  addEventListener("pagehide", () => { page.hidden = true; });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  // A menu closes when it loses focus or on a click elsewhere. On phones, the sidebar is a menu.
  const closeMenus = (target) => document.querySelectorAll("details.menu[open]").forEach((menu) => {
    if (!(menu.closest("aside") ?? menu).contains(target)) menu.open = false;
  });
  document.addEventListener("focusin", (event) => closeMenus(event.target));

  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (!target) return;
    closeMenus(target);
    if (target.closest("[data-dismiss]")) target.closest(".alert")?.remove();
    if (target.closest("[data-close]") && dialog?.open) {
      event.preventDefault();
      dialog.close();
    }
    const copy = target.closest("[data-copy]");
    if (copy) copyFrom(copy);
    if (target.closest("[data-print]")) print();
    const all = target.closest("[data-check-all]");
    if (all) {
      document.querySelectorAll(`input[name="${all.dataset.checkAll}"]`).forEach((box) => { box.checked = all.checked; });
    }
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !dialog?.open) {
      document.querySelectorAll("details.menu[open]").forEach((menu) => {
        menu.open = false;
        menu.querySelector("summary").focus();
      });
    }
  });

  async function copyFrom(button) {
    const source = document.getElementById(button.dataset.copy);
    if (!source) return;
    const label = button.querySelector("[data-copy-label]") ?? button;
    const was = label.textContent;
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      label.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      label.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => { label.textContent = was; }, 2500);
  }

  // A choice proposes those of other fields, unless the person has chosen them.
  document.addEventListener("change", ({ target, isTrusted }) => {
    if (!(target instanceof HTMLSelectElement)) return;
    if (isTrusted) target.dataset.chosen = "1";
    const proposals = { ...target.selectedOptions[0]?.dataset };
    const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (proposals.proposeTimezones?.split(" ").includes(here)) proposals.proposeTimezone = here;
    target.form?.querySelectorAll("select").forEach((field) => {
      const value = proposals[`propose${field.name.charAt(0).toUpperCase()}${field.name.slice(1)}`];
      if (!value || field.dataset.chosen || ![...field.options].some((o) => o.value === value)) return;
      field.value = value;
    });
  }, true); // before htmx reads the form

  // For an ambiguous amount, choosing a reading fills in the field and updates the amount shown
  // below it.
  document.addEventListener("change", (event) => {
    const choice = event.target;
    if (!(choice instanceof Element) || !choice.matches("[data-fill]")) return;
    const field = document.getElementById(choice.dataset.field);
    field.value = choice.dataset.fill;
    field.classList.remove("is-invalid");
    field.removeAttribute("aria-invalid");
    document.getElementById(`${field.id}-error`)?.remove();
    choice.closest("[data-readings]").hidden = true; // still sent: the text may need it
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.dispatchEvent(new CustomEvent("chosen"));
    field.focus();
  });

  // Secrets that are shown once are removed before the browser caches the page for Back.
  addEventListener("pagehide", () => document.querySelectorAll("[data-once]").forEach((secret) => {
    secret.textContent = "This was shown once.";
  }));

  // Open the dialog when htmx has loaded its content.
  const dialog = document.getElementById("dialog");
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.target !== dialog || dialog.open) return;
    // If it was opened from a menu, focus returns to the menu's button.
    document.activeElement?.closest("details.menu")?.querySelector("summary").focus();
    closeMenus(null);
    dialog.showModal();
  });
  // After a refused form, focus goes to the error summary, not to the field that htmx would choose.
  // A filter keeps its focus.
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target === dialog) focusIn(dialog);
    else if (event.detail.requestConfig?.verb === "post") event.target.querySelector?.("[data-focus]")?.focus();
  });
  dialog?.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog?.addEventListener("close", () => { dialog.replaceChildren(); });

  const focusIn = (root) => (root.querySelector("[data-focus]") ?? root.querySelector("[autofocus]"))?.focus();

  // Polling runs only while the page is visible, and at once when it becomes visible. After a
  // failure, the old content stays and is marked as out of date.
  const polled = (event) => event.target instanceof Element && event.target.matches("[data-poll]");
  document.addEventListener("htmx:beforeRequest", (event) => { if (polled(event) && document.hidden) event.preventDefault(); });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) document.querySelectorAll("[data-poll]").forEach((part) => htmx.trigger(part, "wake"));
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (polled(event)) event.target.toggleAttribute("data-stale", !event.detail.successful);
  });

  // Announce automatic updates to screen readers, each only once.
  document.addEventListener("htmx:afterSettle", () => {
    const words = document.querySelector("[data-say]")?.dataset.say;
    const said = document.getElementById("said");
    if (words && said && said.textContent !== words) said.textContent = words;
  });

  // On phones, tabs scroll sideways: show the current one.
  document.querySelector(".page-tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
})();
