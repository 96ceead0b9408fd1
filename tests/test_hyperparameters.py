import json
import math
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.errors import InputError
from bandstand.hyperparameters import (
    Hyperparameters,
    decode,
    encode,
    is_reserved,
    nearest,
    strip_reserved,
)

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
TREES = st.recursive(
    PLAIN | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("binary:logistic", "binary:logistic"),
        ("007", "007"),
        ("a b; $(c) 'd' \\", "a b; $(c) 'd' \\"),
        ("", '""'),
        ("null", '"null"'),
        ("None", "None"),
        ("two\nlines", '"two\\nlines"'),
        ('"quoted"', '"\\"quoted\\""'),
        ('"half', '"half'),
        ('"\\x"', '"\\x"'),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (4, "4"),
        (4.0, "4.0"),
        (1e-05, "1e-05"),
        (0.1 + 0.2, "0.30000000000000004"),
        ([1, "a", 0.5], '[1, "a", 0.5]'),
        ({"a": [1]}, '{"a": [1]}'),
        (np.int64(7), "7"),
        (np.float64(0.1), "0.1"),
        (np.float32(0.5), "0.5"),
    ],
)
def test_values_are_written_as_documented(value: object, text: str) -> None:
    assert encode(value) == text


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", 1j, [object()]])
def test_what_json_cannot_carry_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="cannot carry"):
        encode(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4),
        ("0.5", 0.5),
        ("1e-05", 1e-05),
        ("true", True),
        ("True", True),
        ("False", False),
        ("null", None),
        ("None", None),
        ('"512"', "512"),
        ('"\\"512\\""', '"512"'),
        ("007", "007"),
        ("+5", "+5"),
        (".5", ".5"),
        ("1_000", "1_000"),
        ("1,2", "1,2"),
        ("binary:logistic", "binary:logistic"),
        ("[1, 2]", [1, 2]),
        ('["a", "b"]', ["a", "b"]),
        ("['a', 'b']", ["a", "b"]),
        ("(1, 'b')", [1, "b"]),
        ("{'a': None}", {"a": None}),
        ("[a, b]", "[a, b]"),
        ("[__import__('os')]", "[__import__('os')]"),
        ("{1, 2}", "{1, 2}"),
        ("[", "["),
        ("", ""),
        (" ", " "),
        ("1" * 5000, "1" * 5000),
        ("[" * 100_000, "[" * 100_000),
        ("[" * 20_000 + "]" * 20_000, "[" * 20_000 + "]" * 20_000),
    ],
)
def test_exactly_one_layer_is_removed_and_odd_text_stays_text(text: str, value: object) -> None:
    assert decode(text) == value
    assert type(decode(text)) is type(value)


@given(TREES.filter(lambda value: not isinstance(value, str)))
def test_values_come_back_as_they_went(value: object) -> None:
    assert decode(encode(value)) == value


@given(st.text())
def test_text_comes_back_as_it_went_whatever_it_looks_like(text: str) -> None:
    assert Hyperparameters({"k": encode(text)}).text("k") == text


@given(st.text())
def test_written_values_have_no_line_break_and_are_never_empty(text: str) -> None:
    written = encode(text)
    assert len(written.splitlines()) <= 1 or not set(written) & set("\n\r\x85\u2028\u2029")
    assert written


@given(st.text())
def test_no_text_crashes_a_reader(text: str) -> None:
    decode(text)
    given_ = Hyperparameters({"k": text})
    for reader in (given_.integer, given_.number, given_.boolean, given_.words, given_.numbers, given_.text):
        with suppress(InputError):
            reader("k", None)


@given(st.floats(allow_nan=False), st.integers(-(2**63) + 1, 2**63 - 1), st.booleans())
def test_typed_readers_undo_every_spelling_of_the_sdks(number: float, whole: int, truth: bool) -> None:
    for write in (encode, str, lambda value: json.dumps(str(value))):
        given_ = Hyperparameters({"number": write(number), "whole": write(whole), "truth": write(truth)})
        assert given_.number("number") == number
        assert given_.integer("whole") == whole
        assert given_.boolean("truth") is truth


@pytest.mark.parametrize("text", ["4", "4.0", "4.", "+4", "4e0", "0.4E1", '"4"', '"4.0"', " 4 "])
def test_an_integer_may_come_as_a_float(text: str) -> None:
    assert Hyperparameters({"num_round": text}).integer("num_round") == 4


@pytest.mark.parametrize(
    "text",
    [
        "4.5",
        "four",
        "",
        "0x4",
        "1e400",
        "1e99999999999999999999",
        "inf",
        "nan",
        "1_0",
        "٤",
        "true",
        "[4]",
        '"\\"4\\""',
    ],
)
def test_what_is_no_whole_number_is_refused_with_name_value_and_expectation(text: str) -> None:
    with pytest.raises(InputError, match=r"Hyperparameter 'num_round' is .*; expected a whole number"):
        Hyperparameters({"num_round": text}).integer("num_round")


def test_a_whole_number_beyond_a_double_stays_exact() -> None:
    assert Hyperparameters({"seed": "9007199254740993"}).integer("seed") == 9007199254740993


@pytest.mark.parametrize("text", ["true", "True", "TRUE", "1", "yes", "on", '"true"', "1.0", " true"])
def test_true_is_true_in_any_spelling(text: str) -> None:
    assert Hyperparameters({"flag": text}).boolean("flag") is True


@pytest.mark.parametrize("text", ["false", "False", "FALSE", "0", "no", "off", '"False"', "0.0"])
def test_false_is_false_in_any_spelling(text: str) -> None:
    assert Hyperparameters({"flag": text}).boolean("flag") is False


@pytest.mark.parametrize("text", ["", "2", "maybe", "-1", "[]"])
def test_what_is_no_truth_value_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"'flag' is .*; expected true or false"):
        Hyperparameters({"flag": text}).boolean("flag")


def test_numbers_may_be_infinite_or_not_a_number() -> None:
    given_ = Hyperparameters({"a": "Infinity", "b": "-inf", "c": "NaN", "d": "5.081388147234708e-06"})
    assert given_.number("a") == math.inf
    assert given_.number("b") == -math.inf
    assert math.isnan(given_.number("c"))
    assert given_.number("d") == 5.081388147234708e-06


@pytest.mark.parametrize(
    "text",
    [
        "auc,logloss",
        "auc, logloss",
        '["auc", "logloss"]',
        "['auc', 'logloss']",
        '"auc,logloss"',
        "auc,,logloss,",
    ],
)
def test_lists_of_words_survive_in_any_form(text: str) -> None:
    assert Hyperparameters({"eval_metric": text}).words("eval_metric") == ["auc", "logloss"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("auc", ["auc"]),
        ("", []),
        ("[]", []),
        ("[1, true, 0.5]", ["1", "true", "0.5"]),
        ('["a,b", "c d"]', ["a,b", "c d"]),
        ("a b,c", ["a b", "c"]),
    ],
)
def test_words_are_split_at_commas_only(text: str, words: list[str]) -> None:
    assert Hyperparameters({"k": text}).words("k") == words


@pytest.mark.parametrize("text", ["[1, 2.5]", "1,2.5", "(1, 2.5)", '["1", "2.5"]', '"[1, 2.5]"'])
def test_lists_of_numbers_survive_in_any_form(text: str) -> None:
    assert Hyperparameters({"layers": text}).numbers("layers") == [1.0, 2.5]


@pytest.mark.parametrize("text", ["[[1], [2]]", "1,two", '[{"a": 1}]'])
def test_a_list_that_holds_no_numbers_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"'layers' is .*; expected a list of numbers"):
        Hyperparameters({"layers": text}).numbers("layers")


def test_nested_settings_keep_their_json_types() -> None:
    nested = {"layers": [64, 32], "names": ["a,b", "c"], "deep": {"on": True}}
    assert Hyperparameters({"model": encode(nested)}).value("model") == nested


def test_a_default_stands_in_for_what_is_missing_or_null() -> None:
    given_ = Hyperparameters({"a": "null", "b": "None"})
    assert given_.integer("missing", 3) == 3
    assert given_.integer("a", 3) == 3
    assert given_.number("b", None) is None
    assert given_.text("a", "x") == "x"
    assert given_.text("b") == "None"
    assert given_.value("missing", 7) == 7
    assert given_.value("a") is None


def test_a_missing_one_without_a_default_names_the_nearest_and_all_that_are_given() -> None:
    with pytest.raises(InputError) as caught:
        Hyperparameters({"num_rounds": "3", "eta": "0.1"}).integer("num_round")
    assert "'num_round' is missing; given are: eta, num_rounds. Is 'num_rounds' a misspelling of it?" in str(
        caught.value
    )
    with pytest.raises(InputError, match="given are: none"):
        Hyperparameters({}).text("x")


def test_a_missing_one_asked_for_in_brackets_is_a_key_error_that_says_the_same() -> None:
    given_ = Hyperparameters({"epochs": "3"})
    with pytest.raises(KeyError) as caught:
        given_["epcohs"]
    assert isinstance(caught.value, InputError)
    assert str(caught.value) == (
        "Hyperparameter 'epcohs' is missing; given are: epochs. Is 'epochs' a misspelling of it?"
    )
    assert given_.get("epcohs", "7") == "7"
    assert "epcohs" not in given_
    with pytest.raises(KeyError, match="Hyperparameter 3 is missing"):
        given_[3]  # type: ignore[index]


def test_names_of_the_platform_are_kept_apart() -> None:
    raw = {
        "sagemaker_program": '"t.py"',
        "_tuning_objective_metric": '"validation:auc"',
        "eta": "0.1",
        "model_dir": "x",
    }
    given_ = Hyperparameters(raw)
    assert dict(given_) == {"eta": "0.1", "model_dir": "x"}
    assert dict(given_.reserved) == {k: raw[k] for k in ("sagemaker_program", "_tuning_objective_metric")}
    assert given_.objective == "validation:auc"
    assert Hyperparameters({"_tuning_objective_metric": "loss"}).objective == "loss"
    assert Hyperparameters({}).objective is None


def test_stripping_reserved_names_keeps_order_and_values() -> None:
    raw = {"b": "1", "sagemaker_x": "2", "a": "3", "_tuning_objective_metric": "m", "_tuning": "4"}
    assert list(strip_reserved(raw).items()) == [("b", "1"), ("a", "3"), ("_tuning", "4")]
    assert is_reserved("sagemaker_region")
    assert not is_reserved("sagemakerish")


def test_it_is_a_mapping_of_raw_text_that_prints_itself() -> None:
    given_ = Hyperparameters({"eta": "0.1", "depth": '"4"'})
    assert given_["depth"] == '"4"'
    assert len(given_) == 2
    assert "eta" in given_
    assert repr(given_) == "Hyperparameters({'eta': '0.1', 'depth': '\"4\"'})"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("max_dept", "max_depth"),
        ("MAX-DEPTH", "max_depth"),
        ("maxdepth", "max_depth"),
        ("num_rounds", "num_round"),
        ("learning", None),
        ("", None),
    ],
)
def test_the_nearest_name_is_found_by_letters_not_by_case_or_dashes(name: str, wanted: str | None) -> None:
    assert nearest(name, ["max_depth", "num_round", "eta"]) == wanted


def test_nothing_is_near_among_no_names() -> None:
    assert nearest("eta", []) is None
