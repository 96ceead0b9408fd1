"""Text made up from a regular expression: lines that it matches, and lines on which it could stall.

A pattern can only be tried on a line that has the words around its number, and only the pattern knows these
words. So its parse tree is walked, as property-testing tools do it: `re._parser` is not public, but the one
parse tree there is.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import product
from typing import Any

_PARSER: Any = import_module("re._parser")
_MARK = "\ue000"  # private use: stands for the number until a line is made
_PRINTABLE = "".join(map(chr, range(32, 127)))
_CANDIDATES = f" x0_-=:.,;/|{_PRINTABLE}\t\n"
_CATEGORIES = {
    "CATEGORY_DIGIT": re.compile(r"\d"),
    "CATEGORY_NOT_DIGIT": re.compile(r"\D"),
    "CATEGORY_SPACE": re.compile(r"\s"),
    "CATEGORY_NOT_SPACE": re.compile(r"\S"),
    "CATEGORY_WORD": re.compile(r"\w"),
    "CATEGORY_NOT_WORD": re.compile(r"\W"),
}
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_MANY = 4
_LONGEST = 10_000
_MOST_STALLS = 12
_EASY_NUMBERS = ("0.5", "12", "5")


def compiled(regex: str) -> re.Pattern[str]:
    """A pattern out of its text; Python's doubts about its future syntax are not shown to the user.

    Raises:
        ValueError: If it does not compile; the text says why.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return re.compile(regex)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(str(error)) from None


class Sample:
    """A line that a pattern matches, with a gap where the number stands.

    Args:
        template: The line, with U+E000 in place of the number.
    """

    def __init__(self, template: str) -> None:
        self._template = template

    def line(self, number: str) -> str:
        """The line with this number in the gap."""
        return self._template.replace(_MARK, number)


def samples(pattern: re.Pattern[str]) -> Iterator[Sample]:
    """Lines that a pattern may match, the plainest first; none if its first group is not met."""
    tree = _parsed(pattern)
    seen = set()
    for extra, anything, ahead in product((0, 1), ("x", " "), (True, False)):
        template = _Walk(extra, anything, ahead, gap=True).text(tree)
        if _MARK in template and template not in seen:
            seen.add(template)
            yield Sample(template)


def fitting_sample(pattern: re.Pattern[str]) -> Sample | None:
    """A line out of which the pattern reads some easy number whole, or None if none was found."""
    for sample in samples(pattern):
        for number in _EASY_NUMBERS:
            found = pattern.search(sample.line(number))
            if found is not None and found[1] == number:
                return sample
    return None


def natural_line(pattern: re.Pattern[str]) -> str:
    """A line made up for the pattern with whatever its groups ask for."""
    return _Walk(1, "x", True, gap=False).text(_parsed(pattern))


def stalls(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """Starts and endlessly repeatable texts that lead a pattern on without ever letting it match.

    Returns:
        (start, piece) pairs, for lines such as start + 1000 * piece + an odd character.
    """
    found: dict[tuple[str, str], None] = {}
    for anything in ("x", " "):
        walk = _Walk(1, anything, True, gap=False)
        walk.text(_parsed(pattern))
        found.update(dict.fromkeys(walk.repeated))
    return list(found)[:_MOST_STALLS]


def required_text(pattern: re.Pattern[str]) -> str:
    """The longest text that every match of a pattern holds literally; empty if that cannot be told."""
    if pattern.flags & re.IGNORECASE:
        return ""
    runs = [""]
    for kind, value in _nodes(_parsed(pattern)):
        if kind == "LITERAL":
            runs[-1] += chr(value)
        elif kind != "AT":
            runs.append("")
    return max(runs, key=len)


class _Walk:
    """One way through a parse tree, writing text that it describes.

    Args:
        extra: Rounds to add to each repetition's least number.
        anything: What `.` stands for.
        ahead: Whether what a lookahead asks for is written.
        gap: Whether the first group is left as a gap.
    """

    def __init__(self, extra: int, anything: str, ahead: bool, gap: bool) -> None:
        self._extra = extra
        self._anything = anything
        self._ahead = ahead
        self._gap = gap
        self._groups: dict[int, str] = {}
        self._written = ""
        self.repeated: list[tuple[str, str]] = []

    def text(self, tree: Iterable[tuple[Any, Any]]) -> str:
        written = ""
        outer = self._written
        for kind, value in _nodes(tree):
            piece = self._piece(kind, value)
            written += piece
            self._written = outer + written
        self._written = outer
        return written

    def _piece(self, kind: str, value: Any) -> str:
        if kind == "LITERAL":
            return chr(value)
        if kind == "NOT_LITERAL":
            return next(letter for letter in _CANDIDATES if ord(letter) != value)
        if kind == "ANY":
            return self._anything
        if kind == "IN":
            return _one_of(value)
        if kind in _REPEATS:
            return self._repeat(*value)
        if kind == "SUBPATTERN":
            return self._group(value[0], value[3])
        if kind == "BRANCH":
            return self._branch(value[1])
        if kind == "GROUPREF":
            return self._groups.get(value, "")
        if kind == "GROUPREF_EXISTS":
            chosen = value[1] if value[0] in self._groups else value[2]
            return self.text(chosen) if chosen is not None else ""
        if kind == "ATOMIC_GROUP":
            return self.text(value)
        if kind == "ASSERT":
            return self.text(value[1]) if value[0] < 0 or self._ahead else ""
        return ""  # positions and negative assertions have no text

    def _repeat(self, least: int, most: int, body: Any) -> str:
        once = self.text(body)
        if most >= _MANY and once:
            self.repeated.append((self._written, once))
        rounds = min(least + self._extra, most, _LONGEST // max(len(once), 1))
        return once * max(rounds, 1 if _MARK in once else 0)

    def _group(self, number: int | None, body: Any) -> str:
        text = self.text(body)
        if number == 1 and self._gap:
            text = _MARK
        if number is not None:
            self._groups[number] = text
        return text

    def _branch(self, alternatives: list[Any]) -> str:
        texts = [self.text(alternative) for alternative in alternatives]
        together = "".join(texts)
        if together:
            self.repeated.append((self._written, together))
        return next((text for text in texts if _MARK in text), texts[0])


def _parsed(pattern: re.Pattern[str]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return _PARSER.parse(pattern.pattern, pattern.flags)


def _nodes(tree: Iterable[tuple[Any, Any]]) -> Iterator[tuple[str, Any]]:
    for operation, value in tree:
        yield str(operation), value


def _one_of(items: list[tuple[Any, Any]]) -> str:
    nodes = list(_nodes(items))
    negated = nodes[0][0] == "NEGATE"
    own = "".join(chr(v if kind == "LITERAL" else v[0]) for kind, v in nodes if kind in ("LITERAL", "RANGE"))
    letters = _CANDIDATES if negated else _CANDIDATES + own
    return next((letter for letter in letters if _member(nodes, letter) != negated), "")


def _member(nodes: list[tuple[str, Any]], letter: str) -> bool:
    for kind, value in nodes:
        if kind == "LITERAL" and ord(letter) == value:
            return True
        if kind == "RANGE" and value[0] <= ord(letter) <= value[1]:
            return True
        if kind == "CATEGORY" and _CATEGORIES[str(value)].fullmatch(letter):
            return True
    return False
