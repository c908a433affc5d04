// Draws each chart from its own table.
(() => {
  "use strict";
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const font = "12px 'Inter Var', system-ui, sans-serif";
  const drawn = new Map();
  // Steps between grid lines: 1, 2, 5, 10 … up to 64-bit values.
  const gridSteps = Array.from({ length: 19 }, (_, n) => [1, 2, 5].map((m) => m * 10 ** n)).flat();

  function read(figure) {
    const scale = 10 ** (figure.dataset.decimals ?? 0);
    const rows = [...figure.querySelectorAll("tbody tr")];
    const names = [...figure.querySelectorAll("thead th")].slice(1).map((th) => th.textContent);
    const labels = rows.map((row) => row.querySelector("th").textContent);
    const texts = names.map((_, i) => rows.map((row) => row.querySelectorAll("td")[i].textContent));
    const x = rows.map((row, i) => Number(row.dataset.at) || i);
    const series = names.map((_, i) => rows.map((row) => Number(row.querySelectorAll("td")[i].dataset.value) / scale));
    return { names, labels, texts, x, series, unit: figure.dataset.unit ?? "" };
  }

  function draw(figure) {
    const place = figure.querySelector(".chart-canvas");
    const data = read(figure);
    if (data.x.length === 0) return;
    figure.dataset.drawn = "1";
    drawn.get(figure)?.destroy();
    const bars = figure.dataset.chart === "bars";
    // Where a day is only a few pixels wide, straight lines replace curves.
    const dense = data.x.length > place.clientWidth / 4;
    const axis = {
      stroke: style("--tblr-secondary"),
      grid: { stroke: style("--grid"), width: 1 },
      ticks: { show: false },
      font,
    };
    const lines = data.names.map((name, i) => ({
      label: name,
      stroke: style(`--line-${i + 1}`),
      width: dense ? 1.5 : 2,
      dash: i === 1 ? [6, 4] : undefined,
      fill: bars ? style(`--line-${i + 1}`) : i === 0 ? style("--fill-1") : undefined,
      paths: bars ? uPlot.paths.bars({ size: [0.6, 48] }) : dense ? uPlot.paths.linear() : uPlot.paths.spline(),
      points: { show: !bars && data.x.length <= 45, size: 5, fill: style("--tblr-bg-surface") },
    }));
    const brief = (n) => data.unit + (data.unit && "\u00a0") + n.toLocaleString("en", { notation: n >= 1e5 ? "compact" : "standard" });
    drawn.set(figure, new uPlot({
      ...room(place),
      padding: [8, 20, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: false, y: false },
        points: { size: 8, fill: (_, i) => style(`--line-${i}`) },
        // Move from day to day, not between days.
        move: (u, left, top) => [left < 0 ? left : Math.round(u.valToPos(data.x[u.posToIdx(left)], "x")), top],
      },
      scales: { x: { time: false, range: bars ? (_, a, b) => [a - 0.6 * step(data.x), b + 0.6 * step(data.x)] : undefined }, y: { range: (_, __, max) => [0, Math.max(max * 1.08, 4)] } },
      axes: [
        {
          ...axis,
          size: 32,
          grid: { show: false },
          splits: (u) => {
            const every = Math.ceil((data.x.length * (widest(u, data.labels) + 20)) / (u.over.clientWidth || place.clientWidth));
            return data.x.filter((_, i) => i % every === 0);
          },
          values: (_, splits) => splits.map((at) => data.labels[data.x.indexOf(at)]),
        },
        {
          ...axis,
          space: (u) => Math.max(28, u.height / 9),
          size: (u, values) => widest(u, values ?? []) + 14,
          incrs: gridSteps,
          values: (_, splits) => splits.map(brief),
        },
      ],
      series: [{}, ...lines],
      plugins: [tooltip(data)],
    }, [data.x, ...data.series], place));
  }

  const room = (place) => ({ width: place.clientWidth, height: place.clientHeight });
  const step = (x) => (x.length > 1 ? x[1] - x[0] : 1);

  function widest(u, texts) {
    u.ctx.save();
    u.ctx.font = font;
    const width = Math.max(0, ...texts.map((text) => u.ctx.measureText(text).width));
    u.ctx.restore();
    return Math.ceil(width);
  }

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
            if (i > 0) {
              const mark = document.createElement("span");
              mark.className = `chart-mark chart-mark-${i}`;
              line.append(mark);
            }
            line.append(text);
            return line;
          }));
          box.hidden = false;
          // Beside the line, on the side with more room.
          const at = u.valToPos(u.data[0][n], "x");
          const right = at + 12 + box.offsetWidth <= u.over.clientWidth;
          box.style.left = `${Math.max(right ? at + 12 : at - 12 - box.offsetWidth, 0)}px`;
          box.style.top = "4px";
        },
      },
    };
  }

  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => {
    const plot = drawn.get(target.closest("figure"));
    const { width, height } = room(target);
    if (plot && width > 0 && (width !== plot.width || height !== plot.height)) plot.setSize({ width, height });
  }));
  // Draw new charts only, so that nothing flickers when another part of the page changes.
  const find = () => {
    drawn.forEach((plot, figure) => {
      if (figure.isConnected) return;
      plot.destroy();
      sizes.unobserve(figure.querySelector(".chart-canvas"));
      drawn.delete(figure);
    });
    document.querySelectorAll("figure[data-chart]").forEach((figure) => {
      if (drawn.has(figure)) return;
      draw(figure);
      sizes.observe(figure.querySelector(".chart-canvas"));
    });
  };
  const recolour = () => drawn.forEach((_, figure) => draw(figure));
  new MutationObserver(recolour).observe(document.documentElement, { attributeFilter: ["data-bs-theme"] });
  document.addEventListener("htmx:afterSettle", find);
  find();
})();
