"""Built-in Horovod: all ranks train one PyTorch classifier; one exact metric line per epoch."""

from __future__ import annotations

import bandstand
from bandstand.training.declaring import answer
from bandstand.training.gradient_ring import join_gradient_ring
from bandstand.training.refusals import plain_refusals
from bandstand_container.horovod_hyperparameters import FILE, SCHEMA
from bandstand_container.horovod_rows import load_labelled
from bandstand_container.horovod_settings import check_objective, pace_of


def main() -> None:
    """Train a model as the job's hyperparameters say, or refuse them or the data before training."""
    answer(SCHEMA, "bandstand_container.horovod_ring", FILE)
    run = bandstand.start(SCHEMA.declared)
    with plain_refusals():
        pace = pace_of(run)
        rows, validation, classes = load_labelled(run)
        check_objective(run, validated=validation is not None)
        run.note_rows(len(rows.labels))
        with join_gradient_ring(run, run.settings.ring, run.settings.stall_seconds) as ring:
            # Only now is PyTorch known to be there.
            from bandstand_container.horovod_trainer import Trainer

            Trainer(run, ring, pace, rows, validation, classes).train()


if __name__ == "__main__":
    main()
