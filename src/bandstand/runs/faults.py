"""What a job's reports can lack, said so that a person can mend it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bandstand.metrics import Point, closest_lines

_LINE_LENGTH = 160

_DIGITS = re.compile(r"\d+")

_NEVER = "was never reported"

COUNTED_AGAIN = (
    "The job was started again, and its metric lines have no iteration number: what it reports again of what"
    " came after its last checkpoint is counted twice, as on SageMaker. Print iteration=N at the begin of"
    " each metric line."
)
"""Said of a restarted job of which nobody can tell which reports repeat earlier ones."""


class DoublePrint:
    """Notices an iteration of the objective that one host prints more than once."""

    def __init__(self) -> None:
        self._first: Point | None = None

    def seen(self, point: Point) -> None:
        """Take in a repeated point."""
        self._first = self._first or point

    @property
    def warnings(self) -> tuple[str, ...]:
        """At most one sentence."""
        if self._first is None:
            return ()
        point = self._first
        sentence = (
            f"{point.host} printed metric '{point.name}' at iteration {point.iteration} twice or more."
            " It is counted once here; SageMaker counts every print, and Hyperband there stops too early."
            " Print the metric once per iteration."
        )
        return (sentence,)


def silence(
    name: str, metrics: Sequence[tuple[str, str]], lines: Iterable[str], *, cut_short: bool = False
) -> str:
    """Say that a job ended without its objective, with the pattern and the log lines that come closest.

    Args:
        name: The objective.
        metrics: Names and patterns of the job's metrics.
        lines: Its last log lines.
        cut_short: Whether it was stopped and may have reported later.

    Returns:
        The sentences; nothing for a job that was cut short and printed nothing that comes close.
    """
    pattern = dict(metrics).get(name)
    if pattern is None:
        return f"The objective '{name}' {_NEVER}, and no metric definition has this name."
    text = f"The objective '{name}' {_NEVER}: no log line matched its pattern {pattern}"
    near = closest_lines(pattern, lines)
    if not near and cut_short:
        return ""
    if not near:
        return f"{text}, and none comes close. Print a line that it matches once per iteration."
    shown = "; ".join(repr(line[:_LINE_LENGTH]) for line in near)
    return f"{text}. The closest lines: {shown}. Print the name as the pattern has it, or mend the pattern."


def lost_reports(last: int, first: int) -> str:
    """Say that a restarted job goes on after a checkpoint whose reports had not arrived.

    Args:
        last: The last iteration that was reported before.
        first: The first one that was reported after the restart.
    """
    return (
        f"Its reports between iteration {last} and iteration {first} were lost on their way when it was"
        " killed, and its checkpoint was of a later one. A job that reports with run.report(...) and saves"
        " with run.checkpoint(...) would have made up for them."
    )


def alike(warning: str) -> str:
    """What warnings have in common that differ only in numbers: an iteration, a host, a value."""
    return _DIGITS.sub("0", warning)


def distinct(warnings: Iterable[str]) -> tuple[str, ...]:
    """Warnings without those that are alike an earlier one."""
    kinds: dict[str, str] = {}
    for warning in warnings:
        kinds.setdefault(alike(warning), warning)
    return tuple(kinds.values())


def silence_in(warnings: Iterable[str]) -> str:
    """The one of a job's warnings that `silence` made; empty where there is none."""
    return next((warning for warning in warnings if _NEVER in warning), "")


def once_at_the_end(numbers: Sequence[int], ended: int, rule: str) -> str:
    """Say that jobs reported their objective only once.

    Args:
        numbers: The training jobs that did.
        ended: Training jobs that are over.
        rule: What stops training jobs early, at the beginning of a sentence.
    """
    shown = ", ".join(str(number) for number in numbers[:10]) + (", ..." if len(numbers) > 10 else "")
    return (
        f"{len(numbers)} of {ended} training jobs reported the objective once, at the end (number {shown})."
        f" {rule} had nothing to decide on and saved nothing. Report the objective once per iteration."
    )
