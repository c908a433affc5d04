// Runs before the page is drawn. Without a saved choice, the device's colour scheme applies.
(() => {
  "use strict";
  const page = document.documentElement;
  if (page.dataset.bsTheme) return;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => { page.dataset.bsTheme = dark.matches ? "dark" : "light"; };
  dark.addEventListener("change", follow);
  follow();
})();
