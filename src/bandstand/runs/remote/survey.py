"""One round of questions about a job on SageMaker: few calls, and the answers in files of the home."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bandstand.backends.sagemaker.backend import SageMakerBackend
from bandstand.backends.sagemaker.listing import Lister
from bandstand.backends.sagemaker.mirror import Mirror, write_state
from bandstand.backends.sagemaker.service_file import Served, read_served, write_served
from bandstand.backends.sagemaker.standing import Listed, TuningStanding, first_state
from bandstand.errors import InputError


@dataclass(frozen=True)
class Round:
    """What a round has told.

    Args:
        listed: Training jobs of the tuning job, as far as there can be news of them.
        standing: Where the tuning job stands; None while its training jobs run, and for a training job.
        over: Whether nothing will be new any more: all is in the files.
        troubles: What could not be read although the job can be followed, one sentence each.
    """

    listed: tuple[Listed, ...] = ()
    standing: TuningStanding | None = None
    over: bool = False
    troubles: frozenset[str] = frozenset()


class Survey:
    """Asks about one job, round after round.

    Args:
        home: The folder that holds all state.
        name: The job.
        served: Where it runs.
        patience: Seconds for which a question is asked again; the next round asks it anew.
    """

    def __init__(self, home: Path, name: str, served: Served, patience: float = 30.0) -> None:
        self._jobs = home / "jobs"
        self._name = name
        self._served = served
        self._region = served.there()
        self._backend = SageMakerBackend(self._region, patience=patience)
        self._lister = Lister(self._region, patience)
        self._mirror = Mirror()
        self._trials = self._of_mine() if served.kind == "tuning" else {}

    def round(self) -> Round:
        """Ask once, and bring the mirrors up to date.

        Raises:
            InputError: The rights are missing, or the job is gone.
            PlatformError: AWS cannot be reached.
        """
        if self._served.kind == "training":
            folder = self._jobs / self._name
            if not self._mirror.describe(folder).is_ended:
                self._backend.refresh([folder])
            return Round(
                over=self._mirror.describe(folder).is_ended, troubles=frozenset(self._backend.troubles)
            )
        return self._tuning_round()

    def _tuning_round(self) -> Round:
        over = frozenset(name for name, ended in self._trials.items() if ended)
        listed = self._lister.trials(self._name, over, frozenset(self._trials) - over)
        standing = None
        fresh = [each for each in listed if not self._trials.get(each.name)]
        stopping = any(each.status in ("Stopping", "Stopped") for each in fresh)
        if stopping or all(each.over for each in listed):
            # Jobs that stop are AMT's doing or somebody's; where nothing runs, the tuning job may be over.
            # What it has begun between the two questions is listed before it counts as over.
            standing = self._lister.tuning_job(self._name)
            if standing.over:
                listed = self._lister.trials(self._name, frozenset(), frozenset())
        for each in listed:
            self._admit(each)
        running = [self._jobs / name for name, ended in self._trials.items() if not ended]
        if running:
            self._backend.refresh(running, {each.name: each for each in listed})
        for folder in running:
            self._trials[folder.name] = self._mirror.describe(folder).is_ended
        whole = standing is not None and standing.over and all(self._trials.values())
        return Round(tuple(listed), standing, whole, frozenset(self._backend.troubles))

    def _admit(self, each: Listed) -> None:
        """Make a folder for a training job that has none yet."""
        if each.name in self._trials:
            return
        folder, served = self._jobs / each.name, self._served.trial(each.name, each.definition)
        if read_served(folder) is None:
            write_served(folder, served)
        try:
            self._trials[each.name] = self._mirror.describe(folder).is_ended
        except InputError:
            write_state(folder, first_state(each.created, served.hosts))
            self._trials[each.name] = False

    def _of_mine(self) -> dict[str, bool]:
        """The training jobs of the tuning job that have a folder, and whether they are over."""
        found = {}
        for folder in self._jobs.glob(f"{self._name}-*"):
            served = read_served(folder)
            if served is not None and served.tuning_job == self._name:
                try:
                    found[folder.name] = self._mirror.describe(folder).is_ended
                except InputError:
                    continue  # a process was killed while it made the folder: the next look makes it
        return found
