"""What the study remembers about one started training job."""

from __future__ import annotations

from dataclasses import dataclass

from bandstand.study.decisions import StopReason
from bandstand.study.events import Outcome
from bandstand.study.model import Observation
from bandstand.study.rungs import usable
from bandstand.study.settings import Settings


@dataclass
class Trial:
    """One training job of a study.

    Args:
        number: From 1.
        reports: Objective reports made so far, those after a stop included.
        latest: The latest objective reported; None before the first one.
        stop: Why it was told to stop; None when it was not.
        outcome: How it ended; None while it runs.
        objective: Its final objective; None before its end, or when it reported none.
        settings: The tuned hyperparameters that it was started with, where the study has to know them.
        definition: The name of the training job definition that it is made of.
        bracket: Its bracket; None where there are none.
    """

    number: int
    reports: int = 0
    latest: float | None = None
    stop: StopReason | None = None
    outcome: Outcome | None = None
    objective: float | None = None
    settings: Settings | None = None
    definition: str = ""
    bracket: int | None = None

    def observation(self) -> Observation:
        """What a model learns from it; its settings have to be known."""
        of, settings = self.definition, self.settings or ()
        if self.outcome is None:
            return Observation(settings, "running", definition=of)
        if not self.succeeded:
            return Observation(settings, "bad", definition=of)
        cut = self.stop is not None and self.stop.kind in ("rung", "median")
        return Observation(settings, "cut" if cut else "ended", self.objective, self.reports, of)

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.outcome is None

    @property
    def succeeded(self) -> bool:
        """Whether it completed or was stopped with a finite objective, and so may be the best."""
        return self.outcome in ("completed", "stopped") and usable(self.objective)
