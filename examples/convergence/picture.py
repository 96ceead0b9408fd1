"""One picture: quality after each iteration, time of the job, instance-seconds; a row for each algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot
from stories import Story

# Okabe and Ito's colours, told apart with any kind of colour vision; markers tell the same once more.
COLORS = ("#0072B2", "#D55E00", "#009E73")
MARKERS = ("o", "s", "^")
FAINT = "#777777"


def draw(stories: Sequence[tuple[Story, Mapping[str, Any]]], path: Path) -> None:
    """Draw what was measured.

    Args:
        stories: Each algorithm with its part of convergence.json.
        path: Where the SVG goes; the same numbers make the same bytes.
    """
    mpl.rcParams.update({"svg.hashsalt": "bandstand", "font.size": 9, "axes.titlesize": 10})
    rows = len(stories)
    figure, axes = pyplot.subplots(
        rows,
        3,
        figsize=(12, 3.3 * rows),
        squeeze=False,
        layout="constrained",
        gridspec_kw={"width_ratios": (1.5, 1, 1)},
    )
    for row, (story, found) in zip(axes, stories, strict=True):
        cases = found["cases"]
        draw_curves(row[0], story, cases)
        draw_bars(row[1], [case["case"] for case in cases], [[case["seconds"] for case in cases]])
        row[1].set_title(f"Time of the model's training job, s\n(all hosts share {found['cores']} cores)")
        paid = [[case[part] for case in cases] for part in ("instance_seconds", "tuning_instance_seconds")]
        draw_bars(row[2], ["" for _ in cases], paid)
        row[2].set_title("Instance-seconds\n(hatched: the other jobs of the tuning)")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def draw_curves(axis: Any, story: Story, cases: Sequence[Mapping[str, Any]]) -> None:
    """The metric after each iteration, with the last value beside its curve."""
    ends = [case["curve"][-1] for case in cases]
    for number, case in enumerate(cases):
        curve = case["curve"]
        every = max(1, len(curve) // 10)
        axis.plot(
            range(1, len(curve) + 1),
            curve,
            color=COLORS[number],
            marker=MARKERS[number],
            markevery=(number % every, every),  # so that of curves on top of each other each is seen
            markersize=5,
            label=case["case"],
        )
    low, high = axis.get_ylim()
    last = max(len(case["curve"]) for case in cases)
    for end, place, color in zip(ends, spread(ends, 0.075 * (high - low)), COLORS, strict=True):
        axis.annotate(
            f"{end:.4f}", (last, place), xytext=(8, 0), textcoords="offset points", va="center", color=color
        )
    axis.set_xlim(0.5 if last < 15 else 0, last * 1.13)
    axis.set_title(f"{story.name}: {story.metric_title} after each {story.round}")
    axis.set_xlabel(story.round)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.legend(loc="lower right", bbox_to_anchor=(0.93, 0.02), frameon=False)
    axis.spines[["top", "right"]].set_visible(False)


def spread(values: Sequence[float], gap: float) -> list[float]:
    """Places for labels at some heights, moved apart where they would overlap.

    Args:
        values: The heights.
        gap: The least difference between two places.
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    places = [values[index] for index in order]
    for _ in places:
        for upper in range(1, len(places)):
            lacking = gap - (places[upper] - places[upper - 1])
            if lacking > 0:
                places[upper] += lacking / 2
                places[upper - 1] -= lacking / 2
    found = [0.0] * len(values)
    for index, place in zip(order, places, strict=True):
        found[index] = place
    return found


def draw_bars(axis: Any, names: Sequence[str], parts: Sequence[Sequence[float]]) -> None:
    """A bar for each case, of one part or of two, with the sum at its end."""
    places = range(len(names))
    begin = [0.0] * len(names)
    for part, hatch in zip(parts, ("", "///"), strict=False):
        bars = axis.barh(
            places,
            part,
            left=begin,
            color=COLORS if not hatch else "white",
            edgecolor=COLORS,
            hatch=hatch,
            height=0.6,
        )
        begin = [before + more for before, more in zip(begin, part, strict=True)]
    axis.bar_label(
        bars, [f"{total:.0f}" if total == round(total) else f"{total:.1f}" for total in begin], padding=4
    )
    axis.set_yticks(places, names)
    axis.tick_params(axis="y", length=0)
    axis.invert_yaxis()
    axis.set_xlim(0, 1.18 * max(begin))
    axis.spines[["top", "right"]].set_visible(False)
