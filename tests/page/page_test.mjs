// Reports as their reader uses them:
// node page_test.mjs FOLDER_OF_NODE_MODULES CHROMIUM QUICKSTART HOSTILE MAP VALIDATION LEARNING SEEDS ONE MEASURED
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [modules, chromium, page, hostile, map, validation, learning, seeds, one, measured] = process.argv.slice(2);
const require = createRequire(modules + "/package.json");
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ["--no-sandbox", "--disable-gpu"] });

// Opens a file without a network and calls `look`; whatever the page complains about fails.
async function opened(file, { width, scheme }, look) {
  const tab = await browser.newPage();
  const complaints = [];
  tab.on("pageerror", (error) => complaints.push(error.message));
  tab.on("console", (message) => ["error", "warn"].includes(message.type()) && complaints.push(message.text()));
  tab.on("dialog", (dialog) => { complaints.push("a dialog: " + dialog.message()); dialog.dismiss(); });
  tab.on("request", (request) => request.url().startsWith("http") && complaints.push("asks for " + request.url()));
  await tab.setOfflineMode(true);
  await tab.setViewport({ width, height: 900 });
  await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }]);
  await tab.goto("file://" + file);
  await look(tab);
  assert.deepEqual(complaints, []);
  await tab.close();
}

const chart = (tab, id, question) => tab.evaluate((id, question) => new Function("chart", "return " + question)(liveCharts.get(id)), id, question);
// What axe-core finds fault with, everything unfolded.
async function violations(tab) {
  await tab.evaluate(async () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
    await new Promise((after) => setTimeout(after, 50)); // they are filled then
  });
  await tab.evaluate(axe + ";0");
  return tab.evaluate(async () => (await window.axe.run()).violations.map((one) => one.id + ": " + one.nodes.map((node) => node.html).slice(0, 3).join(" ")));
}
const nextFrame = (tab) => tab.evaluate(() => new Promise((after) => requestAnimationFrame(() => requestAnimationFrame(after))));
const texts = (tab, selector) => tab.$$eval(selector, (all) => all.map((one) => one.textContent));

for (const width of [1280, 390])
  for (const scheme of ["light", "dark"])
    await opened(page, { width, scheme }, async (tab) => {
      assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth), width, "nothing reaches over the side");
      const paper = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(paper === "rgb(255, 255, 255)", scheme === "light");
      // Each chart has its size, its sentence and its table.
      for (const id of ["throughput", "efficiency", "breakdown", "links"]) {
        assert.ok((await chart(tab, id, "chart.width")) > 280, id);
        assert.ok((await chart(tab, id, "chart.data.datasets.length")) > 0, id);
      }
      for (const label of await tab.$$eval("canvas", (all) => all.map((one) => one.getAttribute("aria-label")))) assert.ok(label.length > 30);
      assert.ok((await texts(tab, "h1"))[0].length > 20);
      assert.equal(await tab.evaluate(() => [...document.querySelectorAll("figure")].filter((figure) => !figure.querySelector("details")).length), 0);
    });

await opened(page, { width: 1280, scheme: "light" }, async (tab) => {
  // A click on a legend entry hides its series in both charts, another shows it again.
  const entry = await tab.$("#scaling .legend button");
  for (const visible of [false, true]) {
    await entry.click();
    assert.equal(await entry.evaluate((button) => button.getAttribute("aria-pressed")), String(visible));
    for (const id of ["throughput", "efficiency"]) assert.equal(await chart(tab, id, "chart.isDatasetVisible(0)"), visible);
  }

  // The pointer over a point says its value; so do arrow keys, to whoever listens.
  const point = JSON.parse(await chart(tab, "efficiency", `(() => {
    chart.canvas.scrollIntoView({ block: "center", behavior: "instant" });
    const box = chart.canvas.getBoundingClientRect(), at = chart.getDatasetMeta(1).data.at(-1);
    return JSON.stringify({ x: box.x + at.x, y: box.y + at.y, name: chart.data.datasets[1].label, y1: chart.data.datasets[1].data.at(-1).of[1] });
  })()`));
  await tab.mouse.move(point.x - 3, point.y);
  await tab.mouse.move(point.x, point.y);
  await tab.waitForFunction(() => liveCharts.get("efficiency").tooltip.opacity > 0, { timeout: 3000 });
  const said = await chart(tab, "efficiency", "[...chart.tooltip.title, ...chart.tooltip.body.flatMap((part) => part.lines)].join('; ')");
  assert.match(said, /^8 workers; /);
  const series = await chart(tab, "efficiency", "chart.data.datasets.map((set) => set.label)");
  for (const name of series) assert.match(said, new RegExp(`; ${name}: [\\d.]+ %`), "every series at this x");
  const numbers = [...said.matchAll(/: ([\d.]+) %/g)].map((match) => Number(match[1]));
  assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a), "as they stand, the highest first");
  await tab.focus("#scaling canvas");
  await tab.keyboard.press("ArrowRight");
  assert.match((await texts(tab, "#scaling [aria-live]"))[0], /^1 worker, .*samples\/s, .*ideal: /);

  // Axes say their scale, and change it.
  assert.equal(await chart(tab, "throughput", "chart.options.scales.y.title.text"), "samples/s, log scale");
  const halfway = "chart.scales.y.getPixelForValue(chart.data.datasets[0].data.at(-1).y)";
  const scales = await tab.$$("#scaling .choice");
  await (await scales[1].$("label:last-child")).click();
  assert.equal(await chart(tab, "throughput", "chart.options.scales.y.title.text"), "samples/s, linear scale");
  assert.equal(await chart(tab, "throughput", "chart.data.datasets[0].data[0].y"), await chart(tab, "throughput", "chart.data.datasets[0].data[0].of[1]"));
  assert.ok(Number.isFinite(await chart(tab, "throughput", halfway)));
  await (await scales[0].$("label:last-child")).click();
  assert.equal(await chart(tab, "efficiency", "chart.options.scales.x.title.text"), "workers, linear scale");

  // No leader is longer than the gap between a chart and its names.
  assert.ok(await chart(tab, "throughput", `(() => {
    const far = [], { ctx, chartArea: area } = chart, own = ctx.moveTo;
    ctx.moveTo = function (x, y) { far.push(x); own.call(this, x, y); };
    endLabels.afterDatasetsDraw(chart);
    delete ctx.moveTo;
    return far.length > 4 && far.every((x) => x > area.right);
  })()`));
  await tab.focus("#breakdown canvas");
  await tab.keyboard.press("ArrowRight");
  assert.match((await texts(tab, "#breakdown [aria-live]"))[0], /computation: .* ms \(/);

  // The worker counts of the breakdown are one choice; the sentence follows.
  const before = (await texts(tab, "#breakdown figcaption"))[0];
  await tab.click("#breakdown .choice label");
  assert.notEqual((await texts(tab, "#breakdown figcaption"))[0], before);

  // The timeline: slices that say what they are, of the cell that is chosen.
  await tab.select("#timeline select", "1");
  const fills = await tab.$$eval("#timeline figure:first-of-type .legend rect", (all) => all.map((one) => getComputedStyle(one).fill));
  assert.equal(new Set(fills).size, fills.length, "each entry of the legend has its own colour: " + fills.join(" "));
  const boxes = await tab.$$("#timeline .drawing rect[rx]");
  assert.ok(boxes.length > 10);
  await boxes[0].evaluate((box) => box.scrollIntoView({ block: "center", behavior: "instant" }));
  await boxes[0].hover();
  assert.match((await texts(tab, ".tip"))[0], /^worker \d+, compute: \w+\n[\d.]+ (ms|s|µs), from /);

  // Wheel, keys and drags move it; its ticks are those of what is in view, and all differ.
  const ticks = () => texts(tab, "#timeline .plot > g:first-of-type text");
  const all = await ticks();
  const box = await (await tab.$("#timeline .plot")).boundingBox();
  await tab.mouse.move(box.x + box.width / 2, box.y + 40);
  await tab.mouse.wheel({ deltaY: -720 });
  await nextFrame(tab);
  const zoomed = await ticks();
  assert.notDeepEqual(zoomed, all);
  const [, from, to, whole] = /^([\d.]+) ms to ([\d.]+) ms of ([\d.]+) ms$/.exec((await texts(tab, "#timeline [role=status]"))[0]);
  assert.ok(Math.abs(whole / (to - from) - 8) < 0.2, "three doublings");
  assert.ok(Math.abs((Number(from) + Number(to)) / 2 / whole - 0.5) < 0.02, "around the pointer");
  await tab.mouse.down();
  await tab.mouse.move(box.x + box.width / 2 - 100, box.y + 40, { steps: 4 });
  await tab.mouse.up();
  await nextFrame(tab);
  assert.ok(parseFloat((await texts(tab, "#timeline [role=status]"))[0]) > Number(from), "to the left is later");
  await tab.$eval("#timeline .plot", (plot) => plot.focus());
  for (let i = 0; i < 12; ++i) await tab.keyboard.press("+");
  await nextFrame(tab);
  const deepest = await ticks();
  assert.ok(deepest.length > 2);
  assert.equal(new Set(deepest).size, deepest.length);
  for (const tick of deepest) assert.ok(tick.length < 16, tick);
  await tab.keyboard.press("Home");
  await nextFrame(tab);
  assert.deepEqual(await ticks(), all);
  // Whoever zooms out of the whole scrolls the page.
  await tab.evaluate(() => scrollTo(0, 300));
  const before2 = await tab.evaluate(() => scrollY);
  const plot = await (await tab.$("#timeline .plot")).boundingBox();
  if (plot.y < 880) {
    await tab.mouse.move(plot.x + 50, Math.max(plot.y + 5, 5));
    await tab.mouse.wheel({ deltaY: 200 });
    await tab.waitForFunction((y) => scrollY > y, { timeout: 3000 }, before2);
  }
  await tab.click("#timeline .legend button");
  assert.ok((await tab.$$("#timeline rect.off")).length > 0);

  // Tables open, sort, and have a row per cell.
  const heads = await tab.$$("#cells th button");
  await heads[0].click();
  assert.equal(await heads[0].evaluate((button) => button.parentElement.getAttribute("aria-sort")), "descending");
  assert.equal((await tab.$$("#cells tbody tr")).length, 15);
  assert.equal((await texts(tab, "#cells tbody th"))[0], "8");
  // No column in which all rows are equal: they are named. Heads stay, the table is as wide as the window.
  const columns = await tab.$eval("#cells table", (table) => [...table.tHead.rows[0].cells].map((_, i) => new Set([...table.tBodies[0].rows].map((row) => row.cells[i].textContent)).size));
  assert.ok(columns.every((values) => values > 1), columns.join());
  const holder = await tab.$eval("#cells .scroll", (scroll) => ({ wide: scroll.clientWidth, sticky: getComputedStyle(scroll.querySelector("thead th")).position }));
  assert.ok(holder.wide > 1280 - 100, String(holder.wide));
  assert.equal(holder.sticky, "sticky");
  // A filter, and what it leaves as a file.
  await tab.type("#cells input", "asp workers=4");
  assert.equal((await tab.$$("#cells tbody tr")).length, 1);
  assert.equal((await texts(tab, "#cells [role=status]"))[0], "1 of 15 rows");
  const csv = await tab.evaluate(async () => {
    const made = [], own = URL.createObjectURL;
    URL.createObjectURL = (blob) => { made.push(blob); return "data:,"; };
    HTMLAnchorElement.prototype.click = () => {};
    [...document.querySelectorAll("#cells .plain")].find((button) => button.textContent.startsWith("CSV")).click();
    URL.createObjectURL = own;
    delete HTMLAnchorElement.prototype.click;
    return made[0].text();
  });
  const [head, row, end] = csv.split("\n");
  assert.equal(end, "");
  assert.equal(head.split(",").length, row.split(",").length);
  assert.equal(row.split(",")[head.split(",").indexOf("workers")], "4");
  assert.ok(Number(row.split(",")[head.split(",").indexOf("samples/s")]) > 0);
  await tab.click("#provenance summary");
  await tab.waitForSelector("#provenance td");
  assert.ok((await texts(tab, "#provenance td")).some((text) => text.includes("latency + bytes / bandwidth")));

  // The glossary is behind a word, for keys as well; a heading has an address.
  await tab.focus("#timeline dfn");
  assert.match((await texts(tab, ".tip"))[0], /^\w+: .{20}/);
  await tab.keyboard.press("Escape");
  assert.equal(await tab.$eval(".tip", (tip) => tip.hidden), true);
  await tab.evaluate(() => document.querySelector("#links .anchor").click());
  assert.equal(await tab.evaluate(() => location.hash), "#links");
  await tab.reload();
  assert.ok(Math.abs(await tab.$eval("#links", (section) => section.getBoundingClientRect().top)) < 40, "the address is a place");

  // Tab reaches the skip link first, then every control in the order of the page.
  await tab.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
  await tab.mouse.click(2, 2);
  const reached = [];
  for (let i = 0; i < 200; ++i) {
    await tab.keyboard.press("Tab");
    const place = await tab.evaluate(() => {
      const at = document.activeElement;
      return at === document.body ? "" : at.classList.contains("skip") ? "skip" : at.closest("section, header")?.id || "header";
    });
    if (!place || (place === "skip" && reached.length)) break;
    if (reached.at(-1) !== place) reached.push(place);
  }
  assert.deepEqual(reached, ["skip", "header", "scaling", "breakdown", "timeline", "staleness", "links", "cells", "warnings", "words", "provenance"]);
});

// A model that is called <script>alert(1)</script> is a text like any other.
await opened(hostile, { width: 1280, scheme: "light" }, async (tab) => {
  await tab.click("#provenance summary");
  await tab.waitForSelector("#provenance td");
  assert.ok((await texts(tab, "#provenance td")).includes("<script>alert(1)</script>"));
  assert.equal((await tab.$$("script")).length, 3);
});

// A tile has its winner's name, also for keys and in grey; nobody wins a tie.
const luminance = ([r, g, b]) => [r, g, b].reduce((sum, part, i) => sum + [0.2126, 0.7152, 0.0722][i] * (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4), 0);
const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
await opened(map, { width: 390, scheme: "dark" }, async (tab) => {
  const tiles = await tab.$$eval("#map .tile", (all) => all.map((tile) => {
    const box = tile.querySelector("rect"), at = (text) => Number(text.getAttribute("x")) > Number(box.getAttribute("x")) && Number(text.getAttribute("x")) < Number(box.getAttribute("x")) + Number(box.getAttribute("width"))
      && Number(text.getAttribute("y")) > Number(box.getAttribute("y")) && Number(text.getAttribute("y")) < Number(box.getAttribute("y")) + Number(box.getAttribute("height"));
    const text = [...tile.ownerSVGElement.querySelectorAll(".winner")].filter(at);
    const rgb = (colour) => colour.match(/\d+/g).map(Number);
    return { says: tile.getAttribute("aria-label"), name: text.map((one) => one.textContent).join(" "), fill: rgb(getComputedStyle(box).fill), ink: rgb(getComputedStyle(text[0]).fill), dashed: box.hasAttribute("stroke-dasharray") };
  }));
  assert.equal(tiles.length, 6);
  const lightness = new Map();
  for (const tile of tiles) {
    const [, winner] = /^workers \d+, bandwidth-factor [\d.]+, (tie|inhad|bsp \w+): /.exec(tile.says);
    assert.equal(tile.name, winner);
    assert.equal(tile.dashed, winner === "tie");
    if (winner === "tie") assert.ok(Math.max(...tile.fill) - Math.min(...tile.fill) < 3, "ties are grey");
    assert.ok(contrast(luminance(tile.fill), luminance(tile.ink)) >= 4.5);
    lightness.set(winner, luminance(tile.fill));
  }
  assert.deepEqual([...lightness.keys()].sort(), ["bsp ps", "inhad", "tie"]);
  const lights = [...lightness.values()].sort();
  for (let i = 1; i < 3; ++i) assert.ok(contrast(lights[i], lights[i - 1]) > 1.15, "lightness alone tells them apart");
  await tab.hover("#map .tile");
  assert.match((await texts(tab, ".tip"))[0], /^workers \d+, bandwidth-factor [\d.]+\n(tie: )?(inhad|bsp).*\n(.*\n)?[\d.]+ × (inhad|bsp \w+)(: no lead)?$/);
  // A tab reaches one tile; arrows the others.
  assert.equal((await tab.$$("#map .tile[tabindex='0']")).length, 1);
  await tab.$eval("#map .tile[tabindex='0']", (tile) => tile.focus());
  const first = (await texts(tab, ".tip"))[0];
  await tab.keyboard.press("ArrowRight");
  assert.notEqual((await texts(tab, ".tip"))[0], first);

  // A tile, a bar or a row chooses the case, which a reload keeps.
  assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth), 390, "nothing reaches over the side");
  const inside = await tab.$$eval(".casebar .number", (all) => all.every((one) => one.getBoundingClientRect().right <= 390));
  assert.ok(inside && (await tab.$$(".casebar")).length === 2, "bars and their numbers are on the page");
  const subject = () => tab.$eval("#case select", (select) => select.selectedOptions[0].textContent);
  const lowest = "bandwidth-factor 0.5", highest = "bandwidth-factor 1";
  await tab.keyboard.press("Enter");
  assert.equal(await subject(), lowest);
  await tab.keyboard.press("ArrowUp");
  await tab.keyboard.press("Enter");
  assert.equal(await subject(), highest);
  assert.equal((await tab.$$("#map .tile[aria-current]")).length, 3);
  await tab.evaluate((name) => [...document.querySelectorAll(".casebar")].find((bar) => bar.textContent.startsWith(name)).click(), lowest);
  assert.equal(await subject(), lowest);
  await tab.evaluate(() => { document.querySelector("#cells details").open = true; });
  await tab.waitForSelector("#cells tbody button");
  const at = await tab.$$eval("#cells thead th", (all) => all.findIndex((head) => head.textContent === "bandwidth-factor"));
  await tab.evaluate((at) => [...document.querySelectorAll("#cells tbody tr")].find((row) => row.cells[at].textContent === "1").click(), at);
  assert.equal(await subject(), highest);
  assert.ok((await chart(tab, "throughput", "chart.width")) > 280);
  assert.match(await tab.$eval("#scaling .anchor", (link) => link.getAttribute("href")), /^#(case=2&)?scaling$/);
  for (const value of ["0", "1"]) {
    await tab.select("#case select", value);
    const chosen = await subject();
    await tab.reload();
    assert.equal(await subject(), chosen, "the case is kept");
  }
});

// Rows have the names of their columns; a strip has the errors of each folder; the legend its shapes.
await opened(validation, { width: 1280, scheme: "light" }, async (tab) => {
  assert.equal(await tab.evaluate(() => liveCharts.size), 2);
  for (const id of ["agreement", "errors"])
    assert.equal(await chart(tab, id, "chart.data.datasets.filter((set) => set.notes).flatMap((set) => set.data).length"), 6);
  const notes = await chart(tab, "errors", "chart.data.datasets.flatMap((set) => set.notes ?? [])");
  assert.ok(notes.some((note) => note.includes("density 0.01")), notes.join("; "));
  const errors = await chart(tab, "errors", "chart.data.datasets.flatMap((set) => set.data.map((point) => Math.expm1(point.x)))");
  notes.forEach((note, i) => assert.ok(note.endsWith(`${errors[i] < 0 ? "" : "+"}${(100 * errors[i]).toFixed(1)} %`), note + " is at " + errors[i]));
  assert.ok((await tab.$$("#agreement .legend button path")).length === 1, "a shape per folder");
  assert.match((await texts(tab, "#agreement .legend"))[0], /hollow: chose factors/);
  await tab.click("#agreement .choice label:last-child");
  assert.equal(await chart(tab, "agreement", "chart.options.scales.x.title.text"), "measured, samples/s, linear scale");
  await tab.click("#agreement .legend button");
  for (const id of ["agreement", "errors"]) assert.equal(await chart(tab, id, "chart.isDatasetVisible(0) || chart.isDatasetVisible(1)"), false);
});

// The page of one run has its workers.
await opened(one, { width: 1280, scheme: "light" }, async (tab) => {
  assert.equal(await tab.$eval("#workers details", (details) => details.open), false);
  await tab.click("#workers summary");
  await tab.waitForSelector("#workers tbody tr");
  assert.equal((await tab.$$("#workers tbody tr")).length, 8);
  assert.equal((await texts(tab, "#workers tbody th"))[3], "worker 3");
});

for (const file of [page, map, validation, learning, seeds, one])
  for (const scheme of ["light", "dark"])
    await opened(file, { width: 1280, scheme }, async (tab) => assert.deepEqual(await violations(tab), [], file + ", " + scheme));

// Paper has what a reader cannot unfold: legends, tables and where numbers come from.
await opened(page, { width: 1280, scheme: "light" }, async (tab) => {
  await tab.emulateMediaType("print");
  await tab.evaluate(() => dispatchEvent(new Event("beforeprint")));
  for (const what of [".legend button", "figure details table", "#cells table", "#provenance td", "#words dd"]) {
    const high = await tab.$eval(what, (one) => one.getBoundingClientRect().height);
    assert.ok(high > 8, what);
  }
  assert.equal(await tab.$eval("#cells .scroll", (scroll) => scroll.scrollHeight > scroll.clientHeight + 1), false);
});

// Both curves, to the target, against what is chosen.
await opened(learning, { width: 1280, scheme: "light" }, async (tab) => {
  assert.match((await texts(tab, "h1"))[0], /^reached accuracy 0.8 first: /);
  for (const id of ["loss", "accuracy"]) {
    assert.ok((await chart(tab, id, "chart.width")) > 280, id);
    assert.ok((await chart(tab, id, "Math.min(...chart.data.datasets.slice(0, 2).map((set) => set.data.length))")) > 3, id);
  }
  const losses = await chart(tab, "loss", "chart.data.datasets[0].data.map((point) => point.y)");
  assert.ok(losses.at(-1) < losses[0] / 2, String(losses));
  const before = await texts(tab, "#learning figcaption");
  const seconds = await chart(tab, "loss", "chart.data.datasets[0].data.at(-1).x");
  await tab.click("#learning .choice label");
  assert.notEqual(await chart(tab, "loss", "chart.data.datasets[0].data.at(-1).x"), seconds);
  assert.notDeepEqual(await texts(tab, "#learning figcaption"), before);
  const entry = await tab.$("#learning .legend button");
  await entry.click();
  for (const id of ["loss", "accuracy"]) assert.equal(await chart(tab, id, "chart.isDatasetVisible(0)"), false);
});

// Seeds are one curve in a band, and one row with its least and most.
await opened(seeds, { width: 1280, scheme: "light" }, async (tab) => {
  assert.match((await texts(tab, "h1"))[0], /^reached loss 0.5 first: .*\(median of 2 seeds/);
  assert.deepEqual(await chart(tab, "loss", "chart.data.datasets.map((set) => set.bands.length === set.data.length)"), [true, true, true, false]);
  assert.equal(await chart(tab, "loss", "chart.data.datasets[0].bands.every((band, k) => band.least <= chart.data.datasets[0].data[k].y && chart.data.datasets[0].data[k].y <= band.most)"), true);
  assert.equal((await tab.$$("#cells tbody tr")).length, 3);
  const heads = await texts(tab, "#cells th button");
  for (const head of ["target", "target, least", "target, most"]) assert.ok(heads.includes(head), heads.join());
  assert.ok(!heads.includes("seed"));
  assert.match((await texts(tab, "#cells .small"))[0], /with seed 1, which is not reported; each is the median of 2 seeds/);
});

for (const width of [1280, 390])
  for (const scheme of ["light", "dark"])
    await opened(measured, { width, scheme }, async (tab) => {
      assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth), width, "nothing reaches over the side");
      const labels = await texts(tab, "#measured .drawing .label");
      for (const words of ["measured 1,309 samples/s", "typical ", "scenario, nominal "]) assert.ok(labels.some((label) => label.startsWith(words)), words);
      // Texts on the line stay on the drawing.
      assert.ok(await tab.$$eval("#measured .drawing text", (all) => all.every((one) => one.getBBox().x > -1 && one.getBBox().x + one.getBBox().width < one.ownerSVGElement.clientWidth + 1)));
      const names = await texts(tab, "#measured > .causes .name");
      assert.match(names[0], /^one-bucketfits/);
      assert.equal((await texts(tab, ".tried li")).length, 3);
      // What a cause gives is as long as the way to the mark, where it is what was measured.
      const [fill, mark] = await tab.evaluate(() => { const cause = [...document.querySelectorAll(".cause")].find((one) => one.textContent.startsWith("cards")); return [cause.querySelector(".fill").getBoundingClientRect().right, cause.querySelector(".mark").getBoundingClientRect().left]; });
      assert.ok(Math.abs(fill - mark) < 1);
      assert.deepEqual(await violations(tab), []);
    });

await browser.close();
console.log("the page is as it should be");
