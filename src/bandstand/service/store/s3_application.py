"""The S3 of this machine as an ASGI application."""

from __future__ import annotations

import asyncio
import logging
import os
import uuid
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from bandstand.service.store.answering import Answer, Span
from bandstand.service.store.arriving import (
    Receive,
    arrive,
    check_document,
    claims_of,
    read_document,
    staging_for,
)
from bandstand.service.store.asking import Asked, asked, check_expiry
from bandstand.service.store.buckets import Buckets
from bandstand.service.store.faults import StoreError
from bandstand.service.store.headers import check_headers
from bandstand.service.store.routes import Handler, route
from bandstand.service.store.staging import BLOCK, is_full
from bandstand.service.store.upload_operations import check_algorithm, upload_of, upload_part
from bandstand.service.store.writing_operations import about_of, put_object
from bandstand.service.store.xml_documents import write_error

logger = logging.getLogger(__name__)

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
"""An ASGI application."""

WORKERS = 16
"""Requests whose files are read or written at a time."""
PASSED_OVER = 64 << 20
"""Bytes that are read of a body that is refused."""

_OWN_FAULT = "This is a fault of Bandstand; the service's log has the traceback."


def s3_application(buckets: Buckets) -> Application:
    """Make the application; what a process that was killed has left unfinished is removed first.

    Args:
        buckets: The store; no other process of this home may have such an application.
    """
    buckets.sweep()
    pool = ThreadPoolExecutor(WORKERS, "s3")

    async def application(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        request = uuid.uuid4().hex[:16].upper()
        try:
            wish = asked(scope)
        except StoreError as error:
            await _refuse(send, error, "/", request, pool)
            return
        body = Incoming(receive)
        try:
            answer = await _answer(buckets, wish, body, pool)
        except StoreError as error:
            if "expect" not in wish.headers:  # who waits for leave to send has not sent anything
                await body.pass_over()
            more = {} if body.is_read else {"Connection": "close"}
            await _refuse(send, error, wish.resource, request, pool, head=wish.method == "HEAD", more=more)
        except ConnectionResetError:
            logger.info("%s %s: the client went away", wish.method, wish.resource)
        except Exception as error:
            if is_full(error):
                fault = StoreError("InsufficientStorage")
            else:
                logger.exception("%s %s failed", wish.method, wish.resource)
                fault = StoreError("InternalError", _OWN_FAULT)
            await _refuse(send, fault, wish.resource, request, pool)
        else:
            await _send(send, answer, request, pool, head=wish.method == "HEAD")

    return application


class Incoming:
    """A request's body, which knows whether it has been read to its end.

    Args:
        receive: The request (ASGI).
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.is_read = False

    async def __call__(self) -> MutableMapping[str, Any]:
        """Receive the next message (ASGI)."""
        message = await self._receive()
        self.is_read = message["type"] == "http.disconnect" or not message.get("more_body", False)
        return message

    async def pass_over(self) -> None:
        """Read the rest, within limits: a client that is still sending would not see its refusal."""
        left = PASSED_OVER
        while not self.is_read and left > 0:
            left -= len((await self()).get("body", b""))


async def _answer(buckets: Buckets, wish: Asked, receive: Receive, pool: ThreadPoolExecutor) -> Answer:
    loop = asyncio.get_running_loop()
    handler = route(wish)
    await loop.run_in_executor(pool, _check, buckets, wish)
    if handler is put_object or handler is upload_part:
        return await _stored(buckets, wish, handler, receive, pool)
    body = await read_document(receive)
    check_document(body, wish.headers)
    return await loop.run_in_executor(pool, handler, buckets, wish, body)


async def _stored(
    buckets: Buckets, wish: Asked, handler: Handler, receive: Receive, pool: ThreadPoolExecutor
) -> Answer:
    """Take in the bytes of an object or a part; what can be refused is refused before they are read."""
    loop = asyncio.get_running_loop()
    claims = claims_of(wish.headers)
    algorithm = None
    if handler is upload_part:
        upload, _ = await loop.run_in_executor(pool, upload_of, buckets, wish)
        check_algorithm(upload, claims)
        algorithm = upload.algorithm
        if algorithm is not None and not claims.is_asked:
            claims = replace(claims, algorithm=algorithm)
    else:
        about_of(wish.headers)
    staged = await loop.run_in_executor(pool, staging_for, buckets, claims, algorithm)
    with staged:
        await arrive(receive, claims, staged, pool)
        return await loop.run_in_executor(pool, handler, buckets, wish, staged, claims)


def _check(buckets: Buckets, wish: Asked) -> None:
    """Refuse what is wrong whatever the operation is."""
    check_expiry(wish.query)
    check_headers(wish.headers, buckets.account)
    creates = wish.method == "PUT" and wish.level == "bucket"
    if wish.bucket and not creates:
        buckets.get(wish.bucket)


async def _refuse(
    send: Send,
    error: StoreError,
    resource: str,
    request: str,
    pool: ThreadPoolExecutor,
    *,
    head: bool = False,
    more: Mapping[str, str] | None = None,
) -> None:
    headers = {"Content-Type": "application/xml", **(more or {})}
    body = b"" if error.status == 304 else write_error(error, resource, request)
    await _send(send, Answer(error.status, headers, body), request, pool, head=head)


async def _send(send: Send, answer: Answer, request: str, pool: ThreadPoolExecutor, *, head: bool) -> None:
    span = answer.body if isinstance(answer.body, Span) else None
    try:
        length = answer.body.length if isinstance(answer.body, Span) else len(answer.body)
        headers = {
            "x-amz-request-id": request,
            "x-amz-id-2": "bandstand",
            "Server": "AmazonS3",
            **answer.headers,
        }
        if answer.status not in (204, 304):
            headers.setdefault("Content-Length", str(length))
        await send({"type": "http.response.start", "status": answer.status, "headers": _encoded(headers)})
        if span is not None and not head:
            await _send_span(send, span, pool)
        else:
            body = b"" if head or span is not None else answer.body
            await send({"type": "http.response.body", "body": body})
    finally:
        if span is not None:
            os.close(span.descriptor)


async def _send_span(send: Send, span: Span, pool: ThreadPoolExecutor) -> None:
    loop = asyncio.get_running_loop()
    position, end = span.begin, span.begin + span.length
    while position < end:
        data = await loop.run_in_executor(
            pool, os.pread, span.descriptor, min(BLOCK, end - position), position
        )
        if not data:
            raise RuntimeError(
                "a file became shorter while it was sent; the client is told by the broken connection"
            )
        position += len(data)
        await send({"type": "http.response.body", "body": data, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [
        (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
        for name, value in headers.items()
    ]
