"""Built-in XGBoost: all ranks train one model on their own rows; one exact metric line per iteration."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import xgboost

import bandstand
from bandstand.errors import InputError, JobError
from bandstand.training.declaring import answer
from bandstand.training.exact import ExactMetrics
from bandstand.training.judge import CustomMetric
from bandstand.training.output import note
from bandstand.training.refusals import plain_refusals
from bandstand.training.ring import Ring, join_ring, plain_message
from bandstand.training.ring_members import settle
from bandstand.training.rows import LoadedChannel, load, rank_names
from bandstand.training.run import Run
from bandstand_container.xgboost_custom import code_folder, load_metrics
from bandstand_container.xgboost_hyperparameters import FILE, SCHEMA
from bandstand_container.xgboost_matrix import matrix_of, note_index_base, query_problems
from bandstand_container.xgboost_patience import Goals, Patience
from bandstand_container.xgboost_reports import Reports
from bandstand_container.xgboost_resuming import check_resumed, resumed_model, xgboosts_first
from bandstand_container.xgboost_settings import Settings, read_settings
from bandstand_container.xgboost_trial import knows_metric, try_labels, try_settings
from bandstand_container.xgboost_warnings import warnings_as_notes

MODEL = "xgboost-model"
"""The model's file name, as AWS's container has it; UBJSON, for `xgboost.Booster().load_model`."""

CHECKPOINT_SECONDS = 60.0
"""About how much time lies between two checkpoints."""


def main() -> None:
    """Train a model as the job's hyperparameters say, or refuse them or the data before training.

    Raises:
        JobError: If XGBoost fails in training.
    """
    answer(SCHEMA, "bandstand_container.xgboost_rowsplit", FILE)
    run = bandstand.start()
    with plain_refusals(), warnings_as_notes(write=run.is_leader):
        settings, custom = check_settings(run)
        channels = load(run, ["train"], ["validation"], settings.columns)
        check_labels(run, settings, channels)
        members, channels = settle(run, channels)
        run.note_rows(len(channels["train"].rows))
        try:
            with join_ring(run, members) as ring:
                if ring is not None:
                    train(run, ring, settings, channels, custom)
        except xgboost.core.XGBoostError as error:
            raise JobError(f"XGBoost {xgboost.__version__} failed: {plain_message(error)}") from None


def check_settings(run: Run) -> tuple[Settings, Sequence[CustomMetric]]:
    """Read the hyperparameters and let the installed XGBoost judge them, before any data is read.

    Returns:
        What to train, and on the leader the user's own metric functions.

    Raises:
        InputError: With everything that is wrong, the same on all ranks.
    """
    settings, problems = read_settings(run.hyperparameters, run.world_size, run.threads, run.goals)
    custom: Sequence[CustomMetric] = ()
    if settings.custom:
        missing: list[str] = []
        if run.is_leader:
            custom, missing = load_metrics(settings.custom, code_folder(os.environ))
        problems += run.broadcast(missing)
        if not knows_metric(settings.watched_metric):
            settings = settings.without_metric(settings.watched_metric)
    refused, unused = try_settings(settings.parameters, settings.metrics, SCHEMA.names)
    problems += refused
    if problems:
        raise InputError("\n".join(problems))
    if run.is_leader:
        given = ", ".join(f"{name}={value}" for name, value in settings.parameters.items())
        note(f"XGBoost {xgboost.__version__}, {settings.rounds} iterations: {given}.")
        for text in unused:
            note(text)
    return settings, custom


def check_labels(run: Run, settings: Settings, channels: Mapping[str, LoadedChannel]) -> None:
    """Let the objective judge the labels of all ranks, before any rank depends on another one.

    Raises:
        InputError: With what it refuses, by host, file and line, the same on all ranks.
    """
    watched = settings.watched or ""
    if watched.startswith("validation:") and "validation" not in channels:
        raise InputError(
            f"The tuning objective is {watched!r}, but the job has no rows in a channel 'validation'. Add "
            "the channel, or choose a metric of the training channel such as train:auc."
        )
    own = query_problems(settings, channels, run.world_size)
    if own:
        raise InputError("\n".join(own))
    own = [text for channel in channels.values() for text in try_labels(settings.parameters, channel.rows)]
    found = run.gather(own)
    names = rank_names(run)
    problems = [f"{name}: {text}" for name, texts in zip(names, found, strict=True) for text in texts]
    if problems:
        raise InputError("\n".join(problems))


def train(
    run: Run,
    ring: Ring,
    settings: Settings,
    channels: dict[str, LoadedChannel],
    custom: Sequence[CustomMetric] = (),
) -> None:
    """Train, report each iteration, and leave the model of the last one. Collective in the ring.

    Args:
        run: This rank.
        ring: The ranks that train together.
        settings: What to train.
        channels: This rank's rows; taken out of the mapping as XGBoost gets its own copy.
        custom: The user's own metric functions, on the leader.
    """
    parameters = settings.for_booster()
    base = channels["train"].index_base
    matrices, evaluated = prepare(ring, settings, channels, custom)
    booster = xgboost.Booster(parameters, list(matrices.values()), model_file=resumed_model(run, ring))
    note_index_base(booster, base)
    booster.set_param("validate_parameters", "0")  # they have been, and names without effect were told
    check_resumed(run, booster)
    first = xgboosts_first(run, booster)
    goals = Goals(run.goals, settings.custom_goal)
    patience = Patience(ring, settings.patience, settings.watched, goals) if settings.patience else None
    pace = Pace(ring)
    given_up = patience is not None and patience.was_over(booster, run.resume_iteration)
    rounds = run.resume_iteration if given_up else settings.rounds
    if given_up and run.is_leader:
        note(f"early_stopping_rounds={settings.patience}: training had ended after iteration {rounds}.")
    with Reports(run, ring, evaluated, goals) as reports:
        for iteration in run.iterations(rounds, stop_agreed=reports.stop_agreed):
            booster.update(matrices["train"], iteration - first)
            reports.report(booster, iteration)
            paced = pace.iterations_in(CHECKPOINT_SECONDS)
            every = settings.checkpoint_iterations or paced
            if pace.iterations == 1:
                require_one_model(ring, booster)
            if patience and patience.is_over(booster, iteration, reports.finish()):
                if run.is_leader:
                    best = int(booster.attr("best_iteration") or 0) + 1
                    note(f"no better value since iteration {best}: training ends after {iteration}.")
                save_checkpoint(run, reports, booster, iteration, 1)
                break
            save_checkpoint(run, reports, booster, iteration, every)
    if not booster.num_boosted_rounds():
        note("stopped before the first iteration: there is no model.")
        return
    require_one_model(ring, booster)
    data = bytes(booster.save_raw("ubj"))
    path = run.save_model(MODEL, lambda place: place.write_bytes(data))
    if run.is_leader:
        digest = hashlib.sha256(data).hexdigest()
        note(f"model {path}: {booster.num_boosted_rounds()} iterations, {len(data)} bytes, sha256 {digest}.")


def prepare(
    ring: Ring,
    settings: Settings,
    channels: dict[str, LoadedChannel],
    custom: Sequence[CustomMetric],
) -> tuple[dict[str, xgboost.DMatrix], dict[str, tuple[ExactMetrics, xgboost.DMatrix]]]:
    """Take the rows out of their channels, as XGBoost gets its own copy. Collective in the ring.

    Returns:
        XGBoost's rows by channel; and those that are evaluated, with their metrics.
    """
    names = {"validation"}
    if settings.train_metrics or (settings.train_metrics is None and "validation" not in channels):
        names.add("train")
    matrices, evaluated = {}, {}
    for name in list(channels):
        rows = channels.pop(name).rows
        about = (rows.labels, rows.group_weights, rows.groups)
        if name in names:
            metrics = ExactMetrics(ring, settings.for_booster(), name, *about, custom_metric=custom)
        matrices[name] = matrix_of(rows, settings)
        if name in names:
            evaluated[name] = (metrics, matrices[name])
        del rows
    return matrices, evaluated


def save_checkpoint(run: Run, reports: Reports, booster: xgboost.Booster, iteration: int, every: int) -> None:
    """Write the model as the checkpoint of an iteration if that is due; it is the same on all ranks."""

    def save(path: Path) -> None:
        reports.finish()  # a job that goes on from here does not report the iteration again
        path.write_bytes(booster.save_raw("ubj"))

    run.checkpoint(iteration, save, every=every, suffix=".ubj", shared=True)


def require_one_model(ring: Ring, booster: xgboost.Booster) -> None:
    """Make sure that all ranks have the same model, which is what row-split training means. Collective.

    Raises:
        JobError: If they do not: with these settings XGBoost trains each rank's model on its own rows only.
    """
    digests = np.zeros(ring.size, np.int64)
    own = hashlib.sha256(booster.save_raw("ubj")).digest()
    digests[ring.position] = int.from_bytes(own[:7], "big")
    if len(set(ring.sum(digests).tolist())) > 1:
        raise JobError(
            "XGBoost has trained different models on different ranks: it has no distributed form for these "
            "settings. Use one host with one rank, or another booster, tree_method or updater."
        )


class Pace:
    """How long iterations take, as the ring's first rank finds it.

    Args:
        ring: The ranks that train together.
        clock: Seconds of a monotonic clock.
    """

    def __init__(self, ring: Ring, clock: Callable[[], float] = time.monotonic) -> None:
        self.iterations = 0
        self._ring = ring
        self._clock = clock
        self._begun = clock()
        self._seconds = 0.0

    def iterations_in(self, seconds: float) -> int:
        """Called after each iteration: how many fit into a time, at least 1, the same on all ranks.

        Collective after the iterations 1, 2, 4, 8 and so on, when the mean time is taken anew.
        """
        self.iterations += 1
        if self.iterations & (self.iterations - 1) == 0:
            mean = (self._clock() - self._begun) / self.iterations
            self._seconds = float(self._ring.sum(np.array([mean if self._ring.position == 0 else 0.0]))[0])
        return max(1, round(seconds / max(self._seconds, 1e-6)))


if __name__ == "__main__":
    main()
