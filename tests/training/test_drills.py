"""Whatever is killed at whatever moment: the same job, started again, ends as if nothing had happened."""

from __future__ import annotations

import hashlib
import os
import random
import re
import signal
from collections.abc import Mapping

import pytest

from bandstand.training.checkpoints import Checkpoints

from .conftest import Host, Launcher

ROUNDS = 40
DRILLS = int(os.environ.get("BANDSTAND_TEST_DRILLS", "4"))
"""How many kills at random moments."""

SCRIPT = """
    import hashlib, json, os, pathlib
    import bandstand

    WAYS = {
        "count": {"every": 3},
        "time": {"every_seconds": 0.002},
        "both": {"every": 7, "every_seconds": 0.01},
        "shared": {"every": 2, "shared": True},
    }
    run = bandstand.start()
    how = os.environ["HOW"]
    state = "" if run.resume_path is None else (run.resume_path / "state").read_text()
    if how == "shared":
        state = run.broadcast(state)
    print(f"resumes {run.resume_iteration}", flush=True)

    def save(path):
        path.mkdir()
        print(f"begins to write {iteration}", flush=True)
        (path / "pad").write_bytes(b"x" * 10_000)
        (path / "state").write_text(state[:32])
        print(f"has half of {iteration}", flush=True)
        (path / "state").write_text(state)

    for iteration in run.iterations(40):
        own = int(run.mean(iteration))
        state = hashlib.sha256(f"{state} {own}".encode()).hexdigest()
        run.report(iteration, {"loss": int(state[:8], 16)})
        run.checkpoint(iteration, save, **WAYS[how])
    run.save_model("state", lambda path: path.write_text(state))
"""


def chain() -> dict[int, int]:
    """Iteration to what an undisturbed job reports."""
    state, values = "", {}
    for iteration in range(1, ROUNDS + 1):
        state = hashlib.sha256(f"{state} {iteration}".encode()).hexdigest()
        values[iteration] = int(state[:8], 16)
    return values


def points(host: Host) -> dict[int, int]:
    """The metrics of one start of the job, which must go on without gap or repeat after where it resumes."""
    found = re.findall(r"^iteration=(\d+) loss=([\d.e+]+)$", host.out, re.MULTILINE)
    numbers = [int(number) for number, _ in found]
    resumed = re.search(r"^resumes (\d+)$", host.out, re.MULTILINE)
    begin = int(resumed[1]) + 1 if resumed else 1
    assert numbers == list(range(begin, begin + len(numbers))), host.output
    return {int(number): int(float(value)) for number, value in found}


def finish(cluster: Launcher, hosts: int, environment: Mapping[str, str], kept: dict[int, int]) -> None:
    """Start the job once more, and compare all that it has reported with an undisturbed one."""
    job = cluster(hosts, SCRIPT, environment=environment)
    assert job.wait() == [0] * hosts, job.log
    new = points(job[0])
    first = min(new, default=ROUNDS + 1)
    assert {**{n: v for n, v in kept.items() if n < first}, **new} == chain(), job.log
    model = (job[0].folders.model / "state").read_text()
    assert int(model[:8], 16) == chain()[ROUNDS]
    for host in job:
        folder = host.folders.checkpoints / "a-job"
        if folder.exists():
            assert len(list(folder.iterdir())) in (0, 2, 4), list(folder.iterdir())
            assert not [entry for entry in folder.iterdir() if entry.name.startswith(".")]
            assert list(Checkpoints(folder, "a-job", host.name).find())[-1:] in ([], [ROUNDS])


@pytest.mark.parametrize(
    ("how", "moment"),
    [
        ("count", "begins to write 6"),
        ("count", "has half of 6"),
        ("count", "iteration=8 "),
        ("time", "has half of 1"),
        ("shared", "has half of 6"),
    ],
)
def test_all_hosts_are_killed(cluster: Launcher, how: str, moment: str) -> None:
    environment = {"HOW": how}
    job = cluster(2, SCRIPT, environment=environment)
    job[0].wait_for(moment)
    cluster.kill()
    job.wait()
    finish(cluster, 2, environment, points(job[0]))


@pytest.mark.parametrize("how", ["time", "shared"])
def test_one_rank_is_killed_and_the_others_leave(cluster: Launcher, how: str) -> None:
    environment = {"HOW": how}
    job = cluster(2, SCRIPT, environment=environment)
    job[1].wait_for("begins to write" if how != "shared" else "runs as process")
    found = re.search(r"runs as process (\d+)", job[1].err)
    assert found
    try:
        os.kill(int(found[1]), signal.SIGKILL)
    except ProcessLookupError:
        pytest.fail("the rank had ended before it could be killed")
    assert 0 not in job.wait(), job.log
    assert "SIGKILL" in job[0].failure
    finish(cluster, 2, environment, points(job[0]))


@pytest.mark.parametrize("seed", range(DRILLS))
def test_a_random_part_is_killed_at_random_moments(cluster: Launcher, seed: int) -> None:
    dice = random.Random(seed)
    hosts = dice.choice([1, 2, 2, 3])
    environment = {"HOW": dice.choice(["count", "time", "both", "shared"])}
    kept: dict[int, int] = {}
    for _ in range(dice.choice([1, 1, 2])):
        job = cluster(hosts, SCRIPT, environment=environment)
        line = dice.choice(["iteration=", "begins to write", "has half of"])
        if dice.random() < 0.8:
            job[0].writes(line, times=dice.randint(1, 4))  # a job that was nearly done may end before
        victim = dice.choice(["all", *range(hosts)])
        if victim == "all":
            cluster.kill()
        else:
            found = re.search(r"runs as process (\d+)", job[int(victim)].err)
            job[int(victim)].process.kill() if found is None else kill(int(found[1]))
        job.wait()
        cluster.kill()
        new = points(job[0])
        kept = {**{n: v for n, v in kept.items() if n < min(new, default=ROUNDS + 1)}, **new}
    finish(cluster, hosts, environment, kept)


def kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return  # it was quicker
