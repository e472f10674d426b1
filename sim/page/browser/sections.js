// The sections of a case: its charts, with what belongs to them.
"use strict";

// A value per row and series.
function chartTable(chart) {
  const caption = chart.title + (chart.variant ? ", " + chart.variant : "");
  if (chart.kind === "lines") {
    const xs = [...new Set(chart.series.flatMap((series) => series.x))].sort((a, b) => a - b);
    return table([{ title: chart.x.title, unit: "" }, ...chart.series.map((series) => ({ title: series.name, unit: chart.y.unit }))],
      xs.map((x) => [x, ...chart.series.map((series) => series.y[series.x.indexOf(x)])]), { caption });
  }
  if (chart.kind === "curves")
    return table([{ title: "of", unit: "text" }, { title: chart.x.title, unit: chart.x.unit }, { title: chart.title, unit: chart.y.unit }],
      chart.series.flatMap((series) => series.x.map((x, i) => [series.name, x, series.y[i]])), { caption });
  if (chart.kind === "columns")
    return table([{ title: "of", unit: "text" }, { title: "staleness", unit: "text" }, { title: "part", unit: "%" }],
      chart.series.flatMap((series) => series.x.map((_, i) => [series.name, series.notes[i], series.y[i]])), { caption });
  const notes = chart.kind === "bars";
  return table([{ title: "cell", unit: "text" }, ...chart.series.map((series) => ({ title: series.name, unit: chart.x.unit })), ...(notes ? [{ title: "busiest links", unit: "text" }] : [])],
    chart.categories.map((name, i) => [name, ...chart.series.map((series) => series.y[i]), ...(notes ? [chart.series[0].notes[i]] : [])]), { caption });
}

const fold = (chart) => folded("Table", () => chartTable(chart));

function drop(id) {
  liveCharts.get(id)?.destroy();
  liveCharts.delete(id);
}

// Not of parts, which are of 100 %, and of nothing that has no logarithm.
const canBeLog = (chart, key) => chart[key].unit !== "%" && chart.series.every((series) => series[key].every((n) => n > 0));

// The chart with the scales that the reader has chosen.
function scaled(chart, scales) {
  const axisOf = (key) => {
    const own = chart[key].scale, scale = scales[key] === "log" ? (own === "linear" ? "log10" : own) : scales[key];
    return scale && canBeLog(chart, key) ? { ...chart[key], scale, switched: scale !== own } : chart[key];
  };
  return { ...chart, x: axisOf("x"), y: axisOf("y") };
}

function scaleChoices(charts, change) {
  return [["x", "Across"], ["y", "Up"]].flatMap(([key, name]) => {
    const chart = charts.find((one) => canBeLog(one, key));
    return chart ? [radios(name, ["log", "linear"], chart[key].scale === "linear" ? 1 : 0, (i) => change(key, ["log", "linear"][i]))] : [];
  });
}

// Charts side by side, with one legend: a click shows or hides a series in all. Of their variants, the last to begin with.
function pairSection(charts, id, title) {
  const hidden = new Set();
  const variants = [...new Set(charts.map((chart) => chart.variant))], ids = [...new Set(charts.map((chart) => chart.id))];
  let chosen = variants.length - 1;
  const scales = {}; // of x and y, where the reader has chosen one
  const legend = element("ul", { class: "legend", "aria-label": "series" });
  const parts = ids.map(() => ({ title: element("h3"), sentence: element("figcaption"), holder: element("div"), tables: element("div") }));
  const show = () => ids.forEach((one) => {
    const live = liveCharts.get(one);
    live?.data.datasets.forEach((set, i) => live.setDatasetVisibility(i, !hidden.has(set.label)));
    live?.update();
  });
  const draw = () => {
    ids.forEach((one, i) => {
      drop(one);
      const chart = charts.find((other) => other.id === one && other.variant === variants[chosen]);
      for (const part of Object.values(parts[i])) part.replaceChildren();
      if (!chart) return;
      parts[i].title.textContent = chart.title;
      parts[i].sentence.replaceChildren(...withWords(chart.sentence));
      putChart(parts[i].holder, one, chart.sentence, lines(scaled(chart, scales)));
      parts[i].tables.append(fold(chart));
    });
    if (hidden.size) show();
  };
  const named = new Set();
  for (const series of charts.flatMap((chart) => chart.series).filter((one) => !named.has(one.name) && named.add(one.name)))
    legend.append(legendButton(series.name, lineMark(series, charts[0].kind === "curves"), true, (event) => {
      if (!hidden.delete(series.name)) hidden.add(series.name);
      event.currentTarget.setAttribute("aria-pressed", !hidden.has(series.name));
      show();
    }));
  onRedraw.push(draw);
  const section = element("section", { id }, element("h2", {}, title),
    element("div", { class: "bar" },
      variants.length > 1 ? radios("Against", variants, chosen, (i) => { chosen = i; draw(); }) : null,
      ...scaleChoices(charts, (key, scale) => { scales[key] = scale; draw(); })), legend,
    element("div", { class: "pair" }, ...parts.map((part) => element("figure", {}, part.title, part.sentence, part.holder, part.tables))));
  return { section, draw };
}

// One of several variants of a chart, the last to begin with.
function variantSection(charts, id) {
  let chosen = charts.length - 1;
  const sentence = element("figcaption"), legend = element("ul", { class: "legend" }), holder = element("div"), tables = element("div");
  const draw = () => {
    const chart = charts[chosen];
    for (const name of [...liveCharts.keys()]) if (name === id || name.startsWith(id + ":")) drop(name);
    sentence.replaceChildren(...withWords(chart.sentence));
    if (chart.kind === "columns") {
      const panels = chart.series.map(() => element("div"));
      holder.replaceChildren(
        element("div", { class: "panels" }, ...chart.series.map((series, i) => element("div", {}, element("h3", {}, swatch(colourName(series.colour)), series.name), panels[i]))),
        element("p", { class: "note" }, `Across: ${chart.x.title}. Up: part ${chart.y.title}.`));
      chart.series.forEach((series, i) => putChart(panels[i], `${id}:${series.name}`, `${series.name}: ${chart.sentence}`, columns(chart, series), { small: true }));
    } else putChart(holder, id, chart.sentence, bars(chart), { height: 64 + 34 * chart.categories.length });
    legend.replaceChildren();
    if (chart.kind === "stack") {
      const live = liveCharts.get(id);
      chart.series.forEach((series, i) => legend.append(legendButton(series.name, swatch(series.name === "waiting" ? "wait" : partColours[series.name]), true, (event) => {
        live.setDatasetVisibility(i, !live.isDatasetVisible(i));
        event.currentTarget.setAttribute("aria-pressed", live.isDatasetVisible(i));
        live.update();
      })));
    }
    tables.replaceChildren(fold(chart));
  };
  onRedraw.push(draw);
  const section = element("section", { id }, element("h2", {}, charts[0].title),
    element("figure", {}, sentence, charts.length > 1 ? element("div", { class: "bar" }, radios("With", charts.map((chart) => chart.variant), chosen, (i) => { chosen = i; draw(); })) : null, legend, holder, tables));
  return { section, draw };
}

function caseSections(charts) {
  const of = (...ids) => charts.filter((chart) => ids.includes(chart.id));
  const made = [];
  if (of("throughput").length) made.push(pairSection(of("throughput", "efficiency"), "scaling", of("throughput")[0].x.title === "workers" ? "How it scales" : "Against " + of("throughput")[0].x.title));
  if (of("loss", "accuracy").length) made.push(pairSection(of("loss", "accuracy"), "learning", "How it learns"));
  for (const id of ["breakdown", "staleness", "links"]) if (of(id).length) made.push(variantSection(of(id), id));
  return made;
}
