"""A tuning job that is killed hard at random moments and resumed: nothing lost, nothing twice."""

from __future__ import annotations

import random
import subprocess
from functools import partial

import pytest

from bandstand.runs.record import Record
from bandstand.runs.stored import training_jobs
from bandstand.runs.views import show

from .crashing import (
    DEADLINE_SECONDS,
    STEPS,
    assert_decisions_replay,
    assert_each_point_once,
    count,
    ended,
    running,
    until,
)


@pytest.mark.parametrize("seed", range(15))
def test_a_tuning_job_killed_at_random_moments_goes_on_to_the_same_end(
    record, tuning, launch, crash, mark, seed
):
    choose = random.Random(seed)
    plan = tuning(STEPS, jobs=6, parallel=2, environment=dict([mark]))
    lease = choose.choice((1.0, 60.0))
    launcher = launch(plan, lease)
    kept: dict[str, tuple[dict, bytes]] = {}
    for _ in range(choose.randrange(1, 4)):
        goal = count(record, "events") + choose.randrange(1, 25)
        until(partial(reached, record, goal, launcher))
        crash(launcher, choose.choice(("launcher", "supervisors", "everything")))
        if lease == 1.0 and choose.random() < 0.5:
            until(lambda: show(record, "tuning")["status"] not in ("InProgress", "Stopping"))
        if show(record, "tuning")["status"] == "Completed":
            break
        kept = ended(record)
        launcher = launch("tuning", lease)
    else:
        assert launcher.communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    after = ended(record)
    assert {name: after[name] for name in kept} == kept
    document = show(record, "tuning")
    assert document["status"] == "Completed", document["failure_reason"]
    assert [row["number"] for row in document["training_jobs"]] == [1, 2, 3, 4, 5, 6]
    assert {row["status"] for row in document["training_jobs"]} <= {"Completed", "Stopped"}, document
    assert_each_point_once(record)
    assert_decisions_replay(record, plan)
    assert running(mark) == []


def reached(record: Record, goal: int, launcher: subprocess.Popen[str]) -> bool:
    return count(record, "events") >= goal or launcher.poll() is not None


def test_no_iteration_of_a_metric_is_there_twice(record, tuning, launch, crash, mark):
    plan = tuning(STEPS, jobs=2, max_resource=None, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: count(record) >= 20)
    crash(launcher, "supervisors")
    assert launch("tuning").communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    assert_each_point_once(record)
    assert [row.iterations for row in training_jobs(record)] == [20, 20]
