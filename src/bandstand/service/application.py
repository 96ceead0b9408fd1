"""The one door: finds out which AWS service a request is for, and lets that answer."""

from __future__ import annotations

import asyncio
import logging
import re
import uuid
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from bandstand.errors import BandstandError, InputError
from bandstand.service.context import REGION, Context
from bandstand.service.credentials import Credentials
from bandstand.service.guard import RELAYED, check_local
from bandstand.service.protocol import CONTENT_TYPE, Group, ServiceError, error_body

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An ASGI application."""

MOST_BYTES = 16_000_000
"""Longest body of a call; objects of S3, which are streamed to files, have limits of their own."""

JOB_SERVICES = ("", "s3", "sts", "monitoring")
"""Signing names of services that jobs may use, of those whose requests name no operation in a header."""

WORKERS = 16
"""Calls that are answered at a time."""

_SCOPE = re.compile(r"Credential=[^/,\s]+/\d{8}/([^/,\s]+)/([^/,\s]+)/aws4_request")


@dataclass(frozen=True)
class Signed:
    """What the signature of a request says it is for.

    Args:
        region: The region.
        service: The signing name of the service; empty where nothing is signed.
        session: The session token; empty where there is none.
    """

    region: str = REGION
    service: str = ""
    session: str = ""

    @property
    def other(self) -> str:
        """What a request asks of that names no operation; empty for what any job may use."""
        return "" if self.service in JOB_SERVICES else f"requests of {self.service}"


class Door:
    """Answers every request of the service.

    Args:
        context: The service's context.
        credentials: Knows the credentials that jobs hold.
        targets: Groups of operations by the first part of `X-Amz-Target`.
        services: Applications by signing name, for services that need no target.
        fallback: Answers what nothing else answers; by its rule, S3 and the page.
    """

    def __init__(
        self,
        context: Context,
        credentials: Credentials,
        targets: Mapping[str, Group],
        services: Mapping[str, Application],
        fallback: Application,
    ) -> None:
        self._context = context
        self._credentials = credentials
        self._targets = targets
        self._services = services
        self._fallback = fallback
        self._pool = ThreadPoolExecutor(WORKERS, "call")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request (ASGI)."""
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        signed = signature(headers, scope.get("query_string", b""))
        prefix, _, name = headers.get(b"x-amz-target", b"").decode("latin-1").rpartition(".")
        try:
            relayed = scope.get("state", {}).get(RELAYED)
            if relayed is None:
                check_local(scope["headers"], scope["server"][1])
            self._credentials.check(signed.session, name or signed.other, relayed)
        except ServiceError as error:
            await refuse(send, error, unread=True)
            return
        if prefix in self._targets:
            await self._call(self._targets[prefix], name, signed.region, receive, send)
        else:
            await self._services.get(signed.service, self._fallback)(scope, receive, send)

    async def _call(self, group: Group, name: str, region: str, receive: Receive, send: Send) -> None:
        try:
            body = await read_body(receive)
        except ServiceError as error:
            await refuse(send, error, unread=True)
            return
        try:
            context = replace(self._context, region=region)
            work = partial(_answer, group, context, name, body)
            answer = await asyncio.get_running_loop().run_in_executor(self._pool, work)
        except ServiceError as error:
            await refuse(send, error)
        else:
            await _send(send, 200, answer)

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def signature(headers: Mapping[bytes, bytes], query: bytes) -> Signed:
    """Read region and service from a request's signature, in its header or, presigned, in its query.

    Args:
        headers: Names in lower case, and values.
        query: The query's text.
    """
    text = headers.get(b"authorization", b"").decode("latin-1")
    session = headers.get(b"x-amz-security-token", b"").decode("latin-1")
    if not text and b"X-Amz-Credential" in query:
        fields = parse_qs(query.decode("latin-1"))
        text = f"Credential={fields.get('X-Amz-Credential', [''])[0]}"
        session = fields.get("X-Amz-Security-Token", [""])[0]
    found = _SCOPE.search(text)
    return Signed(found[1], found[2], session) if found else Signed(session=session)


async def read_body(receive: Receive, most: int = MOST_BYTES) -> bytes:
    """Read a request's body to its end.

    Args:
        receive: The request (ASGI).
        most: The longest that is read, in bytes.

    Raises:
        ServiceError: It is longer.
    """
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ServiceError("RequestTimeout", "The connection ended within the request.")
        part = message.get("body", b"")
        size, more = size + len(part), message.get("more_body", False)
        if size > most:
            raise ServiceError(
                "RequestEntityTooLarge", f"The request's body is longer than {most} bytes.", 413
            )
        parts.append(part)
    return b"".join(parts)


def _answer(group: Group, context: Context, name: str, body: bytes) -> bytes:
    """Answer a call in a thread; whatever goes wrong becomes a refusal of the service's kind."""
    try:
        return group.call(context, name, body)
    except ServiceError:
        raise
    except InputError as error:
        raise ServiceError("ValidationException", str(error)) from error
    except BandstandError as error:
        logger.warning("%s: %s", name, error)
        raise ServiceError("InternalFailure", str(error), 500) from error
    except Exception as error:
        logger.exception("%s failed", name)
        text = f"This is a fault of Bandstand, not of your request ({type(error).__name__})."
        raise ServiceError(
            "InternalFailure", f"{text} The service's own log has the traceback.", 500
        ) from error


async def refuse(send: Send, error: ServiceError, *, unread: bool = False) -> None:
    """Send a refusal, in the JSON that AWS's clients read.

    Args:
        send: The answer (ASGI).
        error: Why the request is refused.
        unread: Whether its body was not read to the end. The connection ends then: a client that waits for
            leave to send it keeps it back, and its next request would be taken for it.
    """
    await _send(send, error.status, error_body(error), *([(b"connection", b"close")] if unread else []))


async def _send(send: Send, status: int, body: bytes, *more: tuple[bytes, bytes]) -> None:
    headers = [
        (b"content-type", CONTENT_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"x-amzn-requestid", str(uuid.uuid4()).encode()),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
