// Marks beside names: what a legend's entry is in the chart, with its shape.
"use strict";

function swatch(name, hollow = false) {
  const box = drawn("svg", { width: 14, height: 14, "aria-hidden": "true" });
  if (name === "wait")
    box.append(drawn("rect", { width: 14, height: 14, rx: 2, style: "fill:var(--idle);stroke:var(--hatch)" }), drawn("path", { d: "M2 12L12 2M-1 5L5 -1M9 15L15 9", style: "stroke:var(--hatch);stroke-width:1.5" }));
  else if (hollow) box.append(drawn("rect", { x: 1, y: 1, width: 12, height: 12, rx: 2, style: `fill:none;stroke:var(--${name});stroke-width:2` }));
  else box.append(drawn("rect", { width: 14, height: 14, rx: 2, style: `fill:var(--${name})` }));
  return box;
}

// Shapes of Chart.js's points, around 0 0.
const shapes = {
  circle: "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z",
  rectRot: "M0 -5L5 0L0 5L-5 0Z",
  triangle: "M0 -5L4.4 3.2L-4.4 3.2Z",
  rect: "M-4 -4H4V4H-4Z",
  rectRounded: "M-2 -4H2Q4 -4 4 -2V2Q4 4 2 4H-2Q-4 4 -4 2V-2Q-4 -4 -2 -4Z",
  crossRot: "M-3.8 -3.8L3.8 3.8M-3.8 3.8L3.8 -3.8",
  star: "M0 -5V5M-5 0H5M-3.5 -3.5L3.5 3.5M-3.5 3.5L3.5 -3.5",
};
const shapeOf = (colour) => markers[(Math.max(0, colour) + Math.floor(Math.max(0, colour) / 7)) % 7];

const shape = (name, colour, hollow = false) =>
  drawn("path", { d: shapes[name], style: `stroke:var(--${colour});stroke-width:1.6;fill:${hollow ? "none" : `var(--${colour})`}` });

function pointMark(colour, hollow) {
  const mark = shape(folderShape(colour), colourName(colour), hollow);
  mark.setAttribute("transform", "translate(7 7)");
  return drawn("svg", { width: 14, height: 14, "aria-hidden": "true" }, mark);
}

// As the line is drawn: with its dashes and, where it has any, its points.
function lineMark(series, curves) {
  const bound = series.colour < 0, name = colourName(series.colour);
  const svg = drawn("svg", { width: 30, height: 14, "aria-hidden": "true" },
    drawn("line", { x1: 0, x2: 30, y1: 7, y2: 7, "stroke-dasharray": (bound ? [4, 4] : dashes[series.dash % 4]).join(" "), style: `stroke:var(--${name});stroke-width:2.25` }));
  if (!bound && !curves) {
    const mark = shape(shapeOf(series.colour), name);
    mark.setAttribute("transform", "translate(15 7)");
    svg.append(mark);
  }
  return svg;
}

function legendButton(name, mark, pressed, click) {
  const button = element("button", { type: "button", "aria-pressed": pressed }, mark, name);
  button.addEventListener("click", click);
  return element("li", {}, button);
}
