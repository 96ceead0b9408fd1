"""One host's checkpoints: whole, checked, the newest few kept, whatever interrupts a write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bandstand.errors import JobError
from bandstand.training.checkpoints import Checkpoints


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(tmp_path / "c", "a-job", "algo-1")


def again(checkpoints: Checkpoints) -> Checkpoints:
    """As the next start of the job finds them."""
    return Checkpoints(checkpoints.folder, "a-job", "algo-1")


def found(checkpoints: Checkpoints) -> list[int]:
    return list(again(checkpoints).find())


def data(checkpoints: Checkpoints, iteration: int) -> Path:
    path = checkpoints.path(iteration)
    assert path is not None
    return path


def record(checkpoints: Checkpoints, iteration: int) -> Path:
    return checkpoints.folder / f"iteration-{iteration:08d}.algo-1.complete"


def write(text: str):
    return lambda path: path.write_text(text)


def save(checkpoints: Checkpoints, *iterations: int, keep: int = 9) -> None:
    for iteration in iterations:
        assert checkpoints.write(iteration, write(f"state {iteration}")) is None
        checkpoints.prune(keep)


def full(path: Path) -> None:
    path.write_text("half")
    Path("/dev/full").write_text("the kernel says that no space is left")


def test_the_newest_few_are_kept_and_can_be_read(checkpoints: Checkpoints):
    save(checkpoints, 1, 2, 3, 4, keep=2)
    assert found(checkpoints) == [3, 4]
    assert data(checkpoints, 4).read_text() == "state 4"
    assert len(list(checkpoints.folder.iterdir())) == 4


def test_a_folder_can_be_a_checkpoint(checkpoints: Checkpoints):
    def folder(path: Path) -> None:
        (path / "sub").mkdir(parents=True)
        (path / "sub" / "part").write_text("x")

    checkpoints.write(7, folder)
    assert found(checkpoints) == [7]
    (data(checkpoints, 7) / "sub" / "part").write_text("y")
    assert found(checkpoints) == []
    checkpoints.write(7, folder)
    assert found(checkpoints) == [7]


def test_a_suffix_is_kept_for_libraries_that_need_it(checkpoints: Checkpoints):
    checkpoints.write(7, write("x"), suffix=".ubj")
    assert data(checkpoints, 7).name == "iteration-00000007.algo-1.ubj"
    checkpoints.write(8, write("x"), suffix=".ubj")
    checkpoints.prune(1)
    assert found(checkpoints) == [8]
    assert len(list(checkpoints.folder.iterdir())) == 2


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda c: data(c, 2).write_text("cut"), "cut short or damaged"),
        (lambda c: data(c, 2).write_text("state X"), "cut short or damaged"),
        (lambda c: data(c, 2).unlink(), "is missing"),
        (lambda c: record(c, 2).write_text("{"), "record cannot be read"),
        (lambda c: record(c, 2).write_text("[" * 100_000), "record cannot be read"),
        (lambda c: record(c, 2).write_bytes(b"\xff"), "record cannot be read"),
        (lambda c: record(c, 2).write_text("[]"), "not one of ours"),
        (lambda c: record(c, 2).write_text('{"job": "a-job", "iteration": 2}'), "not one of ours"),
        (lambda c: amend(record(c, 2), files=[1]), "not one of ours"),
        (lambda c: amend(record(c, 2), name=7), "not one of ours"),
        (lambda c: amend(record(c, 2), job="another"), "it is of job 'another'"),
        (lambda c: amend(record(c, 2), iteration=3), "iteration 3"),
    ],
)
def test_one_that_cannot_be_used_is_skipped_with_a_note(checkpoints: Checkpoints, capsys, damage, why: str):
    save(checkpoints, 1, 2)
    damage(checkpoints)
    assert found(checkpoints) == [1]
    assert why in capsys.readouterr().err


def amend(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_foreign_files_are_noted_and_stay_and_other_hosts_files_are_not_noted(
    checkpoints: Checkpoints, capsys
):
    save(checkpoints, 1)
    for host in ("algo-2", "algo-10"):
        Checkpoints(checkpoints.folder, "a-job", host).write(2, write("other"))
    (checkpoints.folder / "iteration-00000003.algo-2").touch()  # is being written, or was: that host's matter
    (checkpoints.folder / "stray.bin").touch()
    (checkpoints.folder / "iteration-3").mkdir()
    before = sorted(checkpoints.folder.iterdir())
    assert found(checkpoints) == [1]
    notes = capsys.readouterr().err
    assert notes.count("skipped") == 2
    assert "stray.bin: skipped, since it is no checkpoint of this job" in notes
    save(checkpoints, 4, keep=1)
    gone = {record(checkpoints, 1), checkpoints.folder / "iteration-00000001.algo-1"}
    assert set(before) - set(checkpoints.folder.iterdir()) == gone


def test_what_an_interrupted_write_has_left_is_removed(checkpoints: Checkpoints, capsys):
    save(checkpoints, 1)
    before = sorted(checkpoints.folder.iterdir())
    (checkpoints.folder / ".bandstand-unfinished-x" / "new").mkdir(parents=True)
    (checkpoints.folder / ".iteration-00000002.algo-1.complete.abc.part").touch()
    (checkpoints.folder / "iteration-00000002.algo-1").write_text("has no record yet")
    (checkpoints.folder / "iteration-00000003.algo-1.npz").mkdir()
    assert found(checkpoints) == [1]
    assert sorted(checkpoints.folder.iterdir()) == before
    assert capsys.readouterr().err == ""


def test_one_that_cannot_be_used_takes_no_place_among_the_newest(checkpoints: Checkpoints):
    save(checkpoints, 1, 2)
    data(checkpoints, 2).write_text("cut")
    next_start = again(checkpoints)
    next_start.find()
    save(next_start, 3, keep=2)
    assert found(checkpoints) == [1, 3]
    assert len(list(checkpoints.folder.iterdir())) == 4


def test_a_save_that_fails_leaves_the_older_one(checkpoints: Checkpoints):
    save(checkpoints, 1)

    def fail(path: Path) -> None:
        path.write_text("half")
        raise FileNotFoundError("a fault of the script's own")

    with pytest.raises(FileNotFoundError, match="own"):
        checkpoints.write(2, fail)
    assert found(checkpoints) == [1]
    assert len(list(checkpoints.folder.iterdir())) == 2


def test_a_full_disk_is_told_once_and_leaves_the_older_one(checkpoints: Checkpoints, capsys):
    save(checkpoints, 1)
    for iteration in (2, 3):
        fault = checkpoints.write(iteration, full)
        assert fault is not None
        assert "the disk is full" in fault
    assert found(checkpoints) == [1]
    assert len(list(checkpoints.folder.iterdir())) == 2
    told = capsys.readouterr().err
    assert told.count("the disk is full") == 1
    assert "no checkpoint of iteration 2" in told
    assert "The training goes on, the last one stays that of iteration 1." in told
    save(checkpoints, 4)
    checkpoints.write(5, full)
    assert "no checkpoint of iteration 5" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_or_read_is_told(tmp_path: Path, capsys):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file" / "c", tmp_path / "file"):
        checkpoints = Checkpoints(folder, "a-job", "algo-1")
        assert not checkpoints.find()
        fault = checkpoints.write(1, write("x"))
        assert fault is not None
        assert "Not a directory" in fault
    assert "cannot be read (Not a directory): there are none" in capsys.readouterr().err


def test_a_save_that_writes_elsewhere_is_told_what_it_wrote(checkpoints: Checkpoints):
    with pytest.raises(JobError, match=r"wrote iteration-00000002.algo-1.npz instead of"):
        checkpoints.write(2, lambda path: Path(f"{path}.npz").write_text("x"))


def test_those_of_an_attempt_that_was_not_resumed_are_removed(checkpoints: Checkpoints):
    save(checkpoints, 3, 8, 9)
    next_start = again(checkpoints)
    next_start.find()
    next_start.go_on(3, "second")
    assert next_start.path(8) is None
    save(next_start, 5, keep=2)
    assert found(checkpoints) == [3, 5]


def test_a_record_cannot_point_out_of_the_folder(checkpoints: Checkpoints, tmp_path: Path):
    save(checkpoints, 1)
    precious = tmp_path / "precious"
    precious.write_text("x")
    amend(record(checkpoints, 1), name="../precious")
    assert found(checkpoints) == []
    save(checkpoints, 1)
    assert precious.exists()


def test_hyperparameters_that_have_changed_are_named_and_their_values_are_not_kept(tmp_path: Path):
    first = Checkpoints(tmp_path, "a-job", "algo-1", {"eta": "0.3", "depth": "4", "secret": "hunter2"})
    first.write(1, write("x"))
    second = Checkpoints(tmp_path, "a-job", "algo-1", {"eta": "0.1", "depth": "4", "gamma": "1"})
    second.find()
    assert second.changed_settings(1) == ["eta", "gamma", "secret"]
    assert "hunter2" not in record(first, 1).read_text()
