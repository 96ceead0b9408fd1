"""Checkpoints: whole, checked, agreed on by all hosts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bandstand.errors import JobError
from bandstand.training.checkpoints import Checkpoints

from .conftest import Launcher


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(tmp_path / "c", "a-job", "algo-1")


def write(text: str):
    return lambda path: path.write_text(text)


def save(checkpoints: Checkpoints, *iterations: int, keep: int = 9) -> None:
    for iteration in iterations:
        assert checkpoints.write(iteration, write(f"state {iteration}")) is None
    checkpoints.prune(keep)


def test_the_newest_few_are_kept_and_can_be_read(checkpoints: Checkpoints):
    save(checkpoints, 1, 2, 3, 4, keep=2)
    assert list(checkpoints.find()) == [3, 4]
    assert checkpoints.path(4).read_text() == "state 4"
    assert len(list(checkpoints.folder.iterdir())) == 4


def test_a_folder_can_be_a_checkpoint(checkpoints: Checkpoints):
    def folder(path: Path) -> None:
        (path / "sub").mkdir(parents=True)
        (path / "sub" / "part").write_text("x")

    checkpoints.save(7, folder, keep=1)
    assert list(checkpoints.find()) == [7]
    (checkpoints.path(7) / "sub" / "part").write_text("y")
    assert list(checkpoints.find()) == []


def test_a_suffix_is_kept_for_libraries_that_need_it(checkpoints: Checkpoints):
    checkpoints.save(7, write("x"), keep=1, suffix=".ubj")
    assert checkpoints.path(7).name == "iteration-00000007.algo-1.ubj"
    checkpoints.save(8, write("x"), keep=1, suffix=".ubj")
    assert list(checkpoints.find()) == [8]
    assert len(list(checkpoints.folder.iterdir())) == 2


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda c: c.path(2).write_text("cut"), "cut short or damaged"),
        (lambda c: c.path(2).write_text("state X"), "cut short or damaged"),
        (lambda c: c.path(2).unlink(), "is missing"),
        (lambda c: c._record(2).write_text("{"), "record cannot be read"),
        (lambda c: c._record(2).write_text("[]"), "not one of ours"),
        (lambda c: c._record(2).unlink(), "no complete record"),
        (
            lambda c: c._record(2).write_text(c._record(2).read_text().replace("a-job", "another")),
            "it is of job 'another'",
        ),
    ],
)
def test_one_that_cannot_be_used_is_skipped_with_a_note(checkpoints: Checkpoints, capsys, damage, why: str):
    save(checkpoints, 1, 2)
    damage(checkpoints)
    assert list(checkpoints.find()) == [1]
    assert why in capsys.readouterr().err


def test_foreign_files_are_noted_and_other_hosts_files_are_not(checkpoints: Checkpoints, capsys):
    save(checkpoints, 1)
    Checkpoints(checkpoints.folder, "a-job", "algo-2").save(1, write("other"), keep=2)
    (checkpoints.folder / "stray.bin").touch()
    (checkpoints.folder / ".bandstand-unfinished-x").mkdir()
    assert list(checkpoints.find()) == [1]
    notes = capsys.readouterr().err
    assert notes.count("skipped") == 1
    assert "stray.bin" in notes


def test_a_save_that_fails_leaves_the_older_one(checkpoints: Checkpoints):
    save(checkpoints, 1)

    def fail(path: Path) -> None:
        path.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        checkpoints.save(2, fail, keep=1)
    assert list(checkpoints.find()) == [1]
    assert len(list(checkpoints.folder.iterdir())) == 2


def test_a_save_that_writes_elsewhere_is_told_what_it_wrote(checkpoints: Checkpoints):
    with pytest.raises(JobError, match=r"wrote iteration-00000002.algo-1.npz instead of"):
        checkpoints.save(2, lambda path: Path(f"{path}.npz").write_text("x"), keep=1)


def test_those_of_an_attempt_that_was_not_resumed_are_removed(checkpoints: Checkpoints):
    save(checkpoints, 8, 9)
    save(checkpoints, 3, keep=2)
    assert list(checkpoints.find()) == [3]


def test_a_record_cannot_point_out_of_the_folder(checkpoints: Checkpoints, tmp_path: Path):
    save(checkpoints, 1)
    precious = tmp_path / "precious"
    precious.write_text("x")
    record = checkpoints._record(1)
    record.write_text(json.dumps({**json.loads(record.read_text()), "name": "../precious"}))
    assert list(checkpoints.find()) == []
    save(checkpoints, 1)
    assert precious.exists()


TRAIN = """
    import bandstand
    run = bandstand.start()
    print(f"resume {run.resume_iteration} {run.resume_path and run.resume_path.read_text()}", flush=True)
    for iteration in run.iterations(6):
        run.report(iteration, {"loss": 1.0})
        run.checkpoint(iteration, lambda path: path.write_text(f"{run.host} {iteration}"))
"""


def leave(iterations: dict[str, list[int]]):
    def prepare(folders) -> None:
        host = folders.base.name
        for iteration in iterations[host]:
            Checkpoints(folders.checkpoints / "a-job", "a-job", host).save(
                iteration, write(f"{host} {iteration}"), keep=9
            )

    return prepare


@pytest.mark.parametrize(
    ("left", "newest"),
    [
        ({"algo-1": [3, 4], "algo-2": [3, 4]}, 4),
        ({"algo-1": [3, 4], "algo-2": [2, 3]}, 3),
        ({"algo-1": [3], "algo-2": [4]}, 0),
        ({"algo-1": [4], "algo-2": []}, 0),
        ({"algo-1": [], "algo-2": []}, 0),
        ({"algo-1": [6], "algo-2": [6]}, 6),
    ],
)
def test_hosts_go_on_from_the_newest_iteration_that_all_can_use(cluster: Launcher, left, newest: int):
    job = cluster(2, TRAIN, prepare=leave(left), environment={"BANDSTAND_RANKS_PER_HOST": "2"})
    assert job.wait() == [0, 0], job.log
    for host in job:
        expected = f"resume {newest} {f'{host.name} {newest}' if newest else None}"
        assert host.out.count(expected) == 2
        assert Checkpoints(host.folders.checkpoints / "a-job", "a-job", host.name).usable()[-1] == 6
    assert job[0].out.count("iteration=") == 6 - newest


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
