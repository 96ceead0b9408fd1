"""Filter patterns of CloudWatch Logs for lines of text: words, phrases, choices and exclusions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bandstand.service.protocol import ServiceError

_TERM = re.compile(r'\s*(?P<sign>[-?]?)(?:"(?P<phrase>(?:[^"\\]|\\.)*)"|(?P<word>[^\s"]+))')


@dataclass(frozen=True)
class Pattern:
    """What a message has to hold; all is compared letter by letter.

    Args:
        all: Texts that it has to hold, every one.
        any: Texts of which it has to hold one, if there are any.
        none: Texts that it may not hold.
    """

    all: tuple[str, ...] = ()
    any: tuple[str, ...] = ()
    none: tuple[str, ...] = ()

    def matches(self, message: str) -> bool:
        """Whether a message is one of those that are looked for."""
        return (
            all(text in message for text in self.all)
            and (not self.any or any(text in message for text in self.any))
            and not any(text in message for text in self.none)
        )


def pattern_of(text: str) -> Pattern:
    """Read a filter pattern (Amazon CloudWatch Logs user guide, Filter pattern syntax).

    Args:
        text: The pattern; an empty one matches everything.

    Raises:
        ServiceError: It is malformed, or for lines of another kind than text.
    """
    words = text.strip()
    if words[:1] in ("{", "[", "%"):
        raise ServiceError(
            "InvalidParameterException",
            f"The filter pattern {words!r} is one for JSON, for columns or a regular expression, which this"
            ' local service does not have. Take words, "phrases", -exclusions and ?choices.',
        )
    found: dict[str, list[str]] = {"": [], "?": [], "-": []}
    place = 0
    while place < len(words):
        term = _TERM.match(words, place)
        if term is None:
            raise ServiceError("InvalidParameterException", f"Invalid filter pattern: {text!r}")
        word = term["word"] if term["phrase"] is None else re.sub(r"\\(.)", r"\1", term["phrase"])
        found[term["sign"]].append(word)
        place = term.end()
    return Pattern(tuple(found[""]), tuple(found["?"]), tuple(found["-"]))
