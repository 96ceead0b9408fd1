"""What S3 refuses, and how."""

from __future__ import annotations

import base64
import socket
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ..served import Server
from .asking import refused, send


def test_what_s3_refuses_is_refused(s3: Any, server: Server, bucket: str) -> None:
    assert refused(s3.get_object, Bucket="not-there", Key="k") == ("NoSuchBucket", 404)
    assert refused(s3.put_object, Bucket="not-there", Key="k", Body=b"1" * 5_000_000) == ("NoSuchBucket", 404)
    assert refused(s3.get_object, Bucket=bucket, Key="k") == ("NoSuchKey", 404)
    assert refused(s3.put_object, Bucket=bucket, Key="k" * 1025) == ("KeyTooLongError", 400)
    assert refused(s3.put_object, Bucket=bucket, Key="k", Metadata={"a": "b" * 2100}) == (
        "MetadataTooLarge",
        400,
    )
    assert refused(s3.head_bucket, Bucket=bucket, ExpectedBucketOwner="1" * 12) == ("403", 403)
    assert (
        refused(s3.put_object, Bucket=bucket, Key="k", ACL="public-read")[0]
        == "AccessControlListNotSupported"
    )
    assert refused(s3.get_object, Bucket=bucket, Key="k", VersionId="other")[0] == "InvalidArgument"
    assert refused(
        s3.put_bucket_versioning, Bucket=bucket, VersioningConfiguration={"Status": "Enabled"}
    ) == (
        "NotImplemented",
        501,
    )
    key = base64.b64encode(b"0" * 32).decode()
    customer = {"x_amz_server_side_encryption_customer_key": key}
    assert send(server, "PUT", f"/{bucket}/k", b"", **customer)[0] == 501
    assert send(server, "PUT", f"/{bucket}/k", b"", x_amz_something_new="1")[0] == 501
    assert send(server, "PUT", f"/{bucket}/k%ff", b"")[0] == 400
    assert send(server, "POST", f"/{bucket}?delete", b"<Delete><Object>")[0] == 400
    bomb = b'<!DOCTYPE a [<!ENTITY b "cc">]><Delete><Object><Key>&b;</Key></Object></Delete>'
    assert b"MalformedXML" in send(server, "POST", f"/{bucket}?delete", bomb)[1]
    assert send(server, "PATCH", f"/{bucket}/k", b"")[0] == 405


@pytest.mark.parametrize("first", ["PUT /nowhere/k", "PUT /{bucket}/k?partNumber=1&uploadId=no"])
@pytest.mark.parametrize("host", ["127.0.0.1", "elsewhere.example"])
def test_a_refusal_before_the_body_is_sent_ends_the_connection(
    server: Server, bucket: str, first: str, host: str
) -> None:
    name, port = server.url.removeprefix("http://").split(":")
    head = f"{first.format(bucket=bucket)} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 9\r\n"
    with socket.create_connection((name, int(port)), timeout=30) as connection:
        connection.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 40")
    assert b"connection: close" in answer


def test_a_refusal_is_s3s_document(server: Server, bucket: str) -> None:
    status, body = send(server, "GET", f"/{bucket}/no%26such")
    assert status == 404
    assert body.startswith(b'<?xml version="1.0" encoding="UTF-8"?>')
    assert (
        b"<Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>no&amp;such</Key>"
        in body
    )


def test_a_refusal_of_a_key_that_xml_has_no_way_to_write_can_be_read(s3: Any, bucket: str) -> None:
    for key in ("a\x01b", "tab\tand\x1f", "\ufffe", "bell\x07\r\n"):
        with pytest.raises(ClientError) as caught:
            s3.get_object(Bucket=bucket, Key=key)
        assert caught.value.response["Error"]["Code"] == "NoSuchKey"
        assert caught.value.response["Error"]["Key"] == "".join(
            each if each in "\t\r\n" or " " <= each < "\ufffe" else "\ufffd" for each in key
        )
