// Which choice wins where: a tile per place with the winner's name, and the line where two are as
// fast. The data has the tints, which differ in lightness: they are those of --svg.
"use strict";

// The name in lines that fit into the room; null where it has none.
function linesOfName(name, room, most, widthOf) {
  const lines = [];
  for (const word of name.split(" ")) {
    const longer = lines.length ? lines.at(-1) + " " + word : word;
    if (lines.length && widthOf(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
    if (widthOf(word) > room || lines.length > most) return null;
  }
  return lines;
}

function tileBox(look, attributes) {
  const box = drawn("g", {}, drawn("rect", { ...attributes, rx: 2, fill: look.fill, ...(look.line ? { stroke: look.line, "stroke-dasharray": "3 3" } : {}) }));
  if (look.hatched) box.append(drawn("rect", { ...attributes, rx: 2, fill: "url(#winners)" }));
  return box;
}

const hatching = () => drawn("defs", {}, drawn("pattern", { id: "winners", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
  drawn("rect", { width: 1.5, height: 7, fill: "#fff", "fill-opacity": 0.75 }), drawn("rect", { x: 1.5, width: 1, height: 7, fill: "#1b1c1f", "fill-opacity": 0.6 })));

function tileText(map, tile) {
  const place = `${map.x} ${shown(map.xs[tile.x], "")}, ${map.y} ${shown(map.ys[tile.y], "")}\n`;
  const fastest = `${tile.first}: ${shown(tile.samples_per_s, "samples/s")}`;
  if (!tile.runner_up) return `${place}${fastest}\nnothing else is here`;
  const lead = `${digits(tile.margin, 4)} × ${tile.runner_up}`;
  return tile.winner < 0 ? `${place}tie: ${[tile.first, ...tile.tied].join(", ")}\n${fastest}\n${lead}: no lead` : `${place}${fastest}\n${lead}`;
}

// A tab reaches one tile, arrows the others, Enter the tile's case.
function walkTiles(map, boxes) {
  const at = (x, y) => map.tiles.findIndex((tile) => tile.x === x && tile.y === y);
  boxes.forEach((box, i) => {
    const tile = map.tiles[i];
    box.setAttribute("tabindex", i === 0 ? 0 : -1);
    box.addEventListener("focus", () => {
      const { right, top } = box.getBoundingClientRect();
      showTip(box.about, right, top);
    });
    box.addEventListener("blur", () => { tip.hidden = true; });
    box.addEventListener("click", () => chooseCase?.(tile.case));
    box.addEventListener("keydown", (event) => {
      const [right, up] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [0, 0];
      const next = boxes[at(tile.x + right, tile.y + up)];
      if (event.key === "Enter" || event.key === " ") chooseCase?.(tile.case);
      else if ((right || up) && next) {
        for (const other of boxes) other.setAttribute("tabindex", other === next ? 0 : -1);
        next.focus();
      } else if (!right && !up) return;
      event.preventDefault();
    });
  });
}

function mapDrawing(map, named) {
  const { left, bottom, wide } = mapSizes(map), tall = 38 + 14 * Math.max(...named.map((lines) => lines?.length ?? 1));
  const width = left + wide * map.xs.length, height = tall * map.ys.length + bottom;
  const svg = drawn("svg", { width, height, role: "group", "aria-label": map.sentence + " Arrow keys read tiles." }, hatching());
  const x = (place) => left + wide * (place + 0.5), y = (place) => tall * (map.ys.length - place - 0.5);
  const looks = map.tiles.map((tile) => map.choices[tile.winner] ?? map.tie);
  const boxes = map.tiles.map((tile, i) => {
    const box = tileBox(looks[i], { x: x(tile.x) - wide / 2 + 1.5, y: y(tile.y) - tall / 2 + 1.5, width: wide - 3, height: tall - 3 });
    box.about = tileText(map, tile);
    for (const [key, value] of Object.entries({ class: "tile", role: chooseCase ? "button" : "img", "aria-label": box.about.replaceAll("\n", ", ") })) box.setAttribute(key, value);
    if (chooseCase) showsCase(box, tile.case);
    return box;
  });
  svg.append(...boxes);
  for (const [colour, thick] of [["#fff", 5], ["#1b1c1f", 2]])
    for (const [fromX, fromY, toX, toY] of map.crossings)
      svg.append(drawn("line", { x1: x(fromX), y1: y(fromY), x2: x(toX), y2: y(toY), stroke: colour, "stroke-width": thick, "stroke-linecap": "round", class: "through" }));
  map.tiles.forEach((tile, i) => {
    const choice = map.choices[tile.winner];
    const names = !choice ? ["tie"] : named[tile.winner] ?? [choice.key];
    const lines = choice && tile.runner_up && wide >= 60 ? [...names, digits(tile.margin, 3) + " ×"] : names;
    lines.forEach((line, k) => svg.append(drawn("text", {
      x: x(tile.x), y: y(tile.y) + 4 + 14.5 * (k - (lines.length - 1) / 2), "text-anchor": "middle", class: "through " + (k < names.length ? "winner" : "margin"),
      style: `fill:${looks[i].ink};stroke:${looks[i].fill}`,
    }, line)));
  });
  map.xs.forEach((value, i) => svg.append(drawn("text", { x: x(i), y: height - bottom + 18, "text-anchor": "middle", class: "small" }, shown(value, ""))));
  map.ys.forEach((value, i) => svg.append(drawn("text", { x: left - 8, y: y(i) + 4, "text-anchor": "end", class: "small" }, shown(value, ""))));
  svg.append(drawn("text", { x: left + (width - left) / 2, y: height - 6, "text-anchor": "middle", class: "small" }, map.x));
  svg.append(drawn("text", { x: 0, y: 0, "text-anchor": "middle", class: "small", transform: `translate(12 ${(height - bottom) / 2}) rotate(-90)` }, map.y));
  svg.addEventListener("pointermove", (event) => {
    const box = event.target.closest(".tile");
    if (box) showTip(box.about, event.clientX, event.clientY);
    else tip.hidden = true;
  });
  svg.addEventListener("pointerleave", () => { tip.hidden = true; });
  walkTiles(map, boxes);
  return element("div", { class: "scroll tiles" }, svg);
}

function mapSizes(map) {
  const narrow = innerWidth < 820, left = narrow ? 52 : 76;
  const room = Math.min(1120, document.documentElement.clientWidth) - (narrow ? 40 : 64) - left;
  return { left, bottom: 46, wide: Math.min(170, Math.max(48, room / map.xs.length)) };
}

// Of each choice the lines of its name; all are keys, A, B and so on, where one has no room.
function namesInTiles(map) {
  const measure = document.createElement("canvas").getContext("2d");
  measure.font = "600 13px " + getComputedStyle(document.body).fontFamily;
  const names = map.choices.map((choice) => linesOfName(choice.name, mapSizes(map).wide - 10, 3, (text) => measure.measureText(text).width));
  return names.includes(null) ? names.map(() => null) : names;
}

function mapLegend(map, named) {
  const entry = (look, name) => element("li", {}, element("span", { class: "pick" }, drawn("svg", { width: 18, height: 18, "aria-hidden": "true" }, tileBox(look, { x: 1, y: 1, width: 16, height: 16 })), name));
  const line = drawn("svg", { width: 26, height: 10, "aria-hidden": "true" }, drawn("line", { x1: 0, x2: 26, y1: 5, y2: 5, style: "stroke:var(--ink);stroke-width:2" }));
  return [
    ...map.choices.map((choice, i) => entry(choice, named[i] ? choice.name : `${choice.key}: ${choice.name}`)),
    ...(map.tiles.some((tile) => tile.winner < 0) ? [entry(map.tie, "tie: no lead beyond what is known of it")] : []),
    ...(map.crossings.length ? [element("li", {}, element("span", { class: "pick" }, line, "as fast as each other"))] : []),
  ];
}

function mapTable(map) {
  return table([{ title: map.x, unit: "" }, { title: map.y, unit: "" }, { title: "wins", unit: "text" }, { title: "fastest", unit: "text" }, { title: "samples/s", unit: "samples/s" }, { title: "next", unit: "text" }, { title: "times the next", unit: "" }],
    map.tiles.map((tile) => [map.xs[tile.x], map.ys[tile.y], map.choices[tile.winner]?.name ?? "tie", tile.first, tile.samples_per_s, tile.runner_up, tile.runner_up ? tile.margin : null]), { caption: "Which choice wins where" });
}

function mapSection(maps) {
  let chosen = 0;
  const sentence = element("figcaption"), legend = element("ul", { class: "legend" }), holder = element("div"), fold = element("div");
  const draw = () => {
    const map = maps[chosen], named = namesInTiles(map);
    sentence.replaceChildren(...withWords(map.sentence));
    legend.replaceChildren(...mapLegend(map, named));
    holder.replaceChildren(mapDrawing(map, named));
  };
  const choose = (i) => {
    chosen = i;
    draw();
    fold.replaceChildren(folded("Table", () => mapTable(maps[chosen])));
  };
  choose(0);
  onRedraw.push(draw);
  return element("section", { id: "map" }, element("h2", {}, "Which choice wins where"),
    element("figure", {}, sentence, maps.length > 1 ? element("div", { class: "bar" }, menu("Map of", maps.map((map) => map.name), choose)) : null, legend,
      chooseCase ? element("p", { class: "note tight" }, "A tile shows its case below.") : null, holder, fold));
}
