"""Optuna's Hyperband, played on recorded curves. Runs with Optuna's own Python, from the repository's root.

python -m benchmarks.programs.optuna_hyperband TABLE [TRAIN VALIDATION]

With folders of rows the settings come from Optuna's TPE instead of the table, and their curves are computed.
"""

# mypy: ignore-errors
# Types of the peer's environment are not those of the project's.

import json
import sys
from functools import cache
from pathlib import Path

import numpy as np
import optuna

from benchmarks.simulation import MAX_RESOURCE, play

optuna.logging.set_verbosity(optuna.logging.ERROR)


class Hyperband:
    """Trials of a study whose pruner is Hyperband, with the settings given or sampled."""

    def __init__(self, table, folders):
        self._curves, self._folders = table["curves"], folders
        sampler = optuna.samplers.TPESampler if folders else optuna.samplers.RandomSampler
        self._study = optuna.create_study(
            study_name=f"seed {table['seed']}",  # Optuna deals trials to brackets by the name's hash
            direction="maximize",
            sampler=sampler(seed=table["seed"]),
            pruner=optuna.pruners.HyperbandPruner(1, MAX_RESOURCE, 3),
        )
        self._trials = []

    def start(self):
        number = len(self._trials)
        if number == len(self._curves):
            return None
        trial = self._study.ask()
        self._trials.append(trial)
        return number, curve(trial, *self._folders) if self._folders else self._curves[number]

    def report(self, trial, iteration, value):
        self._trials[trial].report(value, iteration)
        return iteration == MAX_RESOURCE or self._trials[trial].should_prune()

    def end(self, trial, value, *, stopped):
        asked = self._trials[trial]
        if stopped and len(self._study.trials[trial].intermediate_values) < MAX_RESOURCE:
            self._study.tell(asked, state=optuna.trial.TrialState.PRUNED)
        else:
            self._study.tell(asked, value)


def curve(trial, train, validation):
    import xgboost

    settings = {
        "eta": trial.suggest_float("eta", 0, 1),
        "min_child_weight": trial.suggest_float("min_child_weight", 1, 10),
        "alpha": trial.suggest_float("alpha", 0, 2),
        "max_depth": trial.suggest_int("max_depth", 1, 10),
        "colsample_bylevel": trial.suggest_float("colsample_bylevel", 0.01, 1),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.01, 1),
    }
    found = {}
    xgboost.train(
        {**settings, "objective": "binary:logistic", "eval_metric": "auc", "nthread": 1},
        matrix(train),
        MAX_RESOURCE,
        evals=[(matrix(validation), "validation")],
        evals_result=found,
        verbose_eval=False,
    )
    return found["validation"]["auc"]


@cache
def matrix(folder):
    import xgboost

    parts = [np.loadtxt(path, np.float32, delimiter=",") for path in sorted(Path(folder).iterdir())]
    rows = np.concatenate(parts)
    return xgboost.DMatrix(rows[:, 1:], rows[:, 0], nthread=1)


for table in json.loads(Path(sys.argv[1]).read_text()):
    played = play(Hyperband(table, sys.argv[2:]), table["seed"])
    print(json.dumps([played.iterations, played.best]), flush=True)
