"""A program's hyperparameters: values of a job by their declarations, and all that is wrong at once."""

from __future__ import annotations

from typing import Any

import pytest

from bandstand import hyperparameter as hp
from bandstand.errors import InputError
from bandstand.hyperparameter_help import lines, table
from bandstand.hyperparameter_schema import Schema

SCHEMA = Schema(
    [
        hp("epochs", int, 1, 100, help="Passes over the rows."),
        hp("learning_rate", float, above=0, default=0.1, tune=(1e-4, 1), scale="log", aliases=["eta", "lr"]),
        hp("batch-size", [16, 32], default=16),
        hp("hidden", list[int], 1, default=[64, 64]),
        hp("dropout", float, 0, below=1, default=None, tunable=False),
    ]
)


def test_values_are_read_and_defaults_filled_in_in_the_order_of_the_declarations() -> None:
    reading = SCHEMA.read({"batch_size": "32", "lr": "0.5", "epochs": "3"})
    assert reading.problems == []
    assert list(reading.values.items()) == [
        ("epochs", 3),
        ("learning_rate", 0.5),
        ("batch-size", 32),
        ("hidden", [64, 64]),
        ("dropout", None),
    ]
    assert reading.given == {"batch-size": "32", "learning_rate": "0.5", "epochs": "3"}


def test_settings_are_attributes_and_a_dictionary() -> None:
    settings = SCHEMA.read({"epochs": "3"}).settings
    assert (settings.epochs, settings.batch_size) == (3, 16)
    assert vars(settings)["learning_rate"] == 0.1
    with pytest.raises(AttributeError, match=r"No hyperparameter 'epoch' is declared .* mean 'epochs'"):
        _ = settings.epoch


def test_a_default_is_nobodys_to_change() -> None:
    SCHEMA.read({"epochs": "3"}).values["hidden"].append(1)
    assert SCHEMA.read({"epochs": "3"}).values["hidden"] == [64, 64]


@pytest.mark.parametrize("text", ["null", "None"])
def test_null_is_a_hyperparameter_that_is_not_given(text: str) -> None:
    assert SCHEMA.read({"epochs": "3", "learning_rate": text}).values["learning_rate"] == 0.1
    assert "'epochs' is missing" in SCHEMA.read({"epochs": text}).problems[0]


def test_what_the_platform_gives_is_no_problem() -> None:
    given = {"epochs": "3", "sagemaker_program": "x.py", "_tuning_objective_metric": "loss"}
    assert SCHEMA.read(given).problems == []


def test_a_name_of_the_platforms_is_no_misspelling_of_one_that_is_missing() -> None:
    schema = Schema([hp("job_name", str)])
    assert "'job_name' is missing" in schema.read({"sagemaker_job_name": "x"}).problems[0]
    assert [each.name for each in schema.missing(["sagemaker_job_name"])] == ["job_name"]


def test_all_problems_are_told_at_once() -> None:
    given = {"epoch": "3", "lr": "0", "eta": "1", "batch-size": "64", "dropout": "x", "zzz": "1"}
    assert SCHEMA.read(given).problems == [
        "There is no hyperparameter 'epoch'. Did you mean 'epochs'?",
        "Hyperparameter 'lr' is '0'; expected a number above 0.",
        "Hyperparameter 'learning_rate' is given twice, as 'lr' and as 'eta'. Keep one of them.",
        "Hyperparameter 'batch-size' is '64'; expected one of 16, 32.",
        "Hyperparameter 'dropout' is 'x'; expected a number from 0, below 1.",
        "There is no hyperparameter 'zzz'. There are: epochs, learning_rate, batch-size, hidden, dropout.",
    ]


def test_what_is_missing_is_told_with_its_meaning() -> None:
    assert SCHEMA.read({}).problems == [
        "Hyperparameter 'epochs' is missing; expected a whole number from 1 to 100: Passes over the rows."
    ]


@pytest.mark.parametrize("second", ["batch-size", "batch_size"])
def test_two_declarations_of_one_name_are_refused(second: str) -> None:
    with pytest.raises(InputError, match=f"Two hyperparameters are declared as '{second}'"):
        Schema([hp("batch-size", int), hp("x", int, aliases=[second])])


def test_all_names_that_are_declared_twice_are_told_at_once() -> None:
    with pytest.raises(InputError, match=r"(?s)declared as 'a'.*declared as 'b'"):
        Schema([hp("a", int), hp("b", int), hp("a", int), hp("b", int)])


@pytest.mark.parametrize("foreign", ["epochs", {"epochs": int}, [None], [hp("epochs", int), [hp("x", int)]]])
def test_what_is_no_declaration_is_refused(foreign: Any) -> None:
    with pytest.raises(InputError, match=r"The schema has \[.*\]; expected declarations such as"):
        Schema(foreign)


@pytest.mark.parametrize("foreign", [5, hp("epochs", int)])
def test_a_schema_that_is_no_list_is_refused(foreign: Any) -> None:
    with pytest.raises(InputError, match="expected a list of declarations such as"):
        Schema(foreign)


def test_a_choice_called_none_is_a_value() -> None:
    schema = Schema([hp("norm", ["None", "batch"], default="batch"), hp("need", ["None", "x"])])
    reading = schema.read({"norm": "None", "need": "None"})
    assert (reading.values, reading.problems) == ({"norm": "None", "need": "None"}, [])


def test_help_tells_names_limits_defaults_and_ranges() -> None:
    text = "\n".join(lines(SCHEMA, "--", width=60))
    assert "  --learning_rate, --eta, --lr\n" in text
    assert "default range 0.0001" in text
    assert "      a whole number from 1 to 100; needed\n      Passes over the rows." in text
    assert "a number from 0, below 1; not tunable" in text
    assert max(map(len, text.splitlines())) <= 60


def test_the_table_of_the_docs_has_a_row_for_each() -> None:
    rows = list(table(SCHEMA))
    assert len(rows) == 1 + len(SCHEMA.declared)
    assert "| `epochs` | a whole number from 1 to 100 | needed |  | Passes over the rows. |" in rows
    assert "| `dropout` | a number from 0, below 1 |  | not tunable |  |" in rows
