"""The errors that people see: one root, four kinds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class BandstandError(Exception):
    """Root of every error that Bandstand raises on purpose; its text is meant for a person."""

    exit_code = 1


class InputError(BandstandError):
    """What the user gave is wrong: a file, an option, a hyperparameter, a row of data."""

    exit_code = 2


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a request.

    Args:
        number: The rule's number, as listed in the reference of rules.
        where: The field or key, as the user wrote it (`tuning.max_resource`, `HyperParameterTuningJobName`).
        found: What stands there.
        allowed: What may stand there.
        fix: What to do about it, as an instruction.
    """

    number: int
    where: str
    found: str
    allowed: str
    fix: str

    def __str__(self) -> str:
        return f"[rule {self.number}] {self.where}: found {self.found}; allowed: {self.allowed}. {self.fix}"


class PlanError(InputError):
    """A request breaks rules; holds every problem, not only the first.

    Args:
        problems: All that is wrong, in the order in which the request was read.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        head = "1 problem in this request:" if count == 1 else f"{count} problems in this request:"
        super().__init__("\n".join([head, *(f"  {problem}" for problem in self.problems)]))


class PlatformError(BandstandError):
    """This machine or platform cannot do what was asked."""


class JobError(BandstandError):
    """A training job failed, for a reason that its message states."""
