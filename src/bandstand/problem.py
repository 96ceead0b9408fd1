"""One thing that is wrong with a request."""

from __future__ import annotations

from dataclasses import dataclass


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
