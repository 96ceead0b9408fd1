"""A request's documents as the rules read them: which operation it is, and what its definitions are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bandstand.hyperparameters import decode
from bandstand.request.findings import Findings, Place, listed
from bandstand.request.service_model import TRAINING, TUNING

CONFIG = ("HyperParameterTuningJobConfig",)
"""Where a tuning job's configuration stands."""

ONE, SEVERAL = "TrainingJobDefinition", "TrainingJobDefinitions"
"""Where its definition stands, or the list of them."""

_NAMES = {"HyperParameterTuningJobName": TUNING, "TrainingJobName": TRAINING}
_OTHER_SIGNS = {
    "HyperParameterTuningJobConfig": TUNING,
    ONE: TUNING,
    SEVERAL: TUNING,
    "AlgorithmSpecification": TRAINING,
    "OutputDataConfig": TRAINING,
    "HyperParameters": TRAINING,
}


@dataclass(frozen=True)
class Definition:
    """What one training job is made of: a tuning job's definition, or all of a training job's request.

    Args:
        body: The members.
        place: Where they stand in the document.
        static: The hyperparameters that are not tuned.
        static_place: Where those stand.
        tuned: The tuning job's ranges for this definition; empty for a training job.
        tuned_place: Where those stand.
    """

    body: Mapping[str, Any]
    place: Place
    static: Mapping[str, str]
    static_place: Place
    tuned: Mapping[str, Any]
    tuned_place: Place

    def tuned_names(self) -> list[str]:
        """Return the names of the tuned hyperparameters."""
        return [item["Name"] for items in self.tuned.values() for item in items if "Name" in item]

    def setting(self, name: str) -> str | None:
        """Return a static hyperparameter as text, one layer of JSON quotes removed, or None."""
        text = self.static.get(name)
        if text is None:
            return None
        value = decode(text)
        return value if isinstance(value, str) else text


def operation_of(document: Mapping[str, Any]) -> str | None:
    """Return the operation that a document is the request of, or None."""
    for signs in (_NAMES, _OTHER_SIGNS):
        found = {operation for sign, operation in signs.items() if sign in document}
        if len(found) == 1:
            return found.pop()
        if found:
            return TUNING
    return None


def definitions(operation: str, document: Mapping[str, Any]) -> list[Definition]:
    """Return the training job definitions of a sound document, in order.

    Args:
        operation: The document's operation.
        document: The request, as `check_shapes` returned it.
    """
    if operation == TRAINING:
        static = document.get("HyperParameters", {})
        return [Definition(document, (), static, ("HyperParameters",), {}, ())]
    found = []
    config = (*CONFIG, "ParameterRanges")
    for place, body in bodies(document):
        if place == (ONE,):
            found.append(_definition(body, place, dig(document, *config) or {}, config))
        else:
            tuned = body.get("HyperParameterRanges", {})
            found.append(_definition(body, place, tuned, (*place, "HyperParameterRanges")))
    return found


def bodies(document: Mapping[str, Any]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """Yield the place and the members of each definition of a tuning job's request, in order."""
    if ONE in document:
        yield (ONE,), document[ONE]
    for at, body in enumerate(document.get(SEVERAL, [])):
        yield (SEVERAL, at), body


def _definition(
    body: Mapping[str, Any], place: Place, tuned: Mapping[str, Any], tuned_place: Place
) -> Definition:
    static_place = (*place, "StaticHyperParameters")
    return Definition(body, place, body.get("StaticHyperParameters", {}), static_place, tuned, tuned_place)


def dig(document: Mapping[str, Any], *names: str | int) -> Any:
    """Return the member of a member of ..., or None where one of them is missing."""
    value: Any = document
    for name in names:
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return value


def parse(text: str, where: str, findings: Findings) -> dict[str, Any] | None:
    """Read a document's JSON; None where it is none, with the problems told.

    Args:
        text: The file's text.
        where: The file, as problems name it.
        findings: Takes the problems.
    """
    repeated: list[str] = []
    odd: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(name for name, _ in pairs)
        repeated.extend(sorted(name for name, count in counts.items() if count > 1))
        return dict(pairs)

    def constant(word: str) -> float:
        odd.append(word)
        return 0.0

    try:
        document = json.loads(text, object_pairs_hook=once, parse_constant=constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        findings.refuse(103, f"{where}, {place}", _syntax(text, error), "JSON", _syntax_fix(text, error))
        return None
    except ValueError:  # Python reads no whole number of more than 4300 digits
        findings.refuse(103, where, "a whole number of thousands of digits", "JSON", "Shorten it.")
        return None
    except RecursionError:
        findings.refuse(103, where, "brackets within brackets, too deep to read", "JSON", "Flatten it.")
        return None
    for name in repeated:
        fix = "Keep one of them: of two, a reader would take either."
        findings.refuse(103, where, f'the member "{name}" more than once', "each member once", fix)
    for word in odd:
        findings.refuse(103, where, word, "finite numbers", "Write a number; JSON has no such word.")
    if not isinstance(document, dict):
        fix = "Write the request's members between { and }."
        findings.refuse(104, where, f"a {type(document).__name__}", "an object", fix)
        return None
    return None if repeated or odd else document


def refuse_unknown(document: Mapping[str, Any], where: str, findings: Findings) -> None:
    """Say that a JSON document is neither of the two requests."""
    names = listed([str(name) for name in document]) or "no members"
    allowed = f"the request of {TUNING} or of {TRAINING}"
    fix = "Give HyperParameterTuningJobName or TrainingJobName. A job file is TOML, not JSON."
    findings.refuse(104, where, names, allowed, fix)


def _syntax(text: str, error: json.JSONDecodeError) -> str:
    if _after_comma(text, error.pos):
        return "a comma before the closing bracket"
    return "an end of the file in the middle" if error.pos >= len(text.rstrip()) else error.msg


def _syntax_fix(text: str, error: json.JSONDecodeError) -> str:
    if _after_comma(text, error.pos):
        return "Take the last comma out."
    if not text.lstrip().startswith("{"):
        return "Write JSON there; or give the file the suffix .toml if it is a job file."
    return "Mend the syntax at that place."


def _after_comma(text: str, at: int) -> bool:
    before, here, after = text[:at].rstrip(), text[at : at + 1], text[at + 1 :].lstrip()
    closing = ("}", "]")
    return (before.endswith(",") and here in closing) or (here == "," and after[:1] in closing)
