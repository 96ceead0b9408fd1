from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bandstand.errors import InputError
from bandstand.request.plan import DefinitionPlan, TrainingPlan, TuningPlan
from bandstand.request.ranges import CategoricalRange, IntegerRange
from bandstand.study import Space, StudySpec

MakeSpec = Callable[..., StudySpec]


def test_every_wrong_term_is_named_at_once(make_spec: MakeSpec) -> None:
    with pytest.raises(InputError) as caught:
        make_spec(goal="Maximize", strategy="Best", jobs=0, parallel=-1)
    for part in ("'Maximize'", "'Best'", "jobs is 0", "parallel is -1", "Hyperband-TPE, Random, Grid"):
        assert part in str(caught.value)


@pytest.mark.parametrize(("low", "high"), [(0, 30), (31, 30), (-1, -1)])
def test_resources_that_cannot_be_are_refused(make_spec: MakeSpec, low: int, high: int) -> None:
    with pytest.raises(InputError, match=f"min_resource is {low} and max_resource {high}"):
        make_spec(min_resource=low, max_resource=high)


def test_hyperband_needs_a_maximum_and_random_does_not(make_spec: MakeSpec) -> None:
    with pytest.raises(InputError, match="max_resource is missing"):
        make_spec(max_resource=None)
    assert make_spec(strategy="Random", max_resource=None).max_resource is None


def test_a_grid_has_categories_and_a_trial_for_each_combination(make_spec: MakeSpec) -> None:
    words = (CategoricalRange("a", ("x", "y", "z")), CategoricalRange("b", ("1", "2")))
    assert make_spec(strategy="Grid", max_resource=None, ranges=words, jobs=6).jobs == 6
    with pytest.raises(InputError, match="jobs is 5; a grid of 6 combinations"):
        make_spec(strategy="Grid", max_resource=None, ranges=words, jobs=5)
    with pytest.raises(InputError, match="found ranges of numbers: num_round, eta"):
        make_spec(strategy="Grid", max_resource=None)


def test_a_plan_gives_its_terms(tmp_path: Path) -> None:
    definition = TrainingPlan(
        name="t", image="i", hosts=1, instance_type="local", volume_gb=1, role="r", hyperparameters=(),
        channels=(), output=tmp_path.as_uri(), checkpoints=None, environment=(), max_runtime=None,
        metrics=(), tags=(), document="{}",
    )  # fmt: skip
    ranges = (IntegerRange("num_round", 1, 5),)
    plan = TuningPlan(
        name="t", definitions=(DefinitionPlan(definition, "loss", ranges, "d"),), goal="minimize",
        strategy="Hyperband", min_resource=2, max_resource=9, jobs=12, parallel=3, seed=None,
        max_runtime=None, tags=(), document="{}",
    )  # fmt: skip
    spec = StudySpec.from_plan(plan, seed=11)
    assert spec == StudySpec("minimize", "Hyperband", 2, 9, 12, 3, 11, (Space(ranges, "d"),))
    assert not spec.maximize
