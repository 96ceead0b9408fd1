"""Settings from a model of what was tried: Optuna's tree-structured Parzen estimator (TPE), told all at once.

Sources: J. Bergstra et al., "Algorithms for Hyper-Parameter Optimization", NeurIPS 2011; S. Watanabe,
"Tree-Structured Parzen Estimator", arXiv 2304.11127. Running trials count among the bad ones ("constant
liar"), so that trials of the same moment keep away from each other.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from bandstand.errors import PlatformError
from bandstand.request.ranges import CategoricalRange
from bandstand.study.settings import Settings, random_settings

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

    from bandstand.study.spec import Space, StudySpec

RANDOM_FIRST = 10
"""Trials whose settings are drawn at random before there is a model, as in Optuna's TPESampler."""

LEAST_FIRST = 3
"""The same for each of several definitions at least, however many there are."""

_BELOW_ONE = 1.0 - 2.0**-53


@dataclass(frozen=True)
class Observation:
    """What is known about one setting.

    Args:
        settings: The tuned hyperparameters, as text.
        state: "ended" with a value that counts in full; "cut" at a report by a rung or the median rule, which
            ranks behind all that ended and behind those cut later; "bad" without a finite objective, which
            ranks last; or "running".
        value: The latest objective; None where there is none.
        reports: Reports made.
        definition: The name of the training job definition that it is of.
    """

    settings: Settings
    state: Literal["ended", "cut", "bad", "running"]
    value: float | None = None
    reports: int = 0
    definition: str = ""


def require_model() -> None:
    """Import Optuna, which takes most of a second, before anybody waits for settings.

    Raises:
        PlatformError: It is not installed.
    """
    _optuna()


def random_first(spec: StudySpec) -> int:
    """Trials of each definition whose settings are drawn at random: they share `RANDOM_FIRST`."""
    return max(LEAST_FIRST, -(-RANDOM_FIRST // len(spec.spaces)))


def modelled_settings(spec: StudySpec, space: Space, trial: int, known: Sequence[Observation]) -> Settings:
    """Choose the settings of one trial from all that is known of its definition at this moment.

    The same observations in the same order, seed and trial give the same settings: nothing is kept from one
    call to the next.

    Args:
        spec: The study's terms.
        space: What is tuned of the trial's definition.
        trial: The trial's number, from 1.
        known: What was observed, in the order of the starts; what is of other definitions is passed over.

    Returns:
        (name, value as text) in the order of the ranges.

    Raises:
        PlatformError: Optuna is not installed.
    """
    known = [each for each in known if each.definition == space.name]
    if len(known) < random_first(spec) or all(each.state == "running" for each in known):
        return random_settings(spec.seed, trial, space.ranges)
    optuna = _optuna()
    distributions = {each.name: _distribution(optuna, each) for each in space.ranges}
    sampler = optuna.samplers.TPESampler(
        n_startup_trials=0,
        multivariate=True,
        constant_liar=True,
        seed=random.Random(f"{spec.seed}/{trial}/tpe").getrandbits(32),
    )
    with _quiet(optuna):
        study = optuna.create_study(direction=spec.goal, sampler=sampler)
        study.add_trials([_frozen(optuna, space, distributions, each) for each in known])
        chosen = study.ask(distributions).params
    return tuple((each.name, _text(each, chosen[each.name])) for each in space.ranges)


def _frozen(
    optuna: Any, space: Space, distributions: dict[str, BaseDistribution], seen: Observation
) -> FrozenTrial:
    state = optuna.trial.TrialState
    given = dict(seen.settings)
    params = {each.name: _place(each, given[each.name]) for each in space.ranges}
    cut = seen.state == "cut" and seen.value is not None
    trial: FrozenTrial = optuna.trial.create_trial(
        state={"ended": state.COMPLETE, "running": state.RUNNING}.get(seen.state, state.PRUNED),
        value=seen.value if seen.state == "ended" else None,
        intermediate_values={seen.reports: seen.value} if cut else {},
        params=params,
        distributions=distributions,
    )
    return trial


def _distribution(optuna: Any, spread: Any) -> BaseDistribution:
    """A range as Optuna has it: categories, or the unit interval on the range's own scale."""
    found: BaseDistribution = (
        optuna.distributions.CategoricalDistribution(spread.values)
        if isinstance(spread, CategoricalRange)
        else optuna.distributions.FloatDistribution(0.0, 1.0)
    )
    return found


def _place(spread: Any, text: str) -> float | str:
    if isinstance(spread, CategoricalRange):
        return text
    place = spread.place(text)
    return 0.5 if place is None else float(place)


def _text(spread: Any, chosen: Any) -> str:
    text: str = chosen if isinstance(spread, CategoricalRange) else spread.at(min(float(chosen), _BELOW_ONE))
    return text


def _optuna() -> Any:
    try:
        return import_module("optuna")
    except ImportError as error:
        raise PlatformError(
            f"This strategy chooses settings with optuna, which cannot be imported ({error}). "
            "Install it: pip install 'bandstand[local]'."
        ) from None


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
