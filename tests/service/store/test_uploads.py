"""Uploads in parts, as boto3's transfers and hand-made ones do them."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest
from boto3.s3.transfer import TransferConfig

from .asking import refused

MIB = 1 << 20


def begun(s3: Any, bucket: str, key: str = "k", **more: Any) -> dict[str, str]:
    name = s3.create_multipart_upload(Bucket=bucket, Key=key, **more)["UploadId"]
    return {"Bucket": bucket, "Key": key, "UploadId": name}


def finished(s3: Any, upload: dict[str, str], etags: dict[int, str], **more: Any) -> Any:
    parts = [{"PartNumber": number, "ETag": etag} for number, etag in etags.items()]
    return s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts}, **more)


def test_a_large_object_goes_up_and_comes_down_in_parts_at_once(s3: Any, bucket: str, folder: Path) -> None:
    content = os.urandom(40 * MIB + 3)
    config = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB, max_concurrency=6)
    s3.upload_fileobj(
        io.BytesIO(content), bucket, "big/model.bin", Config=config, ExtraArgs={"Metadata": {"a": "1"}}
    )
    assert (folder / "big/model.bin").read_bytes() == content
    back = io.BytesIO()
    s3.download_fileobj(bucket, "big/model.bin", back, Config=config)
    assert back.getvalue() == content
    head = s3.head_object(Bucket=bucket, Key="big/model.bin", ChecksumMode="ENABLED")
    assert head["ETag"].endswith('-9"')
    assert (head["Metadata"], head["ChecksumType"]) == ({"a": "1"}, "COMPOSITE")
    part = s3.get_object(Bucket=bucket, Key="big/model.bin", PartNumber=9)
    assert (part["Body"].read(), part["PartsCount"]) == (content[40 * MIB :], 9)
    s3.copy({"Bucket": bucket, "Key": "big/model.bin"}, bucket, "copy", Config=config)
    assert (folder / "copy").read_bytes() == content
    left = [path for path in folder.parent.joinpath(".bandstand").rglob("*") if path.is_file()]
    assert [path for path in left if not path.name.startswith("index.db")] == []


def test_parts_that_are_too_small_missing_or_out_of_order_are_refused(s3: Any, bucket: str) -> None:
    upload = begun(s3, bucket)
    etags = {n: s3.upload_part(**upload, PartNumber=n, Body=b"x" * n)["ETag"] for n in (1, 2)}
    assert refused(finished, s3=s3, upload=upload, etags=etags) == ("EntityTooSmall", 400)
    assert refused(finished, s3=s3, upload=upload, etags={2: etags[2], 1: etags[1]}) == (
        "InvalidPartOrder",
        400,
    )
    assert refused(finished, s3=s3, upload=upload, etags={3: etags[1]}) == ("InvalidPart", 400)
    assert refused(finished, s3=s3, upload=upload, etags={1: etags[2]}) == ("InvalidPart", 400)
    assert refused(finished, s3=s3, upload=upload, etags={}) == ("MalformedXML", 400)
    assert refused(s3.upload_part, **upload, PartNumber=10_001, Body=b"")[0] == "InvalidArgument"
    assert refused(s3.upload_part, **{**upload, "UploadId": "no"}, PartNumber=1) == ("NoSuchUpload", 404)
    assert refused(s3.head_object, Bucket=bucket, Key="k") == ("404", 404)


def test_a_client_that_did_not_hear_of_its_success_may_complete_again(s3: Any, bucket: str) -> None:
    upload = begun(s3, bucket)
    etags = {1: s3.upload_part(**upload, PartNumber=1, Body=b"hello")["ETag"]}
    first = finished(s3, upload, etags)
    again = finished(s3, upload, etags)
    assert first["ETag"] == again["ETag"]
    assert refused(s3.list_parts, **upload) == ("NoSuchUpload", 404)
    assert refused(s3.abort_multipart_upload, **upload) == ("NoSuchUpload", 404)
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"hello"


def test_uploads_and_parts_are_listed_by_pages_and_removed(s3: Any, bucket: str, folder: Path) -> None:
    uploads = [begun(s3, bucket, key) for key in ("a/1", "a/1", "a/2", "b", "c/1")]
    for number in (5, 1, 3):
        s3.upload_part(**uploads[0], PartNumber=number, Body=b"1" * number)
    s3.upload_part(**uploads[0], PartNumber=3, Body=b"again")
    pages = s3.get_paginator("list_parts").paginate(**uploads[0], PaginationConfig={"PageSize": 2})
    parts = [part for page in pages for part in page["Parts"]]
    assert [(part["PartNumber"], part["Size"]) for part in parts] == [(1, 1), (3, 5), (5, 5)]
    pages = s3.get_paginator("list_multipart_uploads").paginate(
        Bucket=bucket, PaginationConfig={"PageSize": 2}
    )
    found = [(each["Key"], each["UploadId"]) for page in pages for each in page["Uploads"]]
    assert sorted(found) == sorted((each["Key"], each["UploadId"]) for each in uploads)
    grouped = s3.list_multipart_uploads(Bucket=bucket, Delimiter="/")
    assert [each["Prefix"] for each in grouped["CommonPrefixes"]] == ["a/", "c/"]
    assert [each["Key"] for each in grouped["Uploads"]] == ["b"]
    for upload in uploads:
        s3.abort_multipart_upload(**upload)
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=bucket)
    kept = {path.name for path in (folder.parent / ".bandstand/uploads").iterdir()}
    assert kept.isdisjoint(each["UploadId"] for each in uploads)


def test_a_part_may_be_copied_from_another_object(s3: Any, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="source", Body=b"0123456789")
    upload = begun(s3, bucket)
    source = {"CopySource": {"Bucket": bucket, "Key": "source"}}
    copied = s3.upload_part_copy(**upload, **source, PartNumber=1, CopySourceRange="bytes=2-5")
    finished(s3, upload, {1: copied["CopyPartResult"]["ETag"]})
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"2345"
    other = begun(s3, bucket)
    for beyond in ("bytes=8-99", "8-9", "bytes=8-"):
        wish = {**other, **source, "PartNumber": 1, "CopySourceRange": beyond}
        assert refused(s3.upload_part_copy, **wish) == ("InvalidArgument", 400)


@pytest.mark.parametrize(
    ("algorithm", "kind"), [("CRC32", "COMPOSITE"), ("CRC32", "FULL_OBJECT"), ("CRC64NVME", "FULL_OBJECT")]
)
def test_the_checksum_of_an_upload_is_of_its_parts_or_of_the_whole(
    s3: Any, bucket: str, algorithm: str, kind: str
) -> None:
    upload = begun(s3, bucket, ChecksumAlgorithm=algorithm, ChecksumType=kind)
    pieces = {1: b"a" * 5 * MIB, 2: b"tail"}
    sent = {
        number: s3.upload_part(**upload, PartNumber=number, Body=piece, ChecksumAlgorithm=algorithm)
        for number, piece in pieces.items()
    }
    name = f"Checksum{algorithm}"
    parts = [{"PartNumber": n, "ETag": part["ETag"], name: part[name]} for n, part in sent.items()]
    made = s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
    whole = s3.put_object(
        Bucket=bucket, Key="whole", Body=b"".join(pieces.values()), ChecksumAlgorithm=algorithm
    )
    assert made["ChecksumType"] == kind
    assert made[name].endswith("-2") if kind == "COMPOSITE" else made[name] == whole[name]


def test_a_checksum_that_an_algorithm_has_not_is_refused(s3: Any, bucket: str) -> None:
    wish = {"ChecksumAlgorithm": "SHA256", "ChecksumType": "FULL_OBJECT"}
    assert refused(s3.create_multipart_upload, Bucket=bucket, Key="k", **wish) == ("InvalidRequest", 400)
    upload = begun(s3, bucket, ChecksumAlgorithm="CRC32")
    other = {"Body": b"1", "ChecksumAlgorithm": "SHA256"}
    assert refused(s3.upload_part, **upload, PartNumber=1, **other) == ("InvalidRequest", 400)


def test_an_upload_that_may_replace_nothing_does_not(s3: Any, bucket: str) -> None:
    upload = begun(s3, bucket)
    etags = {1: s3.upload_part(**upload, PartNumber=1, Body=b"late")["ETag"]}
    s3.put_object(Bucket=bucket, Key="k", Body=b"early")
    wish = {"s3": s3, "upload": upload, "etags": etags, "IfNoneMatch": "*"}
    assert refused(finished, **wish) == ("PreconditionFailed", 412)
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"early"
