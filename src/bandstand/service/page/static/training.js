// The curves of one training job's metrics, a drawing each.

import { Chart, number } from "/-/static/chart.js";
import { follow } from "/-/static/poll.js";

const place = document.getElementById("metrics");
const path = `/-/curves/training/${encodeURIComponent(place.dataset.name)}`;
const metrics = new Map(); // by name: for each host its points by iteration
const charts = new Map();
let last = -1;
let attempt = null;

function word(series, point) {
  return series ? `${series.name}: ${number(point[1])} at iteration ${point[0]}` : "";
}

function add(known) {
  for (const [name, hosts] of Object.entries(known.metrics)) {
    if (!metrics.has(name)) metrics.set(name, new Map());
    for (const [host, points] of Object.entries(hosts)) {
      if (!metrics.get(name).has(host)) metrics.get(name).set(host, new Map());
      for (const [iteration, value] of points) metrics.get(name).get(host).set(iteration, value);
    }
  }
}

function chartOf(name) {
  if (!charts.has(name)) {
    if (!charts.size) place.replaceChildren();
    const figure = document.createElement("figure");
    const title = document.createElement("figcaption");
    const drawing = document.createElement("div");
    figure.append(title, drawing);
    place.append(figure);
    charts.set(name, { title, chart: new Chart(drawing, `${name} by iteration`, word) });
  }
  return charts.get(name);
}

function show(running) {
  for (const [name, hosts] of metrics) {
    const series = [...hosts].map(([host, points]) => ({
      name: host,
      kind: running ? "running" : "completed",
      best: hosts.size === 1,
      points: [...points].sort((one, other) => one[0] - other[0]),
    }));
    const { title, chart } = chartOf(name);
    const final = series[0].points.at(-1);
    title.textContent = `${name}: ${number(final?.[1])} at iteration ${final?.[0]}`;
    chart.show(series);
  }
  if (!metrics.size) place.textContent = running ? "Nothing has been reported yet." : "It has no metrics.";
}

async function take(response) {
  const known = await response.json();
  if (attempt !== null && attempt !== known.attempt) {
    [attempt, last] = [null, -1]; // begun again: some points of earlier attempts are gone
    metrics.clear();
    return 0;
  }
  [attempt, last] = [known.attempt, known.last];
  add(known);
  show(known.running);
}

follow(() => (last < 0 ? path : `${path}?after=${last}`), take);
