// Charts: lines, bars and stacks, each with its numbers as a table underneath.

const WIDTH = 540;
const HEIGHT = 230;
const FRAME = { left: 52, right: 14, top: 12, bottom: 38 };

function niceTicks(low, high, n = 5) {
  const span = high - low || 1;
  const raw = span / n;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const ticks = [];
  for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + step * 1e-9; t += step)
    ticks.push(Math.abs(t) < step / 1e6 ? 0 : t);
  return ticks;
}

function scaleOf(domain, range, log) {
  const f = log ? Math.log10 : (v) => v;
  const [a, b] = domain.map(f);
  return (v) => range[0] + ((f(v) - a) / (b - a || 1)) * (range[1] - range[0]);
}

function logTicks(low, high) {
  const ticks = [];
  for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p += 1)
    if (10 ** p >= low / 1.001 && 10 ** p <= high * 1.001) ticks.push(10 ** p);
  return ticks;
}

function frame(spec) {
  const x = scaleOf(spec.xDomain, [FRAME.left, WIDTH - FRAME.right], spec.log);
  const y = scaleOf(spec.yDomain, [HEIGHT - FRAME.bottom, FRAME.top], spec.log);
  const svg = make("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": spec.title,
  });
  const yTicks = spec.log ? logTicks(...spec.yDomain) : niceTicks(...spec.yDomain, 4);
  for (const t of yTicks) {
    svg.append(
      make("line", { class: "grid", x1: FRAME.left, x2: WIDTH - FRAME.right, y1: y(t), y2: y(t) }),
      make(
        "text",
        { x: FRAME.left - 7, y: y(t) + 4, "text-anchor": "end" },
        (spec.yTick ?? spec.yFormat)(t),
      ),
    );
  }
  const xTicks =
    spec.xTicks ?? (spec.log ? logTicks(...spec.xDomain) : niceTicks(...spec.xDomain, 5));
  for (const t of xTicks)
    svg.append(
      make(
        "text",
        { x: x(t), y: HEIGHT - FRAME.bottom + 17, "text-anchor": "middle" },
        (spec.xTick ?? spec.xFormat)(t),
      ),
    );
  svg.append(
    make("line", {
      class: "axis",
      x1: FRAME.left,
      x2: WIDTH - FRAME.right,
      y1: HEIGHT - FRAME.bottom,
      y2: HEIGHT - FRAME.bottom,
    }),
    make(
      "text",
      { x: (FRAME.left + WIDTH - FRAME.right) / 2, y: HEIGHT - 3, "text-anchor": "middle" },
      spec.xName,
    ),
  );
  return { svg, x, y };
}

// Shows the values at the nearest x under the pointer.
function addReadout(svg, xs, x, describe) {
  const line = make("line", {
    class: "hover",
    y1: FRAME.top,
    y2: HEIGHT - FRAME.bottom,
    visibility: "hidden",
  });
  const label = make("text", { class: "value", y: FRAME.top + 2, visibility: "hidden" });
  svg.append(line, label);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    let best = 0;
    for (let i = 1; i < xs.length; i += 1)
      if (Math.abs(x(xs[i]) - at) < Math.abs(x(xs[best]) - at)) best = i;
    const px = x(xs[best]);
    line.setAttribute("x1", px);
    line.setAttribute("x2", px);
    label.setAttribute("x", px > WIDTH / 2 ? px - 6 : px + 6);
    label.setAttribute("text-anchor", px > WIDTH / 2 ? "end" : "start");
    label.textContent = describe(best);
    for (const part of [line, label]) part.setAttribute("visibility", "visible");
  });
  svg.addEventListener("pointerleave", () => {
    for (const part of [line, label]) part.setAttribute("visibility", "hidden");
  });
}

// series: { name, ys (null: no point), colour, dots }
function lineChart(spec) {
  const { svg, x, y } = frame(spec);
  for (const series of spec.series) {
    let pen = "M";
    let d = "";
    series.ys.forEach((value, i) => {
      if (value === null || value === undefined) {
        pen = "M";
        return;
      }
      d += `${pen}${x(spec.xs[i]).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = "L";
      if (series.dots)
        svg.append(
          make("circle", {
            cx: x(spec.xs[i]),
            cy: y(value),
            r: 3.5,
            style: { fill: series.colour },
          }),
        );
    });
    if (!series.noLine)
      svg.append(
        make("path", {
          d,
          fill: "none",
          "stroke-width": series.width ?? 2,
          "stroke-linejoin": "round",
          "stroke-opacity": series.opacity ?? 1,
          style: { stroke: series.colour },
        }),
      );
  }
  addReadout(
    svg,
    spec.xs,
    x,
    (i) =>
      `${spec.xFormat(spec.xs[i])}: ${spec.series
        .filter((s) => s.ys[i] !== null)
        .map((s) => `${s.name} ${spec.yFormat(s.ys[i])}`)
        .join(", ")}`,
  );
  return svg;
}

// One group of bars per x; series: { name, ys, colour, hollow }
function barChart(spec) {
  const { svg, x, y } = frame(spec);
  const step = spec.xs.length > 1 ? x(spec.xs[1]) - x(spec.xs[0]) : 60;
  const width = Math.max(1, Math.min(42, step * 0.78));
  const floor = HEIGHT - FRAME.bottom;
  for (const series of spec.series) {
    series.ys.forEach((value, i) => {
      if (!value) return;
      const top = y(value);
      svg.append(
        make("rect", {
          x: x(spec.xs[i]) - width / 2,
          y: Math.min(top, floor - 1),
          width,
          height: Math.max(1, floor - top),
          rx: Math.min(2, width / 3),
          style: series.hollow
            ? { fill: "none", stroke: series.colour, "stroke-width": "2" }
            : { fill: series.colour },
        }),
      );
    });
  }
  addReadout(svg, spec.xs, x, (i) => {
    const values = spec.series.map((s) => `${s.name} ${spec.yFormat(s.ys[i] ?? 0)}`);
    return `${spec.xFormat(spec.xs[i])}: ${values.join(", ")}`;
  });
  return svg;
}

// parts: { name, value }, as one bar and a table
function stack(parts, format) {
  const total = parts.reduce((sum, part) => sum + part.value, 0) || 1;
  const shown = parts.filter((part) => part.value > 0);
  return make(
    "div",
    {},
    make(
      "div",
      { class: "stack", "aria-hidden": "true" },
      ...shown.map((part) =>
        make("i", {
          title: `${part.name}: ${format(part.value)}`,
          style: { "flex-grow": part.value / total, "--c": part.colour },
        }),
      ),
    ),
    make(
      "div",
      { class: "key small" },
      ...shown.map((part) =>
        make("span", { style: { "--c": part.colour } }, `${part.name} ${format(part.value)}`),
      ),
    ),
  );
}

function addChart(
  title,
  why,
  body,
  { key = [], numbers = null, wide = false, within = byId("charts") } = {},
) {
  const box = make(
    "section",
    { class: wide ? "card chart wide" : "card chart" },
    make("h2", {}, title),
    make("p", { class: "muted small why" }, why),
  );
  if (key.length > 1)
    box.append(
      make(
        "div",
        { class: "key small" },
        ...key.map((s) =>
          make("span", { class: s.hollow ? "hollow" : null, style: { "--c": s.colour } }, s.name),
        ),
      ),
    );
  box.append(body);
  if (numbers)
    box.append(
      make(
        "details",
        {},
        make("summary", {}, "As numbers"),
        make("div", { class: "scroll" }, table(...numbers)),
      ),
    );
  within.append(box);
}

const series = (i) => `var(--series-${1 + (i % 7)})`;
