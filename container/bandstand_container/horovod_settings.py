"""What the built-in Horovod classifier makes of its hyperparameters for one job."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bandstand.errors import InputError
from bandstand.training.output import note
from bandstand.training.run import Run
from bandstand_container.horovod_hyperparameters import BATCH_SIZE

_STEP = 1_000_003


@dataclass(frozen=True)
class Pace:
    """Rows and learning rate of each step.

    Args:
        batch_rows: Rows of a step on all ranks.
        learning_rate: As given.
        factor: What it is multiplied by after the warm-up.
        warmup_epochs: Epochs over which it grows to that.
    """

    batch_rows: int
    learning_rate: float
    factor: float
    warmup_epochs: float

    def rate(self, epoch: int, step: int, steps: int) -> float:
        """The learning rate of a step, grown linearly in the warm-up (https://arxiv.org/abs/1706.02677, 2.2).

        Args:
            epoch: From 1.
            step: From 1.
            steps: Steps of an epoch.
        """
        done = epoch - 1 + (step - 1) / steps
        share = 1.0 if done >= self.warmup_epochs else done / self.warmup_epochs
        return self.learning_rate * (1 + (self.factor - 1) * share)


def pace_of(run: Run) -> Pace:
    """How rows and learning rate follow from the hyperparameters and the number of ranks.

    Raises:
        InputError: With everything that contradicts itself.
    """
    settings = run.settings
    problems = []
    if settings.batch_size is not None and settings.per_rank_batch_size is not None:
        problems.append(
            "batch_size and per_rank_batch_size are both given; the first counts the rows of all ranks, the "
            "second those of each. Keep one of them."
        )
    if settings.lr_scaling != "none" and settings.per_rank_batch_size is None:
        problems.append(
            f"lr_scaling is {settings.lr_scaling!r}, but batch_size stays the same with more ranks, so that "
            "there is nothing to scale. Give per_rank_batch_size, or leave lr_scaling out."
        )
    if settings.warmup_epochs and settings.lr_scaling == "none":
        problems.append("warmup_epochs is given, but no lr_scaling: there is nothing to warm up to.")
    if problems:
        raise InputError("\n".join(problems))
    if settings.momentum and settings.optimizer not in ("sgd", "rmsprop") and run.is_leader:
        note(f"momentum has no effect with {settings.optimizer}.")
    ranks = run.world_size
    rows = settings.batch_size or BATCH_SIZE
    if settings.per_rank_batch_size is not None:
        rows = settings.per_rank_batch_size * ranks
    factor = {"none": 1.0, "linear": float(ranks), "sqrt": math.sqrt(ranks)}[settings.lr_scaling]
    return Pace(rows, settings.learning_rate, factor, settings.warmup_epochs)


def check_objective(run: Run, *, validated: bool) -> None:
    """Make sure that the tuning job's objective will be reported.

    Raises:
        InputError: If it will not.
    """
    names = ["train:loss", *(["validation:loss", "validation:accuracy"] if validated else [])]
    watched = run.hyperparameters.objective
    if watched and watched not in names:
        hint = "" if validated else " Give the job a channel 'validation' for validation:accuracy."
        raise InputError(f"The tuning objective is {watched!r}; this job reports {', '.join(names)}.{hint}")


def seed_of(seed: int, epoch: int, step: int, rank: int) -> int:
    """The seed of one rank's dropout in one step: known from where the step is, so that no state is kept."""
    mixed = seed
    for number in (epoch, step, rank):
        mixed = (mixed * _STEP + number) % (2**63 - 1)
    return mixed
