// Before the page is seen: where nobody chose, the device says whether it is dark.
(() => {
  "use strict";
  const page = document.documentElement;
  if (page.dataset.bsTheme) return;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => { page.dataset.bsTheme = dark.matches ? "dark" : "light"; };
  dark.addEventListener("change", follow);
  follow();
})();
