"""The live loop of a training job of its own."""

from __future__ import annotations

from bandstand.runs.followed import Followed
from bandstand.runs.intake import take_in
from bandstand.runs.jobs import TrainingJob
from bandstand.runs.launcher import Launcher, threads_per_rank
from bandstand.runs.news import News
from bandstand.runs.picture import Pictures
from bandstand.runs.snapshot import Outcome

AFTER_NEWS_SECONDS = 0.1
"""Time between two looks while lines come: no decision hangs on them, and a look takes of the cores that the
ranks train on."""


class Single:
    """One training job, under way.

    Args:
        job: The job; the record has it.
        launcher: Runs it.
    """

    def __init__(self, job: TrainingJob, launcher: Launcher) -> None:
        self._job = job
        self._launcher = launcher
        self._pictures = Pictures(launcher.observer, launcher.clock, job.name, "training", 1)

    def run(self, *, resumed: bool = False) -> Outcome:
        """Run until the job is over.

        Args:
            resumed: Whether an earlier launcher has started the job.
        """
        launcher = self._launcher
        threads = threads_per_rank(self._job.plan, 1)
        if resumed:
            job = launcher.adopt(self._job, keep_lines=True)
            self._take_up(job, threads)
        else:
            job = launcher.submit(self._job, threads, keep_lines=True)
        asked = False
        while not job.over:
            if launcher.stop.asked and not asked:
                asked = True
                launcher.end(job)
            launcher.kill_if_asked()
            news = launcher.look()
            if news:
                with launcher.record.transaction() as connection:
                    take_in(connection, news, None, launcher.clock.time())
                    again = launcher.reopen(connection, [job])
                for _, each in news:
                    self._say(each)
                if again:
                    launcher.restart(job, threads)
            self._pictures.show(job.state.status, [job], None, changed=bool(news), last=job.over)
            if not job.over:
                launcher.pause(news, AFTER_NEWS_SECONDS)
        launcher.say_ended(job)
        return Outcome(job.name, job.state.status, job.failure_reason)

    def _take_up(self, job: Followed, threads: int) -> None:
        """Begin a job again that was interrupted; end one that was told to stop and may not have heard it."""
        with self._launcher.record.transaction() as connection:
            again = self._launcher.reopen(connection, [job])
        if again:
            self._launcher.restart(job, threads)
            return
        self._launcher.observer.said(f"{job.name} still runs, and goes on")
        if self._job.stop_asked is not None:
            self._launcher.end(job)

    def _say(self, news: News) -> None:
        several = self._job.plan.hosts > 1
        for line in news.lines:
            self._launcher.observer.said(f"{line.host} | {line.text}" if several else line.text)
