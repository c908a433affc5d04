// Draws each chart from its own table.
(() => {
  "use strict";
  const font = "12px 'Inter Var', system-ui, sans-serif";
  const drawn = new Map();

  // Canvas needs colours without variables or mixtures: let the browser compute them.
  const probe = document.createElement("i");
  probe.hidden = true;
  document.body.append(probe);
  const colour = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };

  function read(figure) {
    const scale = 10 ** (figure.dataset.decimals ?? 0);
    const rows = [...figure.querySelectorAll("tbody tr:not([data-undrawn])")];
    const series = [...figure.querySelectorAll("thead th[data-kind]")].map((th, i) => {
      const cells = rows.map((row) => row.querySelectorAll("td")[i]);
      return {
        name: th.textContent,
        kind: th.dataset.kind,
        texts: cells.map((td) => td.textContent),
        values: cells.map((td) => (td.dataset.value === undefined ? null : Number(td.dataset.value) / scale)),
      };
    });
    // Stacked on the bars.
    const bars = series.find((s) => s.kind === "bars");
    series.filter((s) => s.kind === "stacked").forEach((s) => { s.heights = s.values.map((v, i) => v + bars.values[i]); });
    const soFar = figure.dataset.soFar;
    return {
      series,
      soFar,
      labels: rows.map((row) => row.querySelector("th").textContent.replace(/\s+/g, " ").trim()),
      axis: rows.map((row, i) => (soFar && i === rows.length - 1 ? soFar.replace(/ so far$/, "") : row.dataset.axis)),
      // A step that is not over, or not in the range as a whole, can't be compared with the others.
      open: rows.map((row, i) => row.dataset.partial !== undefined || Boolean(soFar) && i === rows.length - 1),
      unit: figure.dataset.unit ?? "",
    };
  }

  // Grid lines at 0, 250, 500 … with the last one above every value.
  function grid(data, height) {
    const most = Math.max(0, ...data.series.flatMap((s) => s.heights ?? s.values).filter((v) => v !== null));
    const lines = height < 200 ? 3 : 5;
    let step = 1;
    for (let power = 1; most > step * lines; power *= 10) {
      for (step of power === 1 ? [1, 2, 5] : [power, power * 2, power * 2.5, power * 5]) {
        if (most <= step * lines) break;
      }
    }
    const count = Math.max(step === 1 ? 4 : 1, Math.ceil(most / step));
    return Array.from({ length: count + 1 }, (_, i) => i * step);
  }

  const brief = (unit) => (n) => unit + (unit && "\u00a0") + n.toLocaleString("en", { notation: n >= 1e5 ? "compact" : "standard", maximumFractionDigits: 2 });

  const ruler = document.createElement("canvas").getContext("2d");
  function widest(texts) {
    ruler.font = font;
    return Math.ceil(Math.max(0, ...texts.map((text) => ruler.measureText(text).width)));
  }

  // The layers of a series, from back to front. What is not final is drawn apart from what is.
  const layer = { area: 0, stacked: 0.5, bars: 1, earlier: 2, line: 3 };
  function layers(s, data) {
    const open = (i) => data.open[i];
    const heights = s.heights ?? s.values;
    const final = heights.map((v, i) => (open(i) ? null : v));
    if (s.kind === "earlier") {
      return [{ at: layer.earlier, values: s.values, stroke: colour("--chart-earlier"), width: 1.5, dash: [5, 4], points: { show: alone(s.values), size: 6 } }];
    }
    if (s.kind === "bars" || s.kind === "stacked") {
      const name = s.kind === "bars" ? "--chart-bar" : "--chart-stacked";
      const look = { at: layer[s.kind], stroke: colour(name), width: 1, paths: uPlot.paths.bars({ size: [0.55, 28], radius: 0.12 }), points: { show: false } };
      return [
        { ...look, values: final.map((v) => v || null), fill: colour(`${name}-fill`) },
        // A step that is not over has no fill, but hides the bars behind it.
        { ...look, values: heights.map((v, i) => (open(i) && v) || null), fill: colour("--tblr-bg-surface"), dash: [2, 2] },
      ];
    }
    const line = { at: layer.line, stroke: colour("--chart-line"), width: 2 };
    const surface = colour("--tblr-bg-surface");
    const near = (i) => open(i) || open(i - 1) || open(i + 1);
    return [
      { at: layer.area, values: final, fill: colour("--chart-fill"), width: 0, points: { show: false } },
      { ...line, values: final, points: { show: alone(final), size: 7, fill: surface } },
      { ...line, values: s.values.map((v, i) => (near(i) ? v : null)), dash: [2, 4], points: { show: true, size: 8, width: 2, fill: surface, filter: openOnly(data.open) } },
    ];
  }

  // A value without neighbours has no line, so it needs a point.
  const alone = (values) => values.filter((v) => v !== null).length === 1;
  const openOnly = (open) => (u, _, show) => (show ? open.flatMap((is, i) => (is ? [i] : [])) : null);

  function draw(figure, axisWidth) {
    const place = figure.querySelector(".chart-canvas");
    const data = read(figure);
    figure.dataset.drawn = "1";
    drawn.get(figure)?.destroy();
    const lines = grid(data, place.clientHeight);
    const last = data.labels.length - 1;
    const axis = { stroke: colour("--tblr-secondary"), ticks: { show: false }, font };
    const drawings = data.series.flatMap((s) => layers(s, data)).sort((a, b) => a.at - b.at);
    drawn.set(figure, new uPlot({
      ...room(place),
      padding: [data.soFar ? 26 : 10, Math.max(18, widest(data.axis.slice(-1)) / 2), 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: false, y: false },
        points: { show: false },
        // Move from step to step, not between them.
        move: (u, left, top) => [left < 0 ? left : Math.round(u.valToPos(u.posToIdx(left), "x")), top],
      },
      scales: { x: { time: false, range: () => [-0.6, last + 0.6] }, y: { range: () => [0, lines.at(-1)] } },
      axes: [
        {
          ...axis,
          size: 34,
          gap: 8,
          grid: { show: false },
          // The element still has its former width while the chart is resized.
          splits: (u) => labelled(data, u.width - axisWidth),
          values: (_, splits) => splits.map((i) => data.axis[i]),
        },
        { ...axis, size: axisWidth, grid: { stroke: colour("--grid"), width: 1 }, splits: () => lines, values: (_, splits) => splits.map(brief(data.unit)) },
      ],
      series: [{}, ...drawings.map(({ at, values, ...look }) => look)],
      plugins: [tooltip(data), ...(data.soFar ? [now(data.soFar, last)] : [])],
    }, [data.labels.map((_, i) => i), ...drawings.map((d) => d.values)], place));
  }

  // The labels that have room. The last one is always shown if it is not over.
  function labelled(data, width) {
    const count = data.axis.length;
    const every = Math.max(1, Math.ceil((count * (widest(data.axis) + 24)) / width));
    const shown = data.axis.map((_, i) => i).filter((i) => i % every === 0);
    if (!data.soFar) return shown;
    return [...shown.filter((i) => count - 1 - i >= every * 0.8), count - 1];
  }

  const room = (place) => ({ width: place.clientWidth, height: place.clientHeight });

  // The mark above the last step: "Today so far".
  function now(text, last) {
    const mark = document.createElement("div");
    mark.className = "chart-now";
    mark.append(document.createElement("span"));
    mark.firstChild.textContent = text;
    const move = (u) => {
      const at = u.valToPos(last, "x");
      mark.style.left = `${at}px`;
      mark.classList.toggle("is-left", at < 100);
    };
    return { hooks: { init: (u) => u.over.append(mark), draw: move } };
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
          const title = document.createElement("strong");
          title.textContent = data.labels[n];
          const lines = data.series.filter((s) => s.values[n] !== null).map((s) => {
            const line = document.createElement("div");
            const key = document.createElement("span");
            key.className = `chart-key chart-key-${s.kind}`;
            line.append(key, `${s.name}: ${s.texts[n]}`);
            return line;
          });
          box.replaceChildren(title, ...lines);
          box.hidden = false;
          // Beside the line, on the side with more room.
          const at = u.valToPos(n, "x");
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

  // All charts of a page have an axis of the same width, so their plots have the same edges.
  function drawAll(figures) {
    const filled = figures.filter((figure) => figure.querySelector("tbody tr"));
    const all = [...new Set([...drawn.keys(), ...filled])];
    const width = widest(all.flatMap((figure) => {
      const data = read(figure);
      return grid(data, figure.querySelector(".chart-canvas").clientHeight || 272).map(brief(data.unit));
    })) + 16;
    filled.forEach((figure) => draw(figure, width));
  }

  // Draw new charts only, so that nothing flickers when another part of the page changes.
  const find = () => {
    drawn.forEach((plot, figure) => {
      if (figure.isConnected) return;
      plot.destroy();
      sizes.unobserve(figure.querySelector(".chart-canvas"));
      drawn.delete(figure);
    });
    const fresh = [...document.querySelectorAll("figure[data-chart]")].filter((figure) => !drawn.has(figure));
    drawAll(fresh);
    fresh.filter((figure) => drawn.has(figure)).forEach((figure) => sizes.observe(figure.querySelector(".chart-canvas")));
  };
  new MutationObserver(() => drawAll([...drawn.keys()])).observe(document.documentElement, { attributeFilter: ["data-bs-theme"] });
  document.addEventListener("htmx:afterSettle", find);
  find();
})();
