// Builds the page of the data.
"use strict";

const onRedraw = []; // when colours or the width have changed

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

// Charts side by side, with one legend: a click shows or hides a series in all. Of their variants, the last to begin with.
function pairSection(charts, id, title) {
  const hidden = new Set();
  const variants = [...new Set(charts.map((chart) => chart.variant))], ids = [...new Set(charts.map((chart) => chart.id))];
  let chosen = variants.length - 1;
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
      parts[i].sentence.textContent = chart.sentence;
      putChart(parts[i].holder, one, chart.sentence, lines(chart));
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
    variants.length > 1 ? element("div", { class: "bar" }, radios("Against", variants, chosen, (i) => { chosen = i; draw(); })) : null, legend,
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
    sentence.textContent = chart.sentence;
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

// Who is first in a case, in four figures.
function showFacts(holder, best, isAlone) {
  holder.replaceChildren(...(best ? [
    element("dl", { class: "facts", "aria-label": best.name }, ...best.facts.map((fact) => element("div", {}, element("dt", {}, fact.name), element("dd", {}, fact.value)))),
    ...(isAlone ? [] : [element("p", { class: "note" }, best.name + ": " + best.bottleneck + ".")])] : []));
}

// The address keeps the case: #case=2 is the second.
function caseInAddress(cases) {
  const found = /^#case=(\d+)$/.exec(location.hash);
  return found ? Math.min(Math.max(Number(found[1]), 1), cases) - 1 : 0;
}

function header(data, facts) {
  const sentences = data.lead;
  document.title = sentences[0];
  return element("header", {}, element("p", { class: "brand" }, "Syncline · " + shown(data.simulations, "") + (data.simulations === 1 ? " simulation" : " simulations")),
    element("h1", {}, sentences[0]),
    ...(sentences.length > 1 ? [element("p", { class: "lead" }, sentences.slice(1).join(" "))] : []),
    data.subject ? element("p", { class: "subject" }, data.subject) : null,
    facts,
    element("p", { class: "made" }, data.made.by, ...(data.made.command ? [": ", element("code", {}, data.made.command)] : [])));
}

function provenanceSection(rows) {
  const make = () => {
    const body = element("tbody", {}, ...rows.map(([name, values]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, values.join(" · ")))));
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "provenance" }, element("table", { class: "wrap" }, body));
  };
  return element("section", { id: "provenance" }, element("h2", {}, "Where the numbers come from"), folded("Every option, file and version", make));
}

function build(data) {
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  const main = document.getElementById("report");
  const facts = element("div");
  main.append(header(data, facts));
  const ofCase = (section, subject) => { // every figure says what it is of, also cut out or in print
    section.querySelector("h2").after(element("p", { class: "subject" }, subject));
    return section;
  };
  const before = element("div"), middle = element("div"), after = element("div"); // of the case: around its timelines
  const showCase = (i) => {
    onRedraw.length = fixed;
    for (const id of [...liveCharts.keys()]) drop(id);
    const made = caseSections(data.cases[i].charts);
    for (const one of made) ofCase(one.section, data.cases[i].subject);
    const isFirst = (one) => ["scaling", "learning", "breakdown"].includes(one.section.id);
    before.replaceChildren(...made.filter(isFirst).map((one) => one.section));
    after.replaceChildren(...made.filter((one) => !isFirst(one)).map((one) => one.section));
    const timelines = data.timelines.filter((one) => one.case === i);
    middle.replaceChildren(...(timelines.length ? [timelineSection(timelines)] : []));
    for (const one of made) one.draw();
    showFacts(facts, data.cases[i].best, data.cells === 1);
  };
  if (data.agreement) {
    const { section, draw } = agreementSection(data.agreement);
    main.append(section);
    draw();
  }
  if (data.cases.length > 1)
    main.append(element("div", { class: "bar case" }, menu("Case", data.cases.map((one) => one.name), (i) => {
      history.replaceState(null, "", "#case=" + (i + 1));
      showCase(i);
    }, caseInAddress(data.cases.length))));
  if (data.maps.length) main.append(ofCase(mapSection(data.maps), data.subject));
  main.append(before, middle, after);
  if (data.table)
    main.append(element("section", { id: "cells" }, element("h2", {}, data.cells === 1 ? "The cell" : `All ${shown(data.cells, "")} cells`),
      folded("Table, the fastest first", () => table(data.table.columns, data.table.rows, { sortable: true, caption: "All cells" }), data.cells <= 40),
      element("p", { class: "small" }, data.table.note)));
  if (data.warnings.length)
    main.append(element("section", { id: "warnings" }, element("h2", {}, "Warnings"), element("ul", { class: "warnings" }, ...data.warnings.map((warning) => element("li", {}, warning)))));
  main.append(provenanceSection(data.provenance));
  document.body.append(tip);
  const fixed = onRedraw.length;
  if (data.cases.length) showCase(caseInAddress(data.cases.length));

  let width = innerWidth, waiting = 0;
  const redraw = () => onRedraw.forEach((draw) => draw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("resize", () => {
    if (innerWidth === width) return; // a phone's address bar came or went
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(redraw, 150);
  });
}

build(JSON.parse(document.getElementById("data").textContent));
