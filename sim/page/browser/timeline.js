// One iteration: a lane per stream of each worker and server, drawn to scale.
"use strict";

const doings = {
  forward: "forward", backward: "backward, step", compress: "compress, decompress",
  communicate: "messages and exchange", serve: "adding and updating",
  exposed: "exposed communication", wait: "waiting",
};

function timelineDrawing(timeline, zoom, hidden) {
  const gutter = innerWidth < 820 ? 96 : 132;
  const room = Math.min(1120, document.documentElement.clientWidth) - (innerWidth < 820 ? 40 : 64) - gutter;
  const width = Math.max(480, room) * zoom;
  const names = drawn("svg", { width: gutter, "aria-hidden": "true" });
  const plot = drawn("svg", { width, role: "img", "aria-label": timeline.sentence });
  plot.append(drawn("defs", {}, drawn("pattern", { id: "waiting", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    drawn("rect", { width: 6, height: 6, fill: paint("idle") }), drawn("rect", { width: 1.5, height: 6, fill: paint("hatch") }))));
  const place = (ticks) => (ticks / timeline.parts) * (width - 2) + 1;
  let y = 24, last = null;
  const grid = drawn("g");
  plot.append(grid);
  for (const track of timeline.tracks) {
    const main = track.stream === "compute", tall = main ? 18 : 7;
    const isNew = track.name !== last;
    if (isNew) y += last === null ? 0 : 11;
    if (isNew) names.append(drawn("text", { x: gutter - 12, y: y + 13, "text-anchor": "end", class: "label" }, shortened(track.name, innerWidth < 820 ? 11 : 16)));
    last = track.name;
    plot.append(drawn("line", { x1: 0, x2: width, y1: y + tall / 2, y2: y + tall / 2, stroke: paint("line") }));
    for (const [from, to, verb, bucket, iteration] of track.slices) {
      const [name, doing] = timeline.verbs[verb];
      const box = drawn("rect", {
        x: place(from), y, width: Math.max(0.7, place(to) - place(from) - (place(to) - place(from) > 3 ? 0.6 : 0)), height: tall,
        fill: doing === "wait" ? "url(#waiting)" : paint(doing), ...(main && doing !== "wait" ? { rx: 1.5 } : {}),
      });
      if (hidden.has(doing)) box.setAttribute("class", "off");
      const seconds = (ticks) => shown((ticks / timeline.parts) * timeline.seconds, "s");
      box.about = () => `${track.name}, ${track.stream}: ${name}\n${seconds(to - from)}, from ${seconds(from)}` +
        (bucket < 0 ? "" : `\nbucket ${bucket}`) + (iteration < 0 ? "" : `, iteration ${iteration}`).replace(/^, /, bucket < 0 ? "\n" : ", ");
      plot.append(box);
      if (main && place(to) - place(from) > name.length * 7 + 8) {
        const fill = doing === "wait" ? paint("muted") : doing === "backward" ? "#fff" : doing === "serve" ? paint("paper") : "#1b1c1f";
        const text = drawn("text", { x: place(from) + 6, y: y + 13, class: "small", style: `fill:${fill};pointer-events:none` }, name);
        plot.append(text);
      }
    }
    y += tall + 2;
  }
  const step = ticksBetween(0, timeline.seconds * 1e3, "linear").map((ms) => ms / 1e3);
  for (const s of step) {
    const x = place((s / timeline.seconds) * timeline.parts);
    grid.append(drawn("line", { x1: x, x2: x, y1: 18, y2: y, stroke: paint("line") }));
    if (x < width - 40) grid.append(drawn("text", { x, y: 12, class: "small", "text-anchor": s ? "middle" : "start" }, s ? shown(s, "s") : "0"));
  }
  for (const svg of [names, plot]) svg.setAttribute("height", y + 4);
  plot.addEventListener("pointermove", (event) => {
    if (event.target.about) showTip(event.target.about(), event.clientX, event.clientY);
    else tip.hidden = true;
  });
  plot.addEventListener("pointerleave", () => { tip.hidden = true; });
  return element("div", { class: "drawing" }, names, element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "the timeline, which scrolls" }, plot));
}

// Seconds of each kind, per track.
function timelineTable(timeline) {
  const kinds = Object.keys(doings).filter((doing) => timeline.verbs.some((verb) => verb[1] === doing));
  const rows = timeline.tracks.map((track) => {
    const sums = Object.fromEntries(kinds.map((kind) => [kind, 0]));
    for (const [from, to, verb] of track.slices) sums[timeline.verbs[verb][1]] += ((to - from) / timeline.parts) * timeline.seconds;
    return [track.name, track.stream, ...kinds.map((kind) => sums[kind])];
  });
  return table([{ title: "who", unit: "text" }, { title: "stream", unit: "text" }, ...kinds.map((kind) => ({ title: doings[kind], unit: "s" }))], rows,
    { caption: "Seconds of the timeline by what was done" });
}

function timelineSection(timelines) {
  let chosen = 0, zoom = 1;
  const hidden = new Set();
  const sentence = element("figcaption"), subject = element("p", { class: "subject" });
  const legend = element("ul", { class: "legend", "aria-label": "what is shown" });
  const holder = element("div"), fold = element("div");
  const draw = () => {
    tip.hidden = true;
    const timeline = timelines[chosen];
    sentence.textContent = timeline.sentence;
    subject.textContent = `${timeline.name}: ${timeline.subject}`;
    const present = Object.keys(doings).filter((doing) => timeline.verbs.some((verb) => verb[1] === doing));
    legend.replaceChildren(...present.map((doing) => legendButton(doings[doing], swatch(doing), !hidden.has(doing), () => {
      if (!hidden.delete(doing)) hidden.add(doing);
      draw();
      [...legend.querySelectorAll("button")][present.indexOf(doing)].focus();
    })));
    holder.replaceChildren(timelineDrawing(timeline, zoom, hidden));
  };
  const choose = (i) => {
    chosen = i;
    draw();
    fold.replaceChildren(folded("Table", () => timelineTable(timelines[chosen])));
  };
  choose(0);
  onRedraw.push(draw);
  const zooms = [1, 2, 4, 8];
  return element("section", { id: "timeline" }, element("h2", {}, "One iteration, worker by worker"),
    subject, element("figure", {}, sentence,
      element("div", { class: "bar" },
        timelines.length > 1 ? menu("Cell", timelines.map((one) => one.name), choose) : null,
        radios("Zoom", zooms.map((z) => z + " ×"), 0, (i) => { zoom = zooms[i]; draw(); })),
      legend, holder, fold));
}
