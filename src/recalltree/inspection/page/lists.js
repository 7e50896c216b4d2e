// Results on rows with several labels: what stands in place of the errors of rows with one.

const MISSED_SHOWN = 100;

// The labels of a row or its answers; those that are both are marked as right.
function labelList(labels, details, more) {
  return make(
    "ul",
    { class: "labels" },
    ...labels.map((label) =>
      make(
        "li",
        { class: label.right ? "right" : null },
        label.place >= 0 ? details.classLink(label.place) : label.text,
        label.right ? " ✓" : "",
      ),
    ),
    ...(more > 0 ? [make("li", { class: "muted small" }, `and ${count(more)} more`)] : []),
  );
}

function addListMetrics({ evaluation: e, lists }, within) {
  const names = Object.keys(e).filter((name) => name.includes("@"));
  const shown = [
    ...names.map((name) => [name, e[name]]),
    ...["micro", "macro"].map((mean) => [`${mean} F1 at ${e.threshold}`, e[`${mean}_f1`]]),
    ["labels among the candidates", e.candidate_recall],
  ];
  const rows = shown.map(([name, value]) =>
    make(
      "tr",
      {},
      make("td", { class: "label" }, name),
      make("td", { class: "meter" }, bar(value ?? 0)),
      make("td", { class: "number" }, percent(value)),
    ),
  );
  const without = e.rows_without_labels ? `, ${count(e.rows_without_labels)} without any` : "";
  addChart(
    "How good the answers are",
    `${count(e.n_rows)} rows of ${e.labels_per_row.toFixed(2)} labels on average${without}.`,
    make("table", { id: "list-metrics" }, make("tbody", {}, ...rows)),
    { within },
  );
  if (!lists.labels) return;
  const parts = [
    { name: `among the first ${lists.k}`, value: lists.labels.right, colour: series(3) },
    {
      name: "compared, but not among them",
      value: lists.labels.lost_among_candidates,
      colour: series(1),
    },
    { name: "not compared", value: lists.labels.lost_in_routing, colour: series(4) },
    { name: "never learned", value: lists.labels.unknown_labels, colour: series(6) },
  ];
  addChart(
    "Where labels are lost",
    `All labels of all rows. Of a row with more than ${lists.k}, some must be missed.`,
    stack(parts, percent),
    { within },
  );
}

function addLabelsPerRow({ evaluation: e, lists }) {
  const { sizes } = lists;
  const name = (s) => (s.from === s.to ? count(s.from) : `${count(s.from)} to ${count(s.to)}`);
  const xs = sizes.map((s) => s.from);
  const step = sizes.length > 1 ? xs[1] - xs[0] : 1;
  const rows = { name: "of rows", ys: sizes.map((s) => s.n_rows / e.n_rows), colour: series(0) };
  const ticks = niceTicks(xs[0], xs.at(-1), 6).filter((t) => Number.isInteger(t));
  addChart(
    "Labels per row",
    `Share of the rows with so many labels, ${e.labels_per_row.toFixed(2)} on average.`,
    barChart({
      title: "Labels per row",
      xs,
      xDomain: [xs[0] - step * 0.6, xs.at(-1) + step * 0.6],
      yDomain: [0, Math.min(1, Math.max(...rows.ys, 0.01) * 1.08)],
      xName: "labels",
      xFormat: (x) => `${name(sizes[xs.indexOf(x)])} labels`,
      xTicks: ticks,
      xTick: count,
      yFormat: percent,
      yTick: tickPercent,
      series: [rows],
    }),
    {
      numbers: [
        ["labels", "rows", "share"],
        sizes.map((s, i) => [name(s), count(s.n_rows), percent(rows.ys[i])]),
      ],
    },
  );
}

function addMissedLabels({ classes, lists }, details) {
  const missed = classes.rows.map((rows, c) => rows - classes.right[c]);
  const order = [...missed.keys()].filter((c) => missed[c] > 0);
  order.sort((a, b) => missed[b] - missed[a] || a - b);
  if (!order.length) return;
  const names = ["label", "missed", "", `among the first ${lists.k}`, "rows with it"];
  const head = names.map((name, i) =>
    make("th", { scope: "col", class: i === 1 || i > 2 ? "number" : null }, name),
  );
  const rows = order
    .slice(0, MISSED_SHOWN)
    .map((c) =>
      make(
        "tr",
        {},
        make("td", { class: "label" }, details.classLink(c)),
        make("td", { class: "number" }, count(missed[c])),
        make("td", { class: "meter" }, bar(missed[c] / classes.rows[c])),
        make("td", { class: "number" }, count(classes.right[c])),
        make("td", { class: "number" }, count(classes.rows[c])),
      ),
    );
  addChart(
    "Labels that are missed most often",
    `How many rows with the label do not have it among their first ${lists.k} answers.`,
    make(
      "div",
      { class: "scroll tall" },
      make(
        "table",
        { id: "missed-labels" },
        make("thead", {}, make("tr", {}, ...head)),
        make("tbody", {}, ...rows),
      ),
    ),
    { wide: true },
  );
}

function addWorstRows({ lists }, details) {
  if (!lists.worst.length) return;
  const head = ["row", `nDCG@${lists.k}`, "labels", "answers, the best first"].map((name, i) =>
    make("th", { scope: "col", class: i === 1 ? "number" : null }, name),
  );
  const rows = lists.worst.map((row) =>
    make(
      "tr",
      {},
      make("td", {}, count(row.row)),
      make("td", { class: "number" }, percent(row.result)),
      make("td", {}, labelList(row.labels, details, row.n_labels - row.labels.length)),
      make("td", {}, labelList(row.answers, details, 0)),
    ),
  );
  addChart(
    "Rows with the worst results",
    "Rows are counted from 0, without those that readers skip. ✓: both a label and an answer.",
    make(
      "div",
      { class: "scroll tall" },
      make(
        "table",
        { id: "worst-rows" },
        make("thead", {}, make("tr", {}, ...head)),
        make("tbody", {}, ...rows),
      ),
    ),
    { wide: true },
  );
}
