// The box that finds classes by their label.

const MAX_RESULTS = 40;

class Search {
  constructor(classes, onChoose) {
    this.labels = classes.labels;
    this.counts = classes.counts;
    this.left_out = classes.n_classes - classes.labels.length;
    this.lower = classes.labels.map((label) => label.toLowerCase());
    this.onChoose = onChoose;
    this.box = byId("search");
    this.list = byId("results");
    this.found = [];
    this.at = -1;
    this.box.addEventListener("input", () => this.show());
    this.box.addEventListener("focus", () => {
      if (this.box.value) this.show();
    });
    this.box.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("keydown", (event) => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
      if (event.key === "/" && !typing) {
        event.preventDefault();
        this.box.focus();
        this.box.select();
      }
    });
    document.addEventListener("click", (event) => {
      if (!event.target.closest(".find")) this.close();
    });
  }

  // Exact first, then what begins so, then what contains it; the most frequent first in each.
  find(text) {
    const wanted = text.toLowerCase();
    const ranks = [[], [], []];
    for (let c = 0; c < this.lower.length; c += 1) {
      const at = this.lower[c].indexOf(wanted);
      if (at >= 0) ranks[at > 0 ? 2 : this.lower[c].length === wanted.length ? 0 : 1].push(c);
    }
    return ranks.flat();
  }

  show() {
    const text = this.box.value.trim();
    if (!text) {
      this.close();
      return;
    }
    const all = this.find(text);
    this.found = all.slice(0, MAX_RESULTS);
    this.at = this.found.length ? 0 : -1;
    const note = (words) => make("li", { class: "note", role: "presentation" }, words);
    const items = this.found.map((c, i) =>
      make(
        "li",
        { role: "option", id: `result-${i}`, onclick: () => this.choose(i) },
        make("span", {}, this.labels[c]),
        this.counts ? make("span", { class: "muted" }, count(this.counts[c])) : "",
      ),
    );
    if (!items.length) items.push(note(`No class has “${text}” in its label.`));
    if (all.length > this.found.length)
      items.push(note(`and ${count(all.length - this.found.length)} more`));
    if (this.left_out > 0)
      items.push(note(`The ${count(this.left_out)} least frequent classes are not on this page.`));
    this.list.replaceChildren(...items);
    this.list.hidden = false;
    this.box.setAttribute("aria-expanded", "true");
    this.mark();
  }

  mark() {
    [...this.list.querySelectorAll("[role=option]")].forEach((item, i) => {
      item.setAttribute("aria-selected", i === this.at);
      if (i === this.at) item.scrollIntoView({ block: "nearest" });
    });
    if (this.at >= 0) this.box.setAttribute("aria-activedescendant", `result-${this.at}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  key(event) {
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && this.at >= 0) this.choose(this.at);
    else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && this.found.length) {
      this.at =
        (this.at + (event.key === "ArrowDown" ? 1 : -1) + this.found.length) % this.found.length;
      this.mark();
    } else return;
    event.preventDefault();
  }

  choose(i) {
    this.close();
    this.onChoose(this.found[i]);
  }

  close() {
    this.list.hidden = true;
    this.box.setAttribute("aria-expanded", "false");
    this.box.removeAttribute("aria-activedescendant");
  }
}
