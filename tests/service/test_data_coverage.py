"""The tables of what is answered beside SageMaker name everything that the APIs' own models have."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from bandstand.service import logs, monitoring
from bandstand.service.data_coverage import LOGS, METRICS
from bandstand.service.data_reference import PAGE, page
from bandstand.service.protocol import model
from bandstand.service.store.headers import ACCEPTED, HONOURED, REFUSED
from bandstand.service.store.routes import ROUTES
from bandstand.service.store.xml_documents import model as s3_model

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference"
OPERATIONS = [("logs", name, LOGS) for name in logs.OPERATIONS]
OPERATIONS += [("cloudwatch", name, METRICS) for name in monitoring.OPERATIONS]


def operations_of_s3() -> set[str]:
    """Every operation that a route's docstring names."""
    firsts = [(handler.__doc__ or "").partition(":")[0] for handler in ROUTES.values()]
    return {name for first in firsts for name in first.split(" and ")}


def test_the_reference_page_is_what_the_tables_say() -> None:
    advice = "run: python -m bandstand.service.data_reference docs/reference"
    assert (DOCS / PAGE).read_text("utf-8") == page(), advice


@pytest.mark.parametrize(("service", "name", "table"), OPERATIONS)
def test_every_member_of_a_request_is_told(service: str, name: str, table: dict[str, dict[str, str]]) -> None:
    assert set(table[name]) == set(model(service).operation_model(name).input_shape.members)


@pytest.mark.parametrize("name", sorted(operations_of_s3()))
def test_every_header_of_an_operation_of_s3_is_told(name: str) -> None:
    shape = s3_model().operation_model(name).input_shape
    headers = [
        member.serialization["name"].lower()
        for member in shape.members.values()
        if member.serialization.get("location") == "header"
    ]
    own = [header for header in headers if header.startswith("x-amz-")]
    known = {**HONOURED, **ACCEPTED, **REFUSED}
    assert [header for header in own if not any(fnmatchcase(header, each) for each in known)] == []


def test_no_header_is_in_two_tables() -> None:
    assert not set(HONOURED) & set(ACCEPTED)
    both = [name for name in (*HONOURED, *ACCEPTED) if any(fnmatchcase(name, each) for each in REFUSED)]
    assert both == []
