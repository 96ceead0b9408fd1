"""An endpoint on loopback that takes what a client of SageMaker creates, and keeps it as it came.

It runs nothing and knows no rules. Other services answer that they may not be used, as they do in an
account with narrow roles.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DENIED = (
    b"<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code>"
    b"<Message>not allowed here</Message></Error></ErrorResponse>"
)
KINDS = {
    "CreateTrainingJob": ("TrainingJob", "training-job"),
    "CreateHyperParameterTuningJob": ("HyperParameterTuningJob", "hyper-parameter-tuning-job"),
}


class Endpoint(ThreadingHTTPServer):
    """The endpoint; `created` holds the operation and the document of every create, in order."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.created: list[tuple[str, dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def answer(self, operation: str, document: dict[str, Any]) -> dict[str, Any]:
        if operation in KINDS:
            self.created.append((operation, document))
        operation = operation.replace("Describe", "Create")
        name, path = KINDS[operation]
        arn = f"arn:aws:sagemaker:eu-central-1:111122223333:{path}/{document[f'{name}Name']}"
        return {**document, f"{name}Arn": arn, f"{name}Status": "InProgress", "CreationTime": 0}


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        service, _, operation = self.headers.get("X-Amz-Target", "").partition(".")
        if service != "SageMaker":
            self.send(403, "text/xml", DENIED)
            return
        answer = self.server.answer(operation, json.loads(body))
        self.send(200, "application/x-amz-json-1.1", json.dumps(answer).encode())

    def send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that listens until the block ends."""
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
