// The search that "/" and Ctrl+K open on every page. The focus stays in its field: arrow keys move the
// selection, Enter sells, Ctrl+Enter redeems, Shift+Enter opens.
(() => {
  "use strict";
  const dialog = document.getElementById("search");
  if (!dialog) return;
  const field = document.getElementById("search-text");
  const said = document.getElementById("search-said");
  const rows = () => [...dialog.querySelectorAll(".search-row")];
  let entered = ""; // the link that Enter chose before the results of the text were shown

  function open(typed = "") {
    if (dialog.open || document.querySelector("dialog[open]")) return;
    field.value = typed;
    delete dialog.dataset.shown; // the results of the last time may be out of date
    dialog.showModal();
    field.focus();
    htmx.trigger(field.form, "opened");
  }

  function select(row) {
    rows().forEach((other) => other.classList.toggle("selected", other === row));
    row?.scrollIntoView({ block: "nearest" });
    said.textContent = row?.dataset.label ?? "";
  }

  function follow(link) {
    const row = dialog.querySelector(".search-row.selected");
    (row?.querySelector(link) ?? row?.querySelector("[data-open]"))?.click();
  }

  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]");
    const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (slash || (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      open();
    }
  });
  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (target?.closest("[data-search-open]")) {
      event.preventDefault();
      open();
    }
    if (target === dialog || target?.closest("[data-search-close]")) dialog.close();
  });

  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const all = rows();
      const at = all.findIndex((row) => row.classList.contains("selected"));
      const next = event.key === "ArrowDown" ? Math.min(at + 1, all.length - 1) : Math.max(at - 1, 0);
      select(all[next]);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const link = event.shiftKey ? "[data-open]" : event.ctrlKey || event.metaKey ? "[data-redeem]" : "[data-sell]";
      if (dialog.dataset.shown === field.value) follow(link);
      else entered = link;
    }
  });
  field.addEventListener("input", () => { entered = ""; });
  dialog.addEventListener("close", () => { entered = ""; });
  dialog.addEventListener("htmx:beforeRequest", () => { dialog.dataset.asked = field.value; });
  dialog.addEventListener("htmx:afterSwap", () => {
    dialog.dataset.shown = dialog.dataset.asked;
    select(rows()[0]);
    const count = document.getElementById("search-results").dataset.count;
    if (count) said.textContent = count;
    if (dialog.dataset.shown !== field.value) return;
    if (entered) follow(entered);
    entered = "";
  });
})();
