"""The record under other terms: what a tuning job would have cost and found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from bandstand.errors import InputError
from bandstand.hyperparameters import nearest
from bandstand.request.strategy_rules import MAX_RESOURCE
from bandstand.runs.documents import Document
from bandstand.runs.finding import find
from bandstand.runs.jobs import Kind, TrainingJob, TuningJob
from bandstand.runs.record import Record
from bandstand.runs.stops import finite
from bandstand.runs.stored import tuning_job
from bandstand.study import Ended, Reported, Started, StudySpec, from_document
from bandstand.study.simulate import Curve, Simulation, simulate

TERMS = ("min_resource", "max_resource", "parallel", "jobs", "strategy", "early_stopping")
"""What may be changed."""

_NUMBERS = ("min_resource", "max_resource", "parallel", "jobs")
_WORDS: Mapping[str, Mapping[str, Any]] = {
    "strategy": {"hyperband": "Hyperband", "random": "Random"},
    "early_stopping": {"auto": True, "off": False},
}


def what_if(record: Record, name: str, changes: Sequence[str], *, kind: Kind | None = None) -> Document:
    """Simulate a recorded tuning job under its own terms and under changed ones.

    Args:
        record: The store.
        name: A tuning job.
        changes: `TERM=VALUE`, such as `max_resource=60`.
        kind: `tuning` where a training job has the same name.

    Returns:
        name, kind ("what-if"), objective, changes (term to its value before and after), notes; `recorded` and
        `what_if`, each with iterations, seconds, best (number, name, value), stops by kind, stopped_at by
        rung, unknown (number, name and known reports of each training job that nobody knows the rest of) and
        ended_because.

    Raises:
        InputError: The job is no tuning job, or a change is none that can be simulated; with every problem.
    """
    job = find(record, name, kind)
    if isinstance(job, TrainingJob):
        raise InputError(f"{name} is one training job; --what-if is for tuning jobs.")
    was = StudySpec.from_plan(job.plan, job.seed)
    if was.strategy == "Grid":
        was = replace(was, strategy="Random")  # settings are the recorded ones, of a part of the grid as well
    now = _changed(was, changes)
    curves = recorded_curves(record, job.name)
    names = {
        row["number"]: row["name"]
        for row in record.read("SELECT number, name FROM training_jobs WHERE tuning_job = ?", (job.name,))
    }
    return {
        "name": job.name,
        "kind": "what-if",
        "objective": {"name": job.plan.objective, "goal": job.plan.goal},
        "changes": {
            term: {
                "was": job.plan.strategy if term == "strategy" else getattr(was, term),
                "is": getattr(now, term),
            }
            for term in TERMS
            if getattr(was, term) != getattr(now, term)
            or (term == "max_resource" and was.spaces != now.spaces)
        },
        "recorded": _document(simulate(was, curves), names),
        "what_if": _document(simulate(now, curves), names),
        "notes": _notes(job, was),
    }


def recorded_curves(record: Record, name: str) -> dict[int, Curve]:
    """The curve of every training job of a tuning job that was started.

    Args:
        record: The store.
        name: The tuning job.
    """
    starts: dict[int, float] = {}
    reports: dict[int, list[tuple[float, float]]] = {}
    ends: dict[int, tuple[float, Literal["completed", "failed"] | None]] = {}
    last = 0.0
    idle = tuning_job(record, name).idle
    definitions: dict[int, str] = {}
    for row in record.read("SELECT body, time FROM events WHERE tuning_job = ? ORDER BY seq", (name,)):
        entry, last = from_document(json.loads(row["body"])), max(last, _ran(row["time"], idle))
        match entry:
            case Started(trial, _, definition):
                starts[trial], reports[trial], definitions[trial] = last, [], definition
            case Reported(trial, value):
                reports[trial].append((last - starts[trial], value))
            case Ended(trial, outcome):
                ends[trial] = (last, None if outcome == "stopped" else outcome)
    return {
        trial: Curve(
            tuple(reports[trial]),
            ends.get(trial, (last, None))[0] - start,
            ends.get(trial, (0, None))[1],
            definitions[trial],
        )
        for trial, start in starts.items()
    }


def _ran(moment: float, idle: Sequence[tuple[float, float]]) -> float:
    """A moment on a clock that stood still while no launcher ran the tuning job."""
    return moment - sum(max(0.0, min(moment, end) - begin) for begin, end in idle)


def _changed(spec: StudySpec, changes: Sequence[str]) -> StudySpec:
    terms: dict[str, Any] = {}
    problems = []
    for change in changes:
        term, _, text = (part.strip() for part in change.partition("="))
        if term not in TERMS:
            near = nearest(term, TERMS)
            hint = f" Did you mean {near}?" if near else ""
            problems.append(
                f"'{change}' changes no term; expected one of {', '.join(TERMS)}, '=' and a value.{hint}"
            )
        elif term in _NUMBERS and not (
            text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MAX_RESOURCE
        ):
            problems.append(f"{term} is '{text}'; expected a whole number from 1 to {MAX_RESOURCE:,}.")
        elif term in _WORDS and text not in _WORDS[term]:
            problems.append(f"{term} is '{text}'; expected {' or '.join(_WORDS[term])}.")
        else:
            terms[term] = int(text) if term in _NUMBERS else _WORDS[term][text]
    if problems:
        raise InputError(" ".join(problems))
    if terms.get("jobs", 0) > spec.jobs:
        raise InputError(
            f"jobs is {terms['jobs']}; the record has {spec.jobs}, and nobody knows what others would do. "
            f"Ask for at most {spec.jobs}."
        )
    strategy = terms.get("strategy", spec.strategy)
    hyperband = strategy in ("Hyperband", "Hyperband-TPE")
    needless = [term for term in ("min_resource", "max_resource") if term in terms and not hyperband]
    if needless:
        raise InputError(f"{' and '.join(needless)} need Hyperband. Add --what-if strategy=hyperband.")
    if hyperband:
        terms.setdefault("early_stopping", False)
    elif strategy != spec.strategy:
        terms["max_resource"] = None
    if "max_resource" in terms:
        terms["spaces"] = tuple(replace(space, max_resource=None) for space in spec.spaces)
    return replace(spec, **terms)


def _document(simulation: Simulation, names: Mapping[int, str]) -> Document:
    best = None
    if simulation.best is not None:
        number, value = simulation.best
        best = {"number": number, "name": names[number], "value": finite(value)}
    return {
        "iterations": simulation.iterations,
        "seconds": round(simulation.seconds, 3),
        "best": best,
        "stops": dict(simulation.stops),
        "stopped_at": {str(rung): number for rung, number in simulation.stopped_at},
        "unknown": [
            {"number": number, "name": names.get(number), "reports": reports}
            for number, reports in simulation.unknown
        ],
        "ended_because": simulation.finish.reason,
    }


def _notes(job: TuningJob, spec: StudySpec) -> list[str]:
    notes = ["Both sides are simulated on what was recorded; here stops take effect at once."]
    if spec.modelled:
        notes.append(
            "Settings are those that were recorded; under other terms the model would choose others."
        )
    if not job.over:
        notes.append("The tuning job is under way; what it will still report is not known.")
    return notes
