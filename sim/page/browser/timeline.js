// An iteration, or a few: a lane per stream of each worker and server, drawn to scale.
"use strict";

const doings = {
  forward: "forward", backward: "backward, step", compress: "compress, decompress",
  communicate: "messages and exchange", serve: "adding and updating",
  exposed: "exposed communication", wait: "waiting",
};

const least_view = 1e-3; // of the whole: slices are known to a hundredth of it

// Ticks of a stretch, in its unit, with as many digits as tell them apart.
function timeTicks(from, to) {
  const [unit, name] = to >= 1 ? [1, "s"] : to >= 1e-3 ? [1e-3, "ms"] : [1e-6, "µs"];
  const ticks = ticksBetween(from / unit, to / unit, "linear");
  const decimals = ticks.length > 1 ? Math.min(9, Math.max(0, -Math.floor(Math.log10(ticks[1] - ticks[0]) + 1e-9))) : 3;
  return ticks.map((tick) => ({ s: tick * unit, text: tick === 0 ? "0" : `${tick.toFixed(decimals)} ${name}` }));
}

// What a slice is, for whoever points at it.
function sliceText(timeline, track, [from, to, verb, bucket, iteration]) {
  const seconds = (ticks) => shown((ticks / timeline.parts) * timeline.seconds, "s");
  return `${track.name}, ${track.stream}: ${timeline.verbs[verb][0]}\n${seconds(to - from)}, from ${seconds(from)}` +
    (bucket < 0 ? "" : `\nbucket ${bucket}`) + (iteration < 0 ? "" : `, iteration ${iteration}`).replace(/^, /, bucket < 0 ? "\n" : ", ");
}

// The tracks, one below another: where each is.
function placedTracks(timeline) {
  let y = 24, last = null;
  const tracks = timeline.tracks.map((track) => {
    const isNew = track.name !== last, tall = track.stream === "compute" ? 18 : 7;
    if (isNew && last !== null) y += 11;
    last = track.name;
    y += tall + 2;
    return { track, isNew, tall, y: y - tall - 2 };
  });
  return { tracks, height: y };
}

// What of a track is in view, as boxes with what they say.
function trackBoxes({ track, tall, y }, timeline, view, place, hidden) {
  const boxes = [];
  let end = -1, before = "";
  for (const slice of track.slices) {
    const [name, doing] = timeline.verbs[slice[2]];
    const from = Math.max(place(slice[0]), -1), to = Math.min(place(slice[1]), view.width + 1);
    if (to < 0 || from > view.width || (to - end < 0.3 && doing === before)) continue; // not to be seen
    end = to;
    before = doing;
    const main = tall > 10;
    const box = drawn("rect", {
      x: from, y, width: Math.max(0.7, to - from - (to - from > 3 ? 0.6 : 0)), height: tall,
      fill: doing === "wait" ? "url(#waiting)" : paint(doing), ...(main && doing !== "wait" ? { rx: 1.5 } : {}),
    });
    if (hidden.has(doing)) box.setAttribute("class", "off");
    box.about = () => sliceText(timeline, track, slice);
    boxes.push(box);
    if (main && to - from > name.length * 7 + 8) {
      const fill = doing === "wait" ? paint("muted") : doing === "backward" ? "#fff" : doing === "serve" ? paint("paper") : "#1b1c1f";
      boxes.push(drawn("text", { x: from + 6, y: y + 13, class: "small through", style: `fill:${fill}` }, name));
    }
  }
  return boxes;
}

// Wheel, drag and keys move and scale what is in view.
function moveByHand(plot, view, change) {
  const zoom = (factor, at) => {
    const wide = Math.min(1, Math.max(least_view, (view.to - view.from) / factor)), middle = view.from + at * (view.to - view.from);
    change(middle - at * wide, middle + (1 - at) * wide);
  };
  const move = (part) => change(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));
  const at = (event) => (event.clientX - plot.getBoundingClientRect().left) / view.width;
  // A page that is scrolled over it goes on scrolling, and nobody can zoom out of the whole.
  plot.addEventListener("wheel", (event) => {
    const whole = view.to - view.from >= 1 && event.deltaY > 0;
    if (whole || event.timeStamp - lastScroll < 300) return;
    event.preventDefault();
    event.stopPropagation();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX / view.width);
    else zoom(2 ** (-event.deltaY / 240), at(event));
  }, { passive: false });
  let held = null;
  plot.addEventListener("pointerdown", (event) => { if (event.button === 0) held = { x: event.clientX, from: view.from, to: view.to }; });
  plot.addEventListener("pointermove", (event) => {
    if (!held || Math.abs(event.clientX - held.x) < 3) return;
    plot.setPointerCapture(event.pointerId);
    const part = ((held.x - event.clientX) / view.width) * (held.to - held.from);
    change(held.from + part, held.to + part);
  });
  for (const name of ["pointerup", "pointercancel"]) plot.addEventListener(name, () => { held = null; });
  plot.addEventListener("dblclick", (event) => zoom(2, at(event)));
  plot.addEventListener("keydown", (event) => {
    const does = { "+": () => zoom(2, 0.5), "=": () => zoom(2, 0.5), "-": () => zoom(0.5, 0.5), ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), Home: () => change(0, 1), 0: () => change(0, 1) }[event.key];
    if (!does || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    does();
  });
  return zoom;
}
let lastScroll = -1e9;
addEventListener("wheel", (event) => { lastScroll = event.timeStamp; }, { passive: true });

// The drawing of a stretch of a timeline; `view` has its ends, from 0 to 1.
function timelineDrawing(timeline, view, hidden, told) {
  const narrow = innerWidth < 820, gutter = narrow ? 96 : 132;
  view.width = Math.max(200, Math.min(1120, document.documentElement.clientWidth) - (narrow ? 40 : 64) - gutter);
  const { tracks, height } = placedTracks(timeline);
  const names = drawn("svg", { width: gutter, height: height + 4, "aria-hidden": "true" });
  for (const { track, isNew, y } of tracks)
    if (isNew) names.append(drawn("text", { x: gutter - 12, y: y + 13, "text-anchor": "end", class: "label" }, shortened(track.name, narrow ? 11 : 16)));
  const plot = drawn("svg", { width: view.width, height: height + 4, role: "group", tabindex: "0", class: "plot", "aria-label": timeline.sentence + " Plus and minus zoom, arrows move, Home shows the whole." });
  const waiting = drawn("defs", {}, drawn("pattern", { id: "waiting", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    drawn("rect", { width: 6, height: 6, fill: paint("idle") }), drawn("rect", { width: 1.5, height: 6, fill: paint("hatch") })));
  const lanes = tracks.map(({ tall, y }) => drawn("line", { x1: 0, x2: view.width, y1: y + tall / 2, y2: y + tall / 2, stroke: paint("line") }));
  const grid = drawn("g"), boxes = drawn("g");
  plot.append(waiting, grid, ...lanes, boxes);
  const paintView = () => {
    const place = (part) => ((part / timeline.parts - view.from) / (view.to - view.from)) * view.width;
    const ticks = timeTicks(view.from * timeline.seconds, view.to * timeline.seconds);
    grid.replaceChildren(...ticks.flatMap(({ s, text }) => {
      const x = place((s / timeline.seconds) * timeline.parts);
      return [drawn("line", { x1: x, x2: x, y1: 18, y2: height, stroke: paint("line") }),
        ...(x < view.width - 30 ? [drawn("text", { x, y: 12, class: "small", "text-anchor": x > 24 ? "middle" : "start" }, text)] : [])];
    }));
    boxes.replaceChildren(...tracks.flatMap((one) => trackBoxes(one, timeline, view, place, hidden)));
    told();
  };
  let waits = false;
  const change = (from, to) => {
    const wide = to - from, start = Math.min(Math.max(0, from), 1 - wide);
    Object.assign(view, { from: start, to: start + wide });
    tip.hidden = true;
    if (!waits) requestAnimationFrame(() => { waits = false; paintView(); });
    waits = true;
  };
  const zoom = moveByHand(plot, view, change);
  plot.addEventListener("pointermove", (event) => {
    if (event.target.about && !event.buttons) showTip(event.target.about(), event.clientX, event.clientY);
    else tip.hidden = true;
  });
  plot.addEventListener("pointerleave", () => { tip.hidden = true; });
  paintView();
  return { drawing: element("div", { class: "drawing" }, names, plot), zoom, whole: () => change(0, 1) };
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
    { caption: `${timeline.name}: seconds of the timeline by what was done` });
}

// The timeline of a cell, which can be changed for that of another.
function timelineFigure(timelines, first, which) {
  let chosen = first, live = null;
  const hidden = new Set(), view = { from: 0, to: 1 };
  const sentence = element("figcaption"), subject = element("p", { class: "subject" });
  const legend = element("ul", { class: "legend", "aria-label": "what is shown" });
  const holder = element("div"), fold = element("div"), stretch = element("span", { role: "status" });
  const told = () => {
    const [from, to] = [view.from, view.to].map((part) => part * timelines[chosen].seconds);
    stretch.textContent = view.to - view.from < 1 ? `${shown(from, "s")} to ${shown(to, "s")} of ${shown(timelines[chosen].seconds, "s")}` : `all ${shown(timelines[chosen].seconds, "s")}`;
  };
  const draw = () => {
    tip.hidden = true;
    const timeline = timelines[chosen];
    sentence.replaceChildren(...withWords(timeline.sentence));
    subject.textContent = `${timeline.name}: ${timeline.subject}`;
    const present = Object.keys(doings).filter((doing) => timeline.verbs.some((verb) => verb[1] === doing));
    legend.replaceChildren(...present.map((doing) => legendButton(doings[doing], swatch(doing), !hidden.has(doing), () => {
      if (!hidden.delete(doing)) hidden.add(doing);
      draw();
      [...legend.querySelectorAll("button")][present.indexOf(doing)].focus();
    })));
    live = timelineDrawing(timeline, view, hidden, told);
    holder.replaceChildren(live.drawing);
  };
  const choose = (i) => {
    chosen = i;
    Object.assign(view, { from: 0, to: 1 });
    draw();
    fold.replaceChildren(folded("Table", () => timelineTable(timelines[chosen])));
  };
  choose(first);
  onRedraw.push(draw);
  const button = (text, label, click) => {
    const made = element("button", { type: "button", class: "plain", "aria-label": label }, text);
    made.addEventListener("click", click);
    return made;
  };
  return [subject, element("figure", {}, sentence,
    element("div", { class: "bar" },
      timelines.length > 1 ? menu(which, timelines.map((one) => one.name), choose, first) : null,
      element("span", { class: "pick" }, "Zoom", button("−", "zoom out", () => live.zoom(0.5, 0.5)), button("+", "zoom in", () => live.zoom(2, 0.5)), button("whole", "the whole timeline", () => live.whole()), stretch)),
    legend, holder, fold)];
}

// The best cell, and below it the slowest, in which more is waited for.
function timelineSection(timelines) {
  return element("section", { id: "timeline" }, element("h2", {}, "What each worker does, and when"),
    ...timelineFigure(timelines, 0, "Cell"), ...(timelines.length > 1 ? timelineFigure(timelines, timelines.length - 1, "Beside it") : []),
    element("p", { class: "note tight hint" }, "Drag to move; wheel, + and − zoom; ← and → move, Home shows the whole."));
}
