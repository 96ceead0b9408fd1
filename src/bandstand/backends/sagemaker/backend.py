"""Training jobs on SageMaker, as every backend has them; many are followed with one List call a round."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bandstand.backends.backend import JobState, LogLine
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.sagemaker.creating import create, describe
from bandstand.backends.sagemaker.listing import Lister
from bandstand.backends.sagemaker.log_mirror import LogMirror
from bandstand.backends.sagemaker.mirror import Mirror, served_in, write_state
from bandstand.backends.sagemaker.readiness import check
from bandstand.backends.sagemaker.region import Region, here
from bandstand.backends.sagemaker.service_file import Served, read_served, write_served
from bandstand.backends.sagemaker.standing import Listed, first_state, job_state, moved_on
from bandstand.backends.sagemaker.stopping import stop_job
from bandstand.errors import InputError, PlatformError

if TYPE_CHECKING:
    from bandstand.request.plan import TrainingPlan

logger = logging.getLogger(__name__)

AT_ONCE = 4
"""Jobs whose logs are read at a time."""

PATIENCE_SECONDS = 30.0
"""How long one question of a round is asked again; the next round asks it anew."""


class SageMakerBackend:
    """Runs each training job on SageMaker; its folder mirrors what SageMaker and CloudWatch tell of it.

    A job has no owner here, and needs none: it goes on whoever looks. Its plan is one whose addresses are on
    S3 (`placing.place`). SageMaker gives a job that is stopped 120 s, whatever grace is asked for, and knows
    no way to kill one; it begins jobs again by itself, by RetryStrategy or after spot instances were lost.

    Args:
        region: Where new jobs go; None for what the environment names. A job knows its own.
        seconds: Time between two rounds of questions; None for what the region says.
        patience: Seconds for which a question of a round is asked again.
    """

    def __init__(
        self,
        region: Region | None = None,
        seconds: float | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._region = region
        self._seconds = seconds
        self._patience = patience
        self._mirror = Mirror()
        self._looked: dict[Path, float] = {}
        self._open: set[Path] = set()
        self._lock = threading.Lock()
        self.troubles: set[str] = set()

    @property
    def region(self) -> Region:
        """Where new jobs go; InputError where no region is set."""
        if self._region is None:
            self._region = here()
        return self._region

    def check(self, plan: TrainingPlan) -> None:
        """See `Backend.check`; needs the plan's addresses to be on S3."""
        check(self.region, plan, plan.output)

    def submit(self, plan: TrainingPlan, folder: Path, *, threads: int) -> None:
        """See `Backend.submit`; threads are the job's own affair, by its environment.

        A folder whose job was never acknowledged is taken up again: its job is begun, or found.
        """
        served = read_served(folder)
        if served is None:
            served = Served(
                plan.name, "training", self.region.name, self.region.endpoint, plan.hosts, time.time()
            )
            write_served(folder, served)
        elif JobFolder(folder).state.exists():
            raise InputError(f"The folder {folder} holds a training job already.")
        document = json.loads(plan.document)
        arn = create(served.there(), document, since=served.submitted)
        write_served(folder, replace(served, arn=arn))
        write_state(folder, first_state(time.time(), plan.hosts))

    def restart(self, plan: TrainingPlan, folder: Path, *, threads: int, attempt: int, spent: float) -> None:
        """See `Backend.restart`; SageMaker begins jobs again by itself."""
        raise PlatformError(
            f"{plan.name} runs on SageMaker, which begins jobs again by itself: by RetryStrategy, or after"
            " spot instances were lost."
        )

    def describe(self, folder: Path) -> JobState:
        """See `Backend.describe`."""
        self._keep_fresh(folder)
        return self._mirror.describe(folder)

    def lines(self, folder: Path, offsets: Mapping[str, int]) -> tuple[list[LogLine], dict[str, int]]:
        """See `Backend.lines`."""
        self._keep_fresh(folder)
        return self._mirror.lines(folder, offsets)

    def stop(self, folder: Path, grace: float = 120.0) -> None:
        """See `Backend.stop`; the grace time is SageMaker's own."""
        served = served_in(folder)
        if self._mirror.describe(folder).is_ended:
            return
        stop_job(served.there(), served.name, tuning=False)
        self._looked.pop(folder, None)

    def kill(self, folder: Path) -> None:
        """See `Backend.kill`; SageMaker has nothing faster than a stop."""
        self.stop(folder)

    def renew(self, folder: Path) -> None:
        """See `Backend.renew`; a job on SageMaker needs no owner."""
        served_in(folder)

    def list(self, home: Path) -> tuple[Path, ...]:
        """See `Backend.list`."""
        jobs = home / "jobs"
        found = sorted(jobs.iterdir()) if jobs.is_dir() else []
        return tuple(path for path in found if JobFolder(path).state.exists() and read_served(path))

    def close(self) -> None:
        """See `Backend.close`."""

    def _keep_fresh(self, folder: Path) -> None:
        """Ask about a job, and about all others that this object was asked about, when it is time."""
        served = served_in(folder)
        with self._lock:
            seconds = served.there().round_seconds if self._seconds is None else self._seconds
            if time.monotonic() - self._looked.get(folder, float("-inf")) < seconds:
                return
            if not self._mirror.describe(folder).is_ended:
                self._open.add(folder)
                try:
                    self.refresh(tuple(self._open))
                except PlatformError as error:  # the jobs go on, and the next round asks again
                    logger.warning("%s", error)
            self._looked[folder] = time.monotonic()

    def refresh(self, folders: Iterable[Path], seen: Mapping[str, Listed] | None = None) -> None:
        """Bring the mirrors of some jobs up to date.

        Args:
            folders: Folders of jobs that are not over.
            seen: What a List call has told of them already; None to ask.

        Raises:
            InputError: The rights are missing, or a job is gone.
            PlatformError: AWS cannot be reached.
        """
        jobs = [(folder, served_in(folder)) for folder in folders]
        for region in {served.there() for _, served in jobs}:
            here_now = {folder: served for folder, served in jobs if served.there() is region}
            told = (
                seen
                if seen is not None
                else Lister(region, self._patience).training_jobs(
                    {
                        served.name: self._mirror.describe(folder).created
                        for folder, served in here_now.items()
                    }
                )
            )
            with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="mirror") as pool:
                asked = [
                    pool.submit(self._update, region, folder, served, told.get(served.name))
                    for folder, served in here_now.items()
                ]
            for each in asked:
                each.result()

    def _update(self, region: Region, folder: Path, served: Served, seen: Listed | None) -> None:
        state = self._mirror.describe(folder)
        moved = None if seen is None or seen.over else moved_on(state, seen)
        if moved is not None and moved.attempt == state.attempt:
            write_state(folder, moved)
            if moved.secondary_status in ("Starting", "Pending") and moved.attempt == 1:
                return  # no host has said anything yet
            self._pull(region, folder, served, search=False)
            return
        told = job_state(describe(region, served.name, False, self._patience))
        if not told.is_ended:
            write_state(folder, told)
        elif told.attempt != state.attempt:  # known before the lines of the later attempt are
            begun = replace(state, attempt=told.attempt, had_checkpoints=told.had_checkpoints)
            write_state(folder, begun)
        again = told.is_ended or told.attempt != state.attempt
        whole = self._pull(region, folder, served, search=again)
        settled = time.time() - (told.ended or 0.0) >= region.settle_seconds
        if told.is_ended and whole and settled:
            # The end is told after the last line: whoever sees it has all lines there will ever be.
            write_state(folder, told)
            self._open.discard(folder)

    def _pull(self, region: Region, folder: Path, served: Served, *, search: bool) -> bool:
        """Copy new log lines; a job whose log may not be read is followed all the same, and this is said."""
        mirror = LogMirror(region, served.name, folder, served.hosts)
        try:
            return mirror.pull(search=search, patience=self._patience)
        except InputError as error:
            self.troubles.add(f"{error} Without its log lines a job has no metrics here.")
            return True
