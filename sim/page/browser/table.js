// Tables: of a chart, and that of all cells with its filter and its file.
"use strict";

const inTable = (value, column) =>
  value === null || value === undefined ? "" : column.unit === "text" ? String(value) : shown(value, column.unit === "samples/s" ? "" : column.unit);

const inWords = new Intl.Collator("en", { numeric: true }).compare;
const orderOf = (column) => (a, b) =>
  typeof a[column] === "number" && typeof b[column] === "number" ? a[column] - b[column]
    : inWords(String(a[column] ?? ""), String(b[column] ?? ""));

// Columns are {title, unit}; a unit "text" is left as it is. Heads sort where asked; `open`, if there
// is one, makes of a row's first text what chooses something.
function table(columns, rows, { sortable = false, caption = "", open = null } = {}) {
  const attributes = (column) => (column.unit === "text" ? { class: "text" } : {});
  const row = (values) => {
    const made = element("tr", {}, ...values.map((value, i) => {
      const text = inTable(value, columns[i]);
      return i ? element("td", attributes(columns[i]), text) : element("th", { ...attributes(columns[i]), scope: "row" }, text);
    }));
    open?.(made, values);
    return made;
  };
  const body = element("tbody");
  let sorted = null, kept = rows;
  const inOrder = () => (sorted ? [...kept].sort(sorted) : kept);
  const fill = () => {
    body.replaceChildren(...inOrder().map(row));
    body.querySelector("button")?.setAttribute("tabindex", 0);
  };
  const heads = columns.map((column, i) => {
    const head = element("th", { scope: "col", ...attributes(column) });
    if (!sortable) {
      head.append(column.title);
      return head;
    }
    const button = explained(element("button", { type: "button" }, column.title));
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending", order = orderOf(i);
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      sorted = (a, b) => (down ? order(b, a) : order(a, b));
      fill();
    });
    head.append(button);
    return head;
  });
  const all = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body);
  if (caption) all.prepend(element("caption", { class: "unseen" }, caption));
  const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption || "table" }, all);
  scroll.keep = (some) => { kept = some; fill(); };
  scroll.rows = inOrder;
  fill();
  return scroll;
}

// Words of a filter: each is a part of a text in the row, or a column and its value: workers=8.
function matching(columns, rows, words) {
  const meets = (row, word) => {
    const [name, value] = word.split("=");
    return value === undefined ? columns.some((column, i) => column.unit === "text" && String(row[i]).toLowerCase().includes(word))
      : columns.some((column, i) => column.title.toLowerCase() === name && String(row[i]).toLowerCase() === value);
  };
  return rows.filter((row) => words.every((word) => meets(row, word)));
}

// Numbers as they are: seconds, bytes, parts of one. No field has a comma in it.
function csvOf(columns, rows) {
  const field = (text) => String(text ?? "").replaceAll(/[,\n]/g, ";");
  const unit = { s: " (s)", B: " (bytes)", "%": " (part)" };
  const title = (column) => column.title.replace(", ", " ") + (unit[column.unit] ?? "");
  return [columns.map(title), ...rows].map((row) => row.map(field).join(",")).join("\n") + "\n";
}

function download(name, text) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The only cell: a line per figure.
function onlyCell({ columns, rows: [row] }) {
  return table([{ title: "figure", unit: "text" }, { title: "value", unit: "text" }],
    columns.map((column, i) => [column.title, inTable(row[i], column)]), { caption: "The cell" });
}

// Of all cells, without the columns in which all are equal: these are told in a line.
function cellsTable({ columns, rows, cases }) {
  const differ = columns.map((_, i) => rows.some((row) => row[i] !== rows[0][i]));
  const some = (values) => values.filter((_, i) => differ[i]);
  const equal = columns.filter((_, i) => !differ[i]).map((column) => `${column.title} ${inTable(rows[0][columns.indexOf(column)], column) || "none"}`);
  const ofShort = new Map(rows.map((row, i) => [some(row), { row, case: cases[i] }]));
  const short = [...ofShort.keys()];
  const openCase = chooseCase && ((made, values) => {
    showsCase(made, ofShort.get(values).case);
    const head = made.firstChild, button = element("button", { type: "button", tabindex: "-1" }, head.textContent);
    head.replaceChildren(button);
    made.addEventListener("click", () => chooseCase(ofShort.get(values).case));
  });
  const made = table(some(columns), short, { sortable: true, caption: "All cells", open: openCase });
  const count = element("span", { role: "status" });
  const told = (kept) => { count.textContent = kept.length === rows.length ? `${shown(rows.length, "")} rows` : `${shown(kept.length, "")} of ${shown(rows.length, "")} rows`; };
  const filter = element("input", { type: "search", placeholder: "bsp workers=8", "aria-describedby": "filter-says" });
  filter.addEventListener("input", () => {
    const kept = matching(some(columns), short, filter.value.toLowerCase().split(/\s+/).filter(Boolean));
    made.keep(kept);
    told(kept);
  });
  const file = element("button", { type: "button", class: "plain" }, "CSV of these rows");
  file.addEventListener("click", () => download("cells.csv", csvOf(columns, made.rows().map((row) => ofShort.get(row).row))));
  made.addEventListener("keydown", (event) => walkRows(event, made));
  told(rows);
  return element("div", { class: "cells" },
    element("div", { class: "bar" }, element("label", { class: "pick" }, "Filter", filter), file, count,
      element("span", { class: "note tight", id: "filter-says" }, "Words that a row has, or a column and its value." + (chooseCase ? " A row shows its case above." : ""))),
    made, equal.length ? element("p", { class: "note equal" }, `Equal in all: ${equal.join("; ")}.`) : null);
}

// A tab reaches one row, arrows the others.
function walkRows(event, holder) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const all = [...holder.querySelectorAll("tbody button")], at = all.indexOf(document.activeElement);
  const next = all[at + step];
  if (at < 0 || !next) return;
  event.preventDefault();
  for (const button of all) button.setAttribute("tabindex", button === next ? 0 : -1);
  next.focus();
}
