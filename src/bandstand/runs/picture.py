"""Pictures of a run for whoever watches it, no more of them than anybody can look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bandstand.runs.clock import Clock
from bandstand.runs.followed import Followed
from bandstand.runs.snapshot import JobRow, Observer, Snapshot
from bandstand.study import Study


class Ranking(Protocol):
    """Who knows the best training job; a study, or what stands in for one that somebody else runs."""

    def best(self) -> tuple[int, float] | None:
        """Number and objective of the best training job that is over; None while there is none."""


SHORTEST_SECONDS = 0.1
"""Least time between two pictures."""

LONGEST_SECONDS = 1.0
"""Most time between two pictures while nothing happens, so that a clock in the picture goes on."""


class Pictures:
    """Takes pictures of a run and hands them to its observer.

    Args:
        observer: Who watches.
        clock: The time.
        name: The run's name.
        kind: `tuning` or `training`.
        total: Training jobs asked for.
        used: Seconds for which the run was under way before.
    """

    def __init__(
        self, observer: Observer, clock: Clock, name: str, kind: str, total: int, used: float = 0.0
    ) -> None:
        self._observer = observer
        self._clock = clock
        self._name = name
        self._kind = kind
        self._total = total
        self._began = clock.monotonic() - used
        self._shown = float("-inf")
        self._changed = True
        self._final: dict[str, JobRow] = {}

    def show(
        self,
        status: str,
        jobs: Sequence[Followed],
        study: Ranking | None,
        *,
        changed: bool,
        last: bool = False,
    ) -> None:
        """Hand over a picture, unless the last one is too young or nothing has changed.

        Args:
            status: The run's status.
            jobs: Its training jobs, in order of their numbers.
            study: Its study, or what knows the best of its jobs, or None.
            changed: Whether there is anything new since the last call.
            last: Whether this is the last picture, which is always handed over.
        """
        self._changed = self._changed or changed
        now = self._clock.monotonic()
        age = now - self._shown
        if not last and age < (SHORTEST_SECONDS if self._changed else LONGEST_SECONDS):
            return
        self._shown, self._changed = now, False
        rows = tuple(self._row(job, study) for job in jobs)
        self._observer.changed(
            Snapshot(
                name=self._name,
                kind=self._kind,
                status=status,
                rows=rows,
                total=self._total,
                ended=sum(job.over for job in jobs),
                running=sum(not job.over for job in jobs),
                stopped=sum(row.status == "Stopped" for row in rows),
                failed=sum(row.status == "Failed" for row in rows),
                best=_best(rows, study),
                reports_run=sum(row.reports for row in rows),
                elapsed=now - self._began,
            )
        )

    def _row(self, job: Followed, study: Ranking | None) -> JobRow:
        row = self._final.get(job.name)
        if row is None:
            row = job_row(job, study if isinstance(study, Study) else None)
            if job.over:
                self._final[job.name] = row
        return row


def job_row(job: Followed, study: Study | None) -> JobRow:
    """A job as a line of the live table."""
    number = job.job.number
    return JobRow(
        name=job.name,
        number=number,
        status=job.state.status,
        secondary_status=job.state.secondary_status,
        hosts=job.job.plan.hosts,
        reports=job.reports or (0 if job.job.objective_name else job.iterations),
        rung=_rung(study, job),
        bracket=None if study is None else study.bracket(number),
        objective=job.objective,
        note=job.note,
        brief=job.brief,
        settings=job.job.settings,
        definition=job.job.definition,
    )


def _rung(study: Study | None, job: Followed) -> str:
    most = None if study is None else study.spec.max_resource_of(job.job.definition)
    if study is None or most is None:
        return ""
    levels = (*study.rungs(job.job.number), most)
    reached = max((level for level in levels if level <= job.reports), default=0)
    return f"{reached} of {most}" if reached else ""


def _best(rows: Sequence[JobRow], study: Ranking | None) -> JobRow | None:
    if study is None:
        return next((row for row in rows if row.objective is not None), None)
    best = study.best()
    return None if best is None else next(row for row in rows if row.number == best[0])
