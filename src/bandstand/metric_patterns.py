"""A user's metric patterns, tried out before a job starts."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import lru_cache

from bandstand.metric_line import MAX_PATTERN, NUMBER
from bandstand.metric_samples import Sample, compiled, fitting_sample, natural_line, samples, stalls

LONGEST_SEARCH = 4096
"""Characters of a line that a pattern sees at once (see `bandstand.metric_search`)."""

_TRIAL_NUMBERS = ("0.8132", "7e-05", "-0.5", "1E+10", ".5", "12", "3.4028235e+38")
_PLAIN_NUMBERS = ("0.8132", "12")
_TAG = "[1,mpirank:0,algo-1]<stdout>:"
_MORE = (" more", ", more", "; more", "} more")
_STALL_LENGTHS = (*range(4, 68, 4), 96, 128, 192, 256, 512)
_STEP_SECONDS = 0.2  # of processor time, for one of these lengths
_TRUSTED_SECONDS = 0.001  # below this a measurement says nothing about growth
_LINE_SECONDS = 2.0  # of processor time, for LONGEST_SEARCH characters
_TRIES = 3  # of the measurement, where it looks bad
_HOW = f"write the group as ({NUMBER})"


def pattern_problems(name: str, regex: str, *, lenient: bool = False) -> list[str]:
    """What makes a metric definition unusable, found by trying it on made-up lines.

    Args:
        name: The metric's name, for the messages.
        regex: Its pattern, in Python's syntax.
        lenient: Whether to let pass what SageMaker takes and ordinary numbers bear: more groups than one, of
            which the first one counts, and a pattern that cuts a number only where it has a sign or an
            exponent or begins with its dot. `loss: ([0-9\\.]+)` stands in many a tuning script.

    Returns:
        Sentences for a person, empty if the pattern can be used: it does not compile, is too long, has no
        group or more than one, captures nothing or something that is no number, cuts numbers (`7e-05` read as
        7), needs a tab (which AMT's log pipeline rewrites as `#011`) or a line break, or would take for ever
        on a long line.
    """
    if len(regex) > MAX_PATTERN:
        return [f"the pattern of {name!r} has {len(regex)} characters; {MAX_PATTERN} are allowed"]
    pattern = _compiled(regex)
    if isinstance(pattern, str):
        return [f"the pattern of {name!r} is not a regular expression: {pattern}"]
    problems = []
    if pattern.groups == 0 or (pattern.groups > 1 and not lenient):
        problems.append(_groups(name, pattern))
    try:
        stalls_on, sample = _examined(pattern)
    except RecursionError:
        return [*problems, f"the pattern of {name!r} is nested too deeply"]
    if stalls_on is not None:
        problems.append(
            f"the pattern of {name!r} could take for ever on a long line, such as one that repeats "
            f"{stalls_on!r}: let its repetitions not match the same text in several ways"
        )
    elif sample is not None:
        problems += _misreadings(name, pattern, sample, lenient=lenient)
    elif pattern.groups:
        problems += _no_number(name, pattern)
    return problems


def pattern_warnings(
    name: str, regex: str, others: Sequence[tuple[str, str]] = (), *, lenient: bool = False
) -> list[str]:
    """What may go wrong with a metric definition that can be used.

    Args:
        name: The metric's name.
        regex: Its pattern; one that `pattern_problems` refuses may get no warnings.
        others: (name, pattern) pairs of the request's definitions; the metric itself may be among them.
        lenient: Whether `pattern_problems` was lenient; what it let pass is told here.

    Returns:
        Sentences for a person: the pattern drops some numbers, takes all that follows on the line, is
        anchored to the line's start, where launchers put tags, or reads the number of another metric.
    """
    pattern = _compiled(regex)
    if isinstance(pattern, str) or not pattern.groups:
        return []
    stalls_on, sample = _examined(pattern)
    if stalls_on is not None:
        return []
    if sample is None:
        return [f"no sample line could be made up for the pattern of {name!r}, so it was not tried"]
    warnings = _cuts(name, pattern, sample) if lenient else []
    if lenient and pattern.groups > 1:
        warnings.append(_groups(name, pattern))
    dropped = [number for number in _TRIAL_NUMBERS if not _reads_number(pattern, sample.line(number))]
    if dropped:
        warnings.append(f"the pattern of {name!r} reads nothing from {', '.join(dropped)}: {_HOW}")
    line = sample.line("0.5")
    if pattern.search(line + _MORE[0]) and not any(_reads_number(pattern, line + more) for more in _MORE):
        warnings.append(f"the pattern of {name!r} takes all that follows the number on its line: {_HOW}")
    if pattern.search(line) and not pattern.search(_TAG + line):
        warnings.append(
            f"the pattern of {name!r} does not match when a launcher puts a tag such as {_TAG} before the "
            "line: do not anchor it with ^"
        )
    return warnings + _overlaps(name, pattern, others)


def _groups(name: str, pattern: re.Pattern[str]) -> str:
    return (
        f"the pattern of {name!r} has {pattern.groups} groups; exactly one must capture the number: "
        f"{_HOW}, and others as (?:...)"
    )


def _misreadings(name: str, pattern: re.Pattern[str], sample: Sample, *, lenient: bool) -> list[str]:
    line = sample.line("0.5")
    if "\n" in line or "\r" in line:
        return [f"the pattern of {name!r} needs a line break, but is tried on one line at a time"]
    if "\t" in line and pattern.search(line.replace("\t", "#011")) is None:
        return [f"the pattern of {name!r} needs a tab, which AMT's logs hold as '#011': write #011 for it"]
    return _cuts(name, pattern, sample, _PLAIN_NUMBERS if lenient else _TRIAL_NUMBERS)


def _cuts(
    name: str, pattern: re.Pattern[str], sample: Sample, numbers: Sequence[str] = _TRIAL_NUMBERS
) -> list[str]:
    cut = []
    for number in numbers:
        captured = _captured(pattern, sample.line(number))
        if captured is not None and _is_number(captured) and float(captured) != float(number):
            cut.append(f"{number} as {captured}")
    return [f"the pattern of {name!r} cuts numbers: it reads {', '.join(cut)}; {_HOW}"] if cut else []


def _no_number(name: str, pattern: re.Pattern[str]) -> list[str]:
    lines = [*(sample.line("0.5") for sample in samples(pattern)), natural_line(pattern)]
    captures = [captured for line in lines if (captured := _captured(pattern, line)) is not None]
    if not captures or any(_is_number(captured) for captured in captures):
        return []
    if "" in captures:
        return [f"the pattern of {name!r} captures the empty text, as a lazy group at the end does: {_HOW}"]
    return [f"the pattern of {name!r} captures text that is no number, such as {captures[0][:40]!r}: {_HOW}"]


def _overlaps(name: str, pattern: re.Pattern[str], others: Sequence[tuple[str, str]]) -> list[str]:
    warnings = []
    for other, regex in others:
        compiled = _compiled(regex)
        if other == name or isinstance(compiled, str):
            continue
        sample = _examined(compiled)[1]
        if sample is not None and _captured(pattern, sample.line("0.625")) == "0.625":
            warnings.append(
                f"the pattern of {name!r} also reads the number of {other!r}, in a line such as "
                f"{sample.line('0.625')!r}: put a space, or what stands before the name, into the pattern"
            )
    return warnings


@lru_cache(maxsize=256)
def _examined(pattern: re.Pattern[str]) -> tuple[str | None, Sample | None]:
    """The piece of text on which a pattern stalls; else None and a line out of which it reads a number."""
    piece = next((piece for start, piece in stalls(pattern) if _explodes(pattern, start, piece)), None)
    return piece, None if piece is not None else fitting_sample(pattern)


def _explodes(pattern: re.Pattern[str], start: str, piece: str) -> bool:
    """Whether a search's cost grows out of hand with the number of pieces, however often it is measured.

    A busy machine may make a search look slower than it is, never faster.
    """
    return all(_seems_to_explode(pattern, start, piece) for _ in range(_TRIES))


def _seems_to_explode(pattern: re.Pattern[str], start: str, piece: str) -> bool:
    """The same, measured once, in processor time."""
    before = 0.0
    growth = 1.0
    for length in _STALL_LENGTHS:
        text = start + piece * (length // len(piece) + 1) + "\0"
        began = time.thread_time()
        pattern.search(text)
        seconds = time.thread_time() - began
        growth = max(seconds / max(before, 1e-6), 1.0)
        if seconds > _TRUSTED_SECONDS and seconds * growth > _STEP_SECONDS:
            return True
        before = seconds
    doublings = LONGEST_SEARCH.bit_length() - _STALL_LENGTHS[-1].bit_length()
    return before > _TRUSTED_SECONDS and before * growth**doublings > _LINE_SECONDS


def _compiled(regex: str) -> re.Pattern[str] | str:
    try:
        return compiled(regex)
    except ValueError as error:
        return str(error)


def _captured(pattern: re.Pattern[str], line: str) -> str | None:
    match = pattern.search(line)
    return None if match is None else match[1]


def _reads_number(pattern: re.Pattern[str], line: str) -> bool:
    return _is_number(_captured(pattern, line) or "")


def _is_number(text: str) -> bool:
    return re.fullmatch(NUMBER, text.strip(), re.ASCII) is not None
