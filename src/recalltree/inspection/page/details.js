// The details of one node or of one class, beside the picture.

class Details {
  constructor(report) {
    this.report = report;
    this.box = byId(report.tree ? "details" : report.cells ? "cells-details" : "class-details");
    byId("class-section").hidden = true;
    this.picture = report.tree ? new TreePicture(report, (n) => this.node(n)) : null;
    this.map = report.cells ? new CellsPicture(report, (c) => this.class(c)) : null;
  }

  // Before a class is chosen on the map.
  first() {
    this.box.replaceChildren(
      make("p", { class: "muted" }, "Choose a class on the map, or find it by its label."),
    );
  }

  classLink(c) {
    return make(
      "button",
      { type: "button", class: "link", onclick: () => this.class(c) },
      this.report.classes.labels[c],
    );
  }

  nodeLink(n, text) {
    return make(
      "button",
      { type: "button", class: "link", onclick: () => this.picture.select(n) },
      text ?? `Node ${this.report.tree.id[n]}`,
    );
  }

  facts(pairs) {
    return make(
      "dl",
      {},
      ...pairs
        .filter(([, value]) => value !== null)
        .flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]),
    );
  }

  route(n) {
    const { parent, left, id } = this.report.tree;
    const path = [];
    for (let at = n; at >= 0; at = parent[at]) path.unshift(at);
    byId("route").replaceChildren(
      ...path.flatMap((at, i) => [
        i === 0
          ? ""
          : make(
              "span",
              { class: "turn", "aria-hidden": "true" },
              left[path[i - 1]] === at ? "‹ left ·" : "› right ·",
            ),
        at === n
          ? make("span", { "aria-current": "true" }, `Node ${id[at]}`)
          : this.nodeLink(at, i === 0 ? "Root" : String(id[at])),
      ]),
    );
  }

  node(n) {
    const t = this.report.tree;
    this.picture.hold(null);
    this.route(n);
    const [classes, counts] = [t.candidates[n], t.counts[n]];
    const rows = classes.map((c, i) =>
      make(
        "tr",
        {},
        make("td", { class: "label" }, this.classLink(c)),
        make("td", { class: "meter" }, bar(counts[i] / (counts[0] || 1))),
        make("td", { class: "number" }, count(counts[i])),
      ),
    );
    const more = t.n_candidates[n] - classes.length;
    this.box.replaceChildren(
      make("h2", { id: "node-title" }, n === 0 ? `Node ${t.id[n]}, the root` : `Node ${t.id[n]}`),
      this.facts([
        ["Depth", t.depth[n]],
        ["Examples", `${count(t.total[n])} (${percent(t.total[n] / t.total[0])})`],
        ["Labels seen", count(t.n_labels[n])],
        ["Recall bound", t.bounded ? fraction(t.quality[n]) : null],
        [
          t.bounded ? "Recall of its candidates" : "Share of its answers that are right",
          fraction(t.recall[n]),
        ],
        ["Routes that pass or end here", percent(t.arriving[n])],
        ["Routes that end here", percent(t.stopping[n])],
        ["Smaller nodes below, not drawn", t.hidden_below[n] ? count(t.hidden_below[n]) : null],
      ]),
      ...this.children(n),
      make(
        "h3",
        {},
        t.bounded
          ? `Candidates: ${count(t.n_candidates[n])}`
          : `Labels: ${count(t.n_candidates[n])}`,
      ),
      rows.length
        ? make("div", { class: "scroll" }, make("table", {}, make("tbody", {}, ...rows)))
        : make("p", { class: "muted small" }, "Leaves hold the labels."),
      more > 0 ? make("p", { class: "muted small" }, `and ${count(more)} less frequent`) : "",
    );
  }

  children(n) {
    const t = this.report.tree;
    const sides = [
      ["left", t.left[n]],
      ["right", t.right[n]],
    ].filter(([, child]) => child >= 0);
    if (!sides.length) return [];
    return [
      make("h3", {}, "Children"),
      make(
        "table",
        {},
        make(
          "tbody",
          {},
          ...sides.map(([side, child]) =>
            make(
              "tr",
              {},
              make("td", {}, this.nodeLink(child, `${side}: node ${t.id[child]}`)),
              make("td", { class: "number" }, percent(t.total[child] / t.total[n])),
              make(
                "td",
                { class: "number" },
                t.bounded ? `bound ${fraction(t.quality[child])}` : fraction(t.quality[child]),
              ),
              make(
                "td",
                { class: "small muted" },
                t.bounded
                  ? t.depth[n] < t.max_depth && t.quality[child] >= t.quality[n]
                    ? "goes on"
                    : "stops here"
                  : "",
              ),
            ),
          ),
        ),
      ),
    ];
  }

  class(c) {
    const { classes, tree, evaluation, lists } = this.report;
    byId("class-section").hidden = this.box.id !== "class-details";
    this.map?.select(c);
    const from = classes.holder_offsets ? classes.holder_offsets[c] : 0;
    const to = classes.holder_offsets ? classes.holder_offsets[c + 1] : 0;
    const places = [];
    for (let i = from; i < to; i += 1)
      places.push({
        n: classes.holders[i],
        count: classes.holder_counts[i],
        id: classes.holder_ids[i],
      });
    if (this.picture) {
      this.picture.hold(places.map((place) => place.n));
      byId("route").replaceChildren(
        make(
          "button",
          { type: "button", class: "link", onclick: () => this.node(this.picture.selected) },
          `‹ back to node ${tree.id[this.picture.selected]}`,
        ),
      );
    }
    const most = Math.max(1e-9, ...places.map((place) => place.count));
    const rows = places.map((place) =>
      make(
        "tr",
        {},
        make(
          "td",
          { class: "label" },
          this.nodeLink(
            place.n,
            tree.id[place.n] === place.id
              ? `Node ${place.id}`
              : `Node ${place.id}, below ${tree.id[place.n]}`,
          ),
        ),
        make("td", { class: "meter" }, bar(place.count / most)),
        make("td", { class: "number" }, count(place.count)),
      ),
    );
    const all = classes.n_holders ? classes.n_holders[c] : 0;
    this.box.replaceChildren(
      make("h2", { id: "class-title" }, classes.labels[c]),
      this.facts([
        ["Examples learned", classes.counts ? count(classes.counts[c]) : null],
        [
          "Rank by frequency",
          classes.counts ? `${count(c + 1)} of ${count(classes.n_classes)}` : null,
        ],
        ["Rows evaluated", evaluation ? count(classes.rows[c]) : null],
        [
          lists ? `Of these among the first ${lists.k}` : "Of these answered right",
          evaluation && classes.rows[c] ? percent(classes.right[c] / classes.rows[c]) : null,
        ],
        ["Missed", lists ? count(classes.rows[c] - classes.right[c]) : null],
      ]),
      ...(tree
        ? [
            make("h3", {}, tree.bounded ? `A candidate in ${nodes(all)}` : `Held by ${nodes(all)}`),
            rows.length
              ? make("div", { class: "scroll" }, make("table", {}, make("tbody", {}, ...rows)))
              : make(
                  "p",
                  { class: "muted small" },
                  "No node compares this class: it is never answered.",
                ),
            all > rows.length
              ? make(
                  "p",
                  { class: "muted small" },
                  `The ${count(rows.length)} with the most examples of it.`,
                )
              : "",
          ]
        : []),
      ...this.cell(c),
      ...this.confusions(c),
    );
  }

  // The classes that stand in the same cell, as many of them as are on the page.
  cell(c) {
    const { cells } = this.report;
    if (!cells) return [];
    const own = cells.cell[c];
    if (own === null)
      return [make("p", { class: "muted small" }, "It stands in no cell: no row was counted.")];
    const others = this.map.points.filter((p) => cells.cell[p] === own && p !== c);
    const shown = others.slice(0, 60);
    return [
      make("h3", {}, this.map.nameOf(own)),
      make(
        "div",
        { class: "scroll" },
        make(
          "table",
          {},
          make(
            "tbody",
            {},
            ...shown.map((p) => make("tr", {}, make("td", { class: "label" }, this.classLink(p)))),
          ),
        ),
      ),
      others.length > shown.length
        ? make("p", { class: "muted small" }, `and ${count(others.length - shown.length)} more`)
        : "",
    ];
  }

  confusions(c) {
    const found = (this.report.confused ?? []).filter(
      (pair) => pair.label === c || pair.answer === c,
    );
    if (!found.length) return [];
    return [
      make("h3", {}, "Confused with"),
      make(
        "table",
        {},
        make(
          "tbody",
          {},
          ...found
            .slice(0, 12)
            .map((pair) =>
              make(
                "tr",
                {},
                make(
                  "td",
                  { class: "label" },
                  this.classLink(pair.label === c ? pair.answer : pair.label),
                ),
                make(
                  "td",
                  { class: "small muted" },
                  pair.label === c ? "answered instead" : "was meant",
                ),
                make("td", { class: "number" }, count(pair.n_rows)),
              ),
            ),
        ),
      ),
    ];
  }
}
