"""Answers a browser: pages made here, and numbers for what is drawn there, both only when changed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import shlex
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bandstand.errors import BandstandError, InputError
from bandstand.report.quantities import count, duration, metric, moment
from bandstand.runs.record import Record
from bandstand.service.context import Context
from bandstand.service.page.curves import metric_curves, tuning_curves
from bandstand.service.page.job_page import document_of, job_page, logs_of
from bandstand.service.page.list_page import list_page
from bandstand.service.page.log_pages import page_after, page_before, places_of
from bandstand.service.page.pulse import Pulse

logger = logging.getLogger(__name__)

BELOW = "/-/"
"""How the paths of the page begin, but for `/` itself: no bucket can have this name."""

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache",
}
"""Headers of every answer: nothing of another origin is loaded, run or shown, and nobody frames the page."""

READERS = 2
"""Pages that are made at a time, so that those who watch take little from those who work."""

SETTING = 24
"""Characters of a hyperparameter that a table shows."""

_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


class PageApplication:
    """The page (ASGI).

    Args:
        context: The service's context.
        url: Where the service listens.
    """

    def __init__(self, context: Context, url: str) -> None:
        self._context = context
        self._url = url
        self._pulse = Pulse(context.home)
        self._pool = ThreadPoolExecutor(READERS, "page")
        self._templates = _templates()
        self._static = dict(_static())
        routes = [
            Route("/", self._list),
            Route("/-/jobs/{kind}/{name}", self._job),
            Route("/-/curves/{kind}/{name}", self._curves),
            Route("/-/logs/{name}", self._logs),
            Route("/-/static/{name}", self._file),
        ]
        self._routes = Starlette(routes=routes, exception_handlers={404: self._lost})

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request (ASGI)."""
        await self._routes(scope, receive, send)

    def close(self) -> None:
        """Let the threads go."""
        self._pulse.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _list(self, request: Request) -> Response:
        def make(record: Record) -> bytes:
            return self._html("list.html", **list_page(record, request.query_params))

        return await self._changed(request, make)

    async def _job(self, request: Request) -> Response:
        def make(record: Record) -> bytes:
            template, values = job_page(record, **request.path_params, query=request.query_params)
            return self._html(template, **values)

        return await self._changed(request, make)

    async def _curves(self, request: Request) -> Response:
        def make(record: Record) -> bytes:
            job, _ = document_of(record, **request.path_params)
            if job["kind"] == "tuning":
                have = request.query_params.get("have", "").split(",")
                return _json(tuning_curves(record, job, have))
            after = request.query_params.get("after", "")
            return _json(metric_curves(record, job, int(after[:12]) if after.isdecimal() else -1))

        return await self._changed(request, make, "application/json")

    async def _logs(self, request: Request) -> Response:
        """What is in a log is not in the record: nothing tells beforehand whether there is more."""
        query = request.query_params

        def make(record: Record) -> bytes:
            job, mask = document_of(record, "training", request.path_params["name"])
            logs = logs_of(record, job, query.get("host", ""))
            after = places_of(query.get("after", ""), list(logs))
            if after is not None:
                page = page_after(logs, mask, after)
            else:
                before = places_of(query.get("before", ""), list(logs))
                page = page_before(logs, mask, before, query.get("find", "")[:200])
            return _json({**page, "running": job["status"] in ("InProgress", "Stopping")})

        return await self._made(make, "application/json")

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._static:
            return await self._lost(request, None)
        body, tag = self._static[name]
        return _answer(request, body, _KINDS[name.rpartition(".")[2]], tag)

    async def _changed(
        self, request: Request, make: Callable[[Record], bytes], kind: str = "text/html"
    ) -> Response:
        """Answer with what is made of the record, unless the browser has what was made of the same record."""
        loop = asyncio.get_running_loop()
        tag = f'"{await loop.run_in_executor(self._pulse.thread, self._pulse.read)}"'
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={**HEADERS, "etag": tag})
        return await self._made(make, kind, tag)

    async def _made(self, make: Callable[[Record], bytes], kind: str, tag: str | None = None) -> Response:
        work = partial(self._make, make)
        try:
            body = await asyncio.get_running_loop().run_in_executor(self._pool, work)
        except InputError as error:
            return self._trouble(404, "Not found", str(error), kind)
        except BandstandError as error:
            logger.warning("the page: %s", error)
            return self._trouble(503, "This cannot be shown", str(error), kind)
        headers = HEADERS if tag is None else {**HEADERS, "etag": tag}
        return Response(body, media_type=kind, headers=headers)

    def _make(self, make: Callable[[Record], bytes]) -> bytes:
        return make(self._context.record())

    async def _lost(self, request: Request, error: Any) -> Response:
        return self._trouble(404, "Not found", "There is no such page.", "text/html")

    def _trouble(self, status: int, title: str, text: str, kind: str) -> Response:
        if kind == "text/html":
            body = self._html("trouble.html", title=title, text=text)
        else:
            body = _json({"message": text})
        return Response(body, status, media_type=kind, headers=HEADERS)

    def _html(self, template: str, **values: Any) -> bytes:
        return (
            self._templates.get_template(template)
            .render(url=self._url, home=shlex.quote(str(self._context.home)), **values)
            .encode()
        )


def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("bandstand.service.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "duration": duration,
        "metric": metric,
        "moment": moment,
        "clock": _clock,
        "setting": _setting,
    }
    environment.globals |= {"job_path": _job_path, "count": count}
    return environment


def _job_path(kind: str, name: str) -> str:
    return f"/-/jobs/{kind}/{quote(name, safe='')}"


def _clock(milliseconds: int) -> str:
    """The time of day of a log line, in UTC."""
    seconds = milliseconds // 1000 % 86400
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _setting(text: str) -> str:
    """A hyperparameter in a table: numbers in six significant digits, words in so many characters."""
    try:
        short = metric(float(text))
    except ValueError:
        return text if len(text) <= SETTING else f"{text[:SETTING]}…"
    return short if len(text) > len(short) > 1 else text


def _static() -> Mapping[str, tuple[bytes, str]]:
    found = {}
    for file in files("bandstand.service.page").joinpath("static").iterdir():
        if file.name.rpartition(".")[2] in _KINDS:
            body = file.read_bytes()
            found[file.name] = (body, f'"{hashlib.sha256(body).hexdigest()[:20]}"')
    return found


def _answer(request: Request, body: bytes, kind: str, tag: str) -> Response:
    headers = {**HEADERS, "etag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=kind, headers=headers)


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
