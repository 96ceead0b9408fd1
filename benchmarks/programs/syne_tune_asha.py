"""Syne Tune's ASHA, played on recorded curves. Runs with Syne Tune's own Python, from the repository's root.

python -m benchmarks.programs.syne_tune_asha TABLE      (JSON: list of {"seed": ..., "curves": [[...], ...]})
"""

# mypy: ignore-errors
# Types of the peer's environment are not those of the project's.

import json
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
from syne_tune.backend.trial_status import Trial
from syne_tune.config_space import randint
from syne_tune.optimizer.baselines import ASHA
from syne_tune.optimizer.scheduler import SchedulerDecision

from benchmarks.simulation import MAX_RESOURCE, play


class Asha:
    """The curves in their order, as points to evaluate."""

    def __init__(self, curves, seed):
        np.random.seed(seed)  # the scheduler draws brackets from it
        self._curves = curves
        self._scheduler = ASHA(
            {"place": randint(0, len(curves) - 1)},
            metric="auc",
            time_attr="iteration",
            max_t=MAX_RESOURCE,
            do_minimize=False,
            random_seed=seed,
            points_to_evaluate=[{"place": place} for place in range(len(curves))],
        )
        self._trials = []

    def start(self):
        number = len(self._trials)
        if number == len(self._curves):
            return None
        config = self._scheduler.suggest().config
        self._trials.append(Trial(number, config, datetime.now()))
        self._scheduler.on_trial_add(self._trials[number])
        return number, self._curves[config["place"]]

    def report(self, trial, iteration, value):
        result = {"auc": value, "iteration": iteration}
        return self._scheduler.on_trial_result(self._trials[trial], result) == SchedulerDecision.STOP

    def end(self, trial, value, *, stopped):
        if stopped:
            self._scheduler.on_trial_remove(self._trials[trial])


for table in json.loads(Path(sys.argv[1]).read_text()):
    played = play(Asha(table["curves"], table["seed"]), table["seed"])
    print(json.dumps([played.iterations, played.best]), flush=True)
