"""Asks as a browser does, and what it is answered."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..served import Server

EVIL = "<script>document.title='run'</script>"
SECRET = "hunter2-hunter2"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def document(self) -> Any:
        return json.loads(self.text)


def got(server: Server, path: str, method: str = "GET", **headers: str) -> Answer:
    """What a browser is answered that asks for a path."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers={"Accept": "text/html", **named})
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, found, answer.read().decode())
    finally:
        connection.close()


def points(server: Server, name: str) -> list[list[float]]:
    """The points of a training job's score on its first host."""
    metrics = got(server, f"/-/curves/training/{name}").document["metrics"]
    return list(metrics.get("score", {}).get("algo-1", []))
