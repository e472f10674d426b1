// What was measured beside what a scenario gives: a line with both, and the causes with what each
// alone would give.
"use strict";

// How values of this part are drawn: what of a duration, its unit, and in which words.
function measuredScale(one) {
  if (!one.shows) return { of: (d) => d.throughput_samples_per_s, unit: "samples/s", title: "What was measured", words: "samples/s of all workers" };
  if (one.shows === "latency") return { of: (d) => d.time_s, unit: "s", title: `Latency: ${shown(one.bytes, "B")} by ${one.exchange}`, words: "seconds of an all-reduce" };
  return { of: (d) => d.busbw_Bps, unit: "B/s", title: `Bandwidth: ${shown(one.bytes, "B")} by ${one.exchange}`, words: "bus bandwidth" };
}

const inUnit = (value, unit) => (unit === "B/s" ? shown(value, "B") + "/s" : shown(value, unit));

// Marks on a line from 0, with their names: measured below it, the others above, where there is room.
function measuredLine(one, { of, unit, words }, width) {
  const given = ["scenario", "nominal", "typical"].filter((name) => one[name]).map((name) => ({ names: [name], value: of(one[name]) }));
  const above = [];
  for (const mark of given) {
    const same = above.find((other) => Math.abs(other.value / mark.value - 1) < 1e-3);
    if (same) same.names.push(...mark.names);
    else above.push(mark);
  }
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "600 13px " + Chart.defaults.font.family;
  const wideOf = (text) => pen.measureText(text).width;
  const measured = of(one.measured), ends = [one.prediction_low_samples_per_s, one.prediction_high_samples_per_s].filter((end) => end);
  const most = 1.08 * Math.max(measured, ...ends, ...above.map((mark) => mark.value));
  const place = (value) => 8 + ((width - 16) * value) / most;
  const levels = []; // of texts above the line: where each level is taken
  const texts = above.sort((a, b) => a.value - b.value).map(({ names, value }) => {
    const text = `${names.join(", ")} ${inUnit(value, unit)}`, wide = wideOf(text), x = Math.min(Math.max(place(value) - wide / 2, 0), width - wide);
    let level = levels.findIndex((taken) => taken < x - 12);
    if (level < 0) level = levels.length;
    levels[level] = x + wide;
    return { text, x, at: place(value), level };
  });
  const y = 30 + 20 * levels.length;
  const svg = drawn("svg", { width, height: y + 52, role: "img", "aria-label": `${words}: measured ${inUnit(measured, unit)}; ${texts.map((one) => one.text).join("; ")}` });
  const line = (x1, y1, x2, y2, style) => svg.append(drawn("line", { x1, y1, x2, y2, style }));
  if (ends.length === 2) svg.append(drawn("rect", { x: place(ends[0]), y: y - 9, width: place(ends[1]) - place(ends[0]), height: 18, rx: 3, style: "fill:var(--communicate);opacity:.22" }));
  line(place(0), y, width - 8, y, "stroke:var(--bound);stroke-width:1.5");
  let taken = -8; // up to here by the numbers of ticks
  for (const tick of ticksBetween(0, most, "linear")) {
    const number = tick === 0 ? "0" : inUnit(tick, unit), x = Math.max(0, place(tick) - wideOf(number) / 2);
    line(place(tick), y, place(tick), y + 5, "stroke:var(--bound)");
    if (x < taken + 8 || x + wideOf(number) > width) continue;
    taken = x + wideOf(number);
    svg.append(drawn("text", { x, y: y + 46, class: "small" }, number));
  }
  for (const { text, x, at, level } of texts) {
    line(at, y - 13 - 20 * level, at, y + 9, "stroke:var(--ink);stroke-width:2");
    svg.append(drawn("text", { x, y: y - 18 - 20 * level, class: "label" }, text));
  }
  svg.append(drawn("circle", { cx: place(measured), cy: y, r: 6, style: "fill:var(--c1)" }));
  const text = `measured ${inUnit(measured, unit)}`, wide = wideOf(text);
  svg.append(drawn("text", { x: Math.min(Math.max(place(measured) - wide / 2, 0), width - wide), y: y + 27, class: "label", style: "font-weight:600" }, text));
  return svg;
}

// A cause: what it is, a bar of what it alone gives with a mark where measured is, and what to look at.
function causeItem(cause, one, { of, unit }) {
  const measured = of(one.measured), gives = cause.gives ? of(cause.gives) : null;
  const most = 1.04 * Math.max(measured, of(one.scenario), ...one.causes.filter((other) => other.gives && other.reach === "enough").map((other) => of(other.gives)));
  const part = (value) => `${Math.min(100, (100 * value) / most)}%`;
  return element("li", { class: "cause" },
    element("span", { class: "name" }, cause.name, cause.likelihood ? element("small", {}, cause.likelihood) : ""),
    element("span", { class: "track" }, ...(gives === null ? [] : [element("span", { class: "fill", style: `width:${part(gives)}` })]), element("span", { class: "mark", style: `left:${part(measured)}` })),
    element("span", { class: "number" }, gives === null ? "" : inUnit(gives, unit)),
    element("span", { class: "words" }, ...withWords(cause.sentence), ...(cause.same_as ? [`; as long as ${cause.same_as}`] : []), ...(cause.look_at && cause.reach === "enough" ? [element("br"), element("em", {}, "Look at: "), cause.look_at] : [])));
}

function firstToTry(one) {
  const first = one.causes.filter((cause) => (one.not_told_apart.length ? one.not_told_apart.includes(cause.name) : cause === one.causes[0]));
  const looks = [...new Set(first.map((cause) => cause.look_at))];
  return [element("h3", {}, "What to try first"),
    element("p", { class: "note tight" }, one.not_told_apart.length ? `As likely as each other by this alone, which cannot tell them apart: ${one.not_told_apart.join(", ")}. To tell them apart, look at:` : "Look at:"),
    element("ul", { class: "tried" }, ...looks.map((look) => element("li", {}, look)))];
}

function measuredTable(one, { of, unit, title, words }) {
  const rows = ["measured", "scenario", "nominal", "typical"].filter((name) => one[name]).map((name) => [name, of(one[name])]);
  const ends = one.prediction_low_samples_per_s ? [["prediction interval, least", one.prediction_low_samples_per_s], ["prediction interval, most", one.prediction_high_samples_per_s]] : [];
  const unitOfTable = unit === "B/s" ? "B" : unit;
  return table([{ title: "of", unit: "text" }, { title: unit === "B/s" ? words + ", a second" : words, unit: unitOfTable }], [...rows, ...ends], { caption: title });
}

function measuredSection(one) {
  const scale = measuredScale(one), holder = element("div", { class: "drawing" });
  const draw = () => holder.replaceChildren(measuredLine(one, scale, holder.clientWidth || 600));
  onRedraw.push(draw);
  const enough = one.causes.filter((cause) => cause.reach === "enough"), others = one.causes.filter((cause) => cause.reach !== "enough");
  const list = (causes) => element("ol", { class: "causes" }, ...causes.map((cause) => causeItem(cause, one, scale)));
  const band = one.prediction_low_samples_per_s ? " The band is the prediction interval, in which 90 % of published measurements with such an efficiency lie." : "";
  const section = element("section", { id: one.shows ?? "measured" }, element("h2", {}, scale.title),
    element("figure", {}, element("figcaption", {}, ...withWords(`Difference: ${one.difference}.${band}`)), holder, folded("Table", () => measuredTable(one, scale))),
    ...(enough.length ? firstToTry(one) : []),
    ...(one.causes.length ? [element("h3", {}, "What by itself would take as long, the likeliest first"), element("p", { class: "note tight" }, "A bar is what the cause alone would give, the mark what was measured.")] : []),
    ...(one.causes.length && !enough.length ? [element("p", {}, "None of what is known here.")] : [list(enough)]),
    ...(others.length ? [folded("What is not enough by itself, or too much", () => list(others))] : []));
  return { section, draw };
}
