"""Any request gives a plan that boto3 and the service model take, or problems; never another error."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.validate import ParamValidator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bandstand.errors import PlanError
from bandstand.request import TrainingPlan, TuningPlan, load
from bandstand.request.findings import Findings
from bandstand.request.service_model import TRAINING, TUNING, request_shape
from bandstand.request.shapes import check_shapes

FEW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 40),
    st.sampled_from([2**31, 2**70, 0.5, float("inf"), float("nan")]),
    st.text(max_size=5),
    st.sampled_from(
        [
            "0",
            "1",
            "-1",
            "1e-5",
            "nan",
            "100",
            "auc",
            "xgboost",
            "Random",
            "Hyperband",
            "Grid",
            "Auto",
            "File",
        ]
    ),
    st.sampled_from(["Pipe", "s3://bucket/x", "file:///tmp", "file://x", "a" * 40, "a" * 300, "two\nlines"]),
    st.lists(st.one_of(st.text(max_size=3), st.integers(), st.none()), max_size=3),
    st.dictionaries(st.text(max_size=8), st.text(max_size=3), max_size=3),
)


def _from_model(shape: Any, depth: int = 0) -> st.SearchStrategy[Any]:
    """Values of a shape's type, right more often than not."""
    kind = shape.type_name
    if kind == "structure":
        members = {name: _from_model(member, depth + 1) for name, member in shape.members.items()}
        required = {name: members.pop(name) for name in shape.required_members}
        return st.fixed_dictionaries(required, optional=dict(list(members.items())[:6]))
    if kind == "list":
        return st.lists(
            _from_model(shape.member, depth + 1), min_size=shape.metadata.get("min", 0), max_size=2
        )
    if kind == "map":
        return st.dictionaries(st.text("ab_", min_size=1, max_size=3), st.text("12", max_size=3), max_size=2)
    if kind == "boolean":
        return st.booleans()
    if kind in ("integer", "long"):
        low = shape.metadata.get("min", 0)
        return st.integers(low, min(shape.metadata.get("max", low + 50), low + 50))
    if kind in ("float", "double"):
        return st.floats(allow_nan=False, allow_infinity=False, width=32)
    if shape.enum:
        return st.sampled_from(shape.enum)
    return st.sampled_from(["abc", "1", "a-b", "file:///tmp", "arn:aws:iam::111122223333:role/Training"])


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _places(item, (*path, name))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _places(item, (*path, at))


def _changed(document: dict[str, Any], data: st.DataObject) -> dict[str, Any]:
    copied = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 4))):
        places = list(_places(copied))
        *parts, last = data.draw(st.sampled_from(places))
        inside: Any = copied
        for part in parts:
            inside = inside[part]
        change = data.draw(st.sampled_from(["put", "take", "add"]))
        if change == "take" and isinstance(inside, dict):
            del inside[last]
        elif change == "add" and isinstance(inside, dict):
            inside[data.draw(st.sampled_from(["epochs", "Tags", "zzz", "DefinitionName", "scale"]))] = (
                data.draw(ODD)
            )
        else:
            inside[last] = data.draw(ODD)
        if not copied:
            return copied
    return copied


def _holds(source: dict[str, Any]) -> TuningPlan | TrainingPlan | None:
    """A plan's documents pass botocore's validator and our walk; problems have all their parts."""
    try:
        plan = load(source)
    except PlanError as error:
        parts = [(part.where, part.found, part.allowed, part.fix) for part in error.problems]
        if not parts or not all(map(all, parts)):
            pytest.fail(f"a problem lacks a part: {parts}")
        return None
    documents = [(TRAINING, plan.document)]
    if isinstance(plan, TuningPlan):
        job = plan.training(1, {spread.name: spread.at(0.3) for spread in plan.definitions[0].ranges})
        documents = [(TUNING, plan.document), (TRAINING, job.document)]
        assert TuningPlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    for operation, text in documents:
        document = json.loads(text)
        report = ParamValidator().validate(document, request_shape(operation))
        assert not report.has_errors(), report.generate_report()
        findings = Findings(exact=True)
        assert check_shapes(operation, document, findings) == document
        assert findings.problems == []
    return plan


@FEW
@given(data=st.data())
def test_any_change_of_a_tuning_document_is_planned_or_refused(
    tuning: dict[str, Any], data: st.DataObject
) -> None:
    _holds(_changed(tuning, data))


@FEW
@given(data=st.data())
def test_any_change_of_a_training_document_is_planned_or_refused(
    training: dict[str, Any], data: st.DataObject
) -> None:
    _holds(_changed(training, data))


@FEW
@given(data=st.data())
@pytest.mark.parametrize("operation", [TUNING, TRAINING])
def test_documents_drawn_from_the_model_are_planned_or_refused(operation: str, data: st.DataObject) -> None:
    _holds(data.draw(_from_model(request_shape(operation))))


@FEW
@given(data=st.data())
def test_any_change_of_a_job_file_is_planned_or_refused(folder: Path, data: st.DataObject) -> None:
    job = {
        "name": "job",
        "output": str(folder / "out"),
        "hyperparameters": {"algorithm": "xgboost", "epochs": 9},
        "channels": {
            name: {"path": str(folder / "data" / name), "type": "csv", "sharded": False}
            for name in ("train", "validation")
        },
        "cluster": {"hosts": 3, "ranks": 1},
        "tuning": {
            "metric": "validation:auc",
            "strategy": "hyperband",
            "jobs": 9,
            "parallel": 2,
            "seed": 1,
            "early_stopping": "off",
            "target": 0.9,
            "not_improving": 3,
            "convergence": True,
        },
        "ranges": {
            "num_round": {"integer": [1, 9]},
            "eta": {"continuous": [0.1, 1.0], "scale": "log"},
            "booster": {"categorical": ["gbtree", "dart"]},
        },
        "metrics": {"validation:auc": r" validation:auc=(\S+)"},
        "environment": {"A": "1"},
        "tags": {"a": "b"},
        "stopping": {"job_seconds": 60},
    }
    changed = _changed(job, data)
    _holds(changed)


def test_the_requests_that_are_changed_are_right_to_begin_with(
    tuning: dict[str, Any], training: dict[str, Any]
) -> None:
    assert _holds(tuning) is not None
    assert _holds(training) is not None
