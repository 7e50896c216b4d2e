// Unpacks the data and fills the page.

async function unpack() {
  const packed = Uint8Array.from(atob(byId("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

async function main() {
  const report = await unpack();
  byId("subtitle").textContent = report.subtitle;
  addFacts(report);
  byId("tree-section").hidden = report.tree === null;
  const details = new Details(report);
  new Search(report.classes, (c) => details.class(c));
  if (report.tree) {
    byId("tree-note").textContent = report.tree.note;
    details.picture.resize();
    details.picture.select(0);
  }
  byId("cells-section").hidden = report.cells === null;
  if (report.cells) {
    byId("cells-note").textContent = report.cells.note;
    details.map.resize();
    details.first();
  }
  byId("votes-section").hidden = report.votes === null;
  if (report.votes) new Votes(report, details);
  addProgress(report);
  if (report.tree) addDepths(report);
  addCandidates(report);
  addCellSizes(report);
  addFrequency(report);
  const pile = make("div", { class: "pile" });
  if (report.tree) byId("charts").append(pile);
  const beside = report.tree ? pile : byId("charts");
  if (report.lists) addListMetrics(report, beside);
  else addErrors(report, beside);
  addMemory(report, beside);
  if (report.lists) {
    addLabelsPerRow(report);
    addMissedLabels(report, details);
    addWorstRows(report, details);
  }
  addConfused(report, details);
  addParameters(report);
  setUpTheme(() => {
    details.picture?.draw();
    details.map?.draw();
  });
  document.documentElement.dataset.ready = "true";
}

main().catch((error) => {
  const box = byId("problem");
  box.textContent =
    `This page could not be drawn: ${error.message}. ` + "It needs a browser of 2023 or later.";
  box.hidden = false;
  throw error;
});
