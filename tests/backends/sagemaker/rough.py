"""A bad way to AWS: a proxy that refuses most calls with throttling, answers slowly and drops connections."""

from __future__ import annotations

import http.client
import os
import random
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

MANY = 30
JOBS = int(os.environ.get("BANDSTAND_TEST_ROUGH_JOBS", "4"))
"""Training jobs on the bad way: `make test-rough` runs MANY of them; the client's patience makes it long."""

REFUSED, DROPPED, LOST, SLOW = 0.51, 0.03, 0.08, 0.05
"""Shares of the calls: throttled; not passed on; passed on, with the answer lost; answered late."""

_XML = b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Please reduce your rate.</Message></Error>"
_JSON = b'{"__type": "ThrottlingException", "message": "Rate exceeded"}'


class RoughWay:
    """A proxy on this machine.

    Args:
        url: What stands behind it.
        seed: Of the dice.
    """

    def __init__(self, url: str, seed: int = 7) -> None:
        self.passed: Counter[str] = Counter()
        self.fates: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        self._dice = random.Random(seed)
        self._lock = threading.Lock()
        self._target = urlsplit(url)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _fate(self) -> str:
        with self._lock:
            throw = self._dice.random()
            for fate, share in (
                ("refused", REFUSED),
                ("dropped", DROPPED),
                ("lost", LOST),
                ("slow", SLOW),
                ("passed", 1.0),
            ):
                if throw < share:
                    self.fates[fate] += 1
                    return fate
                throw -= share
        raise AssertionError

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        way = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                target = self.headers.get("X-Amz-Target", "")
                operation = target.rpartition(".")[2]
                fate = way._fate()
                if fate == "refused":
                    self._answer(400 if target else 503, {}, _JSON if target else _XML)
                    return
                if fate != "dropped":
                    status, headers, answer = self._pass_on(body)
                    with way._lock:
                        way.passed[operation] += 1
                        way.lost[operation] += fate == "lost"
                if fate in ("dropped", "lost"):
                    self.close_connection = True
                    return
                if fate == "slow":
                    time.sleep(0.3)
                self._answer(status, headers, answer)

            def _pass_on(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
                connection = http.client.HTTPConnection(
                    way._target.hostname or "", way._target.port, timeout=60
                )
                headers = {
                    name: value
                    for name, value in self.headers.items()
                    if name.lower() not in ("expect", "host")
                }
                headers["Host"] = way._target.netloc
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                content = answer.read()
                connection.close()
                kept = {
                    name: value
                    for name, value in answer.getheaders()
                    if name.lower() not in ("content-length", "transfer-encoding", "connection")
                }
                return answer.status, kept, content

            def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
                self.send_response_only(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = do  # noqa: N815

            def log_message(self, *_: Any) -> None:
                pass

        return Handler
