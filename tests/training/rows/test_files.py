"""Which files of a channel are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from bandstand.errors import InputError
from bandstand.sagemaker_files import Channel
from bandstand.training.rows import list_files


def fill(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("1,2\n")


def test_files_of_all_folders_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    fill(tmp_path, "b.csv", "a/2.csv", "a/10.csv", "a.csv")
    files = list_files(Channel("train", tmp_path, "text/csv"))
    assert [file.name for file in files.data] == ["a.csv", "a/10.csv", "a/2.csv", "b.csv"]
    assert files.size == 16


def test_hidden_files_markers_and_manifests_are_not_read(tmp_path: Path) -> None:
    fill(tmp_path, "part-0", "_SUCCESS", ".part-0.crc", ".hidden/x.csv", "_temporary/x.csv", "all.manifest")
    files = list_files(Channel("train", tmp_path, "csv"))
    assert [file.name for file in files.data] == ["part-0"]
    assert len(files.skipped) == 5


def test_without_a_content_type_the_ending_tells(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv", "B.CSV", "README.md")
    files = list_files(Channel("train", tmp_path))
    assert [file.name for file in files.data] == ["B.CSV", "a.csv"]
    assert files.skipped == ("README.md",)


def test_without_a_content_type_and_ending_the_channel_is_refused(tmp_path: Path) -> None:
    fill(tmp_path, "part-0", "_SUCCESS")
    with pytest.raises(
        InputError, match=r"no content type and no file that ends in \.csv, .*; found: part-0\. Give"
    ):
        list_files(Channel("train", tmp_path))


def test_an_empty_or_missing_folder_has_no_files(tmp_path: Path) -> None:
    assert list_files(Channel("train", tmp_path)).data == ()
    assert list_files(Channel("train", tmp_path / "none", "csv")).data == ()


@pytest.mark.parametrize("kind", ["text/csv", "csv", "text/csv; label_size=1", "TEXT/CSV;charset=utf-8"])
def test_the_usual_spellings_of_csv_are_known(tmp_path: Path, kind: str) -> None:
    fill(tmp_path, "part-0")
    assert len(list_files(Channel("train", tmp_path, kind)).data) == 1


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("text/plain", "expected one of text/csv, csv, text/libsvm"),
        ("text/csv;label_size=0", "label_size=0 is not"),
        ("application/x-parquet; header=present", "header=present is not"),
    ],
)
def test_content_types_and_parameters_that_are_not_known_are_refused(
    tmp_path: Path, kind: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        list_files(Channel("train", tmp_path, kind))


def test_pipe_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="input mode Pipe"):
        list_files(Channel("train", tmp_path, "text/csv", input_mode="Pipe"))


def test_linked_files_and_folders_are_read_and_a_circle_of_links_ends(tmp_path: Path) -> None:
    fill(tmp_path / "store", "a.csv", "b.csv")
    channel = tmp_path / "channel"
    channel.mkdir()
    (channel / "linked").symlink_to(tmp_path / "store")
    (channel / "x.csv").symlink_to(tmp_path / "store" / "a.csv")
    (tmp_path / "store" / "up").symlink_to(channel)
    files = list_files(Channel("train", channel))
    assert [file.name for file in files.data] == ["linked/a.csv", "linked/b.csv", "x.csv"]


@pytest.mark.parametrize(
    ("content_type", "names", "kind", "header"),
    [
        ("text/csv; header=present", ["part-0"], "csv", True),
        ("text/csv; header=absent", ["part-0"], "csv", False),
        ("text/libsvm", ["a.csv"], "libsvm", None),
        ("text/x-libsvm", ["a"], "libsvm", None),
        ("libsvm", ["a"], "libsvm", None),
        ("application/x-parquet", ["a"], "parquet", None),
        ("parquet", ["a"], "parquet", None),
        (None, ["a.csv", "b.CSV.GZ"], "csv", None),
        (None, ["a.svm", "b.libsvm.gz", "notes.txt"], "libsvm", None),
        (None, ["a.pq", "b.parquet", "_metadata", ".c.csv"], "parquet", None),
        (None, [], None, None),
    ],
)
def test_the_content_type_tells_the_kind_else_the_names_of_the_files(
    tmp_path: Path, content_type: str | None, names: list[str], kind: str | None, header: bool | None
) -> None:
    fill(tmp_path, *names)
    files = list_files(Channel("train", tmp_path, content_type))
    assert (files.kind, files.header) == (kind, header)


def test_names_that_tell_different_kinds_are_refused(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv", "b.libsvm.gz", "c.csv")
    with pytest.raises(InputError, match=r"several kinds: CSV: a\.csv, c\.csv; libsvm: b\.libsvm\.gz\. Keep"):
        list_files(Channel("train", tmp_path))
