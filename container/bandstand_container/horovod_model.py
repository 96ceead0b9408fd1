"""The classifier that the built-in Horovod algorithm trains: its layers, its optimizer, its file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from bandstand.hyperparameter_schema import Settings

ROWS_AT_ONCE = 8192
"""Rows that are evaluated together."""


def build(features: int, hidden: Sequence[int], classes: int, dropout: float) -> Any:
    """A fully connected classifier with ReLU: features, hidden layers, one output for each class."""
    layers: list[Any] = []
    width = features
    for units in hidden:
        layers += [nn.Linear(width, units), nn.ReLU(), *([nn.Dropout(dropout)] if dropout else [])]
        width = units
    return nn.Sequential(*layers, nn.Linear(width, classes))


def optimizer_of(settings: Settings, model: Any) -> Any:
    """The optimizer that the settings name."""
    common = {"lr": settings.learning_rate, "weight_decay": settings.weight_decay}
    if settings.optimizer == "sgd":
        return torch.optim.SGD(model.parameters(), momentum=settings.momentum, **common)
    if settings.optimizer == "rmsprop":
        return torch.optim.RMSprop(model.parameters(), momentum=settings.momentum, **common)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[settings.optimizer]
    return kind(model.parameters(), **common)


def evaluate(model: Any, features: Any, labels: Any, scale: float) -> tuple[float, int]:
    """The sum of the rows' losses, and how many rows are classified rightly.

    Args:
        model: The classifier.
        features: Tensor of shape (rows, features).
        labels: Tensor of shape (rows,) of classes.
        scale: What features are multiplied by.
    """
    loss = torch.zeros((), dtype=torch.float64, device=labels.device)
    right = torch.zeros((), dtype=torch.int64, device=labels.device)
    model.eval()
    with torch.inference_mode():
        for first in range(0, len(labels), ROWS_AT_ONCE):
            wanted = labels[first : first + ROWS_AT_ONCE]
            found = model(features[first : first + ROWS_AT_ONCE].to(torch.float32) * scale)
            loss += nn.functional.cross_entropy(found, wanted, reduction="none").sum(dtype=torch.float64)
            right += (found.argmax(1) == wanted).sum()
    model.train()
    return float(loss), int(right)


def save_model(path: Path, model: Any, scale: float) -> None:
    """Write a classifier with all that `load_model` needs."""
    linear = [layer for layer in model if isinstance(layer, nn.Linear)]
    state = {
        "widths": [linear[0].in_features, *(layer.out_features for layer in linear)],
        "scale": scale,
        "weights": [(layer.weight.detach().cpu(), layer.bias.detach().cpu()) for layer in linear],
    }
    torch.save(state, path)


def load_model(path: Path) -> tuple[Any, float]:
    """Read a classifier; nothing in the file is run.

    Returns:
        The model, in evaluation mode, and what its features are multiplied by.
    """
    state = torch.load(path, weights_only=True)
    features, *hidden, classes = state["widths"]
    model = build(features, hidden, classes, dropout=0.0)
    linear = [layer for layer in model if isinstance(layer, nn.Linear)]
    with torch.no_grad():
        for layer, (weight, bias) in zip(linear, state["weights"], strict=True):
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
    return model.eval(), float(state["scale"])
