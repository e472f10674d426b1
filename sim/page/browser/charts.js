// Charts of the data by Chart.js: lines, bars and columns.
"use strict";

const liveCharts = new Map(); // by what they show, for whoever wants to ask them
const markers = ["circle", "rectRot", "triangle", "rect", "rectRounded", "crossRot", "star"];
const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

const forward = { log2: Math.log2, log10: Math.log10, linear: (x) => x };
const back = { log2: (v) => 2 ** v, log10: (v) => 10 ** v, linear: (v) => v };

// 1, 2 and 5 of each decade, or whole steps, at most about eight.
function ticksBetween(least, most, scale, own) {
  if (own && own.length <= 12) return own;
  const ticks = [];
  if (scale === "linear") {
    const rough = (most - least) / 6, decade = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((x) => x * decade).find((x) => x >= rough);
    for (let i = Math.ceil(least / step - 1e-9); i * step <= most * (1 + 1e-9); ++i) ticks.push(i * step);
    return ticks;
  }
  const wide = Math.log10(most / least);
  for (let decade = Math.floor(Math.log10(least)); decade <= Math.log10(most); ++decade)
    for (const x of wide > 6 ? [1] : wide > 3 ? [1, 3] : [1, 2, 5])
      if (x * 10 ** decade >= least * 0.999 && x * 10 ** decade <= most * 1.001) ticks.push(x * 10 ** decade);
  return ticks.length > 1 ? ticks : ticksBetween(least, most, "linear");
}

const withScale = (of) => `${of.title}, ${of.scale === "linear" ? "linear" : "log"} scale`;

// An axis whose numbers Chart.js sees as logarithms: its own are of base 10 only.
function axis(of, least, most, own, grid) {
  const into = forward[of.scale];
  return {
    type: "linear", min: into(least), max: into(most), border: { display: false },
    title: { display: true, text: of.title, color: paint("muted"), font: { size: 12.5 } },
    grid: { color: paint("line"), drawBorder: false, display: grid, drawTicks: false },
    afterBuildTicks: (scale) => {
      scale.ticks = ticksBetween(least, most, of.scale, own).map((tick) => ({ value: into(tick) }));
    },
    ticks: {
      color: paint("muted"), padding: 8, maxRotation: 0, autoSkipPadding: 10,
      callback: (value) => {
        const number = Number(back[of.scale](value).toPrecision(9));
        return of.unit === "%" ? digits(100 * number, 3) + " %" : shown(number, of.unit === "s" || of.unit === "B" ? of.unit : "");
      },
    },
  };
}

function common() {
  return {
    responsive: true, maintainAspectRatio: false,
    animation: matchMedia("(prefers-reduced-motion: reduce)").matches ? false : { duration: 250 },
    plugins: {
      legend: { display: false },
      tooltip: {
        backgroundColor: paint("ink"), titleColor: paint("paper"), bodyColor: paint("paper"), padding: 10, cornerRadius: 6,
        boxPadding: 5, usePointStyle: true, caretSize: 0, bodyFont: { size: 13 }, titleFont: { size: 13, weight: "600" },
        callbacks: {},
      },
    },
  };
}

// Names beside the ends of lines, moved apart where they would meet. Before each is what its line
// looks like, and a grey stub that leaves the chart towards it.
const endLabels = {
  id: "endLabels",
  afterDatasetsDraw(chart) {
    const { ctx, chartArea: area } = chart;
    const labels = chart.data.datasets
      .map((set, i) => ({ set, meta: chart.getDatasetMeta(i) }))
      .filter(({ set, meta }) => set.endLabel && !meta.hidden && chart.isDatasetVisible(meta.index) && meta.data.length)
      .map(({ set, meta }) => ({ set, x: meta.data.at(-1).x, from: meta.data.at(-1).y, y: meta.data.at(-1).y }))
      .sort((a, b) => a.y - b.y);
    const room = 17;
    for (let i = 1; i < labels.length; ++i) labels[i].y = Math.max(labels[i].y, labels[i - 1].y + room);
    for (let i = labels.length - 1, most = area.bottom; i >= 0; --i, most = labels[i + 1].y - room) labels[i].y = Math.min(labels[i].y, most);
    ctx.save();
    ctx.font = "500 13px " + Chart.defaults.font.family;
    ctx.textBaseline = "middle";
    const stroke = (colour, width, dash, from, to) => {
      Object.assign(ctx, { strokeStyle: colour, lineWidth: width });
      ctx.setLineDash(dash);
      ctx.beginPath();
      ctx.moveTo(...from);
      ctx.lineTo(...to);
      ctx.stroke();
    };
    for (const { set, x, from, y } of labels) {
      if (area.right - x < 2 && Math.abs(y - from) < 3 * room) stroke(paint("bound"), 1, [], [area.right + 7, from], [area.right + 13, y]);
      stroke(set.borderColor, set.borderWidth, set.borderDash, [area.right + 15, y], [area.right + 37, y]);
      if (set.pointRadius) {
        ctx.fillStyle = set.borderColor;
        ctx.setLineDash([]);
        Chart.helpers.drawPoint(ctx, { pointStyle: set.pointStyle, radius: 3.5, borderWidth: 1.5 }, area.right + 26, y);
      }
      ctx.fillStyle = paint(set.bound ? "muted" : "ink");
      ctx.fillText(set.endLabel, area.right + 42, y);
    }
    ctx.restore();
  },
};

// What the repetitions of each line cover, behind all lines.
const bands = {
  id: "bands",
  beforeDatasetsDraw(chart) {
    const { ctx, scales } = chart;
    chart.data.datasets.forEach((set, i) => {
      const ends = (set.bands ?? []).filter((one) => Number.isFinite(one.least) && Number.isFinite(one.most));
      if (!ends.length || !chart.isDatasetVisible(i)) return;
      const place = (one, end) => [scales.x.getPixelForValue(one.x), scales.y.getPixelForValue(one[end])];
      ctx.save();
      ctx.globalAlpha = 0.15;
      ctx.fillStyle = set.borderColor;
      ctx.beginPath();
      for (const one of ends) ctx.lineTo(...place(one, "most"));
      for (const one of [...ends].reverse()) ctx.lineTo(...place(one, "least"));
      ctx.closePath();
      ctx.fill();
      ctx.restore();
    });
  },
};

// The colour of a category beside its name.
const categoryMarks = {
  id: "categoryMarks",
  afterDraw(chart) {
    const colours = chart.data.colours;
    const scale = chart.scales.y;
    scale.ticks.forEach((tick, i) => {
      chart.ctx.fillStyle = paint(colourName(colours[i]));
      chart.ctx.fillRect(scale.left, scale.getPixelForTick(i) - 5, 4, 10);
    });
  },
};

function shortened(name, most) {
  return name.length > most ? name.slice(0, most - 1) + "…" : name;
}

// Of a few points each with its mark, or curves of many.
function lines(chart) {
  const curves = chart.kind === "curves";
  const numbers = (key) => chart.series.flatMap((series) => series[key]).filter((n) => chart[key].scale === "linear" || n > 0);
  const xs = [...new Set(numbers("x"))].sort((a, b) => a - b);
  const ends = chart.series.flatMap((series) => (series.bands ?? []).flat()).filter((n) => chart.y.scale === "linear" || n > 0);
  const ys = [...numbers("y"), ...ends];
  const of = forward[chart.y.scale], at = forward[chart.x.scale];
  const narrow = innerWidth < 820;
  const names = chart.series.map((series) => shortened(series.name, narrow ? 14 : 24));
  const measure = document.createElement("canvas").getContext("2d");
  measure.font = "500 13px " + Chart.defaults.font.family;
  const options = common();
  options.layout = { padding: { right: 48 + Math.max(...names.map((name) => measure.measureText(name).width)), top: 8 } };
  options.interaction = { mode: "column", intersect: false };
  const x = { ...chart.x, title: withScale(chart.x) }, y = { ...chart.y, title: withScale(chart.y) };
  const least = chart.y.switched && chart.y.scale === "linear" ? Math.min(0, ...ys) : Math.min(...ys) - 0.15 * Math.abs(Math.min(...ys));
  options.scales = {
    x: axis(x, xs[0], xs.at(-1), !curves && xs.length > 1 && !(chart.x.switched && chart.x.scale === "linear") ? xs : null, false),
    y: chart.y.unit === "%" ? axis(y, 0, Math.max(1, ...ys), [0, 0.2, 0.4, 0.6, 0.8, 1], true)
      : axis(y, least, Math.max(...ys) + 0.15 * Math.abs(Math.max(...ys)), null, true),
  };
  options.scales.y.afterFit = (scale) => { scale.width = Math.max(scale.width, 56); };
  Object.assign(options.plugins.tooltip, { position: "column", yAlign: "center", caretPadding: 12, itemSort: (a, b) => b.raw.of[1] - a.raw.of[1] });
  options.plugins.tooltip.callbacks = {
    title: ([item]) => (curves ? "after " + shown(item.raw.of[0], chart.x.unit) : said(chart.x.title, item.raw.of[0])),
    label: (item) => {
      const band = chart.series[item.datasetIndex].bands?.[item.dataIndex];
      return `${item.dataset.label}: ${shown(item.raw.of[1], chart.y.unit)}` +
        (band ? ` (${shown(band[0], chart.y.unit)} to ${shown(band[1], chart.y.unit)})` : "");
    },
  };
  const datasets = chart.series.map((series, i) => {
    const colour = paint(colourName(series.colour)), bound = series.colour < 0;
    return {
      label: series.name, endLabel: names[i], bound, borderColor: colour, backgroundColor: colour,
      data: series.x.map((x, k) => ({ x: at(x), y: of(series.y[k]), of: [x, series.y[k]] })),
      borderWidth: bound ? 1.5 : 2.25, borderDash: bound ? [4, 4] : dashes[series.dash % 4], tension: 0,
      pointStyle: shapeOf(series.colour), pointRadius: bound || curves ? 0 : 4, pointHoverRadius: bound ? 3 : 6, pointHitRadius: 8,
      bands: (series.bands ?? []).map(([least, most], k) => ({ x: at(series.x[k]), least: of(least), most: of(most) })),
      clip: false, order: bound ? 1 : 0,
    };
  });
  return { type: "line", data: { datasets, curves }, options, plugins: [bands, guide, endLabels] };
}

// As the timeline shows who stands still.
function hatched() {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const draw = tile.getContext("2d");
  draw.fillStyle = paint("idle");
  draw.fillRect(0, 0, 8, 8);
  draw.strokeStyle = paint("hatch");
  draw.lineWidth = 1.5;
  for (const x of [-8, 0, 8]) {
    draw.moveTo(x - 1, 9);
    draw.lineTo(x + 9, -1);
  }
  draw.stroke();
  return draw.createPattern(tile, "repeat");
}

const partColours = { computation: "backward", compression: "compress", "exposed communication": "exposed", waiting: "hatch" };

function bars(chart) {
  const options = common();
  const stacked = chart.kind === "stack";
  const sums = chart.categories.map((_, i) => chart.series.reduce((sum, series) => sum + series.y[i], 0));
  const most = chart.x.unit === "%" ? 1 : Math.max(...sums);
  options.indexAxis = "y";
  options.layout = { padding: { right: 12 } };
  options.scales = {
    x: { ...axis(chart.x, 0, most, null, true), stacked },
    y: {
      stacked, grid: { display: false, drawBorder: false },
      afterFit: (scale) => { scale.width += 14; },
      ticks: { color: paint("ink"), padding: 4, autoSkip: false, font: { size: 13 }, callback: (i) => shortened(chart.categories[i], innerWidth < 820 ? 16 : 30) },
    },
  };
  options.interaction = { mode: stacked ? "index" : "nearest", axis: "y", intersect: false };
  options.plugins.tooltip.callbacks = stacked
    ? {
        title: ([item]) => `${chart.categories[item.dataIndex]}: ${shown(sums[item.dataIndex], chart.x.unit)}`,
        label: (item) => `${item.dataset.label}: ${shown(item.raw, chart.x.unit)} (${shown(sums[item.dataIndex] ? item.raw / sums[item.dataIndex] : 0, "%")})`,
      }
    : { title: ([item]) => chart.categories[item.dataIndex], label: (item) => chart.series[0].notes[item.dataIndex] ?? shown(item.raw, chart.x.unit) };
  const datasets = chart.series.map((series) => ({
    label: series.name, data: series.y, barThickness: "flex", maxBarThickness: 26, categoryPercentage: 0.78, barPercentage: 1,
    backgroundColor: stacked ? (series.name === "waiting" ? hatched() : paint(partColours[series.name])) : chart.colours.map((colour) => paint(colourName(colour))),
    borderColor: paint("paper"), borderWidth: stacked ? { right: 1 } : 0, borderSkipped: false,
  }));
  return { type: "bar", data: { labels: chart.categories, datasets, colours: chart.colours }, options, plugins: [categoryMarks] };
}

// One series; all of them with the same axes.
function columns(chart, series) {
  const xs = chart.series.flatMap((one) => one.x), options = common();
  const least = Math.min(0, ...xs), most = Math.max(...xs), gap = Math.max(1, (most - least) / 40);
  options.scales = {
    x: axis({ ...chart.x, title: "" }, least - gap, most + gap, null, false),
    y: axis({ ...chart.y, title: "" }, 0, Math.max(...chart.series.flatMap((one) => one.y)), null, true),
  };
  options.scales.x.title.display = options.scales.y.title.display = false;
  const inner = options.scales.y.afterBuildTicks;
  options.scales.y.afterBuildTicks = (scale) => { inner(scale); scale.ticks = scale.ticks.filter((_, i) => i % 2 === 0); };
  options.interaction = { mode: "nearest", axis: "x", intersect: false };
  options.plugins.tooltip.callbacks = {
    title: ([item]) => series.notes[item.dataIndex],
    label: (item) => shown(item.raw.y, chart.y.unit) + " " + chart.y.title,
  };
  const datasets = [{
    label: series.name, data: series.x.map((x, i) => ({ x, y: series.y[i] })), backgroundColor: paint(colourName(series.colour)),
    barThickness: Math.max(2, Math.min(10, 200 / (most - least + 2))),
  }];
  return { type: "bar", data: { datasets }, options };
}

// A canvas with a chart; arrows step through its values and say them.
// Its holder must be on the page: a chart has the size of that.
function putChart(into, id, sentence, config, { height = 0, small = false } = {}) {
  const said = element("span", { class: "unseen", "aria-live": "polite" });
  const area = element("canvas", { role: "img", tabindex: "0", "aria-label": sentence + " Arrow keys read values." });
  const holder = element("div", { class: small ? "canvas small" : "canvas" }, area);
  if (height) holder.style.height = height + "px";
  into.replaceChildren(holder, said);
  const chart = new Chart(area, config);
  readByKeys(chart, said);
  liveCharts.set(id, chart);
}
