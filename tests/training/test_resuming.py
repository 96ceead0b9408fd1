"""From where a job goes on: what all of its hosts can use, however many they are now."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bandstand.training.checkpoint_record import Record
from bandstand.training.checkpoints import Checkpoints
from bandstand.training.resuming import newest_common, offer_of

from .conftest import Launcher

TRAIN = """
    import os
    import bandstand
    run = bandstand.start()
    print(f"resume {run.resume_iteration} {run.resume_path and run.resume_path.read_text()}", flush=True)
    shared = "SHARED" in os.environ
    for iteration in run.iterations(6):
        run.report(iteration, {"loss": 1.0})
        run.checkpoint(iteration, lambda path: path.write_text(f"{run.host} {iteration}"), shared=shared)
"""


def offer(attempt: str = "a", shared: bool = False, *iterations: int) -> Mapping[str, object]:
    return offer_of({n: Record("j", n, "x", {}, attempt, shared, {}) for n in iterations}, "now")


@pytest.mark.parametrize(
    ("offers", "newest"),
    [
        ([offer("a", False, 3, 4), offer("a", False, 3, 4)], 4),
        ([offer("a", False, 3, 4), offer("a", False, 2, 3)], 3),
        ([offer("a", False, 3), offer("a", False, 4)], 0),
        ([offer("a", False, 3), offer("b", False, 3)], 0),
        ([offer("a", True, 3), offer()], 3),
        ([offer("a", True, 3), offer("b", False, 4)], 3),
        ([offer(), offer("a", True, 3)], 0),
        ([offer("a", True, 0), offer("a", True, 3)], 0),
        ([offer()], 0),
        ([offer("a", False, 9)], 9),
    ],
)
def test_a_shared_state_is_needed_from_the_leader_and_any_other_from_all(offers, newest: int):
    assert newest_common(offers) == newest


def leave(iterations: dict[str, list[int]], attempt: Mapping[str, str] | None = None, shared: bool = False):
    def prepare(folders) -> None:
        host = folders.base.name
        checkpoints = kept(folders)
        checkpoints.go_on(0, (attempt or {}).get(host, "first"))
        for iteration in iterations.get(host, []):
            checkpoints.write(iteration, lambda p, i=iteration: p.write_text(f"{host} {i}"), shared=shared)

    return prepare


def kept(folders) -> Checkpoints:
    return Checkpoints(folders.checkpoints / "a-job", "a-job", folders.base.name)


@pytest.mark.parametrize(
    ("left", "newest"),
    [
        ({"algo-1": [3, 4], "algo-2": [2, 3]}, 3),
        ({"algo-1": [4], "algo-2": []}, 0),
        ({"algo-1": [6], "algo-2": [6]}, 6),
    ],
)
def test_hosts_go_on_from_the_newest_iteration_that_all_can_use(cluster: Launcher, left, newest: int):
    job = cluster(2, TRAIN, prepare=leave(left), environment={"BANDSTAND_RANKS_PER_HOST": "2"})
    assert job.wait() == [0, 0], job.log
    for host in job:
        expected = f"resume {newest} {f'{host.name} {newest}' if newest else None}"
        assert host.out.count(expected) == 2
        assert list(kept(host.folders).find())[-1] == 6
        assert len(list((host.folders.checkpoints / "a-job").iterdir())) == (2 if newest == 6 else 4)
    assert job[0].out.count("iteration=") == 6 - newest
    assert (f"goes on after iteration {newest}, " in job[0].err) == bool(newest)
    assert ("starts anew" in job[0].err) == (not newest)
    assert ("6 iterations are done, 6 are asked for: nothing is left" in job[0].err) == (newest == 6)


def test_hosts_do_not_go_on_from_different_attempts(cluster: Launcher):
    mixed = leave({"algo-1": [2, 4], "algo-2": [2, 4]}, {"algo-1": "first", "algo-2": "second"})
    job = cluster(2, TRAIN, prepare=mixed)
    assert job.wait() == [0, 0], job.log
    assert "resume 0 None" in job[0].out
    assert "starts anew" in job[0].err


def test_an_unusable_newest_one_falls_back_to_the_one_before(cluster: Launcher):
    def damage(folders) -> None:
        leave({"algo-1": [2, 4], "algo-2": [2, 4]})(folders)
        if folders.base.name == "algo-2":
            (folders.checkpoints / "a-job" / "iteration-00000004.algo-2").write_text("cut")

    job = cluster(2, TRAIN, prepare=damage)
    assert job.wait() == [0, 0], job.log
    assert "resume 2 algo-1 2" in job[0].out
    assert "cut short or damaged" in job[1].err
    assert "goes on after iteration 2" in job[0].err


@pytest.mark.parametrize("hosts", [1, 3])
def test_a_shared_state_is_written_by_the_first_host_and_goes_on_with_any_number_of_hosts(
    cluster: Launcher, hosts: int
):
    first = cluster(2, TRAIN.replace("iterations(6)", "iterations(4)"), environment={"SHARED": "1"})
    assert first.wait() == [0, 0], first.log
    assert list(kept(first[0].folders).find()) == [3, 4]
    assert not (first[1].folders.checkpoints / "a-job").exists()
    second = cluster(hosts, TRAIN, environment={"SHARED": "1"})
    assert second.wait() == [0] * hosts, second.log
    assert "resume 4 algo-1 4" in second[0].out
    assert [host.out.count("resume 4 None") for host in second][1:] == [1] * (hosts - 1)
    assert second[0].out.count("iteration=") == 2
    assert "iteration=5 " in second[0].out


def test_a_host_whose_disk_is_full_keeps_the_older_one_on_all_hosts(cluster: Launcher):
    script = """
    import pathlib
    import bandstand
    run = bandstand.start()
    for iteration in run.iterations(6):
        def save(path):
            path.write_text(str(iteration))
            if run.rank == 1 and iteration > 2:
                pathlib.Path("/dev/full").write_text("the kernel says that no space is left")
        run.checkpoint(iteration, save)
    """
    job = cluster(2, script)
    assert job.wait() == [0, 0], job.log
    for host in job:
        assert list(kept(host.folders).find()) == [1, 2]
    assert job[1].err.count("no checkpoint of iteration 3: the disk is full") == 1
    again = cluster(2, TRAIN)
    assert again.wait() == [0, 0], again.log
    assert "resume 2 2" in again[1].out


def test_checkpoints_by_time_are_decided_once_for_all_ranks(cluster: Launcher):
    script = """
    import bandstand
    run = bandstand.start()
    seen = [run.checkpoint(i, lambda path: path.write_text("x"), every_seconds=0.0 if run.is_leader else 1e9)
            for i in run.iterations(3)]
    print(f"seen {seen}", flush=True)
    """
    job = cluster(2, script)
    assert job.wait() == [0, 0], job.log
    for host in job:
        assert "seen [True, True, True]" in host.out


def test_settings_that_have_changed_are_told(cluster: Launcher):
    assert cluster(1, TRAIN.replace("(6)", "(3)"), hyperparameters={"eta": "0.3"}).wait() == [0]
    job = cluster(1, TRAIN, hyperparameters={"eta": "0.1"})
    assert job.wait() == [0], job.log
    assert "differs from what the checkpoint was trained with: eta." in job[0].err


def test_the_folder_of_another_job_is_left_alone(cluster: Launcher):
    def prepare(folders) -> None:
        Checkpoints(folders.checkpoints / "b-job", "b-job", "algo-1").write(5, lambda p: p.write_text("b"))

    job = cluster(1, TRAIN, prepare=prepare)
    assert job.wait() == [0], job.log
    assert "resume 0 None" in job[0].out
    assert "skipped" not in job[0].err
    other = Checkpoints(Path(job[0].folders.checkpoints) / "b-job", "b-job", "algo-1")
    assert list(other.find()) == [5]
