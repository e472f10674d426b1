// Builds the page of the data.
"use strict";

const onRedraw = []; // when colours or the width have changed
let chooseCase = null; // where there are several: shows the case of this number
let caseNow = 0;

// Who is first in a case, in four figures.
function showFacts(holder, best, isAlone) {
  holder.replaceChildren(...(best ? [
    element("dl", { class: "facts", "aria-label": best.name }, ...best.facts.map((fact) => element("div", {}, element("dt", {}, ...withWords(fact.name)), element("dd", {}, fact.value)))),
    ...(isAlone ? [] : [element("p", { class: "note" }, best.name + ": " + best.bottleneck + ".")])] : []));
}

// Who is first in each case: a bar chooses it.
function casesSection(cases) {
  const most = Math.max(...cases.map((one) => one.best?.samples_per_s ?? 0));
  const bar = (one, i) => {
    const best = one.best, part = best ? best.samples_per_s / most : 0;
    const button = element("button", { type: "button", class: "casebar" }, element("span", { class: "of" }, one.name), element("span", { class: "winner" }, best ? best.in_case + (best.ties_with ? `, a tie with ${best.ties_with} more` : "") : "no candidate"),
      element("span", { class: "track" }, element("span", { class: "fill", style: `width:${Math.max(0.4, 100 * part)}%` })), element("span", { class: "number" }, best ? shown(best.samples_per_s, "samples/s") : ""));
    showsCase(button, i);
    button.addEventListener("click", () => chooseCase(i));
    return element("li", {}, button);
  };
  return element("section", { id: "cases" }, element("h2", {}, "Who is first in each case"),
    folded(`${cases.length} cases; a bar shows its own below`, () => element("ol", { class: "casebars" }, ...cases.map(bar)), cases.length <= 24));
}

function header(data, facts) {
  const sentences = data.lead;
  document.title = sentences[0];
  return element("header", {}, element("p", { class: "brand" }, "Syncline" + (data.measured ? "" : " · " + shown(data.simulations, "") + (data.simulations === 1 ? " simulation" : " simulations"))),
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

// Holds the sections of the case that is shown, in their order, and shows it.
function caseHolder(data, facts) {
  const before = element("div"), middle = element("div"), after = element("div"); // around its timelines
  const fixed = onRedraw.length;
  const ofCase = (section, subject) => { // every figure says what it is of, also cut out or in print
    section.querySelector("h2").after(element("p", { class: "subject" }, subject));
    return anchored(section);
  };
  const show = (i) => {
    const { charts, subject, best } = data.cases[i];
    caseNow = i;
    onRedraw.length = fixed;
    for (const id of [...liveCharts.keys()]) drop(id);
    const made = caseSections(charts);
    for (const one of made) ofCase(one.section, subject);
    const isFirst = (one) => ["scaling", "learning", "breakdown"].includes(one.section.id);
    before.replaceChildren(...made.filter(isFirst).map((one) => one.section));
    after.replaceChildren(...made.filter((one) => !isFirst(one)).map((one) => one.section));
    const timelines = data.timelines.filter((one) => one.case === i);
    middle.replaceChildren(...(timelines.length ? [anchored(timelineSection(timelines))] : []));
    for (const one of made) one.draw();
    showFacts(facts, best, data.cells === 1);
    markCase();
  };
  return { parts: [before, middle, after], show };
}

function workersSection(workers) {
  return element("section", { id: "workers" }, element("h2", {}, "Worker by worker"),
    folded("Where the iterations of each go", () => table(workers.columns, workers.rows, { sortable: true, caption: "Workers" })));
}

function cellsSection(data) {
  const one = data.cells === 1;
  return element("section", { id: "cells" }, element("h2", {}, one ? "The cell" : `All ${shown(data.cells, "")} cells`),
    folded(one ? "Table" : "Table, the fastest first", () => (one ? onlyCell(data.table) : cellsTable(data.table)), data.cells <= 40),
    element("p", { class: "small" }, data.table.note));
}

function warningsSection(warnings) {
  return element("section", { id: "warnings" }, element("h2", {}, "Warnings"), element("ul", { class: "warnings" }, ...warnings.map((warning) => element("li", {}, warning))));
}

// The bar on which a case is chosen: what is below it is of that case.
function caseBar(cases, facts, show) {
  const pick = menu("Case", cases.map((one) => one.name), (i) => chooseCase(i), caseNow);
  const bar = element("div", { class: "case", id: "case" }, pick, facts);
  chooseCase = (i) => {
    show(i);
    pick.querySelector("select").selectedIndex = i;
    history.replaceState(null, "", addressOf(""));
    bar.scrollIntoView({ block: "nearest" });
  };
  return bar;
}

function redrawOnChange() {
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

function build(data) {
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  useGlossary(data.words);
  const main = document.getElementById("report"), facts = element("div"), several = data.cases.length > 1;
  const add = (section) => main.append(anchored(section));
  main.append(header(data, several ? null : facts));
  document.body.append(tip);
  if (data.agreement) {
    const { section, draw } = agreementSection(data.agreement);
    add(section);
    draw();
  }
  for (const one of data.measured ?? []) {
    const { section, draw } = measuredSection(one);
    add(section);
    draw();
  }
  let show = () => {};
  caseNow = caseInAddress(data.cases.length);
  const bar = several ? caseBar(data.cases, facts, (i) => show(i)) : null;
  if (data.maps.length) {
    const section = mapSection(data.maps);
    section.querySelector("h2").after(element("p", { class: "subject" }, data.subject));
    add(section);
  }
  if (several) {
    add(casesSection(data.cases));
    main.append(bar);
  }
  if (data.cases.length) {
    const holder = caseHolder(data, facts);
    main.append(...holder.parts);
    show = holder.show;
    show(caseNow);
  }
  if (data.workers) add(workersSection(data.workers));
  if (data.table) add(cellsSection(data));
  if (data.warnings.length) add(warningsSection(data.warnings));
  add(wordsSection(main.textContent));
  add(provenanceSection(data.provenance));
  redrawOnChange();
  addEventListener("hashchange", () => {
    if (several && caseInAddress(data.cases.length) !== caseNow) chooseCase(caseInAddress(data.cases.length));
    goTo(placeInAddress());
  });
  goTo(placeInAddress());
}

build(JSON.parse(document.getElementById("data").textContent));
