// What the other scripts are made of: elements, numbers, choices. Strings of the data only ever
// become text nodes and attributes that hold text.
"use strict";

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const paint = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
// One per schedule on the whole page; below zero: a bound.
const colourName = (index) => (index < 0 ? "bound" : "c" + (index % 7));

const formats = [];
const digits = (number, most) => (formats[most] ??= new Intl.NumberFormat("en-US", { maximumSignificantDigits: most })).format(number);

// With three digits, or whole thousands, and the unit.
function shown(number, unit) {
  const scaled = (factors) => {
    const [factor, name] = factors.find(([least]) => Math.abs(number) >= least) ?? factors.at(-1);
    return digits(number / factor, 3) + " " + name;
  };
  if (unit === "%") return (100 * number).toFixed(1) + " %";
  if (number === 0) return unit === "" ? "0" : "0 " + unit;
  if (unit === "s") return scaled([[1, "s"], [1e-3, "ms"], [1e-6, "µs"]]);
  if (unit === "B") return scaled([[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]);
  const text = Math.abs(number) >= 1000 ? digits(Math.round(number), 15) : digits(number, 3);
  return unit === "" ? text : text + " " + unit;
}

// Made when it is opened: five hundred cells have many rows.
function folded(title, make, open = false) {
  const details = element("details", {}, element("summary", {}, title));
  details.fill = () => {
    if (details.childElementCount === 1) details.append(make());
  };
  details.addEventListener("toggle", () => {
    if (details.open) details.fill();
  });
  details.open = open;
  return details;
}

// Paper cannot be unfolded.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  for (const details of unfolded) {
    details.fill();
    details.open = true;
  }
});
addEventListener("afterprint", () => {
  for (const details of unfolded) details.open = false;
});

// "8 workers", "density 0.01".
const said = (option, value) => (option === "workers" ? `${shown(value, "")} ${value === 1 ? "worker" : "workers"}` : `${option} ${shown(value, "")}`);

// One of several values; `name` is the question.
function radios(name, values, chosen, change) {
  const group = element("fieldset", { class: "choice" }, element("legend", {}, name));
  const id = "radio" + (radios.made = (radios.made ?? 0) + 1);
  values.forEach((value, i) => {
    const input = element("input", { type: "radio", name: id, value: i });
    input.checked = i === chosen;
    input.addEventListener("change", () => change(i));
    group.append(element("label", {}, input, value));
  });
  return group;
}

function menu(name, values, change, chosen = 0) {
  const select = element("select", {}, ...values.map((value, i) => element("option", { value: i }, value)));
  select.selectedIndex = chosen;
  select.addEventListener("change", () => change(Number(select.value)));
  return element("label", { class: "pick" }, name, select);
}

const tip = element("div", { class: "tip", role: "status", hidden: "" });
function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = (y + 20 + box.height > innerHeight ? y - box.height - 10 : y + 18) + "px";
}
