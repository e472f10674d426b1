// What the pointer, or an arrow key, reads in a chart: all series at one place.
"use strict";

// Of each series that is shown the point at the place nearest to the pointer; of curves, whose
// places differ, the point nearest to it.
Chart.Interaction.modes.column = (chart, event) => {
  const { x } = Chart.helpers.getRelativePosition(event, chart);
  const near = chart.getSortedVisibleDatasetMetas().flatMap((meta) => {
    let best = null;
    meta.data.forEach((point, index) => {
      const away = Math.abs(point.x - x);
      if (Number.isFinite(away) && (!best || away < best.away)) best = { element: point, datasetIndex: meta.index, index, away };
    });
    return best ? [best] : [];
  });
  if (!near.length) return [];
  const at = near.reduce((a, b) => (b.away < a.away ? b : a)).element.x;
  return near.filter((one) => Math.abs(one.element.x - at) < (chart.data.curves ? 24 : 1));
};

// Beside the place, at the height of the pointer.
Chart.Tooltip.positioners.column = (items, pointer) => (items.length ? { x: items[0].element.x, y: pointer.y } : false);

// A line through the place that is read.
const guide = {
  id: "guide",
  beforeDatasetsDraw(chart) {
    const [first] = chart.tooltip?.getActiveElements() ?? [];
    if (!first || chart.options.interaction.mode !== "column") return;
    const { ctx, chartArea: area } = chart;
    ctx.save();
    ctx.strokeStyle = paint("bound");
    ctx.beginPath();
    ctx.moveTo(first.element.x, area.top);
    ctx.lineTo(first.element.x, area.bottom);
    ctx.stroke();
    ctx.restore();
  },
};

// What arrow keys step through: the elements that are read at a time, from left to right or from the
// top.
function stopsOf(chart) {
  const shown = chart.data.datasets.map((_, i) => i).filter((i) => chart.isDatasetVisible(i));
  const mode = chart.options.interaction.mode;
  if (mode === "column") {
    const places = shown.flatMap((i) => chart.getDatasetMeta(i).data.map((point) => point.x)).filter(Number.isFinite).sort((a, b) => a - b);
    return places.filter((x, i) => i === 0 || x - places[i - 1] >= 1).map((x) => Chart.Interaction.modes.column(chart, { native: null, x }));
  }
  const one = (datasetIndex, index) => ({ datasetIndex, index });
  if (mode === "index") return chart.data.labels.map((_, index) => shown.map((i) => one(i, index)));
  return shown.filter((i) => chart.data.datasets[i].pointRadius !== 0).flatMap((i) => chart.data.datasets[i].data.map((_, index) => [one(i, index)]));
}

// Arrows step through a chart and say what is there.
function readByKeys(chart, said) {
  let place = -1;
  chart.canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const stops = step ? stopsOf(chart) : [];
    if (!stops.length) return;
    event.preventDefault();
    place = (Math.max(place, step < 0 ? 0 : -1) + step + stops.length) % stops.length;
    const active = stops[place].map(({ datasetIndex, index }) => ({ datasetIndex, index }));
    const at = chart.getDatasetMeta(active[0].datasetIndex).data[active[0].index];
    chart.setActiveElements(active);
    chart.tooltip.setActiveElements(active, { x: at.x, y: at.y });
    chart.update("none");
    said.textContent = [...(chart.tooltip.title ?? []), ...(chart.tooltip.body ?? []).flatMap((part) => part.lines)].join(", ");
  });
}
