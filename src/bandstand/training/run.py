"""What a training script sees of its job: settings, data, place, loop, metrics, checkpoints, model."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from bandstand.errors import InputError, JobError
from bandstand.hyperparameters import nearest
from bandstand.rank_notes import rows_note
from bandstand.training.average import weighted_mean
from bandstand.training.checkpointing import Checkpointing
from bandstand.training.checkpoints import Checkpoints
from bandstand.training.checks import Number, ending, one_number, saving_function, seconds, whole_number
from bandstand.training.output import note
from bandstand.training.reporting import Reporting
from bandstand.training.saving import save_atomically
from bandstand.training.surroundings import Surroundings
from bandstand.training.team import Step, Team


class Stopping(Protocol):
    """Tells whether this rank has been asked to stop."""

    asked: bool


class Run:
    """One rank of a training job. `bandstand.start()` returns it; scripts do not make it themselves.

    Attributes:
        hyperparameters: The job's settings, with typed getters: `run.hyperparameters.number("eta", 0.3)`.
        settings: The values of the hyperparameters that `start` declares: `run.settings.eta`.
        channels: Name to channel; a channel knows its path, content type and distribution.
        host: This host's name; `hosts` are all of them, the first one leads.
        rank: This rank's number in the whole job, from 0; `world_size` is how many ranks there are.
        local_rank: This rank's number on its host, from 0; `local_size` is how many ranks every host has.
        is_leader: Whether this is rank 0, which prints the metrics and saves the model.
        threads: How many threads this rank should use.
        goals: Metric name to `maximize` or `minimize`, as the tuning job declares it for its objective.
        job_name: The training job's name, empty if it has none.
        model_dir: Becomes model.tar.gz; the hosts' folders are merged, so only the leader should write here.
        output_dir: Becomes output.tar.gz.
        checkpoint_dir: The job's own folder, kept over a restart.
        resume_iteration: The iteration that the training goes on from, 0 at the first start.
        resume_path: The checkpoint to load, None if there is none; one that was written with `shared=True` is
            there for the ranks of the first host only, which hand it on.
    """

    def __init__(
        self,
        surroundings: Surroundings,
        team: Team,
        stop: Stopping,
        checkpoints: Checkpoints,
        resume_iteration: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        at = surroundings
        self.hyperparameters = at.hyperparameters
        self.settings = at.settings
        self.channels = dict(at.channels)
        self.host = at.cluster.current_host
        self.hosts = at.cluster.hosts
        self.rank = at.rank
        self.world_size = at.world_size
        self.local_rank = at.local_rank
        self.local_size = at.local_size
        self.is_leader = at.rank == 0
        self.threads = at.threads
        self.job_name = at.job_name
        self.model_dir = at.folders.model
        self.output_dir = at.folders.output_data
        self.checkpoint_dir = checkpoints.folder
        self.resume_iteration = resume_iteration
        self.resume_path = checkpoints.path(resume_iteration)
        self._team = team
        self._stop = stop
        self._checkpointing = Checkpointing(at, team, checkpoints, clock)
        objective = at.hyperparameters.objective
        self.goals: Mapping[str, str] = {objective: at.goal} if objective and at.goal else {}
        self._reporting = Reporting(self.is_leader, objective, self.goals, checkpoints)
        self._step: Step = (0, 0)
        self._loops = 0

    def __str__(self) -> str:
        parts = [f"rank {self.rank} of {self.world_size} on {self.host}"]
        if len(self.hosts) > 1:
            parts.append(f"hosts {', '.join(self.hosts)}")
        parts.append(f"{self.threads} thread{'s' if self.threads > 1 else ''}")
        parts.append(f"job {self.job_name or 'without a name'}")
        parts.append(f"channels {', '.join(self.channels) or 'none'}")
        if self.resume_iteration:
            parts.append(f"goes on after iteration {self.resume_iteration}")
        return "; ".join(parts)

    def channel(self, name: str) -> Path:
        """The folder of an input channel.

        Raises:
            InputError: If the job has no channel of that name.
        """
        if name in self.channels:
            return self.channels[name].path
        near = nearest(name, self.channels) if isinstance(name, str) else None
        hint = f" Did you mean {near!r}?" if near else ""
        have = ", ".join(self.channels) or "none"
        raise InputError(f"This job has no channel {name!r}; its channels are: {have}.{hint}")

    @property
    def stopping(self) -> bool:
        """Whether this rank was asked to stop; only `iterations` makes all ranks leave together."""
        return self._stop.asked

    def iterations(self, count: int, *, stop_agreed: Callable[[], bool] | None = None) -> Iterator[int]:
        """The numbers of the iterations to run.

        Goes on after `resume_iteration` (the first loop of a script does), and ends early when the job is
        stopped: on all ranks after the same iteration. The checkpoint that was offered in the last iteration
        is written at the end even if it was not due, so that a restart trains nothing again.

        Args:
            count: How many iterations the whole training has, whatever was done before a restart.
            stop_agreed: Tells at the end of an iteration, the same on all ranks, whether any of them is
                `stopping`, for scripts that exchange this with something else in each iteration; else the
                ranks ask the leader each time.

        Yields:
            1, 2, ... count.

        Raises:
            JobError: If `count` is no whole number of 0 or more.
        """
        total = whole_number("iterations(count)", count, 0)
        self._loops += 1
        done = self.resume_iteration if self._loops == 1 else 0
        return self._iterate(self._loops, done, total, stop_agreed)

    def _iterate(
        self, loop: int, done: int, total: int, stop_agreed: Callable[[], bool] | None
    ) -> Iterator[int]:
        if done >= total and done and self.is_leader:
            note(f"{done} iterations are done, {total} are asked for: nothing is left to train.")
        self._checkpointing.forget()
        for iteration in range(done + 1, total + 1):
            asked = self._stop.asked
            if stop_agreed is not None and iteration > done + 1:
                asked = stop_agreed()
            asks_leader = stop_agreed is None or asked or iteration == done + 1
            if asks_leader and not self._team.enter((loop, iteration), asked):
                if self.is_leader:
                    note(f"asked to stop: every rank leaves after iteration {iteration - 1} of {total}.")
                break
            self._step = (loop, iteration)
            self._checkpointing.forget()
            yield iteration
        self._checkpointing.write_offered()

    def report(
        self, iteration: int, values: Mapping[str, float], goals: Mapping[str, str] | None = None
    ) -> None:
        """Tell the metrics of one iteration. Every rank calls it; nothing is exchanged, the leader's values
        are printed.

        Args:
            iteration: From 1, each one once and ascending.
            values: Metric name to value. A value that is not finite is printed as the worst finite one for
                the metric's goal, which is known from the name, from the tuning job, or from `goals`.
            goals: Metric name to `maximize` or `minimize`, for metrics whose names do not tell.

        Raises:
            JobError: For an iteration that was reported before, a name that a metric line cannot hold, or a
                value that is not finite where the goal is unknown.
        """
        self._reporting.report(iteration, values, goals or {})

    def checkpoint(
        self,
        iteration: int,
        save: Callable[[Path], object],
        *,
        every: int | None = None,
        every_seconds: float | None = None,
        keep: int = 2,
        suffix: str = "",
        shared: bool = False,
    ) -> bool:
        """Write a checkpoint if one is due; every rank calls it, after its report of the iteration.

        With neither `every` nor `every_seconds` it is due each time, with both when either says so. When the
        loop ends or the job is stopped, the last iteration's is written even if it was not due. The first
        rank of each host writes, and older ones are removed once all hosts have theirs: with several hosts, a
        checkpoint that is not `shared` is a collective. If the disk does not take one, that is noted, the
        older ones stay, and the training goes on.

        Args:
            iteration: The iteration that has just ended; 0 for a `shared` state within the first one.
            save: Writes the whole state to the path that it is given, as a file or a folder.
            every: Iterations between checkpoints.
            every_seconds: Seconds between checkpoints by the leader's clock. With several ranks this is a
                collective.
            keep: How many of the newest checkpoints stay.
            suffix: Ending of the file's name, for libraries that choose their format by it (`.ubj`, `.npz`).
            shared: Whether the state is the same on all ranks. The leader alone writes it then; whatever
                hosts go on from it, the first one's ranks have `resume_path`, and hand the state on.

        Returns:
            Whether a checkpoint was due.

        Raises:
            JobError: If an argument is out of range, or `save` wrote nothing at its path.
        """
        number = whole_number("checkpoint(iteration)", iteration, 0 if shared else 1)
        saving_function("checkpoint(save)", save)
        whole_number("checkpoint(keep=)", keep, 1)
        ending("checkpoint(suffix=)", suffix)
        if every is not None:
            whole_number("checkpoint(every=)", every, 1)
        if every_seconds is not None:
            seconds("checkpoint(every_seconds=)", every_seconds)
        write = partial(self._checkpointing.write, number, save, keep, suffix, shared, self._step)
        due = self._checkpointing.is_due(number, every, every_seconds, self._step)
        if due:
            write()
        else:
            self._checkpointing.offer(write)
        return due

    def save_model(self, name: str, save: Callable[[Path], object]) -> Path:
        """Put a file or folder into the model folder, whole or not at all; only the leader writes.

        Args:
            name: Name below `model_dir`.
            save: Writes the model to the path that it is given, whose last part is that of `name`.

        Returns:
            Where the model stands on the leader.

        Raises:
            JobError: If the name leads out of the model folder, or `save` wrote nothing at its path.
        """
        saving_function("save_model(save)", save)
        relative = Path(name if isinstance(name, str | os.PathLike) else "")
        if not relative.name or relative.is_absolute() or ".." in relative.parts:
            raise JobError(f"A model's name is a path below the model folder; found {name!r}.")
        target = self.model_dir / relative
        if self.is_leader:
            save_atomically(target, save)
        return target

    def mean(self, value: Number, weight: Number = 1.0) -> float:
        """The weighted mean of one number over all ranks, correctly rounded and equal on all. Collective.

        Args:
            value: This rank's value; does not count, whatever it is, when the weight is 0.
            weight: How much it counts, such as its number of rows.

        Raises:
            JobError: If an argument is no single number, a weight is negative, or all weights are 0.
        """
        pair = [one_number("mean(value)", value), one_number("mean(weight=)", weight)]
        return weighted_mean([(v, w) for v, w in self._team.gather("mean", pair, self._step)])

    def gather(self, value: object) -> list[Any]:
        """The values of all ranks in rank order, on every rank. Collective.

        Args:
            value: Anything that JSON can carry, up to 4 MiB; tuples arrive as lists.
        """
        return self._team.gather("gather", value, self._step)

    def broadcast(self, value: object = None, root: int = 0) -> Any:
        """The value of one rank, on every rank. Collective.

        Args:
            value: Anything that JSON can carry, up to 4 MiB; only the root's counts.
            root: The rank whose value it is, the same on all ranks.

        Raises:
            JobError: If there is no such rank, or the value is too large or nothing that JSON can carry.
        """
        if not 0 <= whole_number("broadcast(root=)", root, 0) < self.world_size:
            raise JobError(f"broadcast(root={root}): the ranks are 0 to {self.world_size - 1}.")
        return self._team.broadcast(value if root == self.rank else None, root, self._step)

    def barrier(self) -> None:
        """Wait until every rank is here. Collective."""
        self._team.gather("barrier", None, self._step)

    def note_rows(self, rows: int) -> None:
        """Log how many rows this rank trains on; a failure reason that has no other clue tells it."""
        note(rows_note(self.rank, self.host, whole_number("note_rows(rows)", rows, 0)))
