// Copy buttons, the chosen language of examples, and search results while typing. Pages work
// without it.
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

  const input = document.getElementById("search");
  if (!input) return;
  const found = document.createElement("div");
  found.className = "found";
  found.hidden = true;
  input.form.append(found);
  let latest = 0;
  input.addEventListener("input", async () => {
    const turn = ++latest;
    if (!input.value.trim()) {
      found.hidden = true;
      return;
    }
    const response = await fetch(`${input.form.action}?q=${encodeURIComponent(input.value)}`);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (turn !== latest) return; // something else was typed since
    found.replaceChildren(...page.getElementById("found").childNodes);
    found.hidden = false;
  });
  input.form.addEventListener("focusout", (event) => {
    if (!input.form.contains(event.relatedTarget)) found.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && input.form.contains(event.target)) {
      found.hidden = true;
      input.focus();
    }
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    }
  });
})();
