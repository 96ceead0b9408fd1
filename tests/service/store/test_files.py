"""Objects are files and files are objects."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from bandstand.errors import InputError
from bandstand.service.store import Buckets
from bandstand.service.store.about import About
from bandstand.service.store.objects import find, put
from bandstand.service.store.staging import Staged

from .asking import refused


def keys_of(s3: Any, bucket: str) -> list[str]:
    return [each["Key"] for each in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]


def test_an_object_is_the_file_of_its_key_and_a_jobs_file_is_an_object(
    s3: Any, bucket: str, folder: Path
) -> None:
    s3.put_object(Bucket=bucket, Key="data/train/a.csv", Body=b"1,2\n")
    assert (folder / "data/train/a.csv").read_bytes() == b"1,2\n"
    (folder / "out").mkdir()
    (folder / "out/model.tar.gz").write_bytes(b"model")
    assert keys_of(s3, bucket) == ["data/train/a.csv", "out/model.tar.gz"]
    answer = s3.get_object(Bucket=bucket, Key="out/model.tar.gz")
    assert (answer["Body"].read(), answer["ContentType"]) == (b"model", "binary/octet-stream")
    assert s3.list_objects_v2(Bucket=bucket)["Contents"][1]["ETag"] == answer["ETag"]


def test_a_file_that_a_job_changes_is_another_object(s3: Any, bucket: str, folder: Path) -> None:
    s3.put_object(Bucket=bucket, Key="k", Body=b"first", Metadata={"a": "1"})
    (folder / "k").write_bytes(b"other")
    os.utime(folder / "k", ns=(1, 1))
    first = s3.get_object(Bucket=bucket, Key="k")
    assert (first["Body"].read(), first["Metadata"]) == (b"other", {})
    os.utime(folder / "k", ns=(2, 2))
    assert s3.head_object(Bucket=bucket, Key="k")["ETag"] != first["ETag"]


def test_a_link_leads_nowhere(s3: Any, bucket: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (folder / "file").symlink_to(tmp_path / "secret")
    (folder / "dir").symlink_to(tmp_path)
    assert refused(s3.get_object, Bucket=bucket, Key="file") == ("NoSuchKey", 404)
    assert refused(s3.get_object, Bucket=bucket, Key="dir/secret") == ("NoSuchKey", 404)
    assert keys_of(s3, bucket) == []
    s3.put_object(Bucket=bucket, Key="dir/secret", Body=b"new")
    s3.put_object(Bucket=bucket, Key="file", Body=b"new")
    assert (tmp_path / "secret").read_text() == "secret"
    assert s3.get_object(Bucket=bucket, Key="dir/secret")["Body"].read() == b"new"
    assert keys_of(s3, bucket) == ["dir/secret", "file"]
    s3.delete_object(Bucket=bucket, Key="dir/secret")
    assert list(tmp_path.iterdir()) == [tmp_path / "secret"]


@pytest.mark.parametrize("key", ["../up", "a/../../../up", "..", ".", "/etc/passwd", "//x", "a/\0/b", "a\0"])
def test_no_key_leaves_its_bucket(tmp_path: Path, key: str) -> None:
    buckets = Buckets(tmp_path / "s3")
    buckets.create("abc", "us-east-1")
    with Staged(buckets.staging) as staged:
        staged.write(b"1")
        staged.finish()
        put(buckets, "abc", key, staged, About())
    assert find(buckets, "abc", key) is not None
    outside = [path for path in tmp_path.rglob("*") if path.is_file() and ".bandstand" not in path.parts]
    assert outside == []
    buckets.close()


def test_what_a_job_is_still_writing_is_no_object(s3: Any, bucket: str, folder: Path) -> None:
    (folder / ".model.tar.gz.12.partial").write_bytes(b"half")
    (folder / ".bandstand-unfinished-1").mkdir()
    (folder / ".bandstand-unfinished-1" / "x").write_bytes(b"half")
    assert keys_of(s3, bucket) == []
    assert refused(s3.get_object, Bucket=bucket, Key=".model.tar.gz.12.partial") == ("NoSuchKey", 404)
    s3.put_object(Bucket=bucket, Key=".mine.partial", Body=b"whole")
    assert keys_of(s3, bucket) == [".mine.partial"]


def test_devices_and_names_that_are_no_text_are_no_objects(s3: Any, bucket: str, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    Path(os.fsdecode(bytes(folder) + b"/\xff")).write_text("x")
    assert keys_of(s3, bucket) == []
    assert refused(s3.get_object, Bucket=bucket, Key="pipe") == ("NoSuchKey", 404)


def test_a_removed_object_leaves_the_folders_that_a_job_may_write_to(
    s3: Any, bucket: str, folder: Path
) -> None:
    s3.put_object(Bucket=bucket, Key="checkpoints/job/1", Body=b"")
    s3.delete_object(Bucket=bucket, Key="checkpoints/job/1")
    assert (folder / "checkpoints/job").is_dir()
    s3.put_object(Bucket=bucket, Key="checkpoints", Body=b"now a file")
    assert (folder / "checkpoints").read_bytes() == b"now a file"


def test_a_folder_that_somebody_made_is_a_bucket(s3: Any, folder: Path) -> None:
    other = folder.parent / "made-by-hand"
    other.mkdir()
    (other / "k").write_bytes(b"1")
    assert "made-by-hand" in [each["Name"] for each in s3.list_buckets()["Buckets"]]
    assert s3.get_object(Bucket="made-by-hand", Key="k")["Body"].read() == b"1"


def test_locate_gives_the_file_of_an_address_or_says_why_there_is_none(tmp_path: Path) -> None:
    buckets = Buckets(tmp_path / "s3")
    buckets.create("abc", "us-east-1")
    assert buckets.locate("s3://abc/a/b") == tmp_path / "s3/abc/a/b"
    assert buckets.locate("s3://abc/a/") == tmp_path / "s3/abc/a"
    assert buckets.locate("s3://abc") == buckets.locate("s3://abc/") == tmp_path / "s3/abc"
    for wrong, words in (
        ("s3://abc/a/../b", "nothing that a file can be"),
        ("s3://abc//", "nothing that a file can be"),
        ("s3://xyz/a", "There is no bucket xyz.*abc"),
        ("s3:///a", "no address in S3"),
        ("https://abc/a", "no address in S3"),
    ):
        with pytest.raises(InputError, match=words):
            buckets.locate(wrong)
    buckets.close()
