"""A launcher as a process of its own, for tests that kill it: launch.py HOME PLAN GRACE."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bandstand.backends.processes import ProcessBackend
from bandstand.request.plan import TrainingPlan, TuningPlan
from bandstand.runs.live import Snapshot, StopFlag, train, tune
from bandstand.runs.record import Record


class Printer:
    def changed(self, snapshot: Snapshot) -> None:
        pass

    def said(self, text: str) -> None:
        print(text, flush=True)


def main() -> None:
    home, plan, grace = Path(sys.argv[1]), json.loads(sys.argv[2]), float(sys.argv[3])
    backend = ProcessBackend(lease_seconds=1.0, lease_grace=1.0)
    with Record.open(home) as record:
        if "jobs" in plan:
            outcome = tune(TuningPlan.from_dict(plan), record, backend, Printer(), StopFlag(), grace=grace)
        else:
            outcome = train(TrainingPlan.from_dict(plan), record, backend, Printer(), StopFlag(), grace=grace)
    print(outcome.status, flush=True)


if __name__ == "__main__":
    main()
