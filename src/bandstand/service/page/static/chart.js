// Draws learning curves as SVG: axes, rungs, a mark at each curve's end, and what the pointer is at.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 320;
const MARGIN = { top: 14, right: 14, bottom: 38, left: 64 };
const NEAR = 30; // pixels within which the pointer is at a point
const FAR = 4; // how many times as wide as most of the values all may lie, before the rest is cut off

export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "-";
  return String(Number(value.toPrecision(6)));
}

function element(name, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

function steps(low, high, about) {
  const rough = (high - low) / about;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * size).find((each) => each >= rough);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high; at += 1) found.push(at * step);
  return found;
}

// The range that is drawn: of all values, or of most of them where a few lie far away.
function span(series) {
  const values = series.flatMap((each) => each.points.map((point) => point[1])).sort((a, b) => a - b);
  if (!values.length) return { low: 0, high: 1, outside: 0 };
  const at = (share) => values[Math.round(share * (values.length - 1))];
  let [low, high] = [at(0), at(1)];
  const [least, most] = [at(0.02), at(0.98)];
  if (values.length >= 50 && most > least && high - low > FAR * (most - least)) [low, high] = [least, most];
  const outside = values.filter((value) => value < low || value > high).length;
  const room = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  return { low: low - room, high: high + room, outside };
}

const ENDS = {
  completed: (x, y) => element("circle", { cx: x, cy: y, r: 3.5 }),
  stopped: (x, y) => element("path", { d: `M${x} ${y - 5}v10` }),
  failed: (x, y) => element("path", { d: `M${x - 4} ${y - 4}l8 8m0-8l-8 8` }),
  running: (x, y) => element("circle", { cx: x, cy: y, r: 2 }),
};

export class Chart {
  // `at` is the element to draw in, `label` says what it is; `tell(series, point)` words what the pointer is
  // at, with null for nothing.
  constructor(at, label, tell) {
    this.tell = tell;
    this.series = [];
    this.chosen = null;
    this.svg = element("svg", { class: "chart", tabindex: 0, role: "group", "aria-label": label });
    this.note = document.createElement("p");
    this.note.className = "note";
    this.note.setAttribute("role", "status");
    at.replaceChildren(this.svg, this.note);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.choose(null));
    this.svg.addEventListener("blur", () => this.choose(null));
    this.svg.addEventListener("click", () => this.open());
    this.svg.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(at);
  }

  // Each of `series`: `points` (pairs of place and value), `kind` (one of ENDS), `name`, `href`, `best`.
  // `rungs` are drawn as lines, `most` is the greatest place that there can be.
  show(series, { rungs = [], most = 0, logarithmic = false } = {}) {
    const name = this.chosen?.series.name;
    this.series = series.map((each) => ({ ...each, points: each.points.filter((point) => point[1] !== null) }));
    Object.assign(this, { rungs, most, logarithmic });
    const same = this.series.find((each) => each.name === name && each.points.length);
    this.chosen = same ? { series: same, point: same.points.at(-1) } : null;
    this.draw();
  }

  draw() {
    const width = Math.max(280, this.svg.parentNode.clientWidth);
    if (!this.series.length || !this.svg.parentNode.clientWidth) return;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.svg.setAttribute("height", HEIGHT);
    const places = this.series.flatMap((each) => each.points.map((point) => point[0]));
    const first = Math.min(...(places.length ? [this.least(places)] : [0]));
    const last = Math.max(this.greatest(places), this.most, first + 1);
    const { low, high, outside } = span(this.series);
    const inner = { width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
    const log = this.logarithmic && first > 0;
    const scaled = (value) => (log ? Math.log(value) : value);
    this.x = (at) =>
      MARGIN.left + ((scaled(at) - scaled(first)) / (scaled(last) - scaled(first))) * inner.width;
    this.y = (value) => MARGIN.top + (1 - (value - low) / (high - low)) * inner.height;
    const bottom = MARGIN.top + inner.height;
    this.svg.replaceChildren(
      this.frame(inner),
      ...this.values(low, high, width),
      ...this.places(first, last, log, bottom),
      ...this.levels(first, last, bottom),
      this.curves(),
      (this.over = element("g", { class: "over" })),
      ...(outside
        ? [element("text", { x: width - MARGIN.right, y: MARGIN.top + 4, class: "outside" }, `${outside} values lie outside`)]
        : []),
    );
    this.mark();
  }

  least(places) {
    return places.reduce((found, each) => Math.min(found, each), Infinity);
  }

  greatest(places) {
    return places.reduce((found, each) => Math.max(found, each), 0);
  }

  frame(inner) {
    const clip = element("clipPath", { id: (this.clip ??= `clip-${Math.random().toString(36).slice(2)}`) });
    clip.append(
      element("rect", { x: MARGIN.left - 6, y: MARGIN.top - 6, width: inner.width + 12, height: inner.height + 12 }),
    );
    return clip;
  }

  values(low, high, width) {
    return steps(low, high, 5).flatMap((value) => [
      element("path", { class: "grid", d: `M${MARGIN.left} ${this.y(value)}H${width - MARGIN.right}` }),
      element("text", { class: "value", x: MARGIN.left - 8, y: this.y(value) + 4 }, number(value)),
    ]);
  }

  places(first, last, log, bottom) {
    const ticks = this.rungs.length
      ? [...this.rungs, ...(this.most ? [this.most] : [])].filter((each) => each >= first && each <= last)
      : log ? [first, last] : steps(first, last, 6).filter(Number.isInteger);
    let end = -Infinity;
    const texts = ticks.filter((at) => this.x(at) - end > 28 && (end = this.x(at)));
    return [
      ...texts.map((at) => element("text", { class: "place", x: this.x(at), y: bottom + 16 }, number(at))),
      element("text", { class: "place axis", x: (this.x(first) + this.x(last)) / 2, y: bottom + 33 }, "iterations"),
    ];
  }

  levels(first, last, bottom) {
    return this.rungs
      .filter((rung) => rung >= first && rung <= last)
      .map((rung) => element("path", { class: "rung", d: `M${this.x(rung)} ${MARGIN.top}V${bottom}` }));
  }

  curves() {
    const all = element("g", { "clip-path": `url(#${this.clip})` });
    const order = [...this.series].sort((one, other) => (one.best ? 1 : 0) - (other.best ? 1 : 0));
    for (const series of order) {
      if (series.points.length) all.append(this.curve(series));
    }
    return all;
  }

  curve(series) {
    const group = element("g", { class: `curve ${series.kind}${series.best ? " best" : ""}` });
    group.append(element("title", {}, this.tell(series, series.points.at(-1))));
    const line = series.points.map(([at, value]) => `${this.x(at).toFixed(1)} ${this.y(value).toFixed(1)}`);
    group.append(element("path", { class: "line", d: `M${line.join("L")}` }));
    const [at, value] = series.points.at(-1);
    const end = ENDS[series.kind](this.x(at), this.y(value));
    end.classList.add("end");
    group.append(end);
    return group;
  }

  // Marks what is chosen, and words it below.
  mark() {
    this.over?.replaceChildren();
    const { series, point } = this.chosen ?? {};
    const text = series ? this.tell(series, point) : this.tell(null, null);
    if (this.note.textContent !== text) this.note.textContent = text;
    if (!series || !this.over) return;
    const copy = this.curve(series);
    copy.classList.add("chosen");
    copy.append(element("circle", { class: "at", cx: this.x(point[0]), cy: this.y(point[1]), r: 4.5 }));
    this.over.append(copy);
  }

  choose(found) {
    this.chosen = found;
    this.mark();
  }

  point(event) {
    if (!this.x) return;
    const box = this.svg.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    let found = null;
    let nearest = NEAR;
    for (const series of this.series) {
      for (const point of series.points) {
        const far = Math.hypot(this.x(point[0]) - px, this.y(point[1]) - py);
        if (far < nearest) [found, nearest] = [{ series, point }, far];
      }
    }
    this.choose(found);
  }

  key(event) {
    const drawn = this.series.filter((each) => each.points.length);
    const way = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (way && drawn.length) {
      const at = drawn.indexOf(this.chosen?.series);
      const next = drawn[at < 0 ? (way > 0 ? 0 : drawn.length - 1) : (at + way + drawn.length) % drawn.length];
      this.choose({ series: next, point: next.points.at(-1) });
      event.preventDefault();
    } else if (event.key === "Enter") this.open();
    else if (event.key === "Escape") this.choose(null);
  }

  open() {
    if (this.chosen?.series.href) location.href = this.chosen.series.href;
  }
}
