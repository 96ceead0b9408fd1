"""The live loop of a training job of its own."""

from __future__ import annotations

from bandstand.runs.followed import News
from bandstand.runs.intake import take_in
from bandstand.runs.launcher import Launcher, threads_per_rank
from bandstand.runs.picture import Pictures
from bandstand.runs.snapshot import Outcome
from bandstand.runs.stored import TrainingJob


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

    def run(self) -> Outcome:
        """Run until the job is over."""
        launcher = self._launcher
        job = launcher.submit(self._job, threads_per_rank(self._job.plan, 1), keep_lines=True)
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
                for _, each in news:
                    self._say(each)
            self._pictures.show(job.state.status, [job], None, changed=bool(news), last=job.over)
            if not job.over:
                launcher.pause(news)
        launcher.say_ended(job)
        return Outcome(job.name, job.state.status, job.failure_reason)

    def _say(self, news: News) -> None:
        several = self._job.plan.hosts > 1
        for line in news.lines:
            self._launcher.observer.said(f"{line.host} | {line.text}" if several else line.text)
