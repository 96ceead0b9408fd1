"""A job against what its program declares: names, values, ranges, default ranges, and the file itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bandstand.problem import Problem
from bandstand.request import Plan, TuningPlan
from bandstand.request.ranges import CategoricalRange, ContinuousRange, IntegerRange

Job = Callable[..., Path]
Problems = Callable[..., list[Problem]]
PlanOf = Callable[..., Plan]
Change = Callable[..., dict[str, Any]]

SCRIPT = """
import bandstand
from bandstand import hyperparameter as hp

bandstand.start(schema=[
    hp("epochs", int, 1, 100, help="Passes over the rows."),
    hp("rate", float, above=0, high=10, default=0.1, tune=(1e-4, 1), scale="log", aliases=["eta"]),
    hp("momentum", float, 0, below=1, default=0, tune=(0, 0.99), scale="reverse-log"),
    hp("layers", int, 1, 9, default=2, tune=(1, 4)),
    hp("optimizer", ["sgd", "adam"], default="adam", tune=True),
    hp("hidden", list[int], 1, default=[64]),
    hp("title", str, default="", tunable=False),
])
"""

OWN = """
name = "own"
program = "src/train.py"
[hyperparameters]
epochs = 27
[tuning]
metric = "loss"
goal = "minimize"
jobs = 9
[ranges]
rate = { continuous = [0.001, 1] }
"""

BODY = "TrainingJobDefinition"
RANGES = "HyperParameterTuningJobConfig.ParameterRanges"


@pytest.fixture
def declared(folder: Path) -> Path:
    """A folder whose script has written down what it declares."""
    (folder / "src" / "train.py").write_text(SCRIPT, "utf-8")
    subprocess.run(
        [sys.executable, "train.py", "--export-hyperparameters"],
        cwd=folder / "src",
        env={**os.environ, "SAGEMAKER_BASE_DIR": ""},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return folder


def told(found: list[Problem]) -> list[tuple[int, str]]:
    return [(problem.number, problem.where) for problem in found]


def test_a_job_that_fits_what_its_script_declares_is_planned(
    declared: Path, job: Job, plan_of: PlanOf
) -> None:
    plan = plan_of(job(text=OWN))
    assert isinstance(plan, TuningPlan)
    assert plan.max_resource == 27
    assert not any("exported" in note for note in plan.notes)


def test_every_kind_of_fault_is_told_at_once_in_the_keys_of_the_job_file(
    declared: Path, job: Job, problems: Problems
) -> None:
    static = 'epochs = 27\noptimiser = "sgd"\noptimizer = "sdg"\nhidden = [64, 0]\neta = 11'
    ranges = """[ranges]
rate = { continuous = [0, 11] }
layers = { continuous = [1, 4] }
momentum = { integer = [0, 1] }
title = { categorical = ["a", "b"] }
betas = { integer = [1, 9] }
"""
    whole = ("[ranges]\nrate = { continuous = [0.001, 1] }\n", ranges)
    assert told(problems(job(("epochs = 27", static), whole, text=OWN))) == [
        (431, "hyperparameters.optimiser"),
        (432, "hyperparameters.optimizer"),
        (432, "hyperparameters.hidden"),
        (432, "hyperparameters.eta"),
        (433, "ranges.momentum.integer"),
        (431, "ranges.betas"),
        (436, "ranges.rate"),
        (433, "ranges.rate.continuous"),
        (433, "ranges.rate.continuous"),
        (433, "ranges.layers"),
        (434, "ranges.title"),
    ]


def test_messages_say_what_is_allowed_and_what_was_most_likely_meant(
    declared: Path, job: Job, problems: Problems
) -> None:
    found = problems(job(("epochs = 27", 'epochs = 27\noptimizer = "sdg"\ntitel = "x"'), text=OWN))
    assert [str(problem) for problem in found] == [
        "[rule 432] hyperparameters.optimizer: found \"sdg\"; allowed: one of sgd, adam. Did you mean 'sgd'?",
        (
            '[rule 431] hyperparameters.titel: found "titel", which train.py does not declare; allowed: a '
            "declared hyperparameter. Did you mean title?"
        ),
    ]


@pytest.mark.parametrize(
    ("spread", "numbers", "words"),
    [
        ("hidden = { integer = [1, 9] }", [433], "List the values to try as categories."),
        ("optimizer = { continuous = [0, 1] }", [433], "one of sgd, adam"),
        ("_tuning_objective_metric = { integer = [1, 9] }", [309], "a name that AMT does not set"),
    ],
)
def test_ranges_that_a_hyperparameter_cannot_have_are_refused_once(
    declared: Path, job: Job, problems: Problems, spread: str, numbers: list[int], words: str
) -> None:
    found = problems(job(("rate = { continuous = [0.001, 1] }", spread), text=OWN))
    assert [problem.number for problem in found] == numbers
    assert words in str(found[0])


def test_a_name_like_no_other_is_refused_with_those_that_there_are(
    declared: Path, job: Job, problems: Problems
) -> None:
    (problem,) = problems(job(("epochs = 27", "epochs = 27\nzzz = 1"), text=OWN))
    assert problem.fix == (
        "Take it out. Declared are: epochs, rate, momentum, layers, optimizer, hidden, title."
    )


def test_what_is_needed_may_be_static_or_tuned_and_is_missing_else(
    declared: Path, job: Job, problems: Problems, plan_of: PlanOf
) -> None:
    none = ("epochs = 27", "")
    band = ("jobs = 9", "jobs = 9\nmax_resource = 9")
    (problem,) = problems(job(none, band, text=OWN))
    assert (problem.number, problem.where) == (435, "hyperparameters")
    assert (problem.allowed, problem.fix) == ("a whole number from 1 to 100", "Add epochs, static or tuned.")
    assert plan_of(job(none, band, ("[ranges]", "[ranges]\nepochs = { integer = [1, 9] }"), text=OWN))
    (null,) = problems(job(("epochs = 27", 'epochs = "None"'), band, text=OWN))
    assert null.number == 435


def test_categories_may_be_values_of_any_type(declared: Path, job: Job, plan_of: PlanOf) -> None:
    ranges = 'hidden = { categorical = ["64", "64,64"] }\nlayers = { categorical = [1, 4] }\n'
    ranges += "rate = { integer = [1, 9] }"
    plan = plan_of(job(("rate = { continuous = [0.001, 1] }", ranges), text=OWN))
    assert isinstance(plan, TuningPlan)
    assert plan.definitions[0].ranges[0] == IntegerRange("rate", 1, 9)


def test_a_default_range_is_filled_in_and_said(declared: Path, job: Job, plan_of: PlanOf) -> None:
    ranges = 'eta = "default"\nlayers = "default"\noptimizer = "default"'
    plan = plan_of(job(("rate = { continuous = [0.001, 1] }", ranges), text=OWN))
    assert isinstance(plan, TuningPlan)
    assert plan.definitions[0].ranges == (
        IntegerRange("layers", 1, 4),
        ContinuousRange("eta", 1e-4, 1.0, "Logarithmic"),
        CategoricalRange("optimizer", ("sgd", "adam")),
    )
    assert plan.notes[:3] == (
        "ranges.eta: 0.0001 to 1, logarithmic scale, the default range of train.py.",
        "ranges.layers: 1 to 4, auto scale, the default range of train.py.",
        "ranges.optimizer: sgd, adam, the default range of train.py.",
    )


def test_a_star_tunes_all_that_have_a_default_range_and_are_not_said_otherwise(
    declared: Path, job: Job, plan_of: PlanOf
) -> None:
    static = ("epochs = 27", 'epochs = 27\noptimizer = "sgd"')
    plan = plan_of(job(static, ("[ranges]", '[ranges]\n"*" = "default"'), text=OWN))
    assert isinstance(plan, TuningPlan)
    assert plan.definitions[0].ranges == (
        IntegerRange("layers", 1, 4),
        ContinuousRange("momentum", 0.0, 0.99, "ReverseLogarithmic"),
        ContinuousRange("rate", 0.001, 1.0),
    )


@pytest.mark.parametrize(
    ("ranges", "number", "where", "words"),
    [
        ('epochs_ = "default"', 431, "ranges.epochs_", "Did you mean epochs?"),
        ('hidden = "default"', 437, "ranges.hidden", "rate, momentum, layers, optimizer. Write a range."),
        ('title = "default"', 437, "ranges.title", "Give it one value."),
        ('rate = "defualt"', 106, "ranges.rate", 'a table such as { continuous = [0.1, 1.0] }, or "default"'),
        (
            '"*" = { integer = [1, 2] }',
            106,
            'ranges."*"',
            'Write "*" = "default", or name the hyperparameter.',
        ),
        ('rate = "default"\neta = { continuous = [1, 2] }', 436, "ranges.eta", "another name of rate"),
    ],
)
def test_default_ranges_that_cannot_be_are_refused(
    declared: Path, job: Job, problems: Problems, ranges: str, number: int, where: str, words: str
) -> None:
    found = problems(job(("rate = { continuous = [0.001, 1] }", ranges), text=OWN))
    assert told(found) == [(number, where)]
    assert words in str(found[0])


def test_a_star_with_nothing_left_to_tune_is_refused(declared: Path, job: Job, problems: Problems) -> None:
    static = ("epochs = 27", 'epochs = 27\noptimizer = "sgd"\nrate = 1\nmomentum = 0\nlayers = 1')
    (problem,) = problems(job(static, ("rate = { continuous = [0.001, 1] }", '"*" = "default"'), text=OWN))
    assert (problem.number, problem.where) == (437, 'ranges."*"')
    assert "rate, momentum, layers, optimizer are static or have ranges" in problem.found


def test_without_declarations_a_default_range_is_refused_with_the_way_to_declare(
    job: Job, problems: Problems
) -> None:
    (problem,) = problems(job(("rate = { continuous = [0.001, 1] }", 'rate = "default"'), text=OWN))
    assert (problem.number, problem.where) == (437, "ranges.rate")
    assert "python train.py --export-hyperparameters" in problem.fix


def test_without_declarations_a_script_may_have_any_hyperparameter(job: Job, plan_of: PlanOf) -> None:
    assert plan_of(job(("epochs = 27", "epochs = 27\nanything = [1, 2]"), text=OWN))


def test_a_script_that_has_changed_since_is_noted_and_named_where_something_is_wrong(
    declared: Path, job: Job, problems: Problems, plan_of: PlanOf
) -> None:
    script = declared / "src" / "train.py"
    script.write_text(script.read_text("utf-8") + "# more\n", "utf-8")
    command = "python train.py --export-hyperparameters"
    (note,) = [note for note in plan_of(job(text=OWN)).notes if "exported" in note]
    assert note.startswith("train.hyperparameters.json: exported from another version of train.py.")
    assert command in note
    (problem,) = problems(job(("epochs = 27", "epochs = 27\nnew = 1"), text=OWN))
    assert problem.number == 431
    assert problem.fix.endswith(f"If train.py has changed since it was exported, run: {command}")


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("", "", "Expecting value"),
        ("{", "", "JSON in UTF-8"),
        ("[]", "", "an object with SupportedHyperParameters"),
        ("{}", "", "no members; allowed: an object with SupportedHyperParameters"),
        ('{"SupportedHyperParameters": {}}', ": SupportedHyperParameters", "allowed: a list"),
        (
            '{"SupportedHyperParameters": [{"Name": "x"}]}',
            ": SupportedHyperParameters[0].Type",
            "found nothing",
        ),
        (
            '{"SupportedHyperParameters": [{"Name": "x", "Type": "Whole"}]}',
            ": SupportedHyperParameters[0].Type",
            "allowed: Integer, Continuous, Categorical, FreeText",
        ),
        (
            '{"SupportedHyperParameters": [{"Name": "x", "Type": "Integer", "DefaultValue": "y"}]}',
            "",
            "the default 'y' is not a whole number",
        ),
        (" " * 1_000_001, "", "more than 1000000 bytes"),
        ("\udcff", "", "codec can't decode"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_of_with_what_to_run(
    declared: Path, job: Job, problems: Problems, text: str, where: str, words: str
) -> None:
    file = declared / "src" / "train.hyperparameters.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    for ranges in ("rate = { continuous = [0.001, 1] }", 'rate = "default"'):
        (problem,) = problems(job(("rate = { continuous = [0.001, 1] }", ranges), text=OWN))
        assert (problem.number, problem.where) == (438, f"{file}{where}")
        assert words in str(problem)


@pytest.mark.parametrize("program", [None, [], "train.py", {"SHA256": 3}, {"Name": "train.py"}])
def test_a_file_that_does_not_tell_its_program_is_used_as_it_is(
    declared: Path, job: Job, plan_of: PlanOf, program: object
) -> None:
    file = declared / "src" / "train.hyperparameters.json"
    document = json.loads(file.read_text("utf-8"))
    document["Bandstand"]["Program"] = program
    file.write_text(json.dumps(document), "utf-8")
    assert not any("exported" in note for note in plan_of(job(text=OWN)).notes)


def test_everything_that_is_wrong_with_a_file_is_told(declared: Path, job: Job, problems: Problems) -> None:
    wrong = [{"Name": name, "Type": "Integer", "DefaultValue": "x"} for name in "abc"]
    file = declared / "src" / "train.hyperparameters.json"
    file.write_text(json.dumps({"SupportedHyperParameters": wrong}), "utf-8")
    assert [problem.number for problem in problems(job(text=OWN))] == [438] * 3


@pytest.mark.parametrize("prefix", ["", "./"])
def test_the_file_is_found_in_an_archive_of_the_code(
    declared: Path, job: Job, problems: Problems, prefix: str
) -> None:
    with tarfile.open(declared / "code.tar.gz", "w:gz") as archive:
        for name in ("train.py", "train.hyperparameters.json"):
            archive.add(declared / "src" / name, f"{prefix}{name}")
    packed = ('program = "src/train.py"', 'program = "train.py"\ncode = "code.tar.gz"')
    (problem,) = problems(job(packed, ("epochs = 27", "epochs = 27\nlayers = 0"), text=OWN))
    assert (problem.number, problem.where) == (432, "hyperparameters.layers")


def test_an_archive_without_the_file_declares_nothing(declared: Path, job: Job, plan_of: PlanOf) -> None:
    with tarfile.open(declared / "code.tar.gz", "w:gz") as archive:
        archive.add(declared / "src" / "train.py", "train.py")
    packed = ('program = "src/train.py"', 'program = "train.py"\ncode = "code.tar.gz"')
    assert plan_of(job(packed, ("epochs = 27", "epochs = 27\nanything = 1"), text=OWN))


def test_a_document_is_held_against_the_built_ins_declarations_in_its_own_members(
    tuning: dict[str, Any], change: Change, problems: Problems
) -> None:
    changes = {
        f"{BODY}.StaticHyperParameters.objective": '"binary:logistik"',
        f"{BODY}.StaticHyperParameters.max_dept": "3",
        f"{BODY}.StaticHyperParameters.reg_alpha": "-1",
        f"{RANGES}.ContinuousParameterRanges.0.MaxValue": "2",
        f"{RANGES}.CategoricalParameterRanges.0.Values": ["gbtree", "tree"],
        f"{RANGES}.IntegerParameterRanges.0.Name": "nthread",
    }
    found = problems(change(tuning, changes))
    static = f"{BODY}.StaticHyperParameters"
    assert told(found) == [
        (435, f"{static}.num_round"),
        (432, f"{static}.objective"),
        (431, f"{static}.max_dept"),
        (432, f"{static}.reg_alpha"),
        (434, f"{RANGES}.IntegerParameterRanges[0]"),
        (433, f"{RANGES}.ContinuousParameterRanges[0].MaxValue"),
        (433, f"{RANGES}.CategoricalParameterRanges[0].Values"),
    ]
    assert found[1].fix == "Did you mean 'binary:logistic'?"


def test_quoted_values_of_an_sdk_are_read_as_the_algorithm_reads_them(
    tuning: dict[str, Any], change: Change, plan_of: PlanOf
) -> None:
    static = {"algorithm": '"xgboost"', "objective": '"binary:logistic"', "max_depth": '"4"', "seed": "-7"}
    assert plan_of(change(tuning, {f"{BODY}.StaticHyperParameters": static}))


def test_awss_own_image_is_held_against_the_same_declarations(
    tuning: dict[str, Any], change: Change, problems: Problems
) -> None:
    changes = {
        f"{BODY}.AlgorithmSpecification.TrainingImage": "1.dkr.ecr.eu.amazonaws.com/sagemaker-xgboost:1.7-1",
        f"{BODY}.AlgorithmSpecification.MetricDefinitions": None,
        f"{BODY}.StaticHyperParameters": {"eta_": "1"},
    }
    (problem,) = problems(change(tuning, changes))
    assert (problem.number, problem.fix) == (431, "Did you mean eta?")


def test_a_default_range_of_the_built_in_is_sagemakers(job: Job, plan_of: PlanOf) -> None:
    plan = plan_of(job(('eta = { continuous = [1e-3, 1.0], scale = "log" }', '"*" = "default"')))
    assert isinstance(plan, TuningPlan)
    assert {spread.name for spread in plan.definitions[0].ranges} == {
        *("num_round", "booster", "eta", "alpha", "gamma", "lambda", "max_delta_step", "max_depth"),
        *("colsample_bylevel", "colsample_bynode", "colsample_bytree", "min_child_weight", "subsample"),
    }
    assert ContinuousRange("eta", 0.1, 0.5, "Linear") in plan.definitions[0].ranges
