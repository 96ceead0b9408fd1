"""Tell points of an inner ring from points of an outer one. Plain Python: nothing here knows who runs it.

Logistic regression on random Fourier features (Rahimi and Recht, 2007): cos(a x + b y + c), with a and b
drawn for the width of a kernel.
"""

import argparse
import json
import math
import os
import random
from pathlib import Path

FEATURES = 50


def rings(seed, count):
    draw = random.Random(seed)
    points = []
    for _ in range(count):
        outer = draw.random() < 0.5
        angle, radius = draw.uniform(0, 2 * math.pi), draw.gauss(1.6 if outer else 1.0, 0.25)
        points.append((radius * math.cos(angle), radius * math.sin(angle), float(outer)))
    return points


def featured(points, width):
    draw = random.Random(0)
    waves = [
        (draw.gauss(0, 1) / width, draw.gauss(0, 1) / width, draw.uniform(0, 2 * math.pi))
        for _ in range(FEATURES)
    ]
    return [([math.cos(a * x + b * y + c) for a, b, c in waves], label) for x, y, label in points]


def probability(weights, features):
    score = sum(w * f for w, f in zip(weights, features, strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def save(weights, folder):
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / ".weights.json"
    unfinished.write_text(json.dumps(weights))
    unfinished.replace(folder / "weights.json")  # by rename: the job may be stopped at any moment


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=27)
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--width", type=float, default=1.0)
    options = parser.parse_args()
    training = featured(rings(1, 5000), options.width)
    validation = featured(rings(2, 1000), options.width)
    weights = [0.0] * FEATURES
    order = random.Random(3)
    best = 0.0
    for epoch in range(1, options.epochs + 1):
        order.shuffle(training)
        for features, label in training:
            step = options.learning_rate * (label - probability(weights, features))
            weights = [w + step * f for w, f in zip(weights, features, strict=True)]
        right = sum((probability(weights, features) > 0.5) == (label == 1) for features, label in validation)
        accuracy = right / len(validation)
        print(f"epoch {epoch}: validation accuracy={accuracy}", flush=True)
        if accuracy > best:
            best = accuracy
            save(weights, Path(os.environ.get("SM_MODEL_DIR", "model")))


if __name__ == "__main__":
    main()
