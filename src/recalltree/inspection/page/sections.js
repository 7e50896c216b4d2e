// The sections under the tree: one chart per question.

function addFacts(report) {
  const s = report.summary;
  const t = s.tree;
  const e = report.evaluation;
  const facts = [
    [
      "Classes",
      compact(s.n_classes_seen),
      s.n_classes > s.n_classes_seen ? `${count(s.n_classes)} named` : "",
    ],
    ["Examples", compact(s.n_examples), `${compact(s.n_features)} ${s.storage} features`],
    report.lists
      ? ["Precision@1", percent(e["precision@1"]), `on ${count(e.n_rows)} rows`]
      : e
        ? ["Error", percent(e["error@1"]), `on ${count(e.n_rows)} rows`]
        : null,
    ["Progressive error", percent(s.progressive_error), "predicted, then learned"],
    t && t.recall_bound !== undefined
      ? [
          "Recall",
          percent(e ? e.candidate_recall : t.recall),
          e
            ? `${report.lists ? "labels" : "label"} among candidates`
            : `estimated; bound ${percent(t.recall_bound)}`,
        ]
      : null,
    t ? ["Nodes", compact(t.n_nodes), `depth ${t.depth}, ${compact(t.n_leaves)} leaves`] : null,
    t && t.max_candidates
      ? [
          "Compared",
          t.mean_candidates.toFixed(t.mean_candidates < 10 ? 1 : 0),
          `per example, ${t.max_candidates} at most`,
        ]
      : null,
    s.cells ? ["Cells", compact(s.cells.n_cells), `${count(s.cells.cells_read)} read at most`] : null,
    [
      "Memory",
      bytes(s.memory_bytes),
      `${bytes(s.memory_bytes / Math.max(1, s.n_classes))} per class`,
    ],
  ].filter((fact) => fact !== null);
  byId("facts").append(
    ...facts.map(([name, value, note]) =>
      make(
        "div",
        { class: "card fact" },
        make("div", { class: "muted small" }, name),
        make("div", { class: "value" }, value),
        make("div", { class: "note muted small" }, note),
      ),
    ),
  );
}

function addProgress({ curve }) {
  if (!curve.examples.length) return;
  const lines = [
    { name: "recently", ys: curve.recent_error, colour: series(1), width: 1.4, opacity: 0.85 },
    { name: "overall", ys: curve.error, colour: series(0), width: 2.4 },
  ];
  const top = Math.max(...curve.recent_error, ...curve.error);
  addChart(
    "Progressive error",
    "Each example is predicted just before it is learned.",
    lineChart({
      title: "Progressive error over examples learned",
      xs: curve.examples,
      xDomain: [0, curve.examples.at(-1)],
      yDomain: [0, Math.min(1, top * 1.05) || 1],
      xName: "examples learned",
      xFormat: compact,
      yFormat: percent,
      yTick: tickPercent,
      series: lines,
    }),
    {
      key: lines,
      numbers: [
        ["examples", "overall", "recently"],
        curve.examples.map((n, i) => [
          count(n),
          percent(curve.error[i]),
          percent(curve.recent_error[i]),
        ]),
      ],
    },
  );
}

function addDepths({ summary, evaluation }) {
  const depths = summary.tree.by_depth;
  const xs = depths.map((d) => d.depth);
  const measured =
    evaluation && evaluation.stops.length ? xs.map((d) => evaluation.stops[d] ?? [0, 0]) : null;
  const total = measured ? measured.reduce((sum, [rows]) => sum + rows, 0) || 1 : 1;
  const xTicks = xs.length > 24 ? undefined : xs;
  const stops = [{ name: "expected", ys: depths.map((d) => d.stopping), colour: series(0) }];
  if (measured)
    stops.push({
      name: "on the rows evaluated",
      ys: measured.map(([rows]) => rows / total),
      colour: series(1),
      hollow: true,
    });
  const most = Math.max(...stops.flatMap((s) => s.ys), 0.01);
  const common = {
    xs,
    xTicks,
    xDomain: [-0.6, xs.at(-1) + 0.6],
    xName: "depth",
    xFormat: (d) => `depth ${d}`,
    xTick: (d) => String(d),
    yFormat: percent,
    yTick: tickPercent,
  };
  const bounded = summary.tree.recall_bound !== undefined;
  addChart(
    "Where routes end",
    bounded
      ? "A route ends where the next node has the lower recall bound, or at the maximal depth."
      : "A route ends at a leaf.",
    barChart({
      ...common,
      title: "Share of examples that stop, by depth",
      yDomain: [0, Math.min(1, most * 1.08)],
      series: stops,
    }),
    {
      key: stops,
      numbers: [
        ["depth", "nodes", ...stops.map((s) => s.name)],
        xs.map((d) => [String(d), count(depths[d].n_nodes), ...stops.map((s) => percent(s.ys[d]))]),
      ],
    },
  );
  const recall = [
    {
      name: bounded ? "recall" : "right answers",
      ys: depths.map((d) => d.recall),
      colour: series(0),
      dots: true,
    },
  ];
  if (bounded)
    recall.push({
      name: "recall bound",
      ys: depths.map((d) => d.recall_bound),
      colour: series(3),
      dots: true,
    });
  // Rows may have lists without labels: recall is that of the others.
  if (measured)
    recall.push({
      name: "rows evaluated that ended here",
      ys: measured.map(([rows, held, labelled = rows]) => (labelled ? held / labelled : null)),
      colour: series(1),
      dots: true,
      noLine: true,
    });
  addChart(
    "Recall by depth",
    bounded
      ? "Share of a node's examples with their label among its candidates, over the routes here."
      : "Share of examples with the label that their leaf answers.",
    lineChart({ ...common, title: "Recall by depth", yDomain: [0, 1], series: recall }),
    {
      key: recall,
      numbers: [
        ["depth", ...recall.map((s) => s.name)],
        xs.map((d) => [String(d), ...recall.map((s) => percent(s.ys[d]))]),
      ],
    },
  );
}

function addCandidates({ candidate_sizes: sizes, summary }) {
  if (!sizes) return;
  const name = (s) => (s.from === s.to ? count(s.from) : `${count(s.from)} to ${count(s.to)}`);
  const xs = sizes.map((s) => s.from);
  const step = sizes.length > 1 ? xs[1] - xs[0] : 1;
  const bars = [
    { name: "of examples", ys: sizes.map((s) => s.share), colour: series(0) },
    { name: "of nodes", ys: sizes.map((s) => s.nodes), colour: series(1), hollow: true },
  ];
  const most = Math.max(...bars.flatMap((s) => s.ys), 0.01);
  const what =
    summary.tree.recall_bound === undefined
      ? "How many labels the leaf holds where an example ends."
      : `Classes compared for an example: ${count(summary.tree.max_candidates)} at most.`;
  const ticks = niceTicks(xs[0], xs.at(-1), 6).filter((t) => Number.isInteger(t));
  addChart(
    "Candidate-set sizes",
    what,
    barChart({
      title: "Candidate-set sizes",
      xs,
      xDomain: [xs[0] - step * 0.6, xs.at(-1) + step * 0.6],
      yDomain: [0, Math.min(1, most * 1.08)],
      xName: "candidates",
      xFormat: (x) => name(sizes[xs.indexOf(x)]),
      xTicks: ticks,
      xTick: count,
      yFormat: percent,
      yTick: tickPercent,
      series: bars,
    }),
    {
      key: bars,
      numbers: [
        ["candidates", "of examples", "of nodes"],
        sizes.map((s) => [name(s), percent(s.share), percent(s.nodes)]),
      ],
    },
  );
}

function addFrequency({ frequency }) {
  if (!frequency) return;
  const { ranks, counts, from } = frequency;
  const low = Math.min(...counts);
  const high = Math.max(...counts);
  const where = from === "rows" ? " among the rows evaluated" : "";
  addChart(
    "Class frequency",
    `Examples of each class${where}, the most frequent first; both axes are logarithmic.`,
    lineChart({
      title: "Class frequency by rank",
      log: true,
      xs: ranks,
      xDomain: [1, Math.max(2, ranks.at(-1))],
      yDomain: [Math.max(low, 1e-3) * 0.9, Math.max(high, low * 2) * 1.1],
      xName: "rank of the class",
      xFormat: compact,
      yFormat: compact,
      series: [{ name: "examples", ys: counts, colour: series(0), width: 2.4 }],
    }),
    { numbers: [["rank", "examples"], ranks.map((rank, i) => [count(rank), count(counts[i])])] },
  );
}

function addMemory({ summary }, within) {
  const parts = Object.entries(summary.memory_by_part)
    .map(([name, value]) => ({ name: name.replaceAll("_", " "), value }))
    .sort((a, b) => b.value - a.value);
  parts.forEach((part, i) => {
    part.colour = series(i);
  });
  addChart(
    "Memory by part",
    `${bytes(summary.memory_bytes)} in all; the table of labels is not counted.`,
    stack(parts, bytes),
    {
      numbers: [
        ["part", "bytes", "share"],
        parts.map((p) => [p.name, count(p.value), percent(p.value / summary.memory_bytes)]),
      ],
      within,
    },
  );
}

function addErrors({ evaluation: e }, within) {
  if (!e) {
    addChart(
      "Errors and confused classes",
      "Measured on labelled rows, which this report was not given.",
      make(
        "p",
        {},
        "To see where answers are lost and which classes are confused: ",
        make("code", {}, "recalltree inspect -m MODEL --html REPORT ROWS"),
        ", or in Python ",
        make("code", {}, "html_report(clf, path, confusion=(X, y))"),
        ".",
      ),
      { within },
    );
    return;
  }
  const parts = [
    { name: "right", value: 1 - e["error@1"], colour: series(3) },
    { name: "lost among the candidates", value: e.lost_among_candidates, colour: series(1) },
    { name: "lost on the way to them", value: e.lost_in_routing, colour: series(4) },
    { name: "label never learned", value: e.unknown_labels, colour: series(6) },
  ];
  const wider = Object.keys(e).find((key) => key.startsWith("error@") && key !== "error@1");
  const also = wider ? `, ${percent(e[wider])} within the best ${wider.slice(6)}` : "";
  addChart(
    "Where answers are lost",
    `${count(e.n_rows)} rows: error ${percent(e["error@1"])}${also}.`,
    stack(parts, percent),
    { within },
  );
}

function addConfused({ confused, lists }, details) {
  if (!confused.length) return;
  const most = confused[0].n_rows;
  const head = ["label", "answered", "", "rows"].map((name, i) =>
    make("th", { scope: "col", class: i === 3 ? "number" : null }, name),
  );
  const rows = confused
    .slice(0, 100)
    .map((pair) =>
      make(
        "tr",
        {},
        make("td", { class: "label" }, details.classLink(pair.label)),
        make("td", { class: "label" }, details.classLink(pair.answer)),
        make("td", { class: "meter" }, bar(pair.n_rows / most)),
        make("td", { class: "number" }, count(pair.n_rows)),
      ),
    );
  addChart(
    "Most confused classes",
    lists
      ? "Pairs of classes, by how many rows miss the first alone and have the second in its " +
          `place: of m labels, ${lists.k} at most, the first m answers hold all but one.`
      : "Pairs of classes, by how many rows of the first were answered with the second.",
    make(
      "div",
      { class: "scroll tall" },
      make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)),
    ),
    { wide: true },
  );
}

function addParameters({ summary }) {
  const show = (value) => (value === null ? "none" : String(value));
  byId("parameter-tables").append(
    table(
      ["parameter", "value"],
      Object.entries(summary.parameters).map(([name, value]) => [name, show(value)]),
    ),
    table(
      ["work done", "count"],
      Object.entries(summary.work).map(([name, value]) => [
        name.replaceAll("_", " "),
        count(value),
      ]),
    ),
  );
}
