from __future__ import annotations

from pathlib import Path

import pytest

from bandstand.channels.data import ChannelData, DataError
from bandstand.channels.source import Source, find_source


def found(path: Path, *, sharded: bool = False) -> Source:
    return find_source(ChannelData(str(path)), sharded=sharded)


def fill(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


def test_a_folder_is_shown_just_as_it_is(tmp_path: Path) -> None:
    source = found(fill(tmp_path / "data", "a", "b/c"))
    assert (source.folder, source.files) == (str(tmp_path / "data"), None)


def test_a_file_is_shown_alone(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv", "b.csv")
    source = found(tmp_path / "a.csv")
    assert (source.folder, source.files) == (str(tmp_path), (("a.csv", "a.csv"),))


def test_shares_take_every_nth_file_in_the_order_of_s3_keys(tmp_path: Path) -> None:
    fill(tmp_path, "b", "a/z", "a-1", "Z", "é", "a/é")
    source = found(tmp_path, sharded=True)
    assert source.files is not None
    assert [shown for shown, _ in source.files] == ["Z", "a-1", "a/z", "a/é", "b", "é"]
    shares = [source.share(index, 4).files for index in range(4)]
    assert [[shown for shown, _ in share or ()] for share in shares] == [
        ["Z", "b"],
        ["a-1", "é"],
        ["a/z"],
        ["a/é"],
    ]


def test_links_that_lead_out_are_followed_to_their_file(tmp_path: Path) -> None:
    fill(tmp_path, "outside", "data/inside")
    (tmp_path / "data" / "out").symlink_to("../outside")
    (tmp_path / "data" / "in").symlink_to("inside")
    source = found(tmp_path / "data")
    assert source.files == (("in", "in"), ("inside", "inside"), ("out", str(tmp_path / "outside")))


def test_links_to_folders_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    fill(tmp_path, "data/a", "other/b")
    (tmp_path / "data" / "back").symlink_to(".")
    (tmp_path / "data" / "over").symlink_to("../other")
    source = found(tmp_path / "data", sharded=True)
    assert source.files is not None
    assert source.files == (("a", "a"), ("over/b", str(tmp_path / "other" / "b")))


def test_a_link_that_leads_nowhere_is_no_file(tmp_path: Path) -> None:
    fill(tmp_path, "a")
    (tmp_path / "broken").symlink_to("nowhere")
    source = found(tmp_path, sharded=True)
    assert source.files == (("a", "a"),)


@pytest.mark.parametrize(("name", "words"), [("gone", "no folder and no file"), ("empty", "holds no file")])
def test_a_channel_without_files_is_refused(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=words):
        found(tmp_path / name)
