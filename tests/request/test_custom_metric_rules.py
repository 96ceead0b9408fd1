"""A metric of the user's own for the built-in XGBoost: found in the code, and given a definition."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bandstand.problem import Problem
from bandstand.request import Plan, TrainingPlan

Job = Callable[..., Path]
Problems = Callable[..., list[Problem]]
PlanOf = Callable[..., Plan]

JOB = """
name = "mine"
output = "out"
code = "src"
[hyperparameters]
algorithm = "xgboost"
num_round = 5
custom_metric = "profit.py:profit"
[channels]
train = { path = "data/train", type = "csv" }
validation = { path = "data/validation", type = "csv" }
"""


@pytest.fixture
def code(folder: Path) -> Callable[[str], None]:
    """Writes src/profit.py."""

    def write(text: str) -> None:
        (folder / "src").mkdir(exist_ok=True)
        (folder / "src" / "profit.py").write_text(text)

    return write


def test_the_code_is_submitted_and_the_metric_defined(
    job: Job, plan_of: PlanOf, folder: Path, code: Callable[[str], None]
) -> None:
    code("def profit(predictions, rows): ...\n")
    plan: Any = plan_of(job(text=JOB))
    assert isinstance(plan, TrainingPlan)
    assert dict(plan.hyperparameters)["sagemaker_submit_directory"] == (folder / "src").as_uri()
    assert dict(plan.metrics)["validation:profit"].startswith(" validation:profit=")


@pytest.mark.parametrize(
    ("change", "text", "fix"),
    [
        (("profit.py:profit", "proft.py:profit"), "", "Did you mean profit.py?"),
        (("profit.py:profit", "profit.py:profits"), "def profit(p, r): ...", "Did you mean profit?"),
        (("profit.py:profit", "profit.py"), "", "as in profit.py:profit"),
        (("profit.py:profit", "../profit.py:profit"), "", "Put it into the folder with the code."),
        (('code = "src"\n', ""), "def profit(p, r): ...", "Add code, the folder with the file."),
        (("", ""), "def profit(p, r)", "Mend the file."),
        (("", ""), "x = 1\0", "Mend the file."),
        (("", ""), "-" * 100_000 + "1", "Mend the file."),
        (("", ""), "if True:\n    def profits(p, r): ...", "Did you mean profits?"),
        (("", ""), "def outer():\n    def profit(p, r): ...", "Define it there, or mend the name."),
    ],
)
def test_what_is_not_there_is_told_with_the_nearest_name(
    job: Job,
    problems: Problems,
    code: Callable[[str], None],
    change: tuple[str, str],
    text: str,
    fix: str,
) -> None:
    code(text)
    (problem,) = problems(job(text=JOB.replace(*change) if change[0] else JOB))
    assert (problem.number, problem.where) == (422, "hyperparameters.custom_metric")
    assert fix in problem.fix


@pytest.mark.parametrize(
    "text",
    [
        "from money import profit",
        "profit = lambda p, r: 1",
        "from money import *",
        "class profit: ...",
        "other, profit = 1, len",
        "print(profit := len)",
        "match 1:\n    case profit: ...",
        "globals()['profit'] = len",
        "exec('def profit(p, r): ...')",
        "def __getattr__(name): ...",
        "def define():\n    global profit\n    profit = len\ndefine()",
        "try:\n    from a import profit\nexcept ImportError:\n    from b import profit",
    ],
)
def test_what_may_define_it_is_taken(
    job: Job, plan_of: PlanOf, code: Callable[[str], None], text: str
) -> None:
    code(text)
    plan_of(job(text=JOB))


def test_code_that_is_no_folder_and_no_archive_is_told(job: Job, problems: Problems, folder: Path) -> None:
    (folder / "code.txt").write_text("no archive")
    found = problems(job(text=JOB.replace('code = "src"', 'code = "code.txt"')))
    assert any("code.txt, which is no folder or archive" in problem.found for problem in found)


def test_a_file_that_cannot_be_read_is_told(job: Job, problems: Problems, folder: Path) -> None:
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / "profit.py").symlink_to(folder / "src" / "profit.py")
    (problem,) = problems(job(text=JOB))
    assert problem.number == 422


def test_a_document_names_the_hyperparameter_that_brings_the_code(
    training: dict[str, Any], problems: Problems
) -> None:
    training["HyperParameters"]["custom_metric"] = "profit.py:profit"
    (problem,) = problems(training)
    assert problem.number == 422
    assert problem.fix == "Add sagemaker_submit_directory to HyperParameters."


def test_a_value_that_is_no_list_of_metrics_is_told_once_by_its_declaration(
    training: dict[str, Any], problems: Problems
) -> None:
    training["HyperParameters"]["custom_metric"] = '{"profit": 1}'
    (problem,) = problems(training)
    assert "custom_metric" in problem.where
