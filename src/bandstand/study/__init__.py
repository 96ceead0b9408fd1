"""Pure decisions of a tuning job: which trial starts, which one stops and why, when all is done.

No clock, no files, no network: a live run, a replay and a simulation feed the same events to the same
`Study` and get the same decisions.
"""

from __future__ import annotations

from bandstand.study.decisions import Decision, Finish, Start, Stop, StopReason
from bandstand.study.events import Ended, Event, Halted, Known, Reported, Started
from bandstand.study.replay import Replay, replay
from bandstand.study.simulate import Curve, Simulation, simulate
from bandstand.study.spec import Space, StudySpec
from bandstand.study.study import Study
from bandstand.study.summary import Summary
from bandstand.study.written import from_document, to_document

__all__ = [
    "Curve",
    "Decision",
    "Ended",
    "Event",
    "Finish",
    "Halted",
    "Known",
    "Replay",
    "Reported",
    "Simulation",
    "Space",
    "Start",
    "Started",
    "Stop",
    "StopReason",
    "Study",
    "StudySpec",
    "Summary",
    "from_document",
    "replay",
    "simulate",
    "to_document",
]
