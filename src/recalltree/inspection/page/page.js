// Elements, numbers and colours: what every part of the page uses.

const byId = (id) => document.getElementById(id);

// Text only ever becomes text nodes: labels come from data, and data may hold anything.
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "line", "rect", "circle", "text", "title"].includes(tag);
  const element = svg
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style")
      for (const [k, v] of Object.entries(value)) element.style.setProperty(k, v);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(
    ...children.filter((child) => child !== null).map((c) => (c instanceof Node ? c : String(c))),
  );
  return element;
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const count = (value) =>
  Number.isInteger(value)
    ? whole.format(value)
    : new Intl.NumberFormat("en", { maximumSignificantDigits: 6 }).format(value);
const compact = (value) => (Math.abs(value) < 10000 ? count(value) : short.format(value));
const percent = (value) =>
  value === null || value === undefined
    ? "–"
    : `${(100 * value).toFixed(value > 0 && value < 0.1 ? 2 : 1)}%`;
const tickPercent = (value) => `${Number((100 * value).toPrecision(3))}%`;
const fraction = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
function bytes(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? Math.round(value) : value.toPrecision(3)} ${units[unit]}`;
}
const clip = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
const nodes = (n) => `${count(n)} ${n === 1 ? "node" : "nodes"}`;

// The stops of the viridis colour map: even to the eye, and to colour-blind eyes.
const VIRIDIS = [
  [68, 1, 84],
  [72, 40, 120],
  [62, 74, 137],
  [49, 104, 142],
  [38, 130, 142],
  [31, 158, 137],
  [53, 183, 121],
  [110, 206, 88],
  [181, 222, 43],
  [253, 231, 37],
];
function viridis(value) {
  const at = Math.min(Math.max(value, 0), 1) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(at), VIRIDIS.length - 2);
  return VIRIDIS[low].map((c, i) => Math.round(c + (at - low) * (VIRIDIS[low + 1][i] - c)));
}
const css = (rgb, alpha = 1) => `rgb(${rgb.join(" ")} / ${alpha})`;
// Black or white, whichever can be read on a colour.
const inkOn = (rgb) => (0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] > 140 ? "#111" : "#fff");
const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function bar(share) {
  return make(
    "meter-bar",
    { "aria-hidden": "true" },
    make("i", { style: { width: `${100 * Math.min(1, share)}%` } }),
  );
}

function table(head, rows) {
  return make(
    "table",
    {},
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        ...head.map((name, i) => make("th", { scope: "col", class: i ? "number" : null }, name)),
      ),
    ),
    make(
      "tbody",
      {},
      ...rows.map((row) =>
        make(
          "tr",
          {},
          ...row.map((cell, i) => make("td", { class: i ? "number" : "label" }, cell)),
        ),
      ),
    ),
  );
}

function setUpTheme(onChange) {
  const button = byId("theme");
  const choices = { auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark" };
  let choice = "auto";
  const show = () => {
    button.textContent = choices[choice];
    if (choice === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    onChange();
  };
  button.addEventListener("click", () => {
    const names = Object.keys(choices);
    choice = names[(names.indexOf(choice) + 1) % names.length];
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", onChange);
  show();
}
