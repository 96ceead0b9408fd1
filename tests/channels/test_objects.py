"""A prefix stands for every object whose key begins with it, laid out as SageMaker lays it out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bandstand.channels.data import ChannelData, DataError
from bandstand.channels.objects import find_object, matches, relative_name
from bandstand.channels.source import Source, find_source
from bandstand.service.store.about import About
from bandstand.service.store.buckets import Buckets
from bandstand.service.store.objects import put
from bandstand.service.store.staging import Staged


@pytest.fixture
def buckets(tmp_path: Path) -> Iterator[Buckets]:
    """A store with one bucket."""
    store = Buckets(tmp_path / "s3")
    store.create("bucket", "eu-west-1")
    yield store
    store.close()


def store(buckets: Buckets, *keys: str) -> None:
    """Store objects, each of which holds its key."""
    for key in keys:
        with Staged(buckets.staging) as staged:
            staged.write(key.encode())
            staged.finish()
            put(buckets, "bucket", key, staged, About())


def source(buckets: Buckets, prefix: str, *, sharded: bool = False) -> Source:
    return find_source(ChannelData(f"s3://bucket/{prefix}", buckets=str(buckets.folder)), sharded=sharded)


def laid(found: Source) -> dict[str, str]:
    """What a host finds: names and contents."""
    if found.files is None:
        root = Path(found.folder)
        return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.*")}
    return {shown: Path(found.folder, path).read_text() for shown, path in found.files}


@pytest.mark.parametrize(
    ("prefix", "names"),
    [
        ("da", {"data/x.csv": "data/x.csv", "da.csv": "da.csv", "day/1.csv": "day/1.csv"}),
        ("data", {"x.csv": "data/x.csv"}),
        ("data/", {"x.csv": "data/x.csv"}),
        ("da.csv", {"da.csv": "da.csv"}),
        ("deep/er/tr", {"train-1.csv": "deep/er/train-1.csv", "train-2.csv": "deep/er/train-2.csv"}),
        ("deep/er/train-1.csv", {"train-1.csv": "deep/er/train-1.csv"}),
        ("deep", {"er/train-1.csv": "deep/er/train-1.csv", "er/train-2.csv": "deep/er/train-2.csv"}),
    ],
)
def test_a_prefix_stands_for_all_that_begins_with_it(
    buckets: Buckets, prefix: str, names: dict[str, str]
) -> None:
    store(buckets, "data/x.csv", "da.csv", "day/1.csv", "other.csv", "deep/er/train-1.csv")
    store(buckets, "deep/er/train-2.csv")
    assert laid(source(buckets, prefix)) == names


def test_a_folder_that_nothing_else_begins_like_is_shown_as_it_is(buckets: Buckets) -> None:
    store(buckets, "data/x.csv", "other/y.csv")
    for prefix in ("data", "data/"):
        assert source(buckets, prefix) == Source(str(buckets.folder / "bucket" / "data"), None)
    assert source(buckets, "") == Source(str(buckets.folder / "bucket"), None)


def test_an_object_beside_a_folder_of_its_name_is_found_whichever_came_first(buckets: Buckets) -> None:
    store(buckets, "one", "one/x.csv")
    store(buckets, "two/x.csv", "two")
    for name in ("one", "two"):
        assert laid(source(buckets, name)) == {name: name, "x.csv": f"{name}/x.csv"}
        assert laid(source(buckets, f"{name}/")) == {"x.csv": f"{name}/x.csv"}
        path = find_object(str(buckets.folder), f"s3://bucket/{name}")
        assert path is not None
        assert path.read_text() == name


def test_marks_of_folders_are_no_files_and_empty_names_between_slashes_are_left_out(
    buckets: Buckets,
) -> None:
    store(buckets, "data/", "data/x.csv", "data//y.csv")
    assert laid(source(buckets, "data/")) == {"x.csv": "data/x.csv", "y.csv": "data//y.csv"}
    assert laid(source(buckets, "data//")) == {"y.csv": "data//y.csv"}


def test_shares_of_a_prefix_are_every_nth_object_in_the_order_of_keys(buckets: Buckets) -> None:
    store(buckets, "da.csv", "data/b.csv", "data/a.csv", "day.csv")
    found = source(buckets, "da", sharded=True)
    shares = [[shown for shown, _ in found.share(index, 3).files or ()] for index in range(3)]
    assert shares == [["da.csv", "day.csv"], ["data/a.csv"], ["data/b.csv"]]


@pytest.mark.parametrize(
    "prefix", ["none", "data/x.csv/", "data/z", "..", "../..", "a/../data", "\0", "/data"]
)
def test_a_prefix_of_no_object_is_told(buckets: Buckets, prefix: str) -> None:
    store(buckets, "data/x.csv")
    with pytest.raises(DataError, match="no S3 objects under s3://bucket/"):
        source(buckets, prefix)


@pytest.mark.parametrize(
    ("prefix", "words"),
    [
        ("dtaa", "Did you mean s3://bucket/data?"),
        ("dtaa/train", "Did you mean s3://bucket/data?"),
        ("data/trian/", "Did you mean s3://bucket/data/train?"),
        ("data/train/y.csv", "Did you mean s3://bucket/data/train/x.csv?"),
        ("other", "Upload the data, or mend the address"),
        ("a/../b", "Upload the data"),
    ],
)
def test_a_prefix_that_is_like_one_with_objects_is_told_with_it(
    buckets: Buckets, prefix: str, words: str
) -> None:
    store(buckets, "data/train/x.csv")
    with pytest.raises(DataError) as caught:
        source(buckets, prefix)
    assert words in str(caught.value)


def test_a_prefix_with_the_mark_of_a_folder_alone_holds_no_file(buckets: Buckets) -> None:
    store(buckets, "data/")
    with pytest.raises(DataError, match="no S3 objects"):
        source(buckets, "data/")


def test_objects_that_would_lie_at_one_place_are_all_told(buckets: Buckets) -> None:
    store(buckets, "data/data.csv", "data.csv", "a/b", "a/b/c", "a//b")
    with pytest.raises(DataError, match=r"data\.csv and data/data\.csv, both at data\.csv"):
        source(buckets, "data")
    with pytest.raises(DataError) as caught:
        source(buckets, "a/")
    assert "a//b and a/b, both at b" in str(caught.value)
    assert "a file, and a/b/c, which needs a folder at its place" in str(caught.value)


def test_keys_that_no_file_can_have_are_told(buckets: Buckets) -> None:
    store(buckets, "data/x.csv", "data/../y.csv", f"data/{'z' * 300}")
    with pytest.raises(DataError, match=r"data/\.\./y\.csv.*Store these objects under other keys"):
        source(buckets, "data/")


@pytest.mark.parametrize(
    ("key", "prefix", "name"),
    [
        ("a/b/c", "", "a/b/c"),
        ("a/b/c", "a", "b/c"),
        ("a/b/c", "a/", "b/c"),
        ("a/b/c", "a/b/c", "c"),
        ("a/bb/c", "a/b", "bb/c"),
        ("a/b//c", "a/b/", "c"),
    ],
)
def test_a_name_is_relative_to_the_folder_of_the_prefix(key: str, prefix: str, name: str) -> None:
    assert relative_name(key, prefix) == name


def test_what_a_prefix_stands_for_is_found_again_for_a_job_that_goes_on(buckets: Buckets) -> None:
    store(buckets, "data/x.csv", "da.csv")
    root = buckets.folder / "bucket"
    assert matches(str(buckets.folder), "s3://bucket/da") == [root / "da.csv", root / "data"]
    assert matches(str(buckets.folder), "s3://bucket/gone") == [root / "gone"]
    assert matches(str(buckets.folder), "s3://bucket/data/") == [root / "data"]
    store(buckets, "odd//x.csv")
    (apart,) = matches(str(buckets.folder), "s3://bucket/odd/")
    assert apart.read_text() == "odd//x.csv"
