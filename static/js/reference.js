// Sends requests from the reference pages. The token is only kept in the form, and the page's
// Content-Security-Policy lets requests go to this installation alone.
(() => {
  "use strict";
  const forms = document.querySelectorAll(".try form");

  const send = (form) => {
    const values = new FormData(form);
    const headers = new Headers({ Authorization: `Bearer ${values.get("token").trim()}` });
    const query = new URLSearchParams();
    let path = form.dataset.path;
    for (const [name, value] of values) {
      const [place, parameter] = name.split(" ");
      if (place === "path") path = path.replace(`{${parameter}}`, encodeURIComponent(value));
      if (place === "query" && value) query.append(parameter, value);
      if (place === "header" && value) headers.set(parameter, value);
    }
    const body = values.get("body");
    if (body !== null) headers.set("Content-Type", "application/json");
    return fetch(query.size ? `${path}?${query}` : path, {
      method: form.dataset.method, headers, body, credentials: "omit", cache: "no-store",
    });
  };

  for (const form of forms) {
    form.parentElement.hidden = false;
    form.elements.token.addEventListener("input", () => {
      for (const other of forms) other.elements.token.value = form.elements.token.value;
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const status = form.querySelector("[role=status]");
      const shown = form.querySelector("pre");
      status.textContent = "Sending…";
      shown.hidden = true;
      try {
        const response = await send(form);
        const text = await response.text();
        status.textContent = `${response.status} ${response.statusText}`.trim();
        shown.hidden = text === "";
        // Numbers above 2^53 would be changed, so such a response is shown as it came.
        shown.textContent = text === "" || /\d{16}/.test(text) ? text : JSON.stringify(JSON.parse(text), null, 2);
      } catch (error) {
        status.textContent = `No response: ${error.message}`;
      }
    });
  }
})();
