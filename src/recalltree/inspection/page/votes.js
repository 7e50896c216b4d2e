// The box that takes a row or a word, and the table of who votes for what.

const MAX_ANSWERS = 12;
const MAX_VOTERS = 8;

// MurmurHash3 (x86, 32 bits): the columns of hashed features.
function murmur(text, seed) {
  const data = new TextEncoder().encode(text);
  const turn = (x, r) => (x << r) | (x >>> (32 - r));
  const mix = (k) => Math.imul(turn(Math.imul(k, 0xcc9e2d51), 15), 0x1b873593);
  let h = seed | 0;
  const whole = data.length - (data.length % 4);
  for (let i = 0; i < whole; i += 4) {
    const k = data[i] | (data[i + 1] << 8) | (data[i + 2] << 16) | (data[i + 3] << 24);
    h = (Math.imul(turn(h ^ mix(k), 13), 5) + 0xe6546b64) | 0;
  }
  let k = 0;
  for (let i = data.length - 1; i >= whole; i -= 1) k = (k << 8) | data[i];
  h ^= mix(k);
  h ^= data.length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
const combine = (first, second) => (Math.imul(first, 16777619) ^ second) >>> 0;
// Names of digits are numbers, offset by their namespace. Columns are the lowest bits.
function hashName(name, seed) {
  if (!/^[0-9]*$/.test(name)) return murmur(name, seed);
  return Number(BigInt.asUintN(32, BigInt(name || 0) + BigInt(seed)));
}

// Sequences of 1 to `longest` words, as [name, hash].
function* sequences(words, longest, seed, prefix) {
  for (let end = 0; end < words.length; end += 1) {
    let name = "";
    let hash = 0;
    for (let n = 1; n <= longest && n <= end + 1; n += 1) {
      const from = end + 1 - n;
      const part = words.slice(from, end + 1);
      name = prefix + part.join(" ");
      hash = murmur(part[0], seed);
      for (const word of part.slice(1)) hash = combine(hash, murmur(word, seed));
      yield { name, hash, value: 1 };
    }
  }
}

// Features of a line of Vowpal Wabbit; without a bar, words of the namespace without a name.
function* vowpal(text, quadratic) {
  const parts = text.includes("|") ? text.split("|").slice(1) : [` ${text}`];
  const all = [];
  const number = (token) => (token === undefined ? 1 : Number(token));
  for (const part of parts) {
    const tokens = part.split(/[ \t]+/);
    const [space, scale] = tokens.shift().split(":");
    const seed = space ? hashName(space, 0) : 0;
    for (const token of tokens.filter((t) => t)) {
      const [name, value] = token.split(":");
      if (!name) continue;
      all.push({
        space,
        word: name,
        name: space ? `${space}^${name}` : name,
        hash: hashName(name, seed),
        value: number(value) * number(scale),
      });
    }
  }
  yield* all;
  for (const [first, second] of quadratic ?? []) {
    const of = (letter) => all.filter((f) => (f.space || " ")[0] === letter);
    const others = of(second);
    for (const [i, a] of of(first).entries())
      for (const b of first === second ? others.slice(i) : others)
        yield {
          name: `${a.space}^${a.word}*${b.space}^${b.word}`,
          hash: combine(a.hash, b.hash),
          value: a.value * b.value,
        };
  }
}

function* numbered(text, first) {
  for (const token of text.split(/\s+/).filter((t) => t)) {
    const [index, value] = token.replace(/^#/, "").split(":");
    if (/^\d+$/.test(index))
      yield {
        name: `feature ${index}`,
        column: Number(index) - first,
        value: Number(value ?? 1),
      };
  }
}

class Votes {
  constructor(report, details) {
    this.data = report.votes;
    this.labels = report.classes.labels;
    this.details = details;
    this.place = new Map(this.data.columns.map((column, i) => [column, i]));
    this.named = new Map((this.data.names ?? []).map((name, i) => [name, this.data.columns[i]]));
    this.bias = new Map(this.data.biases[0].map((place, i) => [place, this.data.biases[1][i]]));
    this.box = byId("votes-row");
    byId("votes-note").textContent = this.note();
    this.box.addEventListener("input", () => this.show());
    this.show();
  }

  note() {
    const d = this.data;
    const n = d.columns.length;
    const parts = [
      n < d.n_features
        ? `On this page are the ${count(n)} most frequent of ${count(d.n_features)} features`
        : `All ${count(n)} features are on this page`,
      d.left_out > 0
        ? ` with the classes that each saw most often; ${count(d.left_out)} votes are left out.`
        : " with all their votes.",
    ];
    if (d.also.length) parts.push(` What ${d.also.join(" and ")} add is not.`);
    if (d.reading?.weighting === "tf-idf") parts.push(" The reader's tf-idf weights are not applied.");
    if (!d.reading && !d.names) parts.push(" Features have numbers here: type 17:2 for 17 twice.");
    return parts.join("");
  }

  // Features of what was typed, each with its column.
  read(text) {
    const r = this.data.reading;
    if (!r)
      return this.data.names
        ? [...this.byName(text.split(/\s+/).filter((t) => t))]
        : [...numbered(text, 0)];
    if (r.format === "svmlight" || r.format === "xc")
      return [...numbered(text, r.format === "svmlight" && !r.zero_based ? 1 : 0)];
    const found = r.format === "vw" ? [...vowpal(text, r.quadratic)] : [...this.words(text, r)];
    const numeric = r.numeric_columns?.length ?? 0;
    return found.map((feature) => ({
      ...feature,
      column:
        r.features === "dictionary"
          ? this.named.get(feature.name)
          : numeric + feature.hash % r.n_features,
    }));
  }

  *byName(words) {
    for (const name of words) yield { name, column: this.named.get(name), value: 1 };
  }

  *words(text, r) {
    if (r.format === "fasttext") {
      yield* sequences(text.split(/[ \t\v\f\r]+/).filter((t) => t), r.ngrams, 0, "");
      return;
    }
    const lower = r.lowercase === false ? text : text.toLowerCase();
    const words = lower.split(/[^\p{L}\p{N}\p{M}_]+/u).filter((t) => t);
    // With several columns of text, words are looked up in each of them.
    const columns = r.text_column ?? [];
    for (const column of columns) {
      const prefix = columns.length > 1 ? `${column}^` : "";
      yield* sequences(words, r.ngrams, prefix ? murmur(prefix, 0) : 0, prefix);
    }
  }

  // Scores of classes, and what each feature adds to them.
  count(features) {
    const d = this.data;
    const rows = new Map();
    for (const feature of features) {
      const known = rows.get(feature.column);
      if (known) {
        known.value += feature.value;
        if (!known.names.includes(feature.name)) known.names.push(feature.name);
      } else if (feature.value !== 0)
        rows.set(feature.column, { names: [feature.name], value: feature.value });
    }
    const voters = [];
    for (const [column, { names, value }] of rows) {
      const at = this.place.get(column);
      if (at === undefined || value === 0) continue;
      const term = d.sublinear_tf ? Math.sign(value) * Math.log1p(Math.abs(value)) : value;
      voters.push({ at, name: names.join(" or "), v: term * d.idf[at] });
    }
    const length = d.normalize ? Math.hypot(...voters.map((voter) => voter.v)) || 1 : 1;
    const classes = new Map();
    for (const voter of voters)
      for (let i = d.offsets[voter.at]; i < d.offsets[voter.at + 1]; i += 1) {
        const v = voter.v / length;
        const part = { name: voter.name, vote: Math.abs(v) * d.votes[i], weight: v * d.weights[i] };
        const place = d.places[i];
        if (!classes.has(place)) classes.set(place, []);
        classes.get(place).push(part);
      }
    const answers = [...classes].map(([place, parts]) => ({
      place,
      parts: parts.sort((a, b) => b.vote + b.weight - a.vote - a.weight),
      score: parts.reduce((sum, p) => sum + p.vote + p.weight, this.bias.get(place) ?? 0),
    }));
    answers.sort((a, b) => b.score - a.score);
    const known = new Set(voters.flatMap((voter) => voter.name.split(" or ")));
    const unknown = [...new Set(features.map((f) => f.name))].filter((name) => !known.has(name));
    return { answers, unknown };
  }

  show() {
    const text = this.box.value.trim();
    const out = byId("votes-answers");
    if (!text) {
      out.replaceChildren(make("p", { class: "muted" }, "Type a word, or a row as the model reads it."));
      return;
    }
    const { answers, unknown } = this.count(this.read(text));
    const number = (x) => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(3)}`;
    const rows = answers.slice(0, MAX_ANSWERS).map(({ place, score, parts }) => [
      this.details.classLink(place),
      number(score),
      make(
        "span",
        { class: "voters" },
        parts
          .slice(0, MAX_VOTERS)
          .map((p) => `${p.name} ${number(p.vote + p.weight)}`)
          .join(", ") + (parts.length > MAX_VOTERS ? ` and ${parts.length - MAX_VOTERS} more` : ""),
      ),
    ]);
    const parts = [];
    if (rows.length) parts.push(table(["class", "score", "votes and weights of"], rows));
    if (unknown.length)
      parts.push(make("p", { class: "muted" }, `Not on this page: ${unknown.slice(0, 20).join(", ")}.`));
    out.replaceChildren(...parts);
  }
}
