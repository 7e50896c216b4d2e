// The tree as a picture: one row per depth, width by examples, colour by recall.

class TreePicture {
  constructor(report, onSelect) {
    this.tree = report.tree;
    this.labels = report.classes.labels;
    this.onSelect = onSelect;
    this.canvas = byId("tree");
    this.context = this.canvas.getContext("2d");
    this.selected = 0;
    this.zoomed = 0;
    this.held = null; // nodes to be picked out, by index
    this.layOut();
    this.view = [0, 1];
    this.listen();
  }

  // Every node's share of the width: within its parent, by examples.
  layOut() {
    const { left, right, total, depth } = this.tree;
    this.x0 = new Float64Array(total.length);
    this.x1 = new Float64Array(total.length);
    this.x1[0] = 1;
    const order = [0];
    for (let i = 0; i < order.length; i += 1) {
      const n = order[i];
      const below = [left[n], right[n]].filter((c) => c >= 0);
      const sum =
        Math.max(
          total[n],
          below.reduce((s, c) => s + total[c], 0),
        ) || 1;
      let at = this.x0[n];
      for (const child of below) {
        this.x0[child] = at;
        at += ((this.x1[n] - this.x0[n]) * total[child]) / sum;
        this.x1[child] = at;
        order.push(child);
      }
    }
    this.rows = Math.max(...depth) + 1;
  }

  get colourBy() {
    return this.tree.colours[byId("colour").selectedIndex];
  }

  resize() {
    const width = this.canvas.clientWidth;
    this.rowHeight = Math.max(22, Math.min(58, Math.floor(620 / this.rows)));
    const ratio = window.devicePixelRatio || 1;
    this.canvas.style.height = `${this.rows * this.rowHeight}px`;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.rows * this.rowHeight * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.width = width;
    this.draw();
  }

  px(share) {
    return ((share - this.view[0]) / (this.view[1] - this.view[0])) * this.width;
  }

  draw() {
    const { left, right, depth } = this.tree;
    const values = this.colourBy.values;
    const c = this.context;
    const h = this.rowHeight;
    c.clearRect(0, 0, this.width, this.rows * h);
    c.font = "12px system-ui, sans-serif";
    c.textBaseline = "middle";
    const painted = new Float64Array(this.rows).fill(-1); // up to where each row is painted
    const pending = [0];
    while (pending.length) {
      const n = pending.pop();
      const from = Math.max(0, this.px(this.x0[n]));
      const to = Math.min(this.width, this.px(this.x1[n]));
      if (to <= 0 || from >= this.width) continue;
      const row = depth[n];
      // Nodes too narrow to be seen share a pixel; their descendants have pixels of their own rows.
      if (to - painted[row] > 0.4) {
        const wide = to - from > 3;
        const rgb = viridis(values[n]);
        const dim = this.held !== null && !this.held.has(n);
        c.fillStyle = css(rgb, dim ? 0.16 : 1);
        c.fillRect(from, row * h, Math.max(wide ? to - from - 1 : to - from, 0.6), h - 1);
        painted[row] = to;
        if (to - from > 46) this.write(n, from, to, row * h, dim ? theme("--muted") : inkOn(rgb));
      }
      if (right[n] >= 0) pending.push(right[n]);
      if (left[n] >= 0) pending.push(left[n]);
    }
    // Held nodes may be narrower than a pixel: mark where they are.
    if (this.held !== null) for (const n of this.held) this.outline(n, theme("--warm"), 1.5);
    // Two lines, of which one can be seen on any colour.
    this.outline(this.selected, "#fff", 4);
    this.outline(this.selected, "#111", 2);
  }

  write(n, from, to, top, ink) {
    const c = this.context;
    const [first] = this.tree.candidates[n];
    const name = first === undefined ? `node ${this.tree.id[n]}` : this.labels[first];
    const lines =
      this.rowHeight >= 38
        ? [name, `${compact(this.tree.total[n])} · ${fraction(this.tree.quality[n])}`]
        : [name];
    c.save();
    c.beginPath();
    c.rect(from, top, to - from - 5, this.rowHeight);
    c.clip();
    c.fillStyle = ink;
    lines.forEach((line, i) => {
      c.globalAlpha = i ? 0.75 : 1;
      c.fillText(
        clip(line, Math.ceil((to - from) / 5)),
        from + 6,
        top + (this.rowHeight * (i + 1)) / (lines.length + 1) - (lines.length > 1 ? 1 : 0),
      );
    });
    c.restore();
  }

  outline(n, colour, width) {
    const from = Math.max(0, this.px(this.x0[n]));
    const to = Math.min(this.width, this.px(this.x1[n]));
    if (to < 0 || from > this.width) return;
    const c = this.context;
    const top = this.tree.depth[n] * this.rowHeight;
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.strokeRect(
      from + width / 2,
      top + width / 2,
      Math.max(to - from - width - 1, 1),
      this.rowHeight - width - 1,
    );
  }

  nodeAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / this.rowHeight);
    const share =
      this.view[0] + ((event.clientX - box.left) / this.width) * (this.view[1] - this.view[0]);
    let n = 0;
    while (n >= 0 && this.tree.depth[n] < row) {
      const { left, right } = this.tree;
      n =
        [left[n], right[n]].find(
          (child) => child >= 0 && share >= this.x0[child] && share < this.x1[child],
        ) ?? -1;
    }
    return n;
  }

  // Choose a node; zoom until it can be seen.
  select(n) {
    this.selected = n;
    const seen = this.px(this.x1[n]) - this.px(this.x0[n]);
    if (seen < 4 || this.px(this.x1[n]) <= 0 || this.px(this.x0[n]) >= this.width) {
      let up = n;
      while (this.tree.parent[up] >= 0 && this.x1[up] - this.x0[up] < 8 * (this.x1[n] - this.x0[n]))
        up = this.tree.parent[up];
      this.zoom(up);
    } else this.draw();
    this.onSelect(n);
  }

  hold(indices) {
    this.held = indices === null ? null : new Set(indices);
    this.draw();
  }

  zoom(n) {
    this.zoomed = n;
    const [a0, a1] = this.view;
    const [b0, b1] = [this.x0[n], this.x1[n]];
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const began = performance.now();
    cancelAnimationFrame(this.frame);
    const move = (now) => {
      const t = still ? 1 : Math.min(1, (now - began) / 350);
      const eased = 1 - (1 - t) ** 3;
      this.view = [a0 + (b0 - a0) * eased, a1 + (b1 - a1) * eased];
      this.draw();
      if (t < 1) this.frame = requestAnimationFrame(move);
    };
    move(began);
    byId("zoom-out").disabled = n === 0;
  }

  zoomOut() {
    if (this.zoomed !== 0) this.zoom(this.tree.parent[this.zoomed]);
  }

  step(key) {
    const { left, right, parent } = this.tree;
    const n = this.selected;
    const up = parent[n];
    if (key === "ArrowUp") return up;
    if (key === "ArrowDown") return left[n] >= 0 ? left[n] : right[n];
    if (up < 0) return -1;
    return key === "ArrowLeft"
      ? right[up] === n
        ? left[up]
        : -1
      : left[up] === n
        ? right[up]
        : -1;
  }

  listen() {
    const { canvas } = this;
    const tip = byId("tip");
    canvas.addEventListener("click", (event) => {
      const n = this.nodeAt(event);
      if (n >= 0) this.select(n);
    });
    canvas.addEventListener("dblclick", (event) => {
      const n = this.nodeAt(event);
      if (n >= 0) this.zoom(n);
    });
    canvas.addEventListener("pointermove", (event) => {
      const n = this.nodeAt(event);
      tip.hidden = n < 0;
      if (n < 0) return;
      const t = this.tree;
      const names = t.candidates[n].slice(0, 3).map((c) => clip(this.labels[c], 40));
      if (names.length && t.n_labels[n] > names.length) names.push("…");
      tip.textContent = [
        `Node ${t.id[n]}: ${count(t.total[n])} examples, ${count(t.n_labels[n])} labels`,
        `${t.colours[0].name} ${fraction(t.quality[n])}`,
        names.join(", "),
      ].join("\n");
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
        const n = this.step(event.key);
        if (n >= 0) this.select(n);
      } else if (event.key === "Enter") this.zoom(this.selected);
      else if (event.key === "Escape") this.zoomOut();
      else return;
      event.preventDefault();
    });
    byId("zoom-in").addEventListener("click", () => this.zoom(this.selected));
    byId("zoom-out").addEventListener("click", () => this.zoomOut());
    byId("zoom-out").disabled = true;
    byId("colour").append(...this.tree.colours.map((colour) => make("option", {}, colour.name)));
    byId("colour").addEventListener("change", () => this.draw());
    const scale = byId("scale").getContext("2d");
    for (let i = 0; i < 180; i += 1) {
      scale.fillStyle = css(viridis(i / 179));
      scale.fillRect(i, 0, 1, 10);
    }
    byId("low").textContent = "0";
    byId("high").textContent = "1";
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
  }
}
