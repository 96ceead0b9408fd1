from __future__ import annotations

from pathlib import Path

from bandstand.runs.clock import SystemClock
from bandstand.runs.live import StopFlag, train
from bandstand.runs.single import AFTER_NEWS_SECONDS
from bandstand.runs.views import jobs, show

PRINTS = """
for iteration in range(1, 4):
    print(f"iteration={iteration} score={iteration / 2}", flush=True)
print("done", flush=True)
"""


class NotedClock(SystemClock):
    """Runs normally, keeps how long it was asked to wait, and makes a file at the first wait without news."""

    def __init__(self, gate: Path) -> None:
        self.waits: list[float] = []
        self._gate = gate

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        if seconds < AFTER_NEWS_SECONDS:
            self._gate.touch()
        super().wait(seconds)


def test_a_training_job_of_its_own_runs_and_its_lines_are_told(record, backend, watcher, training):
    outcome = train(training(PRINTS), record, backend, watcher, StopFlag())
    assert (outcome.name, outcome.status) == ("job", "Completed")
    assert "done" in watcher.sentences
    document = show(record, "job")
    assert document["kind"] == "training"
    assert document["tuning_job"] is None
    assert [(point["iteration"], point["value"]) for point in document["metrics"]] == [
        (1, 0.5),
        (2, 1.0),
        (3, 1.5),
    ]
    assert document["final_objective"] == 1.5
    assert document["hosts"][0]["exit_code"] == 0
    assert document["transitions"][-1]["status"] == "Completed"
    (entry,) = jobs(record)
    assert (entry["name"], entry["kind"], entry["status"], entry["best"]) == (
        "job",
        "training",
        "Completed",
        1.5,
    )
    assert watcher.snapshots[-1].status == "Completed"


def test_a_failure_is_the_outcome_with_its_reason(record, backend, watcher, training):
    outcome = train(training("raise KeyError('target')"), record, backend, watcher, StopFlag())
    assert outcome.status == "Failed"
    assert "KeyError: 'target'" in outcome.failure_reason
    assert show(record, "job")["failure_reason"] == outcome.failure_reason


def test_ctrl_c_stops_it(record, backend, watcher, training):
    flag = StopFlag()
    watcher.on_changed = lambda snapshot: flag.ask() if snapshot.rows[0].reports else None
    script = PRINTS + "import signal\nsignal.pause()"
    outcome = train(training(script), record, backend, watcher, flag, grace=5)
    assert outcome.status == "Stopped"
    assert show(record, "job")["stop"]["reason"]


def test_its_own_run_time_limit_stops_it(record, backend, watcher, training):
    script = PRINTS + "import signal\nsignal.pause()"
    outcome = train(training(script, max_runtime=1), record, backend, watcher, StopFlag(), grace=5)
    assert outcome.status == "Stopped"
    document = show(record, "job")
    assert document["secondary_status"] == "MaxRuntimeExceeded"
    assert document["stop"]["kind"] == "runtime"
    assert "MaxRuntimeInSeconds" in document["stop"]["reason"]


def test_each_look_that_finds_lines_leaves_the_cores_to_the_ranks_for_a_while(
    record, backend, watcher, training, tmp_path
):
    gate = tmp_path / "gate"
    waits = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists():\n    time.sleep(0.01)\n"
    clock = NotedClock(gate)
    outcome = train(training(PRINTS + waits), record, backend, watcher, StopFlag(), clock=clock)
    assert outcome.status == "Completed"  # there was a look without news, and so a shorter wait
    assert AFTER_NEWS_SECONDS in clock.waits
