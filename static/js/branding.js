// The form with the business's colour: the colour can be typed or picked, and the preview follows.
(() => {
  "use strict";
  const complete = (colour) => /^#[0-9a-f]{6}$/i.test(colour);
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  start();
  document.addEventListener("content:replaced", start);

  function start() {
    const text = document.querySelector("input[data-colour]");
    const preview = document.getElementById("branding-preview");
    if (!text || !preview) return;

    const picker = document.createElement("input");
    const group = document.createElement("div");
    const show = () => { picker.value = complete(text.value.trim()) ? text.value.trim() : text.dataset.colour; };
    picker.type = "color";
    picker.className = "form-control form-control-color";
    picker.setAttribute("aria-label", "Pick a colour");
    group.className = "picked";
    text.replaceWith(group);
    group.append(picker, text);
    show();

    // The server derives the colours, as for the pages.
    let shown = preview.dataset.shown;
    let loading;
    let timer;
    async function load() {
      const colour = text.value.trim().toLowerCase();
      if (colour === shown || (colour && !complete(colour))) return;
      loading?.abort();
      loading = new AbortController();
      try {
        const response = await fetch(`${preview.dataset.preview}?colour=${encodeURIComponent(colour)}`, { headers: { "HX-Request": "true" }, signal: loading.signal });
        if (!response.ok) return;
        const part = new DOMParser().parseFromString(await response.text(), "text/html").getElementById(preview.id);
        sheet.replaceSync(part.dataset.css);
        preview.replaceChildren(...part.childNodes);
        preview.dataset.shown = shown = colour;
      } catch {
        // Replaced by a newer colour, or offline: the preview stays as it is.
      }
    }
    const follow = () => {
      clearTimeout(timer);
      timer = setTimeout(load, 100);
    };
    picker.addEventListener("input", () => { text.value = picker.value; follow(); });
    text.addEventListener("input", () => { show(); follow(); });
    load(); // a refused form has another colour than the saved one
  }
})();
