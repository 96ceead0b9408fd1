// The hosts' logs: the last lines, what is new, what came before, and what holds a text.

const MOST = 5000; // lines that are kept on the page
const LOOK = 1000; // milliseconds between two looks at logs that are followed
const BOTTOM = 24; // pixels from the end within which a log is at its end

const form = document.getElementById("log-form");
const log = document.getElementById("log");
const lines = document.getElementById("log-lines");
const older = document.getElementById("log-older");
const state = document.getElementById("log-state");
const path = `/-/logs/${encodeURIComponent(form.dataset.name)}`;

let view = 0; // which view the lines are of: a late answer for an earlier one is dropped
let before = null;
let after = null;
let running = true;
let found = 0;

function text(line, find) {
  const span = document.createElement("span");
  let at = 0;
  if (find) {
    const low = line.text.toLowerCase();
    for (let next = low.indexOf(find); next >= 0; next = low.indexOf(find, at)) {
      const mark = document.createElement("mark");
      mark.textContent = line.text.slice(next, next + find.length);
      span.append(line.text.slice(at, next), mark);
      at = next + find.length;
    }
  }
  span.append(line.text.slice(at));
  return span;
}

function item(line) {
  const made = document.createElement("li");
  const time = document.createElement("time");
  const moment = new Date(line.time);
  time.textContent = moment.toISOString().slice(11, 19);
  time.dateTime = moment.toISOString();
  const host = document.createElement("b");
  host.textContent = line.host;
  made.append(time, host, text(line, form.find.value.trim().toLowerCase()));
  return made;
}

async function ask(parameters) {
  const query = new URLSearchParams({ host: form.host.value, ...parameters });
  const response = await fetch(`${path}?${query}`, { cache: "no-store" });
  if (!response.ok) throw new TypeError("no logs");
  return response.json();
}

function words() {
  const find = form.find.value.trim();
  if (!find) state.textContent = lines.children.length ? "" : running ? "Nothing has been printed yet." : "Nothing was printed.";
  else state.textContent = `${found} ${found === 1 ? "line" : "lines"} found${before ? " so far" : ""}`;
  older.hidden = !before;
  older.textContent = find ? "search earlier lines" : "earlier lines";
}

function toEnd() {
  log.scrollTop = log.scrollHeight;
}

// Shows the ends of the logs, or the last lines that hold a text.
async function begin() {
  const mine = (view += 1);
  const find = form.find.value.trim();
  const page = await ask(find ? { find } : {});
  if (mine !== view) return;
  [before, after, running, found] = [page.before, page.after, page.running, page.lines.length];
  lines.replaceChildren(...page.lines.map(item));
  lines.classList.toggle("one", Boolean(form.host.value) || form.host.options.length === 2);
  toEnd();
  words();
}

async function earlier() {
  const mine = view;
  const find = form.find.value.trim();
  const page = await ask(find ? { before, find } : { before });
  if (mine !== view) return;
  const height = log.scrollHeight;
  lines.prepend(...page.lines.map(item));
  log.scrollTop += log.scrollHeight - height;
  before = page.before;
  found += page.lines.length;
  form.follow.checked = false; // what is read is not taken away
  words();
}

async function look() {
  const mine = view;
  const page = await ask({ after });
  if (mine !== view) return false;
  [after, running] = [page.after, page.running];
  if (page.lines.length) {
    lines.append(...page.lines.map(item));
    while (lines.children.length > MOST) {
      lines.firstChild.remove();
      before = null; // where the first line begins is not known any more
    }
    toEnd();
    words();
  }
  return page.more;
}

async function keep() {
  let more = false;
  if (after !== null && form.follow.checked && !form.find.value.trim() && !document.hidden) {
    try {
      const was = running;
      more = await look();
      if (!was && !more) return setTimeout(keep, 5 * LOOK);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
  return setTimeout(keep, more ? 0 : LOOK);
}

function tried(work) {
  return () =>
    work().catch((error) => {
      if (!(error instanceof TypeError)) throw error;
      state.textContent = "The logs cannot be read at present.";
    });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  tried(begin)();
});
form.host.addEventListener("change", tried(begin));
form.find.addEventListener("search", tried(begin));
form.follow.addEventListener("change", () => form.follow.checked && toEnd());
older.addEventListener("click", tried(earlier));
log.addEventListener("wheel", () => {
  if (log.scrollHeight - log.scrollTop - log.clientHeight > BOTTOM) form.follow.checked = false;
});
tried(begin)().then(keep);
