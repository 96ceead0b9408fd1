"""What a tuning job starts with that was learned by earlier ones: AMT's warm start, from the record.

Source of the rules: Amazon SageMaker developer guide, "Run a Warm Start Hyperparameter Tuning Job".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bandstand.errors import InputError
from bandstand.request.plan import OBJECTIVE_HYPERPARAMETER, TuningPlan
from bandstand.request.tuning_rules import MAX_JOBS, MAX_JOBS_RANDOM
from bandstand.runs.finding import unknown
from bandstand.runs.jobs import TrainingJob, TuningJob
from bandstand.runs.record import Record
from bandstand.runs.stored import training_jobs, tuning_jobs
from bandstand.study import Known
from bandstand.study.rungs import usable
from bandstand.study.spec import MODELLED

MOST_CHANGES = 10
"""Most hyperparameters that became static or got another static value since a parent."""


@dataclass(frozen=True)
class Knowledge:
    """What the parents of a tuning job have learned.

    Args:
        events: One for each of their training jobs that can be used.
        notes: How many those are of each parent, and whether settings depend on them; one sentence each.
    """

    events: tuple[Known, ...] = ()
    notes: tuple[str, ...] = ()


def knowledge(record: Record, plan: TuningPlan) -> Knowledge:
    """Read the parents of a tuning job.

    A parent's training job is used when it ended with a finite objective and its hyperparameters, tuned or
    static, lie in the new ranges. Parents of parents are not read unless they are named, as in AMT, and all
    training jobs of a parent count among the most that a tuning job may have.

    Args:
        record: The store.
        plan: The new tuning job.

    Raises:
        InputError: A parent cannot be one, or there are too many training jobs; with every problem.
    """
    problems: list[str] = []
    events: list[Known] = []
    notes = []
    earlier = 0
    for name in plan.parents:
        named = tuning_jobs(record, "name = ?", (name,))
        if not named:
            problems.append(unknown(record, name, "tuning", advise=False))
            continue
        parent = named[0]
        found = list(_problems(parent, plan))
        problems += [f"{parent.name} {problem}" for problem in found]
        if not found:
            rows = training_jobs(record, "tuning_job = ?", (parent.name,))
            earlier += len(rows)
            used = [event for row in rows if (event := _event(row, plan)) is not None]
            events += used
            notes.append(f"warm start: {len(used)} of the {len(rows)} training jobs of {parent.name} count.")
    most = MAX_JOBS_RANDOM if plan.strategy == "Random" else MAX_JOBS
    if earlier + plan.jobs > most:
        problems.append(
            f"{plan.jobs} training jobs and the {earlier} of its parents are more than the {most:,} that a "
            f"tuning job of {plan.strategy} may have with those of its parents. Ask for fewer."
        )
    if events and plan.strategy not in MODELLED:
        notes.append(f"warm start: the settings that {plan.strategy} tries do not depend on them.")
    if problems:
        raise InputError("The warm start cannot be: " + " ".join(problems))
    return Knowledge(tuple(events), tuple(notes))


def _problems(parent: TuningJob, plan: TuningPlan) -> Iterator[str]:
    was = parent.plan
    if len(was.definitions) > 1:
        yield f"has {len(was.definitions)} definitions; only a tuning job of one can be a parent."
        return
    if not parent.over:
        yield f"is {parent.status}; a parent has to have ended. Wait for it, or stop it."
    if (was.objective, was.goal) != (plan.objective, plan.goal):
        yield (
            f"was to {was.goal} {was.objective}; this one is to {plan.goal} {plan.objective}, and the "
            "objective has to be the same."
        )
    kinds = {each.name: type(each) for each in was.definitions[0].ranges}
    for each in plan.definitions[0].ranges:
        if kinds.get(each.name, type(each)) is not type(each):
            yield f"has a range of another type for {each.name}; a hyperparameter keeps its type."
    old, new = _names(was), _names(plan)
    if len(old) != len(new):
        yield (
            f"has {len(old)} hyperparameters, static and tuned, and this one {len(new)}; their number has to "
            "stay the same."
        )
    changes = _changes(was, plan)
    if len(changes) > MOST_CHANGES:
        yield (
            f"differs in {len(changes)} static hyperparameters ({', '.join(changes)}); at most "
            f"{MOST_CHANGES} may become static or change."
        )
    if plan.warm_start == "IdenticalDataAndAlgorithm":
        yield from _differences(was, plan)


def _differences(was: TuningPlan, plan: TuningPlan) -> Iterator[str]:
    """What must not differ with IdenticalDataAndAlgorithm."""
    advice = "Take TransferLearning, which allows that."
    old, new = was.definitions[0].training, plan.definitions[0].training
    if old.image != new.image:
        yield f"has the image {old.image}, and this one {new.image}. {advice}"
    if old.channels != new.channels:
        names = sorted({each.name for each in {*old.channels} ^ {*new.channels}})
        yield f"has other data in {', '.join(names) or 'its channels'}. {advice}"


def _names(plan: TuningPlan) -> set[str]:
    return {*_static(plan), *(each.name for each in plan.definitions[0].ranges)}


def _static(plan: TuningPlan) -> dict[str, str]:
    settings = dict(plan.definitions[0].training.hyperparameters)
    settings.pop(OBJECTIVE_HYPERPARAMETER, None)
    return settings


def _changes(was: TuningPlan, plan: TuningPlan) -> list[str]:
    old, tuned = _static(was), {each.name for each in was.definitions[0].ranges}
    return [name for name, value in _static(plan).items() if name in tuned or old.get(name, value) != value]


def _event(row: TrainingJob, plan: TuningPlan) -> Known | None:
    if row.status not in ("Completed", "Stopped") or row.objective is None or not usable(row.objective):
        return None
    had = dict(row.plan.hyperparameters)
    ranges = plan.definitions[0].ranges
    settings = tuple((each.name, had.get(each.name, "")) for each in ranges)
    if any(each.place(text) is None for each, (_, text) in zip(ranges, settings, strict=True)):
        return None
    cut = row.status == "Stopped" and (row.stop or {}).get("kind") in ("rung", "median")
    return Known(row.name, settings, row.objective, row.reports, cut)
