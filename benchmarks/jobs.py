"""Training jobs of Bandstand, run by its command line in a home of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bench import ROOT, NotHereError
from benchmarks.children import Used, bandstand_command, run_child
from benchmarks.data import Data

PROGRAMS = ROOT / "benchmarks" / "programs"
PARAMETERS: Mapping[str, object] = {"objective": "binary:logistic", "eval_metric": "auc", "max_depth": 6}
"""What XGBoost is told on both sides; the rest are its defaults, `tree_method` hist among them."""

_TELLS = re.compile(r"used peak=([0-9]+) read=([0-9]+)")


@dataclass(frozen=True)
class Trained:
    """One training job that is over.

    Args:
        used: What the command used.
        report_times: When each report of the objective was complete, in epoch seconds.
        logs: The text of each host's log, the leader's first.
    """

    used: Used
    report_times: tuple[float, ...]
    logs: tuple[str, ...]

    @property
    def seconds_per_round(self) -> float:
        """Mean time from one report to the next."""
        return (self.report_times[-1] - self.report_times[0]) / (len(self.report_times) - 1)

    @property
    def told(self) -> tuple[tuple[int, int], ...]:
        """(peak memory, bytes read) of the worker of each host, of those that told it."""
        found = (_TELLS.search(log) for log in self.logs)
        return tuple((int(match[1]), int(match[2])) for match in found if match)


def xgboost_job(folder: Path, data: Data, workers: int, rounds: int, program: str | None = None) -> Path:
    """Write the job file of the built-in XGBoost, one worker with one thread per host.

    Args:
        folder: Where the job file and the model go.
        data: What to train on.
        workers: How many hosts.
        rounds: How many iterations.
        program: A program of this package that runs the built-in algorithm; None for itself.
    """
    values = {"num_round": rounds, **PARAMETERS}
    lines = ['name = "bench"', 'image = "bandstand:latest"', 'output = "out"']
    if program is not None:
        lines.append(f"program = {json.dumps(str(PROGRAMS / program))}")
    else:
        values["algorithm"] = "xgboost"
    lines += ["[metrics]", f"\"validation:auc\" = '{AUC_PATTERN}'"] if program is not None else []
    lines += ["[hyperparameters]", *(f"{name} = {json.dumps(value)}" for name, value in values.items())]
    lines.append("[channels]")
    for name, path in (("train", data.train), ("validation", data.validation)):
        lines.append(f'{name} = {{ path = {json.dumps(str(path))}, type = "{data.kind}" }}')
    lines += ["[cluster]", f"hosts = {workers}", "threads = 1"]
    path = folder / "job.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


AUC_PATTERN = r" validation:auc=([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"


def train(job: Path, home: Path) -> Trained:
    """Run `bandstand train` and read what became of it."""
    used = run_child([*bandstand_command(), "train", job, "--json", "--home", home])
    facts: dict[str, Any] = json.loads(used.output)
    if facts["status"] != "Completed":
        raise NotHereError(f"The training job ended as {facts['status']}: {facts['failure_reason']}")
    times = [point["time"] for point in facts["metrics"] if point["name"] == "validation:auc"]
    logs = sorted((Path(facts["folder"]) / "logs").iterdir())
    return Trained(used, tuple(map(as_seconds, times)), tuple(path.read_text() for path in logs))


def as_seconds(moment: float | str) -> float:
    if isinstance(moment, str):
        from datetime import datetime

        return datetime.fromisoformat(moment).timestamp()
    return moment
