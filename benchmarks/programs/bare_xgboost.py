"""Workers of XGBoost's own collective with its tracker, and nothing around them.

python -m benchmarks.programs.bare_xgboost TRAIN VALIDATION WORKERS THREADS ROUNDS PARAMETERS_AS_JSON

Prints one line of JSON: when the program began and when each round was over, in epoch seconds.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HOSTS_NICENESS = 5
"""How much lower than usual the priority of Bandstand's hosts is."""


def main() -> None:
    began = time.time()
    if sys.platform == "linux":  # as Bandstand's hosts do, so that both sides wait alike for a processor
        os.nice(HOSTS_NICENESS)
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    train, validation = Path(sys.argv[1]), Path(sys.argv[2])
    workers, threads, rounds = (int(word) for word in sys.argv[3:6])
    parameters = {**json.loads(sys.argv[6]), "nthread": threads}
    if workers == 1:
        times = work(train, validation, 0, 1, rounds, parameters)
    else:
        times = together(train, validation, workers, rounds, parameters)
    print(json.dumps({"began": began, "rounds": times}))


def together(
    train: Path, validation: Path, workers: int, rounds: int, parameters: dict[str, Any]
) -> list[float]:
    """Train in processes that meet at a tracker; the times are those of the first worker."""
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(workers, "127.0.0.1", sortby="task")
    tracker.start()
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers) as pool:
        arguments = [
            (train, validation, number, workers, rounds, parameters, tracker.worker_args())
            for number in range(workers)
        ]
        times: list[list[float]] = pool.starmap(work, arguments, chunksize=1)
        tracker.wait_for()
    return times[0]


def work(
    train: Path,
    validation: Path,
    number: int,
    workers: int,
    rounds: int,
    parameters: dict[str, Any],
    meeting: dict[str, Any] | None = None,
) -> list[float]:
    """One worker: its rows, its rounds, its metric."""
    import xgboost
    from xgboost.collective import CommunicatorContext

    times: list[float] = []

    class Clock(xgboost.callback.TrainingCallback):  # type: ignore[misc]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            times.append(time.time())
            return False

    def fit() -> None:
        mine, judged = (
            xgboost.DMatrix(rows[:, 1:], rows[:, 0], nthread=parameters["nthread"])
            for rows in (read(folder, number, workers) for folder in (train, validation))
        )
        xgboost.train(
            parameters, mine, rounds, evals=[(judged, "validation")], verbose_eval=False, callbacks=[Clock()]
        )

    if meeting is None:
        fit()
    else:
        with CommunicatorContext(dmlc_task_id=f"{number:08d}", **meeting):
            fit()
    return times


def read(folder: Path, number: int, workers: int) -> NDArray[np.float32]:
    """Every worker's share of the rows, read as people read CSV: with pandas, where it is installed."""
    parts = []
    for path in sorted(folder.iterdir()):
        try:
            import pandas  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            rows = np.loadtxt(path, np.float32, delimiter=",")
        else:
            rows = pandas.read_csv(path, header=None, dtype=np.float32).to_numpy()
        parts.append(rows[len(rows) * number // workers : len(rows) * (number + 1) // workers])
    return np.concatenate(parts)


if __name__ == "__main__":
    main()
