"""Logistic regression on as many hosts as the job has: each rank has its share of the rows."""

import json

import numpy as np

import bandstand


def made_rows(seed, count, width=30):
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(count, width)) * np.geomspace(1, 0.05, width)
    truth = np.random.default_rng(0).normal(size=width) / np.geomspace(1, 0.05, width)
    return rows, (rows @ truth + draw.logistic(size=count) > 0).astype(float)


def logloss(rows, labels, weights):
    return float(np.mean(np.logaddexp(0, np.where(labels == 1, -1, 1) * (rows @ weights))))


def save(path):
    np.save(path, [weights, speed])


run = bandstand.start()
rate, momentum = run.hyperparameters.number("rate", 1.0), run.hyperparameters.number("momentum", 0.0)
rows, labels = (part[run.rank :: run.world_size] for part in made_rows(1, 6000))
seen, answers = (part[run.rank :: run.world_size] for part in made_rows(2, 3000))
weights, speed = np.load(run.resume_path) if run.resume_path else np.zeros((2, rows.shape[1]))
for iteration in run.iterations(run.hyperparameters.integer("epochs", 27)):
    slope = (1 / (1 + np.exp(-(rows @ weights))) - labels) @ rows / len(rows)
    speed = momentum * speed - rate * np.mean(run.gather(slope.tolist()), axis=0)
    weights = weights + speed
    loss = bandstand.mean(logloss(seen, answers, weights), weight=len(seen))
    run.report(iteration, {"validation:logloss": loss})
    run.checkpoint(iteration, save, suffix=".npy")
run.save_model("weights.json", lambda path: path.write_text(json.dumps(weights.tolist())))
