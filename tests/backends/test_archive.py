from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from bandstand.atomic_files import UNFINISHED
from bandstand.backends.archive import pack
from bandstand.training.saving import save_atomically

from .jobs import unpacked


def host(root: Path, name: str, files: dict[str, str]) -> tuple[str, Path]:
    folder = root / name
    folder.mkdir()
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return name, folder


def test_the_first_hosts_file_is_taken_and_the_others_are_told_if_they_differ(tmp_path: Path) -> None:
    folders = [
        host(tmp_path, "algo-1", {"a": "1", "deep/b": "1"}),
        host(tmp_path, "algo-2", {"a": "1", "deep/b": "2", "c": "2"}),
        host(tmp_path, "algo-3", {"deep": "a file here", "c/d": "a folder here"}),
    ]
    packed = pack(folders, tmp_path / "out" / "model.tar.gz")
    assert packed.left_out == ("algo-2: deep/b", "algo-3: c", "algo-3: c/d", "algo-3: deep")
    assert unpacked(packed.path) == {"a": b"1", "deep/b": b"1", "c": b"2"}


def test_the_archive_depends_on_names_and_contents_only(tmp_path: Path) -> None:
    first = host(tmp_path, "one", {"b": "x", "a": "y", "c/d": "z"})
    second = host(tmp_path, "two", {"c/d": "z", "a": "y", "b": "x"})
    os.utime(second[1] / "a", (1, 1))
    (second[1] / "b").chmod(0o600)
    (second[1] / "c").chmod(0o700)
    archives = [pack([folder], tmp_path / f"{folder[0]}.tar.gz").path for folder in (first, second)]
    assert archives[0] is not None
    assert archives[1] is not None
    assert archives[0].read_bytes() == archives[1].read_bytes()


def test_links_and_empty_folders_are_kept_and_the_right_to_execute(tmp_path: Path) -> None:
    name, folder = host(tmp_path, "algo-1", {"run.sh": "#!/bin/sh"})
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("run.sh")
    (folder / "empty").mkdir()
    path = pack([(name, folder)], tmp_path / "model.tar.gz").path
    assert path is not None
    with tarfile.open(path) as archive:
        members = {member.name: member for member in archive.getmembers()}
    assert list(members) == ["empty", "link", "run.sh"]
    assert members["link"].linkname == "run.sh"
    assert members["empty"].isdir()
    assert members["run.sh"].mode == 0o755


def test_what_is_no_file_and_what_is_unfinished_is_left_out(tmp_path: Path) -> None:
    name, folder = host(tmp_path, "algo-1", {"model": "m", f"{UNFINISHED}x/model": "half"})
    os.mkfifo(folder / "pipe")
    assert unpacked(pack([(name, folder)], tmp_path / "model.tar.gz").path) == {"model": b"m"}


def test_what_a_script_is_still_saving_is_left_out(tmp_path: Path) -> None:
    name, folder = host(tmp_path, "algo-1", {"model": "m"})

    def save(path: Path) -> None:
        path.write_text("half")
        assert unpacked(pack([(name, folder)], tmp_path / "model.tar.gz").path) == {"model": b"m"}
        path.write_text("whole")

    save_atomically(folder / "second", save)
    assert unpacked(pack([(name, folder)], tmp_path / "model.tar.gz").path) == {
        "model": b"m",
        "second": b"whole",
    }


def test_nothing_makes_no_archive(tmp_path: Path) -> None:
    name, folder = host(tmp_path, "algo-1", {})
    (folder / "empty").mkdir()
    assert pack([(name, folder)], tmp_path / "model.tar.gz").path is None
    assert not (tmp_path / "model.tar.gz").exists()


def test_a_failed_attempt_leaves_nothing(tmp_path: Path) -> None:
    name, folder = host(tmp_path, "algo-1", {"a": "1"})
    (tmp_path / "out" / "model.tar.gz").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        pack([(name, folder)], tmp_path / "out" / "model.tar.gz")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["model.tar.gz"]


def test_a_folder_that_a_script_has_removed_holds_nothing(tmp_path: Path) -> None:
    kept = host(tmp_path, "algo-1", {"a": "1"})
    gone = ("algo-2", tmp_path / "gone")
    assert pack([gone], tmp_path / "none.tar.gz").path is None
    assert unpacked(pack([gone, kept], tmp_path / "model.tar.gz").path) == {"a": b"1"}
