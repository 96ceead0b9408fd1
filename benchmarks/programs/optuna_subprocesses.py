"""Trivial jobs as subprocesses of an Optuna study. Runs with Optuna's own Python.

python optuna_subprocesses.py PROGRAM JOBS SLOTS
"""

# mypy: ignore-errors
# Types of the peer's environment are not those of the project's.

import subprocess
import sys

import optuna

program, jobs, slots = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
optuna.logging.set_verbosity(optuna.logging.WARNING)


def objective(trial):
    rate = trial.suggest_float("rate", 0, 1)
    value = float("nan")
    command = [sys.executable, program, "--rate", str(rate)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            iteration, _, score = line.partition(" validation:score=")
            value = float(score)
            trial.report(value, int(iteration.removeprefix("iteration=")))
            if trial.should_prune():
                process.terminate()
                raise optuna.TrialPruned
    return value


study = optuna.create_study(
    direction="maximize", sampler=optuna.samplers.RandomSampler(1), pruner=optuna.pruners.NopPruner()
)
study.optimize(objective, n_trials=jobs, n_jobs=slots)
print(f"completed {len(study.trials)}")
