"""Random sequences of operations have the same answers here and from moto's S3, which is all in memory."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from moto.server import ThreadedMotoServer

from ..served import Server
from .conftest import s3_client

KEYS = (
    "a", "a/b", "a/b/c", "a/b/d.txt", "a/", "a/b/", "a-b", "a.b", "a0", "b", "b/c", "b//c", "b//", "c d",
    "c+d",    "c%20d", "é/ü", "ab" * 150, "x/" + "y" * 300 + "/z", "q/../r", "q/./r", "~", "A", "a\tb",
    "<&>\"'",
)  # fmt: skip
PREFIXES = ("", "a", "a/", "a/b", "a/b/", "b/", "b//", "q/", "zz", "x/", "é")
NAMES = itertools.count(os.getpid() * 100_000)
OMIT = ("ResponseMetadata", "LastModified", "Owner", "Body", "UploadId")

keys = st.sampled_from(KEYS)
bodies = st.binary(max_size=40)
numbers = st.integers(0, 45)

operations = st.one_of(
    st.tuples(st.just("put"), keys, bodies, st.booleans()),
    st.tuples(st.just("put"), keys, bodies, st.booleans()),
    st.tuples(st.just("get"), keys),
    st.tuples(st.just("range"), keys, numbers, numbers),
    st.tuples(st.just("head"), keys),
    st.tuples(st.just("delete"), keys),
    st.tuples(st.just("delete_many"), st.lists(keys, min_size=1, max_size=4, unique=True)),
    st.tuples(st.just("copy"), keys, keys, st.booleans()),
    st.tuples(st.just("list"), st.sampled_from(PREFIXES), st.sampled_from(["", "/", "b"]), st.integers(1, 6)),
    # moto tells a common prefix also where none of its keys comes after the marker: one of both is asked.
    st.tuples(st.just("list_old"), st.sampled_from(PREFIXES), st.just(""), keys),
    st.tuples(st.just("list_old"), st.sampled_from(PREFIXES), st.just("/"), st.just("")),
    st.tuples(st.just("list_after"), st.sampled_from(PREFIXES), keys),
    st.tuples(st.just("upload"), keys, bodies, st.booleans()),
    # moto answers an empty set of tags with 500.
    st.tuples(
        st.just("tag"), keys, st.dictionaries(st.sampled_from("kl"), st.text("ab", max_size=3), min_size=1)
    ),
    st.tuples(st.just("tags"), keys),
)


@pytest.fixture(scope="module")
def moto() -> Iterator[Any]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield s3_client(f"http://{host}:{port}")
    server.stop()


class Player:
    """Plays operations on one bucket and says what a client sees."""

    def __init__(self, client: Any, bucket: str) -> None:
        self.client = client
        self.bucket = bucket
        client.create_bucket(Bucket=bucket)

    def play(self, operation: tuple[Any, ...]) -> Any:
        verb, *words = operation
        try:
            return getattr(self, verb)(*words)
        except ClientError as error:
            return error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]

    def put(self, key: str, body: bytes, fresh: bool) -> Any:
        condition = {"IfNoneMatch": "*"} if fresh else {}
        more = {"Metadata": {"n": str(len(body))}, "ContentType": "text/x-test"}
        return self.client.put_object(Bucket=self.bucket, Key=key, Body=body, **more, **condition)["ETag"]

    def get(self, key: str, **more: Any) -> Any:
        answer = self.client.get_object(Bucket=self.bucket, Key=key, **more)
        return answer["Body"].read(), *(
            answer.get(each) for each in ("ETag", "Metadata", "ContentType", "ContentRange")
        )

    def range(self, key: str, first: int, length: int) -> Any:
        return self.get(key, Range=f"bytes={first}-{first + length}")

    def head(self, key: str) -> Any:
        answer = self.client.head_object(Bucket=self.bucket, Key=key)
        return tuple(answer.get(each) for each in ("ETag", "ContentLength", "Metadata", "ContentType"))

    def delete(self, key: str) -> Any:
        return self.client.delete_object(Bucket=self.bucket, Key=key)["ResponseMetadata"]["HTTPStatusCode"]

    def delete_many(self, keys: list[str]) -> Any:
        wish = {"Objects": [{"Key": key} for key in keys]}
        answer = self.client.delete_objects(Bucket=self.bucket, Delete=wish)
        return sorted(each["Key"] for each in answer.get("Deleted", [])), answer.get("Errors", [])

    def copy(self, source: str, key: str, replace: bool) -> Any:
        more = {"MetadataDirective": "REPLACE", "Metadata": {"new": "1"}} if replace else {}
        source_of = {"Bucket": self.bucket, "Key": source}
        return self.client.copy_object(Bucket=self.bucket, Key=key, CopySource=source_of, **more)[
            "CopyObjectResult"
        ]["ETag"]

    def list(self, prefix: str, delimiter: str, most: int) -> Any:
        pages, more = [], {}
        while True:
            answer = self.client.list_objects_v2(
                Bucket=self.bucket, Prefix=prefix, Delimiter=delimiter, MaxKeys=most, **more
            )
            pages.append((*_seen(answer), answer["KeyCount"], answer["IsTruncated"]))
            if not answer["IsTruncated"]:
                return pages
            more = {"ContinuationToken": answer["NextContinuationToken"]}

    def list_old(self, prefix: str, delimiter: str, marker: str) -> Any:
        answer = self.client.list_objects(
            Bucket=self.bucket, Prefix=prefix, Delimiter=delimiter, Marker=marker
        )
        return _seen(answer)

    def list_after(self, prefix: str, after: str) -> Any:
        return _seen(self.client.list_objects_v2(Bucket=self.bucket, Prefix=prefix, StartAfter=after))

    def upload(self, key: str, body: bytes, finish: bool) -> Any:
        place = {"Bucket": self.bucket, "Key": key}
        name = self.client.create_multipart_upload(**place)["UploadId"]
        part = self.client.upload_part(**place, UploadId=name, PartNumber=3, Body=body)
        listed = self.client.list_parts(**place, UploadId=name)["Parts"]
        seen = [(each["PartNumber"], each["ETag"], each["Size"]) for each in listed]
        if not finish:
            self.client.abort_multipart_upload(**place, UploadId=name)
            return seen
        parts = {"Parts": [{"PartNumber": 3, "ETag": part["ETag"]}]}
        return seen, self.client.complete_multipart_upload(**place, UploadId=name, MultipartUpload=parts)[
            "ETag"
        ]

    def tag(self, key: str, tags: dict[str, str]) -> Any:
        wish = {"TagSet": [{"Key": name, "Value": value} for name, value in tags.items()]}
        self.client.put_object_tagging(Bucket=self.bucket, Key=key, Tagging=wish)

    def tags(self, key: str) -> Any:
        answer = self.client.get_object_tagging(Bucket=self.bucket, Key=key)["TagSet"]
        return sorted((tag["Key"], tag["Value"]) for tag in answer)


def _seen(answer: dict[str, Any]) -> tuple[Any, Any]:
    contents = [(each["Key"], each["Size"], each["ETag"]) for each in answer.get("Contents", [])]
    return contents, [each["Prefix"] for each in answer.get("CommonPrefixes", [])]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sequence=st.lists(operations, min_size=1, max_size=25))
def test_random_sequences_of_operations_have_the_answers_of_moto(
    s3: Any, moto: Any, sequence: list[tuple[Any, ...]]
) -> None:
    name = f"same-{next(NAMES)}"
    ours, theirs = Player(s3, name), Player(moto, name)
    for operation in [*sequence, ("list", "", "", 1000), ("list", "", "/", 2)]:
        assert ours.play(operation) == theirs.play(operation), operation


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chosen=st.lists(keys, min_size=1, max_size=12, unique=True))
def test_every_object_that_can_be_a_file_is_the_file_of_its_key(
    s3: Any, server: Server, chosen: list[str]
) -> None:
    name = f"file-{next(NAMES)}"
    s3.create_bucket(Bucket=name)
    for key in chosen:
        s3.put_object(Bucket=name, Key=key, Body=key.encode())
    root = server.home / "s3" / name
    files = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert all(content == key.encode() for key, content in files.items())
    others = [key for key in chosen if key not in files]
    assert all(_cannot_be(key, chosen, root) for key in others), others


def _cannot_be(key: str, chosen: list[str], root: Path) -> bool:
    parts = key.split("/")
    odd = any(part in ("", ".", "..") or len(part.encode()) > 255 for part in parts)
    return (
        odd
        or (root / key).is_dir()
        or any((root / "/".join(parts[:n])).is_file() for n in range(1, len(parts)))
    )
