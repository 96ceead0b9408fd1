"""Which training job definition the next training job is made of, of the several of a tuning job.

AMT shares its training jobs among definitions and does not say how; this is how it is done here. Settings do
not enter: a definition's are drawn, or come from a model of its own training jobs.

Source: Thompson sampling of two outcomes, as in O. Chapelle and L. Li, "An Empirical Evaluation of Thompson
Sampling", NIPS 2011, section 2.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence

from bandstand.study.model import Observation, random_first
from bandstand.study.spec import Space, StudySpec

GOOD_SHARE = 4
"""The best one in so many training jobs are the good ones."""


def next_space(
    spec: StudySpec, trial: int, known: Sequence[Observation], given_up: Collection[str] = ()
) -> Space:
    """Say which definition a training job is made of.

    Without a model definitions take turns. With one they do so until each has its random settings; then each
    is given the share of its training jobs that are among the best quarter of all as a distribution (a beta
    distribution, from the uniform one), a number is drawn from each, and the highest one's is next. So most
    training jobs go to what has done best, and few to what is known to do badly.

    Args:
        spec: The study's terms.
        trial: The training job's number, from 1.
        known: What was observed of all definitions, running ones among it, in the order of the starts.
        given_up: Definitions that get no more training jobs, as long as there are others.
    """
    spaces = [space for space in spec.spaces if space.name not in given_up] or [*spec.spaces]
    tried = Counter(each.definition for each in known)
    fewest = min(spaces, key=lambda space: tried[space.name])
    if not spec.modelled or tried[fewest.name] < random_first(spec):
        return fewest
    good = Counter(each.definition for each in _good(spec, known))

    def drawn(space: Space) -> float:
        generator = random.Random(f"{spec.seed}/{trial}/definition/{space.name}")
        return generator.betavariate(1 + good[space.name], 1 + tried[space.name] - good[space.name])

    return max(spaces, key=drawn)


def _good(spec: StudySpec, known: Sequence[Observation]) -> list[Observation]:
    """The best quarter of those that ended with an objective, rounded up; of equals the earlier."""
    sign = -1.0 if spec.maximize else 1.0
    valued = [(sign * each.value, each) for each in known if each.state == "ended" and each.value is not None]
    valued.sort(key=lambda pair: pair[0])
    return [each for _, each in valued[: -(-len(valued) // GOOD_SHARE)]]
