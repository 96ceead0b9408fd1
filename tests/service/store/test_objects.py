"""Single objects, as boto3 sees them."""

from __future__ import annotations

import base64
import hashlib
import http.client
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config

from ..served import Server
from .asking import refused, send
from .conftest import s3_client


def test_an_object_comes_back_with_all_that_was_stored_with_it(s3: Any, bucket: str) -> None:
    s3.put_object(
        Bucket=bucket,
        Key="dir/ä b.txt",
        Body=b"hello",
        Metadata={"Some-Name": "value 1"},
        ContentType="text/plain; charset=utf-8",
        CacheControl="no-store",
        ContentDisposition="attachment",
        ContentEncoding="gzip",
        ContentLanguage="de",
        Tagging="a=1&b=2",
    )
    answer = s3.get_object(Bucket=bucket, Key="dir/ä b.txt")
    assert answer["Body"].read() == b"hello"
    assert answer["ETag"] == f'"{hashlib.md5(b"hello", usedforsecurity=False).hexdigest()}"'
    assert answer["Metadata"] == {"some-name": "value 1"}
    assert answer["ContentType"] == "text/plain; charset=utf-8"
    assert (answer["CacheControl"], answer["ContentDisposition"]) == ("no-store", "attachment")
    assert (answer["ContentEncoding"], answer["ContentLanguage"], answer["TagCount"]) == ("gzip", "de", 2)
    assert answer["ContentLength"] == 5


def test_a_range_is_read_and_one_beyond_the_end_is_refused(s3: Any, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="k", Body=bytes(range(100)))
    answer = s3.get_object(Bucket=bucket, Key="k", Range="bytes=10-19")
    assert (answer["Body"].read(), answer["ContentRange"]) == (bytes(range(10, 20)), "bytes 10-19/100")
    assert s3.get_object(Bucket=bucket, Key="k", Range="bytes=-5")["Body"].read() == bytes(range(95, 100))
    assert s3.get_object(Bucket=bucket, Key="k", Range="bytes=98-")["Body"].read() == bytes([98, 99])
    assert len(s3.get_object(Bucket=bucket, Key="k", Range="bytes=5-2")["Body"].read()) == 100
    assert refused(s3.get_object, Bucket=bucket, Key="k", Range="bytes=100-") == ("InvalidRange", 416)


def test_conditions_on_reading_hold(s3: Any, bucket: str) -> None:
    etag = s3.put_object(Bucket=bucket, Key="k", Body=b"1")["ETag"]
    time = s3.head_object(Bucket=bucket, Key="k")["LastModified"]
    assert refused(s3.get_object, Bucket=bucket, Key="k", IfNoneMatch=etag) == ("304", 304)
    assert refused(s3.get_object, Bucket=bucket, Key="k", IfMatch='"other"') == ("PreconditionFailed", 412)
    assert refused(s3.get_object, Bucket=bucket, Key="k", IfModifiedSince=time) == ("304", 304)
    assert s3.get_object(Bucket=bucket, Key="k", IfMatch=etag, IfUnmodifiedSince=time)["Body"].read() == b"1"


def test_conditions_on_writing_hold(s3: Any, bucket: str) -> None:
    etag = s3.put_object(Bucket=bucket, Key="k", Body=b"1", IfNoneMatch="*")["ETag"]
    assert refused(s3.put_object, Bucket=bucket, Key="k", Body=b"2", IfNoneMatch="*") == (
        "PreconditionFailed",
        412,
    )
    assert refused(s3.put_object, Bucket=bucket, Key="k", Body=b"2", IfMatch='"x"') == (
        "PreconditionFailed",
        412,
    )
    assert refused(s3.put_object, Bucket=bucket, Key="new", Body=b"2", IfMatch=etag) == ("NoSuchKey", 404)
    s3.put_object(Bucket=bucket, Key="k", Body=b"2", IfMatch=etag)
    assert refused(s3.delete_object, Bucket=bucket, Key="k", IfMatch=etag) == ("PreconditionFailed", 412)
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"2"


def test_many_objects_are_removed_at_once_and_missing_ones_count_as_removed(s3: Any, bucket: str) -> None:
    keys = [f"d/{n}" for n in range(1000)]
    for key in keys[:3]:
        s3.put_object(Bucket=bucket, Key=key, Body=b"")
    answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys]})
    assert len(answer["Deleted"]) == 1000
    assert "Contents" not in s3.list_objects_v2(Bucket=bucket)
    quiet = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "a"}], "Quiet": True})
    assert "Deleted" not in quiet


@pytest.mark.parametrize("algorithm", ["CRC32", "CRC32C", "SHA1", "SHA256", "CRC64NVME"])
def test_a_checksum_of_each_kind_is_kept_and_checked(s3: Any, bucket: str, algorithm: str) -> None:
    name = f"Checksum{algorithm}"
    stored = s3.put_object(Bucket=bucket, Key="k", Body=b"hello", ChecksumAlgorithm=algorithm)
    read = s3.get_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED")
    assert read["Body"].read() == b"hello"
    assert stored[name] == read[name]
    wrong = {name: base64.b64encode(b"\0" * len(base64.b64decode(stored[name]))).decode()}
    assert refused(s3.put_object, Bucket=bucket, Key="k", Body=b"other", **wrong) == ("BadDigest", 400)
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"hello"


def test_a_body_that_is_not_what_its_client_says_is_refused(s3: Any, server: Server, bucket: str) -> None:
    path = f"/{bucket}/k"
    md5 = base64.b64encode(hashlib.md5(b"other", usedforsecurity=False).digest()).decode()
    assert b"BadDigest" in send(server, "PUT", path, b"hello", Content_MD5=md5)[1]
    assert b"InvalidDigest" in send(server, "PUT", path, b"hello", Content_MD5="!")[1]
    sha256 = hashlib.sha256(b"other").hexdigest()
    assert b"XAmzContentSHA256Mismatch" in send(server, "PUT", path, b"hello", x_amz_content_sha256=sha256)[1]
    assert refused(s3.head_object, Bucket=bucket, Key="k") == ("404", 404)


def chunked(*pieces: bytes, trailer: str = "") -> bytes:
    body = b"".join(b"%x;chunk-signature=0\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return body + b"0;chunk-signature=0\r\n" + (f"{trailer}\r\n".encode() if trailer else b"") + b"\r\n"


def test_a_body_in_chunks_with_a_checksum_after_it_is_taken_apart(
    s3: Any, server: Server, bucket: str
) -> None:
    crc = base64.b64encode(zlib.crc32(b"hello world").to_bytes(4, "big")).decode()
    words = {
        "Content_Encoding": "aws-chunked",
        "x_amz_content_sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        "x_amz_decoded_content_length": "11",
        "x_amz_trailer": "x-amz-checksum-crc32",
    }
    body = chunked(b"hello ", b"world", trailer=f"x-amz-checksum-crc32:{crc}")
    assert send(server, "PUT", f"/{bucket}/k", body, **words)[0] == 200
    answer = s3.get_object(Bucket=bucket, Key="k")
    assert answer["Body"].read() == b"hello world"
    assert "ContentEncoding" not in answer
    other = chunked(b"hello ", b"there", trailer=f"x-amz-checksum-crc32:{crc}")
    assert b"BadDigest" in send(server, "PUT", f"/{bucket}/k", other, **words)[1]
    assert b"IncompleteBody" in send(server, "PUT", f"/{bucket}/k", body[:-20], **words)[1]
    assert b"IncompleteBody" in send(server, "PUT", f"/{bucket}/k", b"no chunks at all\r\n", **words)[1]
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"hello world"


def fetch(url: str, method: str = "GET", body: bytes | None = None) -> tuple[int, bytes, Any]:
    """Ask for an address as a program without a client of AWS's does."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    connection.request(method, f"{parts.path}?{parts.query}", body)
    response = connection.getresponse()
    answer = response.status, response.read(), response.headers
    connection.close()
    return answer


@pytest.mark.parametrize(("version", "past"), [("s3v4", r"X-Amz-Date=2"), ("s3", "Expires=1")])
def test_a_presigned_address_works_until_it_expires(
    server: Server, bucket: str, version: str, past: str
) -> None:
    client = s3_client(server.url, signature_version=version)
    where = {"Bucket": bucket, "Key": f"a b/{version}"}
    assert fetch(client.generate_presigned_url("put_object", where), "PUT", b"hello")[0] == 200
    url = client.generate_presigned_url("get_object", where)
    assert fetch(url)[:2] == (200, b"hello")
    assert past in url
    status, body, _ = fetch(url.replace(past, past[:-1] + ("1" if version == "s3v4" else "0")))
    assert status == 403
    assert b"Request has expired" in body


def test_headers_of_the_answer_can_be_chosen_in_a_presigned_address(server: Server, bucket: str) -> None:
    client = s3_client(server.url, signature_version="s3v4")
    client.put_object(Bucket=bucket, Key="k", Body=b"1")
    where = {"Bucket": bucket, "Key": "k", "ResponseContentType": "text/x", "ResponseCacheControl": "none"}
    status, _, headers = fetch(client.generate_presigned_url("get_object", where))
    assert (status, headers["Content-Type"], headers["Cache-Control"]) == (200, "text/x", "none")


def test_a_bucket_may_stand_in_the_name_of_the_host(server: Server, bucket: str) -> None:
    assert send(server, "PUT", "/some/key", b"1", Host=f"{bucket}.localhost")[0] == 200
    assert send(server, "GET", "/some/key", Host=f"{bucket}.s3.localhost:1234") == (200, b"1")
    assert send(server, "GET", f"/{bucket}/some/key", Host="localhost") == (200, b"1")


def test_a_copy_takes_over_or_replaces_what_is_kept_beside_the_bytes(s3: Any, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="a", Body=b"1", Metadata={"m": "1"}, Tagging="t=1", ContentType="x/y")
    source = {"Bucket": bucket, "Key": "a"}
    s3.copy_object(Bucket=bucket, Key="b", CopySource=source)
    taken = s3.head_object(Bucket=bucket, Key="b")
    assert (taken["Metadata"], taken["ContentType"], taken["TagCount"]) == ({"m": "1"}, "x/y", 1)
    s3.copy_object(
        Bucket=bucket, Key="b", CopySource=source, MetadataDirective="REPLACE", Metadata={"n": "2"}
    )
    assert s3.head_object(Bucket=bucket, Key="b")["Metadata"] == {"n": "2"}
    assert refused(s3.copy_object, Bucket=bucket, Key="a", CopySource=source)[0] == "InvalidRequest"
    assert refused(s3.copy_object, Bucket=bucket, Key="b", CopySource=source, CopySourceIfMatch='"x"') == (
        "PreconditionFailed",
        412,
    )


def test_buckets_are_made_found_and_removed_as_the_sdks_do(server: Server) -> None:
    client = boto3.client(
        "s3",
        endpoint_url=server.url,
        region_name="eu-west-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
        config=Config(retries={"total_max_attempts": 1}),
    )
    name = "sagemaker-eu-west-1-123456789012"
    assert refused(client.head_bucket, Bucket=name) == ("404", 404)
    client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    again = {"Bucket": name, "CreateBucketConfiguration": {"LocationConstraint": "eu-west-1"}}
    assert refused(client.create_bucket, **again) == ("BucketAlreadyOwnedByYou", 409)
    assert refused(client.create_bucket, Bucket="other")[0] == "IllegalLocationConstraintException"
    client.head_bucket(Bucket=name, ExpectedBucketOwner="123456789012")
    assert client.get_bucket_location(Bucket=name)["LocationConstraint"] == "eu-west-1"
    assert name in [each["Name"] for each in client.list_buckets()["Buckets"]]
    client.put_object(Bucket=name, Key="a//b", Body=b"")
    assert refused(client.delete_bucket, Bucket=name) == ("BucketNotEmpty", 409)
    client.delete_object(Bucket=name, Key="a//b")
    client.delete_bucket(Bucket=name)
    assert refused(client.head_bucket, Bucket=name) == ("404", 404)
    for bad in ("ab", "Upper", "a..b", "1.2.3.4", "-ab", "a_b"):
        assert send(server, "PUT", f"/{bad}")[1].find(b"InvalidBucketName") > 0, bad


def test_a_thousand_keys_are_a_page_and_pages_hold_everything_once(
    s3: Any, bucket: str, folder: Path
) -> None:
    (folder / "many").mkdir()
    for n in range(2345):
        (folder / "many" / f"{n:05d}").touch()
    pages = list(s3.get_paginator("list_objects_v2").paginate(Bucket=bucket))
    assert [page["KeyCount"] for page in pages] == [1000, 1000, 345]
    assert [each["Key"] for page in pages for each in page["Contents"]] == [
        f"many/{n:05d}" for n in range(2345)
    ]
    old = list(s3.get_paginator("list_objects").paginate(Bucket=bucket, Prefix="many/01"))
    assert sum(len(page["Contents"]) for page in old) == 1000
    versions = list(s3.get_paginator("list_object_versions").paginate(Bucket=bucket))
    assert sum(len(page["Versions"]) for page in versions) == 2345


def test_a_common_prefix_is_told_only_where_a_key_of_it_comes_after_the_marker(s3: Any, bucket: str) -> None:
    for key in ("a/b", "c"):
        s3.put_object(Bucket=bucket, Key=key, Body=b"")
    answer = s3.list_objects(Bucket=bucket, Delimiter="/", Marker="a/b")
    assert [each["Key"] for each in answer["Contents"]] == ["c"]
    assert "CommonPrefixes" not in answer


def test_an_empty_set_of_tags_takes_all_tags_away(s3: Any, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="a", Body=b"", Tagging="t=1")
    s3.put_object_tagging(Bucket=bucket, Key="a", Tagging={"TagSet": []})
    assert s3.get_object_tagging(Bucket=bucket, Key="a")["TagSet"] == []
