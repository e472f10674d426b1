// Builds the page of the data.
"use strict";

const onRedraw = []; // when colours or the width have changed

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
