"""One declared hyperparameter: what it takes and refuses, and declarations that contradict themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bandstand
from bandstand import hyperparameter
from bandstand.errors import InputError
from bandstand.hyperparameter_declaration import Hyperparameter


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (int, "7", 7),
        (int, "007", 7),
        (int, " 7 ", 7),
        (int, "-7", -7),
        (int, "4.0", 4),
        (int, '"7"', 7),
        (int, '"\\"7\\""', 7),
        (float, "1e-05", 1e-05),
        (float, ".5", 0.5),
        (float, '"0.5"', 0.5),
        (float, "-2", -2.0),
        (bool, "True", True),
        (bool, "yes", True),
        (bool, "1", True),
        (bool, "off", False),
        (bool, '"false"', False),
        (str, "007", "007"),
        (str, "null", "null"),
        (str, '""', ""),
        (str, '"a b"', "a b"),
        (str, '"\\"quoted\\""', '"quoted"'),
        (str, "größe 4", "größe 4"),
        (list[int], "[64, 32]", [64, 32]),
        (list[int], "64,32", [64, 32]),
        (list[int], "(64, 32)", [64, 32]),
        (list[int], "64", [64]),
        (list[float], "[0.1, 1]", [0.1, 1.0]),
        (list[str], "['a', 'b']", ["a", "b"]),
        (list[str], '"a,b"', ["a", "b"]),
        (list, "[[1, 2], [3]]", [[1, 2], [3]]),
        (dict, '{"a": {"b": [1]}}', {"a": {"b": [1]}}),
        (["sgd", "adam"], "adam", "adam"),
        (["sgd", "adam"], ' "adam" ', "adam"),
        ([16, 32], "32", 32),
        ([16, 32], "32.0", 32),
        ([0.5, 0.25], "2.5e-1", 0.25),
        ([True, "auto"], "True", True),
    ],
)
def test_text_becomes_a_value_of_the_declared_type(type_: object, text: str, value: object) -> None:
    found = hyperparameter("x", type_).read(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (int, "4.5"),
        (int, ""),
        (int, "7 8"),
        (int, "1_000"),
        (int, "true"),
        (int, str(2**63)),
        (float, "half"),
        (float, "nan"),
        (float, "inf"),
        (float, "1,5"),
        (bool, "2"),
        (bool, "perhaps"),
        (list[int], "[1, 2.5]"),
        (list[int], "[[1]]"),
        (list[float], "[1, inf]"),
        (list, "7"),
        (dict, "[1]"),
        (["sgd", "adam"], "Adam"),
        ([16, 32], "64"),
        ([True, "auto"], "False"),
    ],
)
def test_text_of_another_type_is_refused(type_: object, text: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        hyperparameter("x", type_).read(text)


@pytest.mark.parametrize(
    ("limits", "inside", "outside", "told"),
    [
        ({"low": 0, "high": 1}, ["0", "1"], ["-1e-300", "1.0000001"], "a number from 0 to 1"),
        ({"above": 0, "high": 1}, ["5e-324", "1"], ["0", "-0"], "a number above 0, up to 1"),
        ({"low": 0, "below": 1}, ["0", "0.9999"], ["1"], "a number from 0, below 1"),
        ({"above": 1, "below": 2}, ["1.5"], ["1", "2"], "a number above 1 and below 2"),
        ({"low": 0}, ["0", "1e308"], ["-1"], "a number of 0 or more"),
        ({"above": 0}, ["1"], ["0"], "a number above 0"),
        ({"high": 5}, ["5", "-9"], ["6"], "a number of at most 5"),
        ({"below": 5}, ["4.9"], ["5"], "a number below 5"),
        ({}, ["-1e308"], ["1e999"], "a number"),
    ],
)
def test_limits_hold_what_their_words_say(
    limits: dict[str, Any], inside: list[str], outside: list[str], told: str
) -> None:
    declared = hyperparameter("x", float, **limits)
    assert declared.allowed == told
    for text in inside:
        assert declared.read(text) == float(text)
    for text in outside:
        with pytest.raises(ValueError, match="is not"):
            declared.read(text)


def test_limits_of_a_list_are_those_of_each_item() -> None:
    declared = hyperparameter("hidden", list[int], 1, 512)
    assert declared.read("64,512") == [64, 512]
    with pytest.raises(ValueError, match="each from 1 to 512"):
        declared.read("64,0")


def test_a_hyperparameter_without_a_default_is_needed() -> None:
    assert hyperparameter("x", int).required
    assert not hyperparameter("x", int, default=None).required


def test_a_default_range_of_all_choices_is_written_out() -> None:
    chosen = hyperparameter("x", [16, 32], tune=True).tune
    switched = hyperparameter("x", bool, tune=True).tune
    some = hyperparameter("x", list[int], tune=[[64], [64, 64]]).tune
    assert chosen is not None
    assert switched is not None
    assert some is not None
    assert (chosen.values, switched.values, some.values) == (
        ("16", "32"),
        ("false", "true"),
        ("[64]", "[64, 64]"),
    )
    assert (
        str(hyperparameter("x", float, tune=(1e-4, 1), scale="log").tune) == "0.0001 to 1, logarithmic scale"
    )


@pytest.mark.parametrize(
    ("type_", "options", "words"),
    [
        (
            complex,
            {},
            "has the type <class 'complex'>; expected int, float, bool, str, list, dict, list[int]",
        ),
        (int, {"low": 2, "high": 1}, "nothing lies from 2 to 1"),
        (int, {"above": 1, "high": 1}, "nothing lies above 1, up to 1"),
        (int, {"low": 0.5}, "the limits [0.5] are not whole numbers"),
        (float, {"high": float("inf")}, "the limits [inf] are not finite; leave one out"),
        (float, {"low": 0, "above": 0}, "limits it twice: ['low']"),
        (str, {"low": 0}, "limits are for numbers, not for text"),
        (int, {"high": 5, "default": 6}, "the default 6 is not a whole number of at most 5"),
        (int, {"default": "six"}, "the default 'six' is not a whole number"),
        (bool, {"default": "perhaps"}, "the default 'perhaps' is not true or false"),
        (["a"], {"default": "b"}, "the default 'b' is not one of a"),
        ([], {}, "0 choices; expected 1 to 30"),
        (["a", "a"], {}, "2 choices; expected 1 to 30, each once"),
        ([[1], [2]], {}, "choices are words, numbers, or truth values"),
        (float, {"low": 0, "tune": (-1, 1)}, "tuning goes from -1 to 1, which is not a range within"),
        (float, {"tune": (1, 1)}, "tuning goes from 1 to 1, which is not a range"),
        (int, {"tune": (0.5, 2)}, "tuning goes from 0.5 to 2, which are not whole numbers"),
        (float, {"tune": (0, 1), "scale": "log"}, "a log scale cannot start at 0"),
        (float, {"tune": (0, 1), "scale": "reverse-log"}, "a reverse-log scale is for numbers with 0 <= low"),
        (float, {"tune": (0, 1), "scale": "Log"}, "the scale is 'Log'; expected one of auto, linear, log"),
        (float, {"tune": (0, 1, 2)}, "has tune=(0, 1, 2); expected (low, high)"),
        (float, {"tune": True}, "has tune=True; expected (low, high)"),
        (float, {"tune": ("0", "1")}, "expected (low, high)"),
        (float, {"scale": "log"}, "has a scale, but no range to tune it in"),
        (float, {"tune": (0, 1), "tunable": False}, "has a range to tune it in, but is not tunable"),
        (["a", "b"], {"tune": ["a", "c"]}, "tuning tries ['c'], which is not one of a, b"),
        (["a", "b"], {"tune": True, "scale": "log"}, "a scale is for numbers"),
        (str, {"tune": True}, "tuning tries nothing"),
        (int, {"help": "two\nlines"}, "its help is not one line of at most 1024 characters"),
        (int, {"aliases": ["sagemaker_x"]}, "the name 'sagemaker_x' is one that the platform uses"),
        (int, {"aliases": [""]}, "the name '' is not 1 to 256 characters"),
        (int, {"aliases": ["-x"]}, "the first one no hyphen"),
        (int, {"aliases": [3]}, "the names [3] are no text"),
        (int, {"aliases": None}, "the names [None] are no text"),
        (int, {"low": "1"}, "the limits ['1'] are not numbers"),
        (int, {"low": True}, "the limits [True] are not numbers"),
        (int, {"high": 10**30}, "are not whole numbers of at most 64 bits"),
        (float, {"tune": 3}, "has tune=3; expected (low, high)"),
        (float, {"tune": "ab"}, "has tune='ab'; expected (low, high)"),
        (float, {"tune": (0, 1), "scale": ["log"]}, "the scale is ['log']; expected one of auto, linear"),
        (["ab", "b"], {"tune": "ab"}, "has tune='ab'; expected a list of values, or True"),
        (["ab", "b"], {"tune": 3}, "has tune=3; expected a list of values, or True"),
        ([1, 1.0], {}, "the choices [1.0] cannot be told from other text"),
        ([True, 1], {}, "the choices [1] cannot be told from other text"),
        ([" a "], {}, "the choices [' a '] cannot be told from other text"),
        (["a", None], {}, "choices are words, numbers, or truth values"),
        (int, {"help": None}, "its help is None, which is no text"),
        (int, {"tunable": None}, "tunable is None; expected True or False"),
        (str, {"default": object()}, "is not text"),
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(
    type_: object, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError) as caught:
        hyperparameter("rate", type_, **options)
    assert "hyperparameter 'rate'" in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("type_", "written", "value"),
    [
        (int, "5", 5),
        (int, 5.0, 5),
        (float, "0.5", 0.5),
        (float, 1, 1),
        (float, np.float32(0.5), 0.5),
        (bool, "yes", True),
        (str, 5, "5"),
        (str, '"a"', '"a"'),
        (list[int], "1,2", [1, 2]),
        (list[int], (1, 2), [1, 2]),
        (list[float], [1, 2], [1, 2]),
        ([1, 2], "1", 1),
    ],
)
def test_a_default_becomes_a_value_of_the_declared_type(
    type_: object, written: object, value: object
) -> None:
    found = hyperparameter("x", type_, default=written).default
    assert found == value
    assert type(found) is type(value)


def test_one_alias_need_not_stand_in_a_list() -> None:
    assert hyperparameter("x", int, aliases="eta").names == ("x", "eta")


def test_numbers_of_numpy_are_limits_and_default_ranges() -> None:
    it = hyperparameter("x", int, np.int64(1), np.int64(9), default=np.int64(3), tune=(np.int64(2), 8))
    assert it == hyperparameter("x", int, 1, 9, default=3, tune=(2, 8))


def test_a_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match=r"the names \[5\] are no text"):
        hyperparameter(5, int)  # type: ignore[arg-type]


def test_none_is_no_value_unless_it_is_a_choice() -> None:
    assert hyperparameter("x", ["None", "batch"]).is_absent("null")
    assert not hyperparameter("x", ["None", "batch"]).is_absent("None")
    assert hyperparameter("x", ["layer", "batch"]).is_absent("None")


def test_everything_that_is_wrong_with_a_declaration_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        hyperparameter("a\nb", int, 5, 1, default="x", help="y" * 1025)
    assert str(caught.value).count(";") == 3


def test_the_public_name_is_found_and_others_are_not() -> None:
    assert isinstance(bandstand.hyperparameter("x", int), Hyperparameter)
    with pytest.raises(AttributeError, match="no attribute 'hyperparameters_'"):
        bandstand.hyperparameters_  # type: ignore[attr-defined]  # noqa: B018
