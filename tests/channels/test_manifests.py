"""A manifest lists a channel's files, and what is wrong with one is told at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bandstand.channels.data import ChannelData, DataError
from bandstand.channels.listed_files import MAX_BYTES
from bandstand.channels.manifests import Manifest, read
from bandstand.channels.source import Source, find_source

PREFIX = {"prefix": "s3://bucket/p/"}


def manifest(*entries: Any) -> bytes:
    return json.dumps(entries).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of buckets, with some objects."""
    for name in ("p/a.csv", "p/b/c.csv", "p/b/d e.csv", "pa.csv", "outside.csv"):
        path = tmp_path / "s3" / "bucket" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "s3" / "bucket" / "p" / "link.csv").symlink_to("../outside.csv")
    return tmp_path


def found(folder: Path, content: bytes, place: str = "s3://bucket/train.manifest", **more: Any) -> Source:
    (folder / "s3" / "bucket" / "train.manifest").write_bytes(content)
    return find_source(ChannelData(place, is_manifest=True, buckets=str(folder / "s3"), **more))


def laid(source: Source) -> dict[str, str]:
    assert source.files is not None
    return {shown: Path(source.folder, path).read_text() for shown, path in source.files}


def faults(content: bytes) -> list[str]:
    with pytest.raises(DataError) as caught:
        read(content)
    return [str(fault) for fault in caught.value.faults]


def test_files_lie_at_their_names_below_the_prefix_in_the_order_of_keys(folder: Path) -> None:
    source = found(folder, manifest(PREFIX, "b/d e.csv", "a.csv", "b/c.csv"))
    assert list(laid(source).items()) == [
        ("a.csv", "p/a.csv"),
        ("b/c.csv", "p/b/c.csv"),
        ("b/d e.csv", "p/b/d e.csv"),
    ]
    shares = [[shown for shown, _ in source.share(index, 2).files or ()] for index in range(2)]
    assert shares == [["a.csv", "b/d e.csv"], ["b/c.csv"]]


@pytest.mark.parametrize(
    ("prefix", "name", "shown"),
    [
        ("s3://bucket/p", "/a.csv", "a.csv"),
        ("s3://bucket/p", "a.csv", "pa.csv"),
        ("s3://bucket/", "p/a.csv", "p/a.csv"),
        ("s3://bucket", "/p/a.csv", "p/a.csv"),
    ],
)
def test_names_are_appended_to_the_prefix_as_they_are(
    folder: Path, prefix: str, name: str, shown: str
) -> None:
    content = "pa.csv" if shown == "pa.csv" else "p/a.csv"
    assert laid(found(folder, manifest({"prefix": prefix}, name))) == {shown: content}


def test_a_manifest_that_is_a_file_may_list_files(folder: Path) -> None:
    place = folder / "list.json"
    for prefix, names in (("s3/bucket/p/", ["b/d e.csv"]), ("s3/bucket/p", ["/b/d e.csv"])):
        place.write_bytes(manifest({"prefix": f"{folder.as_uri()}/{prefix}"}, *names))
        source = find_source(ChannelData(str(place), is_manifest=True))
        assert laid(source) == {"b/d e.csv": "p/b/d e.csv"}
    place.write_bytes(manifest(PREFIX, "a.csv"))
    data = ChannelData(str(place), is_manifest=True, buckets=str(folder / "s3"))
    assert laid(find_source(data)) == {"a.csv": "p/a.csv"}
    with pytest.raises(DataError, match="expected file:/// and a folder of this machine"):
        find_source(ChannelData(str(place), is_manifest=True))


def test_a_file_is_reached_below_the_allowed_folders_only(folder: Path) -> None:
    place = folder / "list.json"
    place.write_bytes(manifest({"prefix": (folder / "s3" / "bucket").as_uri() + "/"}, "pa.csv"))
    for root, allowed in ((folder, True), (folder / "s3" / "bucket", True), (folder / "s3" / "other", False)):
        data = ChannelData(str(place), is_manifest=True, roots=(str(root),))
        if allowed:
            assert laid(find_source(data)) == {"pa.csv": "pa.csv"}
            continue
        with pytest.raises(DataError, match="--allow DIR"):
            find_source(data)


def test_a_prefix_that_no_folder_can_have_is_told(folder: Path) -> None:
    (folder / "list.json").write_bytes(manifest({"prefix": "file:///a%00b/"}, "c"))
    with pytest.raises(DataError, match="a%00b"):
        find_source(ChannelData(str(folder / "list.json"), is_manifest=True))


def test_a_link_is_followed_to_its_file(folder: Path) -> None:
    assert laid(found(folder, manifest(PREFIX, "link.csv"))) == {"link.csv": "outside.csv"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "an empty manifest"),
        (b"\xef\xbb\xbf[]", "a byte order mark"),
        (b"[\xff]", "no UTF-8, at byte 1"),
        (b"a,b\n1,2\n", "no JSON: Expecting value in line 1, column 1"),
        (b'{"source-ref": "s3://b/1"}\n{"source-ref": "s3://b/2"}\n', "(an augmented manifest has"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "an empty list as manifest"),
        (b'{"prefix": "s3://b/p/"}', 'found {"prefix": "s3://b/p/"} as manifest; expected a list'),
        (b"null", "found null as manifest"),
        (manifest("a.csv", "b.csv"), "found a.csv as its first entry"),
        (manifest({"prefix": 3}, "a"), 'found {"prefix": 3} as its first entry'),
        (manifest({**PREFIX, "more": 1}, "a"), "Begin the list with the prefix, alone in its braces."),
        (manifest({"prefix": ""}, "a"), 'the prefix ""; expected s3://BUCKET/PREFIX/'),
        (manifest({"prefix": "bucket/p/"}, "a"), 'the prefix "bucket/p/"; expected s3://BUCKET/PREFIX/'),
        (manifest({"prefix": "s3:///p/"}, "a"), 'the prefix "s3:///p/"'),
        (manifest({"prefix": "s3://bucket/../../etc/"}, "a"), 'the prefix "s3://bucket/../../etc/"'),
        (manifest({"prefix": "s3://../p/"}, "a"), 'the prefix "s3://../p/"'),
        (manifest({"prefix": "s3://.bandstand/"}, "index.db"), 'the prefix "s3://.bandstand/"'),
        (manifest(PREFIX), "no name after the prefix"),
        (manifest(PREFIX, "a", "b", "a"), 'names that stand there more than once: "a"'),
        (manifest(PREFIX, "../a", "b/../../c", "a\0"), '"../a", "b/../../c", '),
        (manifest(PREFIX, "", "b/"), 'names of folders: "", "b/"'),
        (manifest(PREFIX, {"prefix": "s3://other/"}, 7), '{"prefix": "s3://other/"}, 7 among the names'),
    ],
)
def test_what_is_no_manifest_is_told_in_words(content: bytes, words: str) -> None:
    (text,) = faults(content)
    assert words in text
    assert text.endswith(".")


def test_all_that_is_wrong_is_told_at_once() -> None:
    told = faults(manifest({"prefix": "gs://b/"}, "a", "a", "../b", "c/", None))
    assert len(told) == 5
    assert [word in " ".join(told) for word in ("gs://b/", "null", '"a"', '"../b"', '"c/"')] == [True] * 5


def test_names_of_files_that_are_not_there_are_told_with_their_number(folder: Path) -> None:
    names = [f"gone-{number}.csv" for number in range(9)] + ["a.csv", "b", "x" * 300, "a.csv/z"]
    with pytest.raises(DataError) as caught:
        found(folder, manifest(PREFIX, *names))
    text = str(caught.value)
    assert '"s3://bucket/p/gone-0.csv"' in text
    assert "and 7 more" in text
    assert "a.csv," not in text


@pytest.mark.parametrize(
    ("place", "words"), [("s3://bucket/none", "nothing at"), ("s3://bucket/p", "nothing")]
)
def test_a_manifest_that_is_not_there_is_told(folder: Path, place: str, words: str) -> None:
    with pytest.raises(DataError, match=f"{words}.*which is to be a manifest.*S3Prefix"):
        found(folder, b"", place)


def test_a_manifest_in_s3_lists_what_is_in_s3(folder: Path) -> None:
    with pytest.raises(DataError, match="as the manifest itself is in S3"):
        found(folder, manifest({"prefix": folder.as_uri() + "/"}, "s3/bucket/pa.csv"))


def test_a_name_with_nothing_between_its_slashes_is_of_no_file(folder: Path) -> None:
    (folder / "list.json").write_bytes(
        manifest({"prefix": f"{folder.as_uri()}/s3/"}, "bucket/p", "bucket//pa.csv")
    )
    with pytest.raises(DataError, match="names of files that are not there"):
        find_source(ChannelData(str(folder / "list.json"), is_manifest=True))


def test_a_prefix_that_may_lack_its_slash_is_told(folder: Path) -> None:
    with pytest.raises(DataError, match=r"s3://bucket/pb/c\.csv.*Let the prefix end with a slash"):
        found(folder, manifest({"prefix": "s3://bucket/p"}, "b/c.csv"))


def test_a_file_that_is_too_large_for_a_manifest_is_not_read(folder: Path) -> None:
    place = folder / "large"
    with place.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(DataError, match="more than 64 MiB"):
        find_source(ChannelData(str(place), is_manifest=True))


def test_a_prefix_without_a_slash_at_its_end_and_names_that_begin_with_one_are_told_apart() -> None:
    assert read(manifest({"prefix": "s3://b/p"}, "/a", "/b")) == Manifest("s3://b/p/", ("a", "b"))
    assert read(manifest({"prefix": "s3://b/p"}, "/a", "b")) == Manifest("s3://b/p", ("/a", "b"))
