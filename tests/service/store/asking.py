"""Asks for objects, and what is refused."""

from __future__ import annotations

import http.client
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ..served import Server


def refused(call: Any, **parameters: Any) -> tuple[str, int]:
    """The code and the status of a call's refusal."""
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    return caught.value.response["Error"]["Code"], caught.value.response["ResponseMetadata"]["HTTPStatusCode"]


def send(server: Server, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
    """Send a request as it is, with no client's help."""
    host = server.url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=30)
    signed = {"Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, {"Content-Length": str(len(body)), **signed, **named})
    response = connection.getresponse()
    answer = response.status, response.read()
    connection.close()
    return answer
