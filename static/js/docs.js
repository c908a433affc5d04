// Copy buttons, and the chosen language of examples on every page. Pages work without it.
(() => {
  "use strict";
  const stored = "docs-language";

  const remember = (language) => {
    try { localStorage.setItem(stored, language); } catch { /* storage may be off */ }
  };
  const remembered = () => {
    try { return localStorage.getItem(stored); } catch { return null; }
  };
  const wanted = remembered();
  for (const input of document.querySelectorAll(".tabs [name=language]")) {
    if (input.value === wanted) input.checked = true;
    input.addEventListener("change", () => remember(input.value));
  }

  for (const pre of document.querySelectorAll("pre[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    button.className = "copy";
    const head = pre.previousElementSibling;
    if (head?.className === "file") {
      head.append(button);
      continue;
    }
    const box = document.createElement("div");
    box.className = "copied";
    pre.before(box);
    box.append(pre, button);
  }
})();
