"""A metric of the user's own: exact over all hosts, watched, tuned; its faults are the failure reason."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgboost
from numpy.typing import NDArray

from bandstand_container.xgboost_custom import load_metrics

Rows = NDArray[np.float32]
SETTINGS = {"num_round": 6, "objective": "binary:logistic", "eval_metric": "auc", "max_depth": 3}


def profit(predictions: NDArray[np.float32], rows: Any) -> tuple[str, float]:
    calls = predictions > 0.2
    return "profit", float(sum(50.0 * rows.get_label()[calls]) - 6.5 * sum(calls))


MONEY = f"""
from __future__ import annotations
import prices

{inspect.getsource(profit).replace("50.0", "prices.PRICE")}
"""


@pytest.fixture
def code(tmp_path: Path) -> Callable[..., str]:
    """Writes files of the job's code; what names their folder."""

    def write(**files: str) -> str:
        folder = tmp_path / "code"
        folder.mkdir()
        for name, text in files.items():
            (folder / f"{name}.py").write_text(textwrap.dedent(text))
        return folder.as_uri()

    return write


@pytest.fixture
def channels(campaign: Rows, to_csv: Callable[[Rows], bytes]) -> dict[str, dict[str, bytes]]:
    rows = campaign[:, :8]
    return {"train": {"a.csv": to_csv(rows[::4])}, "validation": {"v.csv": to_csv(rows[1::4])}}


def test_its_value_is_that_of_all_rows_of_all_hosts(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes], code: Callable[..., str]
) -> None:
    train, validation = campaign[::2], campaign[1::2]
    cuts = [0, len(validation) // 6, len(validation) // 2, len(validation)]
    job = jobs.run(
        {
            **SETTINGS,
            "custom_metric": "money.py:profit",
            "sagemaker_submit_directory": code(money=MONEY, prices="PRICE = 50.0"),
        },
        replicated={"train": {"a.csv": to_csv(train)}},
        sharded={"validation": [{"v.csv": to_csv(validation[a:b])} for a, b in pairwise(cuts)]},
    )
    booster = xgboost.Booster()
    booster.load_model(bytearray(job.leader.model.read_bytes()))
    rows = xgboost.DMatrix(validation[:, 1:], validation[:, 0], nthread=1)
    assert len(job.reports) == 6
    for iteration, report in enumerate(job.reports, 1):
        assert list(report) == ["validation:auc", "validation:profit"]
        _, expected = profit(booster[:iteration].predict(rows), rows)
        assert report["validation:profit"] == pytest.approx(expected, abs=1e-9, rel=1e-12)


def test_training_ends_early_in_the_direction_that_is_declared(
    jobs: Any, channels: dict[str, dict[str, bytes]], code: Callable[..., str]
) -> None:
    falling = """
    values = iter([5, 4, 3, 3.5, 3.5, 3.5, 1, 1])

    def waste(predictions, rows):
        return "waste", next(values)
    """
    job = jobs.run(
        {
            **SETTINGS,
            "num_round": 50,
            "custom_metric": "waste.py:waste",
            "custom_metric_goal": "minimize",
            "early_stopping_rounds": 3,
            "sagemaker_submit_directory": code(waste=falling),
        },
        2,
        replicated=channels,
    )
    assert [report["validation:waste"] for report in job.reports] == [5, 4, 3, 3.5, 3.5, 3.5]
    assert "no better value since iteration 3: training ends after 6" in job.leader.err


def test_what_a_function_returns_beside_its_name_can_be_tuned_and_is_reported_if_not_finite(
    jobs: Any, channels: dict[str, dict[str, bytes]], code: Callable[..., str]
) -> None:
    text = """
    def money(predictions, rows):
        return [("gain", float("nan")), ("rows", rows.num_row())]
    """
    job = jobs.run(
        {
            **SETTINGS,
            "num_round": 2,
            "custom_metric": '["money.py:money"]',
            "_tuning_objective_metric": "validation:gain",
            "sagemaker_submit_directory": code(money=text),
        },
        1,
        replicated=channels,
        environment={"BANDSTAND_GOAL": "maximize"},
    )
    assert [line["validation:gain"] for line in job.reports] == [-3.4028235e38] * 2
    assert all(line["nonfinite"] == 1 for line in job.reports)
    assert "warning: validation:gain is nan" in job.leader.err


@pytest.mark.parametrize(
    ("text", "more", "reason"),
    [
        ("", {"custom_metric": "mony.py:profit"}, "there is no mony.py in .* Did you mean 'money.py'?"),
        ("def profits(p, r): ...", {}, r"money.py has no function profit. Did you mean 'profits'\?"),
        ("profit = 3", {}, "'money.py:profit', which is no function but int."),
        ("class profit: ...", {}, "which is a class; expected a function of predictions and rows."),
        ("async def profit(p, r): ...", {}, "which is async; expected a function of predictions and rows."),
        ("def profit(p): ...", {}, "cannot be called with predictions and rows: too many positional"),
        ("raise SystemExit(0)", {}, r"money.py, .* ended the program by sys.exit\(0\) while it was loaded"),
        (
            "def profit(p, r):\n    raise SystemExit(0)",
            {},
            r"metric profit \(.*money.py, line 1\) ended the program by sys.exit\(0\)",
        ),
        ("", {"custom_metric": "profit"}, "expected a file and a function in it, such as profit.py:profit."),
        ("import nothing_such", {}, r"No module named 'nothing_such' \(money.py, line 1\) on algo-1, rank 0"),
        ("def profit(p, r)", {}, r"SyntaxError: expected ':' \(money.py, line 1\) on algo-1, rank 0"),
        (
            "def profit(p, r):\n    return 'profit', p[len(p)]",
            {},
            r"IndexError: index \d+ is out of bounds .*\(money.py, line 2\) on algo-1, rank 0",
        ),
        (
            "def profit(p, r):\n    return 'profit', p",
            {},
            r"metric profit \(.*money.py, line 1\) .*one number",
        ),
        ("def profit(p, r):\n    return 'profit', float('inf')", {}, "Declare the goal"),
        (
            "def profit(p, r):\n    return 'gain', 1",
            {"_tuning_objective_metric": "validation:profit"},
            "objective is 'validation:profit'; reported are validation:auc, validation:gain",
        ),
        (
            "def profit(p, r):\n    return 'gain', 1",
            {"early_stopping_rounds": 2},
            "'profit' should grow or fall is not known. Say it by custom_metric_goal",
        ),
        ("", {"custom_metric_goal": "up"}, "custom_metric_goal"),
    ],
)
def test_faults_are_the_failure_reason_of_all_hosts(
    jobs: Any,
    channels: dict[str, dict[str, bytes]],
    code: Callable[..., str],
    text: str,
    more: dict[str, object],
    reason: str,
) -> None:
    hyperparameters = {
        **SETTINGS,
        "custom_metric": "money.py:profit",
        "sagemaker_submit_directory": code(money=text),
        **more,
    }
    found = jobs.fail(hyperparameters, 2, replicated=channels)
    assert re.search(reason, found), found


def test_an_exception_in_a_later_iteration_leaves_the_reports_before_it(
    jobs: Any, channels: dict[str, dict[str, bytes]], code: Callable[..., str]
) -> None:
    text = """
    values = iter([1, 2, 3])

    def profit(predictions, rows):
        return "profit", next(values)
    """
    job = jobs.start(
        {
            **SETTINGS,
            "num_round": 1000,
            "custom_metric": "money.py:profit",
            "sagemaker_submit_directory": code(money=text),
        },
        2,
        replicated=channels,
    )
    assert 0 not in job.wait(), job.log
    assert [report["validation:profit"] for report in job.reports] == [1, 2, 3]
    assert {host.failure for host in job.hosts} == {"StopIteration (money.py, line 5) on algo-1, rank 0"}


def test_files_are_named_within_the_folder_and_run_once(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "several.py").write_text("print('runs')\ndef one(p, r): ...\ndef two(p, r): ...\n")
    functions, problems = load_metrics(["sub/several.py:one", "sub/several.py:two"], tmp_path)
    assert [function.__name__ for function in functions] == ["one", "two"]
    assert functions[0].__globals__ is functions[1].__globals__
    assert problems == []
    _, problems = load_metrics(["../x.py:f", "several.py:one", "sub/several.py:three"], tmp_path)
    assert "expected a path within the code folder" in problems[0]
    assert "Did you mean 'sub/several.py'?" in problems[1]
    assert "has no function three. It has: one, two." in problems[2]
    _, problems = load_metrics(["x.py:f"], tmp_path / "nothing")
    assert "there is no code folder" in problems[0]
