"""Every field of a request arrives: documents of any legal shape, compared field by field."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bandstand.backends.sagemaker.creating import covers, create, request_of
from bandstand.backends.sagemaker.region import Region
from bandstand.request.service_model import TRAINING, TUNING, compiled, request_shape

from .region import enter

_NAMES = {TRAINING: "TrainingJobName", TUNING: "HyperParameterTuningJobName"}
_DEEPEST = 4


class Recorder:
    """Stands in for AWS and keeps the bodies that it gets."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                recorder.bodies.append((self.headers["X-Amz-Target"], json.loads(body)))
                answer = json.dumps({"TrainingJobArn": "arn", "HyperParameterTuningJobArn": "arn"}).encode()
                self.send_response_only(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                pass

        # One thread for each connection: a client that is not used any more keeps its own open.
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture(scope="module")
def recorder() -> Iterator[Recorder]:
    recorder = Recorder()
    yield recorder
    recorder.close()


@pytest.fixture
def region(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> Region:
    return enter(monkeypatch, f"http://127.0.0.1:{recorder.server.server_address[1]}")


def values(shape: Any, depth: int = 0) -> st.SearchStrategy[Any]:
    """Values that a shape of the service model allows; deep down only what is required."""
    kind, bounds = shape.type_name, shape.metadata
    if kind == "structure":
        required = {name: values(shape.members[name], depth + 1) for name in shape.required_members}
        if depth >= _DEEPEST:
            return st.fixed_dictionaries(required)
        optional = {
            name: values(member, depth + 1)
            for name, member in shape.members.items()
            if name not in shape.required_members
        }
        return st.fixed_dictionaries(required, optional=optional)
    if kind == "list":
        least = max(bounds.get("min", 0), 1)
        return st.lists(values(shape.member, depth + 1), min_size=least, max_size=max(2, least))
    if kind == "map":
        return st.dictionaries(texts(shape.key), values(shape.value, depth + 1), min_size=1, max_size=2)
    if kind == "string":
        return texts(shape)
    if kind == "boolean":
        return st.booleans()
    low, high = bounds.get("min", 0), bounds.get("max", 10**6)
    if kind in ("integer", "long"):
        return st.integers(low, high)
    return st.floats(-(2.0**96), 2.0**96, width=32)


def texts(shape: Any) -> st.SearchStrategy[str]:
    if shape.enum:
        return st.sampled_from(shape.enum)
    low, high = shape.metadata.get("min", 0), min(shape.metadata.get("max", 40), 40)
    pattern = shape.metadata.get("pattern")
    if pattern in (None, ".*", ".+"):
        alphabet = st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"))
        return st.text(alphabet, min_size=max(low, 1), max_size=max(high, low, 1))
    found = st.from_regex(compiled(pattern), fullmatch=True)
    return found.filter(lambda text: low <= len(text) and "\n" not in text)


@pytest.mark.parametrize("operation", [TRAINING, TUNING])
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)
@given(data=st.data())
def test_every_member_of_a_document_arrives_as_it_is(
    operation: str, data: st.DataObject, recorder: Recorder, region: Region
) -> None:
    document = data.draw(values(request_shape(operation)))
    assert create(region, document) == "arn"
    target, body = recorder.bodies.pop()
    assert target == f"SageMaker.{operation}"
    assert body == document
    assert covers(body, document)


@pytest.mark.parametrize("operation", [TRAINING, TUNING])
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_document_with_another_value_anywhere_is_another_document(
    operation: str, data: st.DataObject
) -> None:
    document = data.draw(values(request_shape(operation)))
    places = list(leaves({name: value for name, value in document.items() if name != "Tags"}))
    place, value = data.draw(st.sampled_from(places))
    other = json.loads(json.dumps(document))
    inner = other
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = changed(value)
    assert covers(document, document)
    assert not covers(other, document)
    assert request_of(document, operation == TUNING) == document


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, (*place, name))
    elif isinstance(value, list):
        for at, member in enumerate(value):
            yield from leaves(member, (*place, at))
    else:
        yield place, value


def changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return value + "x"
    return value * 2 + 1
