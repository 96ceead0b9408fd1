"""A launcher as a process of its own, for tests that kill it: launch.py HOME PLAN GRACE [LEASE].

PLAN is a plan as JSON, or the name of a job to resume.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bandstand.backends.processes import ProcessBackend
from bandstand.errors import InputError
from bandstand.request.plan import TrainingPlan, TuningPlan
from bandstand.runs.finding import find
from bandstand.runs.live import Outcome, Snapshot, StopFlag, resume_training, resume_tuning, train, tune
from bandstand.runs.record import Record


class Printer:
    def changed(self, snapshot: Snapshot) -> None:
        pass

    def said(self, text: str) -> None:
        print(text, flush=True)


def run(record: Record, backend: ProcessBackend, plan: str, grace: float) -> Outcome:
    if not plan.startswith("{"):
        resume = resume_tuning if find(record, plan).kind == "tuning" else resume_training
        return resume(plan, record, backend, Printer(), StopFlag())
    document = json.loads(plan)
    if "jobs" in document:
        return tune(TuningPlan.from_dict(document), record, backend, Printer(), StopFlag(), grace=grace)
    return train(TrainingPlan.from_dict(document), record, backend, Printer(), StopFlag(), grace=grace)


def main() -> None:
    home, plan, grace = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    lease = float(sys.argv[4]) if len(sys.argv) > 4 else 1.0
    backend = ProcessBackend(lease_seconds=lease, lease_grace=1.0)
    with Record.open(home) as record:
        try:
            print(run(record, backend, plan, grace).status, flush=True)
        except InputError as error:
            print(error, flush=True)
            sys.exit(2)


if __name__ == "__main__":
    main()
