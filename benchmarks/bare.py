"""XGBoost alone, as the side to compare with."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.children import Used, run_child
from benchmarks.data import Data
from benchmarks.jobs import PARAMETERS


@dataclass(frozen=True)
class Bare:
    """One training of bare XGBoost.

    Args:
        used: What it used.
        round_times: When each round was over, in epoch seconds.
    """

    used: Used
    round_times: tuple[float, ...]

    @property
    def seconds_per_round(self) -> float:
        """Mean time from one round's end to the next."""
        return (self.round_times[-1] - self.round_times[0]) / (len(self.round_times) - 1)


def train_bare(data: Data, workers: int, threads: int, rounds: int) -> Bare:
    """Train with XGBoost's own collective and tracker.

    Args:
        data: What to train on.
        workers: How many processes.
        threads: Of each of them.
        rounds: How many iterations.
    """
    words: list[str | Path] = [
        data.train,
        data.validation,
        str(workers),
        str(threads),
        str(rounds),
        json.dumps(PARAMETERS),
    ]
    used = run_child([sys.executable, "-m", "benchmarks.programs.bare_xgboost", *words])
    return Bare(used, tuple(json.loads(used.output.splitlines()[-1])["rounds"]))
