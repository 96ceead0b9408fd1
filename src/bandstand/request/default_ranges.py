"""Default ranges of a job file: `eta = "default"`, and `"*" = "default"` for all that have one (rule 437)."""

from __future__ import annotations

from collections.abc import Iterable

from bandstand.hyperparameter_declaration import Hyperparameter
from bandstand.request.documents import Definition
from bandstand.request.findings import Findings, listed, shown
from bandstand.request.hyperparameter_rules import refuse_unknown
from bandstand.request.job_reading import dotted
from bandstand.request.job_schema import DEFAULT, JobFile, Span
from bandstand.request.program_schema import Declared, declared_by

ALL = "*"
"""Stands for every hyperparameter with a default range that a job file says nothing else about."""


def fill_ranges(job: JobFile, definition: Definition, findings: Findings) -> JobFile:
    """Return a job file with every default range written out, and said.

    Args:
        job: The job file.
        definition: What is known of its program: environment, image, static hyperparameters.
        findings: Takes problems and notes.
    """
    if ALL not in job.ranges and not any(span is DEFAULT for span in job.ranges.values()):
        return job
    ranges = {name: span for name, span in job.ranges.items() if span is not DEFAULT and name != ALL}
    asked = [name for name, span in job.ranges.items() if span is DEFAULT and name != ALL]
    if job.ranges.get(ALL, DEFAULT) is not DEFAULT:
        fix = 'Write "*" = "default", or name the hyperparameter.'
        findings.refuse(106, _key(ALL), "a table", '"default"', fix)
        findings.doubt(_key(ALL))
    known = len(findings.problems)
    declared = declared_by(definition, findings)
    if declared is None:
        for name in [name for name, span in job.ranges.items() if span is DEFAULT]:
            if len(findings.problems) == known:
                _refuse_undeclared(name, definition, findings)
            findings.doubt(_key(name))
        return job.model_copy(update={"ranges": ranges})
    if job.ranges.get(ALL) is DEFAULT:
        asked += _all(declared, {*asked, *ranges, *definition.static}, findings)
    filled = {name: span for name in asked if (span := _span(name, declared, findings)) is not None}
    return job.model_copy(update={"ranges": filled | ranges})


def _all(declared: Declared, taken: Iterable[str], findings: Findings) -> list[str]:
    """Every name with a default range that the job file says nothing else about."""
    there = {it.name for name in taken if (it := declared.schema.find(name)) is not None}
    tuned = [it.name for it in declared.schema.declared if it.tune is not None]
    found = [name for name in tuned if name not in there]
    if not found:
        what = f"nothing: {', '.join(tuned)} are static or have ranges" if tuned else "nothing"
        findings.refuse(437, _key(ALL), what, "hyperparameters with a default range", "Take it out.")
        findings.doubt(_key(ALL))
    return found


def _span(name: str, declared: Declared, findings: Findings) -> Span | None:
    key = _key(name)
    it = declared.schema.find(name)
    if it is None:
        findings.came_from(("ranges", name), key, True)
        refuse_unknown(name, ("ranges", name), declared, findings)
        findings.doubt(key)
        return None
    if it.tune is None:
        names = [each.name for each in declared.schema.declared if each.tune is not None]
        fix = "Write a range." if it.tunable else "Give it one value."
        allowed = (
            f"one of those that {declared.program} has a default range of: {listed(names, 30) or 'none'}"
        )
        findings.refuse(437, key, f'"default" for {it.name}', allowed, fix + declared.outdated)
        findings.doubt(key)
        return None
    findings.note(f"{key}: {it.tune}, the default range of {declared.program}.")
    return _written(it)


def _written(it: Hyperparameter) -> Span:
    """A default range as a job file writes it."""
    tune = it.tune
    if tune is None or tune.values:
        return Span(categorical=list(tune.values if tune else ()))
    kind = "integer" if it.kind == "integer" else "continuous"
    return Span.model_validate({kind: [tune.low, tune.high], "scale": tune.scale})


def _refuse_undeclared(name: str, definition: Definition, findings: Findings) -> None:
    script = definition.setting("sagemaker_program")
    fix = "Write a range."
    if script is not None and script.endswith(".py"):
        fix = (
            f"Write a range; or declare hyperparameters in bandstand.start(schema=...) and run: python "
            f"{script} --export-hyperparameters"
        )
    found = f"{shown('default')}, yet nothing declares hyperparameters"
    findings.refuse(437, _key(name), found, "a program with declared hyperparameters", fix)


def _key(name: str) -> str:
    return dotted(["ranges", name])
