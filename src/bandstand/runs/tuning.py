"""The live loop of a tuning job: reports go to the study, its decisions go to the backend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bandstand.request.naming import TRAINING_NAME
from bandstand.request.plan import TrainingPlan, TuningPlan
from bandstand.request.ranges import ContinuousRange
from bandstand.runs.followed import Followed
from bandstand.runs.intake import end_decided, take_in
from bandstand.runs.jobs import TrainingJob
from bandstand.runs.launcher import Launcher, threads_per_rank
from bandstand.runs.ledger import Ledger
from bandstand.runs.news import News
from bandstand.runs.picture import Pictures
from bandstand.runs.snapshot import Outcome
from bandstand.runs.stored import tuning_job
from bandstand.study import Halted, Start, Stop
from bandstand.study.events import Cause

ASKED_SECONDS = 0.05
"""Time between two looks for stop requests of other processes."""

SEEN_SECONDS = 5.0
"""Time after which the record is told again that the launcher runs."""


class Tuning:
    """One tuning job, under way.

    Args:
        plan: What was asked for; the record has it.
        launcher: Runs the training jobs.
        ledger: The study.
        used: Seconds for which earlier launchers have run it.
        halting: Whether it has been told to stop already.
        grace: Seconds that whoever asked for its stop gives the training jobs; None for the launcher's own.
    """

    def __init__(
        self,
        plan: TuningPlan,
        launcher: Launcher,
        ledger: Ledger,
        *,
        used: float = 0.0,
        halting: bool = False,
        grace: float | None = None,
    ) -> None:
        self._plan = plan
        self._launcher = launcher
        self._ledger = ledger
        self._record = launcher.record
        self._began = launcher.clock.monotonic() - used
        self._jobs: dict[int, Followed] = {}
        self._halting = halting
        self._grace = grace
        self._changes: int | None = None
        self._looked = float("-inf")
        self._seen = launcher.clock.monotonic()
        self._pictures = Pictures(launcher.observer, launcher.clock, plan.name, "tuning", plan.jobs, used)

    def adopt(self, rows: Sequence[TrainingJob]) -> None:
        """Take up the training jobs that earlier launchers have started, those that are over among them.

        Stops that were decided are carried out, by whoever that was missed; what was interrupted is begun
        again. All other jobs that run go on.

        Args:
            rows: Every training job of this tuning job, as it stands in the record, in order of its number.
        """
        for row in rows:
            job = self._launcher.adopt(row)
            self._jobs[row.number] = job
            reason = self._ledger.study.stop_reason(row.number)
            if reason is not None:
                job.note, job.brief = reason.sentence(), reason.brief()
                if not job.over:
                    self._launcher.end(job, self._grace)
        jobs = list(self._jobs.values())
        self._launcher.observer.said(f"{self._plan.name} goes on: {_count(jobs, self._plan.jobs)}")
        with self._record.transaction() as connection:
            stops = end_decided(connection, jobs, self._ledger, self._launcher.clock.time())
            again = self._launcher.reopen(connection, jobs)
        self._carry_out(stops)
        self._restart(again)

    def run(self) -> Outcome:
        """Run until the study is finished, which it is not before the last training job is over."""
        free = True
        while self._ledger.study.finished is None:
            self._keep_time()
            self._halt_if_due()
            self._launcher.kill_if_asked()
            started = self._start() if free else 0
            news = self._launcher.look()
            free = any(each.state.is_ended for _, each in news)
            if news:
                self._take(news)
            self._show(changed=bool(started or news))
            if self._ledger.study.finished is None:
                self._launcher.pause(news)
        self._show(changed=True, last=True)
        self._launcher.observer.said(f"{self._plan.name}: {self._ledger.study.finished.reason}")
        job = tuning_job(self._record, self._plan.name)
        return Outcome(job.name, job.status, job.failure_reason)

    def _halt_if_due(self) -> None:
        if self._halting:
            return
        cause: Cause
        if self._launcher.stop.asked or self._asked_elsewhere():
            cause = "user"
        elif self._plan.max_runtime is not None and self._elapsed() >= self._plan.max_runtime:
            cause = "runtime"
        else:
            return
        self._halting = True
        with self._record.transaction() as connection:
            connection.execute(
                "UPDATE tuning_jobs SET status = 'Stopping' WHERE name = ?", (self._plan.name,)
            )
            stops = self._ledger.tell(connection, Halted(cause), self._launcher.clock.time())
        self._carry_out(stops)

    def _keep_time(self) -> None:
        """Write now and then that the launcher runs, for what a later one is to know of the time used."""
        now = self._launcher.clock.monotonic()
        if now - self._seen >= SEEN_SECONDS:
            self._seen = now
            with self._record.transaction() as connection:
                connection.execute(
                    "UPDATE tuning_jobs SET seen = ? WHERE name = ?",
                    (self._launcher.clock.time(), self._plan.name),
                )

    def _elapsed(self) -> float:
        return self._launcher.clock.monotonic() - self._began

    def _asked_elsewhere(self) -> bool:
        """Whether another process has asked for a stop; looks now and then, if somebody else has written."""
        now = self._launcher.clock.monotonic()
        if now - self._looked < ASKED_SECONDS:
            return False
        self._looked = now
        changes = self._record.changes()
        if changes == self._changes:
            return False
        self._changes = changes
        job = self._record.read(
            "SELECT stop_asked, stop_grace FROM tuning_jobs WHERE name = ?", (self._plan.name,)
        )[0]
        self._grace = job["stop_grace"]
        return job["stop_asked"] is not None

    def _start(self) -> int:
        starts = self._ledger.study.ask()
        for start in starts:
            settings = dict(start.settings)
            plan = self._plan.training(start.trial, settings, start.definition)
            with self._record.transaction() as connection:
                plan = self._named(plan)
                job = self._launcher.add(
                    connection,
                    plan,
                    tuning_job=self._plan.name,
                    number=start.trial,
                    settings=settings,
                    definition=start.definition,
                )
                self._ledger.start(connection, start, plan.name, self._launcher.clock.time())
            self._jobs[start.trial] = self._launcher.submit(job, self._threads(plan))
            self._launcher.observer.said(f"{plan.name} started: {self._words(start)}")
        return len(starts)

    def _named(self, plan: TrainingPlan) -> TrainingPlan:
        """Give a training job another name if its own is taken, as by one that a deleted tuning job left."""
        free = self._record.free_name(plan.name, TRAINING_NAME)
        return plan if free == plan.name else plan.renamed(free)

    def _threads(self, plan: TrainingPlan) -> int:
        return threads_per_rank(plan, min(self._plan.parallel, self._plan.jobs))

    def _words(self, start: Start) -> str:
        """Tell definition and settings in one line; `show` has all digits of what is rounded here."""
        ranges = self._plan.definition(start.definition).ranges
        rounded = {each.name for each in ranges if isinstance(each, ContinuousRange)}
        words = [start.definition] if start.definition else []
        words += [
            f"{name}={float(value):.4g}" if name in rounded else f"{name}={value}"
            for name, value in start.settings
        ]
        return ", ".join(words)

    def _take(self, news: Sequence[tuple[Followed, News]]) -> None:
        with self._record.transaction() as connection:
            stops = take_in(connection, news, self._ledger, self._launcher.clock.time())
            again = self._launcher.reopen(connection, [job for job, _ in news])
        self._carry_out(stops)
        for job, _ in news:
            if job.over:
                self._launcher.say_ended(job)
        self._restart(again)

    def _restart(self, jobs: Iterable[Followed]) -> None:
        """Begin the jobs again that were interrupted."""
        for job in jobs:
            self._launcher.restart(job, self._threads(job.job.plan))

    def _carry_out(self, stops: Iterable[Stop]) -> None:
        for stop in stops:
            job = self._jobs[stop.trial]
            if not job.over:
                self._launcher.end(job, self._grace)
            job.note, job.brief = stop.reason.sentence(), stop.reason.brief()
            self._launcher.observer.said(f"{job.name}: {job.note}")

    def _show(self, *, changed: bool, last: bool = False) -> None:
        finish = self._ledger.study.finished
        status = finish.status if finish else "Stopping" if self._halting else "InProgress"
        self._pictures.show(status, list(self._jobs.values()), self._ledger.study, changed=changed, last=last)


def _count(jobs: Sequence[Followed], total: int) -> str:
    """How far a tuning job has come, in words."""
    ended = sum(job.over and not job.interrupted for job in jobs)
    running = sum(not job.over for job in jobs)
    lost = sum(job.interrupted for job in jobs)
    parts = [f"{ended} of {total} training jobs have ended"]
    parts += [f"{running} still run"] if running else []
    again = "1 was interrupted and is" if lost == 1 else f"{lost} were interrupted and are"
    parts += [f"{again} started again"] if lost else []
    return ", ".join(parts)
