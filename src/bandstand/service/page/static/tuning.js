// The learning curves of a tuning job's training jobs.

import { Chart, number } from "/-/static/chart.js";
import { follow } from "/-/static/poll.js";

const KINDS = { Completed: "completed", Stopped: "stopped", Failed: "failed" };
const place = document.getElementById("curves");
const path = `/-/curves/tuning/${encodeURIComponent(place.dataset.name)}`;
const curves = new Map(); // by number of job: the version and the points
let known = null; // what the service told last
let logarithmic = null; // what the user chose

function word(series, point) {
  if (!series) {
    const shown = known.jobs.length < known.total ? `${known.jobs.length} of ${known.total} jobs are drawn. ` : "";
    return `${shown}Point at a curve, or use the arrow keys, to read it.`;
  }
  const { job } = series;
  const state = job.ended || job.status.replace("InProgress", "running").toLowerCase();
  const of = job.definition ? ` of ${job.definition}` : "";
  const at = `job ${job.number}${of}${job.best ? " (best)" : ""}: ${number(point[1])} at iteration ${point[0]}`;
  return `${at}; ${state}. ${job.why}`.trim();
}

function key() {
  const legend = document.createElement("div");
  legend.className = "key";
  for (const [kind, text] of [["best", "best"], ["completed", "completed"], ["stopped", "stopped early"], ["failed", "failed"], ["running", "running"], ["rung", "rung"]]) {
    const part = document.createElement("span");
    part.className = `sample ${kind}`;
    part.textContent = text;
    legend.append(part);
  }
  const label = document.createElement("label");
  label.className = "check";
  const box = document.createElement("input");
  box.type = "checkbox";
  box.addEventListener("change", () => {
    logarithmic = box.checked;
    show();
  });
  label.append(box, " logarithmic");
  legend.append(label);
  return { legend, box };
}

let chart = null;
let scale = null;

function begin() {
  const { legend, box } = key();
  const drawing = document.createElement("div");
  place.replaceChildren(legend, drawing);
  chart = new Chart(drawing, `${known.objective.name} by iteration, a curve for each training job`, word);
  scale = box;
}

function show() {
  const most = known.max_resource ?? 0;
  const log = logarithmic ?? known.rungs.length > 2;
  scale.checked = log;
  const series = known.jobs.map((job) => ({
    name: job.name,
    href: `/-/jobs/training/${encodeURIComponent(job.name)}`,
    kind: KINDS[job.status] ?? "running",
    best: job.best,
    points: curves.get(job.number)?.points ?? [],
    job,
  }));
  chart.show(series, { rungs: known.rungs, most, logarithmic: log });
}

async function take(response) {
  known = await response.json();
  for (const job of known.jobs) {
    if (job.curve) curves.set(job.number, { version: job.version, points: job.curve });
  }
  if (!known.jobs.some((job) => curves.get(job.number)?.points.length)) {
    chart = null;
    place.textContent = known.running ? "No job has reported a value yet." : "No job has reported a value.";
    return;
  }
  if (!chart) begin();
  show();
}

// The same versions give the same address, so that an unchanged record is answered with nothing.
follow(() => {
  const have = [...curves.values()].map((each) => each.version).join(",");
  return have ? `${path}?have=${have}` : path;
}, take);
