// Draws each chart from its own table.
(() => {
  "use strict";
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const drawn = new Map();

  function read(figure) {
    const rows = [...figure.querySelectorAll("tbody tr")];
    const names = [...figure.querySelectorAll("thead th")].slice(1).map((th) => th.textContent);
    const labels = rows.map((row) => row.querySelector("th").textContent);
    const texts = names.map((_, i) => rows.map((row) => row.querySelectorAll("td")[i].textContent));
    const x = rows.map((row, i) => Number(row.dataset.at) || i);
    const series = names.map((_, i) => rows.map((row) => Number(row.querySelectorAll("td")[i].dataset.value)));
    return { names, labels, texts, x, series, dates: rows.some((row) => Number(row.dataset.at) > 0) };
  }

  function draw(figure) {
    const place = figure.querySelector(".chart-canvas");
    const data = read(figure);
    if (data.x.length === 0) return;
    figure.dataset.drawn = "1";
    drawn.get(figure)?.destroy();
    const bars = figure.dataset.chart === "bars";
    const axis = {
      stroke: style("--tblr-secondary"),
      grid: { stroke: style("--grid"), width: 1 },
      ticks: { show: false },
      font: "12px 'Inter Var', system-ui, sans-serif",
    };
    const lines = data.names.map((name, i) => ({
      label: name,
      stroke: style(`--line-${i + 1}`),
      width: 2,
      dash: i === 1 ? [6, 4] : undefined,
      fill: bars ? style(`--line-${i + 1}`) : i === 0 ? style("--fill-1") : undefined,
      paths: bars ? uPlot.paths.bars({ size: [0.6, 48] }) : uPlot.paths.spline(),
      points: { show: !bars && data.x.length <= 45, size: 5 },
      value: (_, v, s, n) => (n == null ? "–" : data.texts[i][n]),
    }));
    const label = (_, splits) => splits.map((at) => {
      const n = data.x.indexOf(at);
      return n < 0 ? "" : data.labels[n];
    });
    const every = Math.max(1, Math.ceil(data.x.length / Math.max(2, Math.floor(place.clientWidth / 80))));
    drawn.set(figure, new uPlot({
      width: place.clientWidth,
      height: 260,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      scales: { x: { time: false, range: bars ? (_, a, b) => [a - 0.6 * step(data.x), b + 0.6 * step(data.x)] : undefined }, y: { range: (_, __, max) => [0, Math.max(max * 1.08, 4)] } },
      axes: [
        { ...axis, grid: { show: false }, splits: () => data.x.filter((_, i) => i % every === 0), values: label },
        { ...axis, size: 64, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7, 1e8, 1e9], values: (_, v) => v.map((n) => n.toLocaleString("en")) },
      ],
      series: [{}, ...lines],
      plugins: [tooltip(data)],
    }, [data.x, ...data.series], place));
  }

  const step = (x) => (x.length > 1 ? x[1] - x[0] : 1);

  function tooltip(data) {
    let box;
    return {
      hooks: {
        init: (u) => {
          box = document.createElement("div");
          box.className = "chart-tip card";
          box.hidden = true;
          u.over.append(box);
          u.over.addEventListener("mouseleave", () => { box.hidden = true; });
        },
        setCursor: (u) => {
          const n = u.cursor.idx;
          if (n == null || u.cursor.left < 0) { box.hidden = true; return; }
          const lines = [data.labels[n], ...data.names.map((name, i) => `${name}: ${data.texts[i][n]}`)];
          box.replaceChildren(...lines.map((text, i) => {
            const line = document.createElement(i === 0 ? "strong" : "div");
            line.textContent = text;
            return line;
          }));
          box.hidden = false;
          const left = u.valToPos(u.data[0][n], "x");
          box.style.left = `${Math.min(Math.max(left + 12, 0), Math.max(u.over.clientWidth - box.offsetWidth, 0))}px`;
          box.style.top = "4px";
        },
      },
    };
  }

  const all = () => document.querySelectorAll("figure[data-chart]").forEach(draw);
  let later;
  const redraw = () => { clearTimeout(later); later = setTimeout(all, 100); };
  addEventListener("resize", redraw);
  document.addEventListener("themechange", all);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  document.addEventListener("htmx:afterSwap", redraw);
  all();
})();
