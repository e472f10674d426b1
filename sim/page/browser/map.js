// Which choice wins where: a tile per place, and the line where two are as fast.
"use strict";

function mapDrawing(map) {
  const narrow = innerWidth < 820;
  const room = Math.min(1120, document.documentElement.clientWidth) - (narrow ? 40 : 64);
  const left = narrow ? 52 : 76, bottom = 46;
  const wide = Math.min(narrow ? 90 : 110, Math.max(44, (room - left) / map.xs.length)), tall = 46;
  const width = left + wide * map.xs.length, height = tall * map.ys.length + bottom;
  const svg = drawn("svg", { width, height, role: "img", "aria-label": map.sentence });
  const x = (place) => left + wide * (place + 0.5), y = (place) => tall * (map.ys.length - place - 0.5);
  for (const tile of map.tiles) {
    const colour = paint(colourName(map.choices[tile.winner].colour));
    // A lead of a tenth is pale, of two times full.
    const strength = tile.runner_up ? Math.min(0.74, 0.18 + 0.56 * Math.log2(tile.margin)) : 0.6;
    const box = drawn("rect", { x: x(tile.x) - wide / 2 + 1, y: y(tile.y) - tall / 2 + 1, width: wide - 2, height: tall - 2, rx: 2, fill: colour, "fill-opacity": strength });
    box.about = () => `${map.x} ${shown(map.xs[tile.x], "")}, ${map.y} ${shown(map.ys[tile.y], "")}\n${map.choices[tile.winner].name}: ${shown(tile.samples_per_s, "samples/s")}` +
      (tile.runner_up ? `\n${digits(tile.margin, 3)} × ${tile.runner_up}` : "");
    svg.append(box);
  }
  for (const [fromX, fromY, toX, toY] of map.crossings)
    for (const [colour, thick] of [["paper", 5], ["ink", 2]])
      svg.append(drawn("line", { x1: x(fromX), y1: y(fromY), x2: x(toX), y2: y(toY), stroke: paint(colour), "stroke-width": thick, "stroke-linecap": "round", style: "pointer-events:none" }));
  // Above the line: where it passes, tiles are pale, and so is what keeps their text apart from it.
  const passed = (tile) => map.crossings.some(([fromX, fromY, toX, toY]) => [[fromX, fromY], [toX, toY]].some(([a, b]) => Math.abs(a - tile.x) < 0.4 && Math.abs(b - tile.y) <= 0.5));
  for (const tile of map.tiles)
    if (tile.runner_up && wide >= 44)
      svg.append(drawn("text", { x: x(tile.x), y: y(tile.y) + 5, "text-anchor": "middle", class: "label" + (passed(tile) ? " apart" : ""), style: "pointer-events:none" }, digits(tile.margin, 3) + " ×"));
  map.xs.forEach((value, i) => svg.append(drawn("text", { x: x(i), y: height - bottom + 18, "text-anchor": "middle", class: "small" }, shown(value, ""))));
  map.ys.forEach((value, i) => svg.append(drawn("text", { x: left - 8, y: y(i) + 4, "text-anchor": "end", class: "small" }, shown(value, ""))));
  svg.append(drawn("text", { x: left + (width - left) / 2, y: height - 6, "text-anchor": "middle", class: "small" }, map.x));
  svg.append(drawn("text", { x: 0, y: 0, "text-anchor": "middle", class: "small", transform: `translate(12 ${(height - bottom) / 2}) rotate(-90)` }, map.y));
  svg.addEventListener("pointermove", (event) => {
    if (event.target.about) showTip(event.target.about(), event.clientX, event.clientY);
    else tip.hidden = true;
  });
  svg.addEventListener("pointerleave", () => { tip.hidden = true; });
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "the map, which scrolls" }, svg);
}

function mapTable(map) {
  return table([{ title: map.x, unit: "" }, { title: map.y, unit: "" }, { title: "fastest", unit: "text" }, { title: "samples/s", unit: "samples/s" }, { title: "next", unit: "text" }, { title: "times the next", unit: "" }],
    map.tiles.map((tile) => [map.xs[tile.x], map.ys[tile.y], map.choices[tile.winner].name, tile.samples_per_s, tile.runner_up, tile.margin]), { caption: "Which choice wins where" });
}

function mapSection(maps) {
  let chosen = 0;
  const sentence = element("figcaption"), legend = element("ul", { class: "legend" }), holder = element("div"), fold = element("div");
  const draw = () => {
    const map = maps[chosen];
    sentence.textContent = map.sentence;
    legend.replaceChildren(...map.choices.map((choice) => element("li", {}, element("span", { class: "pick" }, swatch(colourName(choice.colour)), choice.name))));
    if (map.crossings.length) legend.append(element("li", {}, element("span", { class: "pick" }, lineMark("ink", []), "as fast as each other")));
    holder.replaceChildren(mapDrawing(map));
  };
  const choose = (i) => {
    chosen = i;
    draw();
    fold.replaceChildren(folded("Table", () => mapTable(maps[chosen])));
  };
  choose(0);
  onRedraw.push(draw);
  return element("section", { id: "map" }, element("h2", {}, "Which choice wins where"),
    element("figure", {}, sentence, maps.length > 1 ? element("div", { class: "bar" }, menu("Case", maps.map((map) => map.name), choose)) : null, legend, holder, fold));
}
