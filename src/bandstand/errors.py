"""The errors that people see: one root, four kinds."""

from __future__ import annotations

TYPE_CHECKING = False  # that of typing, which takes longer to load than all that a script needs at first
if TYPE_CHECKING:
    from collections.abc import Iterable

    from bandstand.problem import Problem


class BandstandError(Exception):
    """Root of every error that Bandstand raises on purpose; its text is meant for a person."""

    exit_code = 1


class InputError(BandstandError):
    """What the user gave is wrong: a file, an option, a hyperparameter, a row of data."""

    exit_code = 2


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
