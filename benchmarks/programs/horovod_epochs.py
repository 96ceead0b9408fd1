"""Inside a job: epochs of the built-in Horovod and of a bare Horovod loop, in turn, in the same ranks.

The job's program: `from benchmarks.programs.horovod_epochs import main; main()`. The first rank writes the
seconds of each epoch of both sides, and the last metrics, to the file that BENCH_RESULT names.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import bandstand
from bandstand.training.gradient_ring import join_gradient_ring
from bandstand_container.horovod_hyperparameters import SCHEMA
from bandstand_container.horovod_rows import load_labelled
from bandstand_container.horovod_settings import pace_of
from benchmarks.programs.bare_horovod import bare_loop


def main() -> None:
    """Time both sides; the first epoch of each warms up and does not count."""
    run = bandstand.start(SCHEMA.declared)
    rows, validation, classes = load_labelled(run)
    with join_gradient_ring(run, "horovod") as ring:
        from bandstand_container.horovod_trainer import Trainer

        settings = run.settings
        trainer = Trainer(run, ring, pace_of(run), rows, validation, classes)
        bare = bare_loop(
            run.channel("train").parent, settings.batch_size, settings.hidden[0], settings.learning_rate
        )
        ours: list[float] = []
        theirs: list[float] = []
        metrics: dict[str, float] = {}
        for epoch in run.iterations(settings.epochs):
            run.barrier()
            begun = time.perf_counter()
            trainer.train_epoch(epoch)
            between = time.perf_counter()
            run.barrier()
            again = time.perf_counter()
            metrics = bare(epoch)
            ours.append(between - begun)
            theirs.append(time.perf_counter() - again)
        if run.is_leader:
            found = {"bandstand": ours[1:], "bare Horovod": theirs[1:], "metrics": metrics}
            Path(os.environ["BENCH_RESULT"]).write_text(json.dumps(found), encoding="utf-8")
