"""What may run depends on where: on containers, the image itself decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bandstand.problem import Problem
from bandstand.request import TuningPlan
from bandstand.request.loading import load

Document = dict[str, Any]
Change = Callable[..., Document]
Problems = Callable[..., list[Problem]]
Job = Callable[..., Any]

BODY = "TrainingJobDefinition"


def numbers(problems: list[Problem]) -> list[int]:
    return [problem.number for problem in problems]


@pytest.mark.parametrize(
    ("changes", "number"),
    [
        ({"EnableNetworkIsolation": True}, 617),
        ({"AlgorithmSpecification.ContainerEntrypoint": ["python", "train.py"]}, 618),
        ({"AlgorithmSpecification.ContainerArguments": ["train", "--fast"]}, 618),
    ],
)
def test_what_processes_cannot_do_containers_can(
    changes: dict[str, Any], number: int, training: Document, change: Change, problems: Problems
) -> None:
    document = change(training, changes)
    assert number in numbers(problems(document))
    load(document, on="containers")


def test_what_neither_can_do_is_refused_by_name(
    training: Document, change: Change, problems: Problems
) -> None:
    document = change(training, {"AlgorithmSpecification.TrainingInputMode": "Pipe"})
    (problem,) = problems(document, on="containers")
    assert problem.found == '"Pipe", which does not run on containers'


def test_any_image_may_train_in_its_own_way_on_containers(
    training: Document, change: Change, problems: Problems
) -> None:
    own = {"AlgorithmSpecification.TrainingImage": "mine:1", "HyperParameters": {"algorithm": "forest"}}
    assert 620 in numbers(problems(change(training, own)))
    load(change(training, own), on="containers")


def test_bandstands_own_image_needs_a_program_anywhere(
    training: Document, change: Change, problems: Problems
) -> None:
    nothing = change(training, {"HyperParameters": {}})
    assert numbers(problems(nothing, on="containers")) == [421]


def test_awss_xgboost_is_itself_on_containers_and_stood_in_for_on_processes(job: Job) -> None:
    image = "683313688378.dkr.ecr.us-east-1.amazonaws.com/sagemaker-xgboost:1.7-1"
    path = job(('algorithm = "xgboost"\n', ""), ("[channels]", "[channels]"))
    path.write_text(path.read_text().replace('name = "direct', f'image = "{image}"\nname = "direct'))
    here, there = load(path), load(path, on="containers")
    assert isinstance(here, TuningPlan)
    assert isinstance(there, TuningPlan)
    assert ("algorithm", "xgboost") in here.definitions[0].training.hyperparameters
    assert "algorithm" not in dict(there.definitions[0].training.hyperparameters)


def test_limits_of_hosts_are_checked_anywhere_and_have_no_effect_on_processes(job: Job) -> None:
    text = '[environment]\nBANDSTAND_HOST_MEMORY = "2g"\n'
    path = job(script=True)
    path.write_text(path.read_text() + text)
    assert any("BANDSTAND_HOST_MEMORY" in note for note in load(path).notes)
    assert not any("BANDSTAND_HOST_MEMORY" in note for note in load(path, on="containers").notes)


def test_a_limit_that_is_none_is_a_problem(job: Job, problems: Problems) -> None:
    path = job(script=True)
    path.write_text(path.read_text() + '[environment]\nBANDSTAND_HOST_MEMORY = "lots"\n')
    (problem,) = problems(path, on="containers")
    assert (problem.number, problem.where) == (623, "environment.BANDSTAND_HOST_MEMORY")
