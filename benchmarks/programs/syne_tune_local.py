"""Trivial jobs on Syne Tune's local backend. Runs with Syne Tune's own Python.

python syne_tune_local.py PROGRAM JOBS SLOTS [SECONDS BETWEEN POLLS]
"""

# mypy: ignore-errors
# Types of the peer's environment are not those of the project's.

import logging
import sys

from syne_tune import StoppingCriterion, Tuner
from syne_tune.backend import LocalBackend
from syne_tune.config_space import uniform
from syne_tune.optimizer.baselines import RandomSearch

program, jobs, slots = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
options = {"sleep_time": float(sys.argv[4])} if len(sys.argv) > 4 else {}
logging.getLogger().setLevel(logging.WARNING)
tuner = Tuner(
    trial_backend=LocalBackend(entry_point=program),
    scheduler=RandomSearch({"rate": uniform(0, 1)}, metrics=["score"], do_minimize=False, random_seed=1),
    stop_criterion=StoppingCriterion(max_num_trials_completed=jobs),
    n_workers=slots,
    **options,
)
tuner.run()
print(f"completed {tuner.tuning_status.num_trials_completed}")
