// What page.go asks of a page. It runs in a world of its own: it sees the page and not
// its scripts, which do not see it.
globalThis.ours = (() => {
  "use strict";
  const tidy = (text) => text.replace(/\s+/g, " ").trim();
  const visible = (el) => el.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && el.getClientRects().length > 0;
  const describe = (el) => `<${el.localName}${el.id ? "#" + el.id : ""}${[...el.classList].map((c) => "." + c).join("")}>`;

  // part is where people can act: what stands behind an open dialog is out of reach.
  const part = (within) => within ? document.querySelector(within) : [...document.querySelectorAll("dialog:modal")].pop() ?? document.body;

  // pieces are the texts inside of an element, one by one: a label and, apart from it, "optional".
  function pieces(el) {
    const found = [];
    const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) found.push(tidy(walker.currentNode.data));
    return found;
  }

  // called finds, among elements in sight, the one that people call so: by all of its text, else
  // by a piece of it. texts gives the elements that name an element.
  function called(selector, name, within, texts, names) {
    const from = part(within);
    if (!from) return { why: `there is no ${within}` };
    const seen = [...from.querySelectorAll(selector)].filter(visible);
    let found = seen.filter((el) => names(el).includes(name) || texts(el).some((t) => tidy(t.textContent) === name));
    if (found.length === 0) found = seen.filter((el) => texts(el).some((t) => pieces(t).includes(name)));
    if (found.length === 0) return { why: "it is not there" };
    if (found.length > 1) return { many: found.map(describe).join(", ") };
    if (found[0].matches(":disabled")) return { why: "it is disabled" };
    return { el: found[0] };
  }

  const labelled = (el) => [el.ariaLabel, el.name].filter(Boolean);
  const field = (name, within) => called("input:not([type=hidden]), select, textarea", name, within, (el) => [...(el.labels ?? [])], labelled);

  return {
    // unrest is why the page has not come to rest, or "". What moves arrives at once.
    unrest() {
      if (document.readyState !== "complete") return "the page is loading";
      if (document.fonts.status !== "loaded") return "a font is loading";
      if (document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling")) return "a part of the page is being replaced";
      const moving = document.getAnimations().filter((a) => a.playState === "running" && a.effect?.getComputedTiming().endTime !== Infinity);
      moving.forEach((a) => a.finish());
      return moving.length > 0 ? "something moves" : "";
    },

    // frame is over when the page has drawn itself, and done what it does before that.
    frame: () => new Promise((drawn) => requestAnimationFrame(() => drawn(true))),

    links: () => [...document.querySelectorAll("a[href]:not([download])")].filter((a) => a.origin === location.origin).map((a) => a.pathname + a.search),

    address: () => location.pathname + location.search,

    // says is why the page does not show a text, or "". Capitals may be the style sheet's.
    says(text, within) {
      const shown = tidy(part(within)?.innerText ?? "");
      return shown.includes(tidy(text)) || shown.includes(tidy(text).toUpperCase()) ? "" : "it is not there";
    },

    // text is what people read in the first element of a selector that is in sight.
    text(selector, within) {
      const el = [...(part(within)?.querySelectorAll(selector) ?? [])].find(visible);
      return el ? { text: tidy(el.innerText) } : { why: "it is not there" };
    },

    // target is the point where a click hits what has the text.
    target(text, within) {
      const found = called("a[href], button, summary, label, input[type=submit], [role=button]", text, within, (el) => [el],
        (el) => [el.ariaLabel, el.localName === "input" && el.value].filter(Boolean));
      if (!found.el) return found;
      found.el.scrollIntoView({ block: "center", behavior: "instant" });
      const box = found.el.getClientRects()[0];
      const x = box.x + box.width / 2;
      const y = box.y + box.height / 2;
      const hit = document.elementFromPoint(x, y);
      return found.el.contains(hit) ? { x, y } : { why: `it is covered by ${hit ? describe(hit) : "nothing in sight"}` };
    },

    // fill puts a value into a field, or the cursor into one that has to be typed into.
    fill(name, value, within) {
      const found = field(name, within);
      const el = found.el;
      if (!el) return found;
      if (el.readOnly) return { why: "it can only be read" };
      el.scrollIntoView({ block: "center", behavior: "instant" });
      el.focus();
      if (el.localName === "select") {
        const option = [...el.options].find((o) => tidy(o.label) === value);
        if (!option) return { why: `it has only ${[...el.options].map((o) => `“${tidy(o.label)}”`).join(", ")}` };
        option.selected = true;
      } else if (["date", "time", "month", "datetime-local", "color", "range"].includes(el.type)) {
        el.value = value; // each browser has its own way to type these
      } else if (["checkbox", "radio", "file", "submit", "button"].includes(el.type)) {
        return { why: `nobody types into a ${el.type}` };
      } else {
        el.select();
        return { typed: true };
      }
      el.dispatchEvent(new Event("input", { bubbles: true }));
      el.dispatchEvent(new Event("change", { bubbles: true }));
      return {};
    },

    // file is the field for files of that name, which may be out of sight behind its label.
    file: (name) => [...document.querySelectorAll("input[type=file]")]
      .find((el) => labelled(el).includes(name) || [...el.labels].some((l) => tidy(l.textContent) === name || pieces(l).includes(name))) ?? null,

    height: () => document.scrollingElement.scrollHeight,

    // sideways are the elements that make the page scroll sideways.
    sideways() {
      const room = document.documentElement.clientWidth;
      if (document.scrollingElement.scrollWidth <= room) return [];
      const clipped = (el) => {
        for (let up = el.parentElement; up && up !== document.body; up = up.parentElement) {
          if (getComputedStyle(up).overflowX !== "visible") return true;
        }
        return false;
      };
      const wide = [...document.querySelectorAll("body *")].filter((el) => el.getBoundingClientRect().right > room + 0.5 && !clipped(el));
      return wide.filter((el) => !wide.some((inner) => inner !== el && el.contains(inner)))
        .map((el) => `${describe(el)} ends at ${Math.round(el.getBoundingClientRect().right)} of ${room}`);
    },
  };
})();
