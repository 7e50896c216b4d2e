// The map of class vectors: a point for each class, colours by cell.

const POINT_RADIUS = 3;
const GOLDEN_ANGLE = 137.508; // however many cells there are, their hues lie apart

class CellsPicture {
  constructor(report, onSelect) {
    this.cells = report.cells;
    this.labels = report.classes.labels;
    this.onSelect = onSelect;
    this.canvas = byId("cells");
    this.context = this.canvas.getContext("2d");
    this.points = this.cells.x.flatMap((x, c) => (x === null ? [] : [c]));
    this.selected = null;
    this.centre = [0.5, 0.5];
    this.scale = 1; // sides of the square that the view is a part of
    this.colours = this.colourings(report);
    this.listen();
  }

  colourings({ classes, cells }) {
    const byCell = (c) => `hsl(${(cells.cell[c] * GOLDEN_ANGLE) % 360} 62% 46%)`;
    const found = [{ name: "cell", colour: byCell }];
    if (classes.counts) {
      const most = Math.log1p(Math.max(1, ...this.points.map((c) => classes.counts[c])));
      const share = (c) => Math.log1p(classes.counts[c]) / most;
      found.push({ name: "examples (logarithmic)", colour: (c) => css(viridis(share(c))) });
    }
    if (classes.rows) {
      const right = (c) => (classes.rows[c] ? classes.right[c] / classes.rows[c] : null);
      found.push({
        name: "share of rows answered right",
        colour: (c) => (right(c) === null ? theme("--line") : css(viridis(right(c)))),
      });
    }
    return found;
  }

  resize() {
    const size = this.canvas.clientWidth;
    const ratio = window.devicePixelRatio || 1;
    this.width = size;
    this.height = Math.min(size, 620);
    this.canvas.style.height = `${this.height}px`;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.draw();
  }

  // Pixels of a class. The square fits into the picture where nothing is zoomed.
  place(c) {
    const side = (Math.min(this.width, this.height) - 24) * this.scale;
    return [
      this.width / 2 + (this.cells.x[c] - this.centre[0]) * side,
      this.height / 2 - (this.cells.y[c] - this.centre[1]) * side,
    ];
  }

  draw() {
    const c = this.context;
    c.clearRect(0, 0, this.width, this.height);
    const { colour } = this.colours[byId("cell-colour").selectedIndex];
    const own = this.selected === null ? null : this.cells.cell[this.selected];
    const others = own === null ? this.points : this.points.filter((p) => this.cells.cell[p] !== own);
    c.globalAlpha = own === null ? 0.8 : 0.22;
    for (const point of others) this.dot(point, colour(point), POINT_RADIUS);
    c.globalAlpha = 1;
    if (own === null) return;
    for (const point of this.points)
      if (this.cells.cell[point] === own) this.dot(point, theme("--warm"), POINT_RADIUS + 0.5);
    const [x, y] = this.place(this.selected);
    // Two rings, of which one can be seen on any colour.
    for (const [ink, width] of [
      ["#fff", 4],
      ["#111", 2],
    ]) {
      c.strokeStyle = ink;
      c.lineWidth = width;
      c.beginPath();
      c.arc(x, y, POINT_RADIUS + 4, 0, 2 * Math.PI);
      c.stroke();
    }
  }

  dot(point, colour, radius) {
    const [x, y] = this.place(point);
    if (x < -radius || y < -radius || x > this.width + radius || y > this.height + radius) return;
    this.context.fillStyle = colour;
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.fill();
  }

  // The class nearest to a pixel that is allowed, or null.
  nearest(x, y, allowed = () => true) {
    let best = null;
    let least = Infinity;
    for (const point of this.points) {
      const [px, py] = this.place(point);
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance < least && allowed(px, py)) [best, least] = [point, distance];
    }
    return { point: best, distance: Math.sqrt(least) };
  }

  pointAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const { point, distance } = this.nearest(event.clientX - box.left, event.clientY - box.top);
    return distance < 14 ? point : null;
  }

  // Choose a class that has a point; one that is out of sight comes to the centre.
  select(point) {
    this.selected = this.cells.x[point] === null ? null : point;
    if (this.selected !== null) {
      const [x, y] = this.place(point);
      if (x < 0 || y < 0 || x > this.width || y > this.height)
        this.centre = [this.cells.x[point], this.cells.y[point]];
    }
    this.draw();
  }

  zoom(factor, at = this.selected) {
    this.scale = Math.max(1, this.scale * factor);
    if (this.scale === 1) this.centre = [0.5, 0.5];
    else if (at !== null) this.centre = [this.cells.x[at], this.cells.y[at]];
    byId("cells-zoom-out").disabled = this.scale === 1;
    this.draw();
  }

  // The nearest class in the direction of an arrow key.
  step(key) {
    if (this.selected === null) return this.points[0] ?? null;
    const [x, y] = this.place(this.selected);
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[
      key
    ];
    const ahead = (px, py) => {
      const along = (px - x) * dx + (py - y) * dy;
      return along > 0 && along >= Math.abs((px - x) * dy + (py - y) * dx);
    };
    return this.nearest(x, y, ahead).point;
  }

  listen() {
    const { canvas } = this;
    const tip = byId("cells-tip");
    canvas.addEventListener("click", (event) => {
      const point = this.pointAt(event);
      if (point !== null) this.onSelect(point);
    });
    canvas.addEventListener("dblclick", (event) => this.zoom(2, this.pointAt(event)));
    canvas.addEventListener("pointermove", (event) => {
      const point = this.pointAt(event);
      tip.hidden = point === null;
      if (point === null) return;
      const cell = this.cells.cell[point];
      tip.textContent = `${clip(this.labels[point], 60)}\n${this.nameOf(cell)}`;
      const box = canvas.getBoundingClientRect();
      const x = event.clientX - box.left;
      tip.style.left = `${Math.min(x + 14, this.width - tip.offsetWidth - 4)}px`;
      tip.style.top = `${event.clientY - box.top + 18}px`;
    });
    canvas.addEventListener("pointerleave", () => {
      tip.hidden = true;
    });
    canvas.addEventListener("keydown", (event) => {
      if (event.key.startsWith("Arrow")) {
        const point = this.step(event.key);
        if (point !== null) this.onSelect(point);
      } else if (event.key === "Enter") this.zoom(2);
      else if (event.key === "Escape") this.zoom(0.5);
      else return;
      event.preventDefault();
    });
    byId("cells-zoom-in").addEventListener("click", () => this.zoom(2));
    byId("cells-zoom-out").addEventListener("click", () => this.zoom(0.5));
    byId("cells-zoom-out").disabled = true;
    byId("cell-colour").append(...this.colours.map(({ name }) => make("option", {}, name)));
    byId("cell-colour").addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
  }

  nameOf(cell) {
    return `Cell ${this.cells.ids[cell]}, ${count(this.cells.sizes[cell])} classes`;
  }
}

function addCellSizes({ cells }) {
  if (!cells || !cells.sizes.length) return;
  const most = Math.max(...cells.sizes);
  const width = Math.max(1, Math.ceil(most / 16));
  const xs = Array.from({ length: Math.ceil(most / width) }, (_, i) => i * width + 1);
  const ys = xs.map((from) => cells.sizes.filter((n) => n >= from && n < from + width).length);
  const name = (from) => (width === 1 ? count(from) : `${from} to ${from + width - 1}`);
  addChart(
    "Classes in a cell",
    `${count(cells.sizes.length)} cells. All classes of a cell that is read are compared.`,
    barChart({
      title: "Cells by the number of their classes",
      xs,
      xDomain: [xs[0] - width * 0.6, xs.at(-1) + width * 0.6],
      yDomain: [0, Math.max(...ys) * 1.08],
      xName: "classes",
      xFormat: (x) => `${name(x)} classes`,
      xTick: count,
      yFormat: count,
      series: [{ name: "cells", ys, colour: series(0) }],
    }),
    { numbers: [["classes", "cells"], xs.map((x, i) => [name(x), count(ys[i])])] },
  );
}
