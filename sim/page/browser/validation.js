// Simulated against measured: a point per row, and a strip of errors per folder.
"use strict";

const errorsOf = (series) => series.x.map((x, i) => series.y[i] / x - 1);
const isFit = (series) => series.dash > 0;
const signed = (part) => (part > 0 ? "+" : part < 0 ? "−" : "") + Math.abs(100 * part).toFixed(Math.abs(part) < 1 ? 1 : 0) + " %";

// Shapes that can be hollow: with seven colours they tell 35 folders apart.
const folderShape = (colour) => ["circle", "rectRot", "triangle", "rect", "rectRounded"][colour % 5];

function pointsOf(series, places) {
  const colour = paint(colourName(series.colour));
  return {
    label: series.name, notes: series.notes, pointStyle: folderShape(series.colour), pointRadius: 4.5, pointHoverRadius: 7,
    data: places.filter((p) => Number.isFinite(p.x) && Number.isFinite(p.y)), backgroundColor: isFit(series) ? "transparent" : colour, borderColor: colour, pointBorderWidth: 1.6, borderWidth: 1.6,
  };
}

function agreementPoints(chart, scale) {
  const all = chart.series.flatMap((series) => [...series.x, ...series.y]).filter((n) => n > 0);
  const most = Math.max(...all) * (scale === "linear" ? 1.05 : 1.3), least = scale === "linear" ? 0 : Math.min(...all) / 1.3;
  const options = common(), into = forward[scale];
  const x = { ...chart.x, scale }, y = { ...chart.y, scale };
  options.scales = { x: axis({ ...x, title: withScale(x) }, least, most, null, true), y: axis({ ...y, title: withScale(y) }, least, most, null, true) };
  options.interaction = { mode: "nearest", intersect: true };
  options.plugins.tooltip.filter = (item) => item.dataset.notes !== undefined;
  options.plugins.tooltip.callbacks = {
    title: ([item]) => item?.dataset.label,
    label: (item) => [item.dataset.notes[item.raw.row], `measured ${shown(item.raw.of[0], "")}, simulated ${shown(item.raw.of[1], "samples/s")}`],
  };
  const datasets = chart.series.map((series) => pointsOf(series, series.x.map((x, i) => ({ x: into(x), y: into(series.y[i]), of: [x, series.y[i]], row: i }))));
  datasets.push({ type: "line", label: "as measured", data: [least, most].map((end) => ({ x: into(end), y: into(end) })), borderColor: paint("bound"), borderWidth: 1.5, borderDash: [4, 4], pointRadius: 0, pointHitRadius: 0 });
  return { type: "scatter", data: { datasets }, options };
}

const folderOf = (series) => series.name.replace(/ \(fit\)$/, "");
const medianOf = (values) => {
  const sorted = [...values].sort((a, b) => a - b), n = sorted.length;
  return (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2;
};

// Of each folder the line on which its rows are, the median of its errors' sizes and the worst one.
function stripRows(chart) {
  const rows = [...new Set(chart.series.map(folderOf))].map((name) => ({ name, median: null, worst: null }));
  for (const series of chart.series.filter((one) => !isFit(one))) {
    const row = rows.find((one) => one.name === folderOf(series)), errors = errorsOf(series);
    row.median = medianOf(errors.map(Math.abs));
    row.worst = errors.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a));
  }
  return rows;
}

// Median and worst of each folder, right of its points.
const stripNumbers = {
  id: "stripNumbers",
  afterDraw(chart) {
    const { ctx, chartArea: area, scales } = chart;
    ctx.save();
    ctx.font = "12.5px " + Chart.defaults.font.family;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    ctx.fillStyle = paint("muted");
    const places = innerWidth < 820 ? [58] : [70, 150];
    places.forEach((x, i) => ctx.fillText(["median", "worst"][i], area.right + x, area.top - 12));
    chart.data.rows.forEach((row, k) => {
      if (row.median === null) return;
      ctx.fillStyle = paint("ink");
      places.forEach((x, i) => ctx.fillText(i ? signed(row.worst) : (100 * row.median).toFixed(1) + " %", area.right + x, scales.y.getPixelForValue(k)));
    });
    ctx.strokeStyle = paint("muted");
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(scales.x.getPixelForValue(0), area.top);
    ctx.lineTo(scales.x.getPixelForValue(0), area.bottom);
    ctx.stroke();
    ctx.restore();
  },
};

// As many percents as have room, by their ratio: twice as fast is as far as half as fast.
const errorTicks = [-0.9, -0.75, -0.5, -0.3, -0.2, -0.1, -0.05, 0, 0.05, 0.1, 0.2, 0.5, 1, 2, 4, 8, 20, 50];

function strip(chart) {
  const rows = stripRows(chart), errors = chart.series.flatMap(errorsOf), options = common(), narrow = innerWidth < 820;
  const ratios = errors.map((error) => Math.log1p(error)).filter(Number.isFinite);
  const least = Math.min(0, ...ratios) - 0.03, most = Math.max(0, ...ratios) + 0.03, room = (most - least) * (narrow ? 0.18 : 0.07);
  const ticks = errorTicks.map((error) => Math.log1p(error)).filter((x) => x >= least && x <= most);
  const kept = ticks.filter((x) => Math.abs(x) < 1e-9); // 0 first, then what is far enough from what is there
  for (const x of ticks.sort((a, b) => Math.abs(b) - Math.abs(a))) if (kept.every((other) => Math.abs(other - x) >= room)) kept.push(x);
  options.layout = { padding: { right: narrow ? 64 : 156, top: 24 } };
  options.scales = {
    x: {
      type: "linear", min: least, max: most, grid: { color: paint("line"), drawBorder: false, drawTicks: false },
      title: { display: true, text: narrow ? "error, by its ratio" : "simulated slower than measured, or faster; by the ratio of both", color: paint("muted"), font: { size: 12.5 } },
      afterBuildTicks: (scale) => { scale.ticks = kept.sort((a, b) => a - b).map((value) => ({ value })); },
      ticks: { color: paint("muted"), padding: 8, maxRotation: 0, autoSkip: false, callback: (value) => signed(Math.expm1(value)).replace(".0", "") },
    },
    y: {
      type: "linear", min: -0.6, max: rows.length - 0.4, reverse: true, grid: { color: paint("line"), drawBorder: false, drawTicks: false },
      afterBuildTicks: (scale) => { scale.ticks = rows.map((_, value) => ({ value })); },
      ticks: { color: paint("ink"), padding: 8, autoSkip: false, font: { size: 13 }, callback: (value) => shortened(rows[value].name, narrow ? 14 : 26) },
    },
  };
  options.interaction = { mode: "nearest", intersect: true };
  options.plugins.tooltip.callbacks = { title: ([item]) => item?.dataset.label, label: (item) => item.dataset.notes[item.raw.row] };
  const datasets = chart.series.map((series) => pointsOf(series, errorsOf(series).map((error, row) => ({ x: Math.log1p(error), y: rows.findIndex((one) => one.name === folderOf(series)), row }))));
  return { type: "scatter", data: { datasets, rows }, options, plugins: [stripNumbers] };
}

function agreementTable(chart) {
  return table([{ title: "folder", unit: "text" }, { title: "row", unit: "text" }, { title: "role", unit: "text" }, { title: "measured", unit: "samples/s" }, { title: "simulated", unit: "samples/s" }, { title: "error", unit: "text" }],
    chart.series.flatMap((series) => errorsOf(series).map((error, i) => [folderOf(series), series.notes[i].replace(/, [^,]*$/, ""), isFit(series) ? "fit" : "report", series.x[i], series.y[i], signed(error)])),
    { caption: chart.title, sortable: true });
}

// Both charts, with one legend.
function agreementSection(chart) {
  const ids = ["agreement", "errors"], holders = ids.map(() => element("div"));
  const hidden = new Set(), rows = stripRows(chart);
  let scale = "log10";
  const show = () => ids.forEach((id) => {
    const live = liveCharts.get(id);
    chart.series.forEach((series, i) => live.setDatasetVisibility(i, !hidden.has(folderOf(series))));
    live.update();
  });
  const told = "Each mark is a row. The numbers are the median size of a folder's errors, and its worst.";
  const draw = () => {
    ids.forEach(drop);
    putChart(holders[0], ids[0], chart.sentence, agreementPoints(chart, scale), { height: Math.min(560, innerWidth - 40) });
    putChart(holders[1], ids[1], told, strip(chart), { height: 96 + 30 * rows.length });
    if (hidden.size) show();
  };
  const legend = element("ul", { class: "legend" }, ...rows.map(({ name }) => {
    const { colour } = chart.series.find((series) => folderOf(series) === name);
    return legendButton(name, pointMark(colour, false), true, (event) => {
      if (!hidden.delete(name)) hidden.add(name);
      event.currentTarget.setAttribute("aria-pressed", !hidden.has(name));
      show();
    });
  }));
  if (chart.series.some(isFit)) legend.append(element("li", {}, element("span", { class: "pick" }, pointMark(0, true), "hollow: chose factors, and is no test")));
  onRedraw.push(draw);
  const section = element("section", { id: "agreement" }, element("h2", {}, chart.title),
    element("figure", {}, element("figcaption", {}, ...withWords(chart.sentence)), element("div", { class: "bar" }, radios("Scale", ["log", "linear"], 0, (i) => { scale = ["log10", "linear"][i]; draw(); })),
      legend, holders[0], folded("Table", () => agreementTable(chart))),
    element("figure", { id: "errors" }, element("h3", {}, "Errors by folder"), element("figcaption", {}, told), holders[1], folded("Table", () =>
      table([{ title: "folder", unit: "text" }, { title: "median of sizes", unit: "%" }, { title: "worst", unit: "text" }], rows.map((row) => [row.name, row.median, row.worst === null ? "" : signed(row.worst)]), { caption: "Errors by folder" }))));
  return { section, draw };
}
