"""Declared hyperparameters as a file: SageMaker's own shape, ours apart from it, and back without loss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bandstand import hyperparameter as hp
from bandstand.errors import InputError
from bandstand.hyperparameter_declaration import Hyperparameter
from bandstand.hyperparameter_file import (
    OURS,
    SPECIFICATIONS,
    as_json,
    file_of,
    from_document,
    is_current,
    to_document,
)
from bandstand.hyperparameter_schema import Schema

SCHEMA = Schema(
    [
        hp("epochs", int, 1, 100, help="Passes, größer ist länger."),
        hp("steps", int, default=-5),
        hp("rate", float, above=0, default=0.1, tune=(1e-4, 1), scale="log", aliases=["eta"]),
        hp("share", float, 0, below=1, default=0.5, tune=(0, 0.9), scale="reverse-log"),
        hp("optimizer", ["sgd", "adam"], default="adam", tune=True),
        hp("batch", [16, 32, 64], default=16, tune=[16, 64]),
        hp("nesterov", bool, default=False, tune=True),
        hp("hidden", list[int], 1, 512, default=[64, 64], tune=[[64], [64, 64]]),
        hp("betas", list[float], 0, default=[0.9, 0.99]),
        hp("layers", list[str], default=["a"]),
        hp("groups", list, default=[[1, 2], [3]]),
        hp("extra", dict, default={"a": [1]}),
        hp("title", str, default="", tunable=False),
        hp("note", str, default=None),
    ]
)


def model() -> ServiceModel:
    return ServiceModel(Loader().load_service_model("sagemaker", "service-2"), "sagemaker")


def test_the_file_is_what_create_algorithm_takes() -> None:
    document = json.loads(as_json(to_document(SCHEMA)))
    shape = model().shape_for("HyperParameterSpecifications")
    report = ParamValidator().validate(document[SPECIFICATIONS], shape)
    assert not report.has_errors(), report.generate_report()
    types = model().shape_for("ParameterType").enum
    assert {each["Type"] for each in document[SPECIFICATIONS]} == set(types)
    assert set(document) == {SPECIFICATIONS, OURS}


def test_nothing_is_lost_on_the_way_through_the_file() -> None:
    assert from_document(json.loads(as_json(to_document(SCHEMA)))) == SCHEMA


names = st.text("aBé_.9", min_size=1, max_size=8)
numbers = st.floats(-1e6, 1e6, allow_nan=False)


@st.composite
def declarations(draw: st.DrawFn) -> Hyperparameter:
    low, high = sorted(draw(st.lists(numbers, min_size=2, max_size=2, unique=True)))
    bounds = draw(st.sampled_from([{}, {"low": low}, {"high": high}, {"low": low, "high": high}]))
    if "low" in bounds and draw(st.booleans()):
        bounds = {("above" if word == "low" else word): bound for word, bound in bounds.items()}
    inner = (low + (high - low) / 4, low + (high - low) / 2)
    kind = draw(st.sampled_from(["number", "choice", "text", "boolean"]))
    name, text = draw(names), draw(st.text('aé|"\\ ', max_size=9))
    if kind == "number":
        tune = draw(st.sampled_from([None, inner])) if inner[0] < inner[1] else None
        return hp(
            name, float, **bounds, default=draw(st.sampled_from([None, inner[1]])), tune=tune, help=text
        )
    if kind == "choice":
        choices = draw(
            st.lists(st.integers(-(2**63) + 1, 2**63 - 1) | names, min_size=1, max_size=4, unique_by=str)
        )
        return hp(name, choices, default=choices[-1], tune=True, help=text)
    if kind == "boolean":
        return hp(name, bool, tunable=draw(st.booleans()), help=text)
    return hp(name, str, default=draw(st.none() | st.text(max_size=9)), help=text)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(declarations(), max_size=3, unique_by=lambda it: it.name.replace("-", "_")))
def test_any_declarations_come_back_as_they_were(declared: list[Hyperparameter]) -> None:
    schema = Schema(declared)
    assert from_document(json.loads(as_json(to_document(schema)))) == schema


def test_a_file_of_another_program_needs_nothing_of_ours() -> None:
    specification = {
        "Name": "depth",
        "Type": "Integer",
        "Range": {"IntegerParameterRangeSpecification": {"MinValue": "1", "MaxValue": "9"}},
        "DefaultValue": "3",
    }
    (it,) = from_document({SPECIFICATIONS: [specification]}).declared
    assert (it.kind, it.low, it.high, it.default, it.tunable, it.required) == (
        "integer",
        1,
        9,
        3,
        True,
        False,
    )


def specified(**members: Any) -> dict[str, Any]:
    return {SPECIFICATIONS: [{"Name": "x", "Type": "Integer", **members}]}


def added(**members: Any) -> dict[str, Any]:
    return specified() | {OURS: {"HyperParameters": {"x": members}}}


RANGE = "IntegerParameterRangeSpecification"


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (
            specified(Range={RANGE: {"MinValue": "one", "MaxValue": "9"}}),
            "the limit 'one' is no whole number",
        ),
        (specified(Range={RANGE: {"MinValue": "9", "MaxValue": "1"}}), "nothing lies from 9 to 1"),
        (specified(DefaultValue="x"), "the default 'x' is not a whole number"),
        (specified(Type="Categorical"), "0 choices; expected 1 to 30"),
        (added(Kind="number"), "its Kind is number, its Type Integer"),
        (added(Kind=3), "Bandstand has for it Kind 3, which is not a text"),
        (specified(Type="FreeText") | {OURS: {"HyperParameters": {"x": {"Kind": "x"}}}}, "the kind is 'x'"),
        (
            specified(Range={"ContinuousParameterRangeSpecification": {"MinValue": "1", "MaxValue": "2"}}),
            "its Range has ContinuousParameterRangeSpecification, its Type is Integer",
        ),
        (added(Excludes=[["MinValue"]]), "its Excludes has [['MinValue']]; expected MinValue and MaxValue"),
        (added(Aliases="eta"), "Bandstand has for it Aliases 'eta', which is not a list"),
        (added(Aliases=[3]), "the names [3] are no text"),
        (added(DefaultRange={"Values": "abc"}), "its DefaultRange has Values 'abc', which is not a list"),
        (added(DefaultRange={"MinValue": 1, "MaxValue": "2"}), "has MinValue 1, which is not a text"),
        (added(DefaultRange={"MinValue": "x", "MaxValue": "2"}), "expected Values, or numbers for MinValue"),
        (added(DefaultRange={"From": "1"}), "its DefaultRange has From, which is none of MinValue, MaxValue"),
        (added(Alias=["y"]), "Bandstand has for it Alias, which is none of Kind"),
        (added(DefaultRange={"MinValue": "1"}), "expected Values, or numbers for MinValue and MaxValue"),
        (
            added(DefaultRange={"MinValue": "1", "MaxValue": "2", "ScalingType": "log"}),
            "ScalingType one of Auto",
        ),
        (added(Excludes=["Low"]), "its Excludes has ['Low']; expected MinValue and MaxValue"),
        (specified() | {OURS: {"HyperParameters": {"x": 3}}}, "Bandstand has 3 for it, which is no object"),
        (
            specified() | {OURS: {"HyperParameters": {"y": {}}}},
            "has 'y', which SupportedHyperParameters has not",
        ),
        (specified() | {OURS: []}, "Bandstand is no object with an object HyperParameters"),
        ({SPECIFICATIONS: [*specified()[SPECIFICATIONS] * 2]}, "Two hyperparameters are declared as 'x'"),
    ],
)
def test_a_file_that_does_not_fit_together_is_refused(document: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        from_document(document)
    assert words in str(caught.value)


def test_every_faulty_declaration_of_a_file_is_told_in_a_line_of_its_own() -> None:
    wrong = [{"Name": name, "Type": "Integer", "DefaultValue": "x"} for name in "abc"]
    with pytest.raises(InputError) as caught:
        from_document({SPECIFICATIONS: wrong})
    assert len(str(caught.value).splitlines()) == 3


def test_the_file_of_a_program_stands_beside_it_and_holds_which_version_it_is(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("one")
    first = to_document(SCHEMA, script)[OURS]["Program"]
    script.write_text("two")
    second = to_document(SCHEMA, script)[OURS]["Program"]
    assert first["Name"] == second["Name"] == "train.py"
    assert first["SHA256"] != second["SHA256"]
    assert file_of(script) == tmp_path / "train.hyperparameters.json"


def test_a_file_is_current_if_it_holds_the_same_declarations(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("one")
    text = as_json(to_document(SCHEMA, script))
    assert is_current(text, SCHEMA)
    assert not is_current(text, Schema(SCHEMA.declared[1:]))
    assert not any(is_current(broken, SCHEMA) for broken in ("", "[]", "{}", "null", '{"Bandstand": 1}'))
