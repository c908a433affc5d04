// Closing menus and printing on customers' pages.
(() => {
  "use strict";

  document.querySelectorAll("[data-print]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => print());
  });

  const closeMenus = (target) => document.querySelectorAll("[data-menu][open]").forEach((menu) => {
    if (!menu.contains(target)) menu.open = false;
  });
  document.addEventListener("click", (event) => {
    closeMenus(event.target);
    event.target.closest?.("[data-menu] a")?.closest("[data-menu]").removeAttribute("open");
  });
  document.addEventListener("focusin", (event) => closeMenus(event.target));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    document.querySelectorAll("[data-menu][open]").forEach((menu) => {
      menu.open = false;
      menu.querySelector("summary").focus();
    });
  });
})();
