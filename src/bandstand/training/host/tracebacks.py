"""The last exception in what a Python program wrote on stderr, groups of exceptions included."""

from __future__ import annotations

import re

HEADER = "Traceback (most recent call last):"

Frames = list[tuple[str, int]]

_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>[0-9]+)(?P<function>, in .*)?$')
_EXCEPTION = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(?:: (?P<text>.*))?$", re.DOTALL)
_OURS = frozenset({"BandstandError", "InputError", "JobError", "PlanError", "PlatformError"})
NOISE = ("bandstand: ", "Exception ignored in", "sys:1: ", HEADER)
"""What lines begin with that are no part of a message."""
_LONGEST_MESSAGE = 40
_GROUP_HEADER = f"+ Exception Group {HEADER}"
_GROUP_TEXT = re.compile(r"\([0-9]+ sub-exceptions?\)$")
_MEMBER = re.compile(r"^ *(?:\+-)?\+-+ [0-9.]+ -+$")
_DRAWN = re.compile(r"^ *[|+] ?")


def last_exception(lines: list[str]) -> tuple[str, Frames] | None:
    """Find what ended a program: the last exception that it told.

    Args:
        lines: The end of its stderr.

    Returns:
        The exception's name and text, and the files and lines that led to it, the innermost last; of a group,
        also the texts of its members, and the files and lines of the first member that has some. None if
        there is none, or if the program has survived it.
    """
    plain = max((i for i in range(len(lines)) if _is_header(lines, i)), default=-1)
    group = max((i for i, line in enumerate(lines) if line.strip() == _GROUP_HEADER), default=-1)
    if group > plain:
        return _of_group(lines[group + 1 :])
    if plain < 0:  # Python tells a syntax error of the script itself without a header
        place = max((i for i, line in enumerate(lines) if _is_syntax_place(line)), default=None)
        return None if place is None else _of_one(lines[place:])
    return _of_one(lines[plain + 1 :])


def _is_header(lines: list[str], index: int) -> bool:
    """Whether a traceback begins in a line; a message may hold the same words, but no place after them."""
    if lines[index].strip() != HEADER:
        return False
    following = lines[index + 1 : index + 2]
    return not following or not following[0][:1].isspace() or _FRAME.match(following[0]) is not None


def _is_syntax_place(line: str) -> bool:
    frame = _FRAME.match(line)
    return frame is not None and frame["function"] is None


def _of_one(lines: list[str]) -> tuple[str, Frames] | None:
    frames: Frames = []
    for index, line in enumerate(lines):
        frame = _FRAME.match(line)
        if frame:
            frames.append((frame["file"], int(frame["line"])))
        elif line[:1].strip():
            message = _message(lines[index:])
            return (message, frames) if message else None
    return None


def _message(lines: list[str]) -> str:
    end = next((i for i, line in enumerate(lines) if i and line.startswith(NOISE)), len(lines))
    found = _EXCEPTION.match("\n".join(lines[:end]).rstrip())
    if found is None or end > _LONGEST_MESSAGE:  # after so much more, the program has survived it
        return ""
    kind = found["type"].rpartition(".")[2]
    text = found["text"] or ""
    return text if kind in _OURS and text else f"{kind}: {text}" if text else kind


def _of_group(lines: list[str]) -> tuple[str, Frames] | None:
    """Read a drawing of a group: its own traceback, then one part for each member, groups among them."""
    parts: list[list[str]] = [[]]
    after = 0
    for line in lines:
        if _MEMBER.match(line):
            parts.append([])
        elif _DRAWN.match(line):
            parts[-1].append(_DRAWN.sub("", line, count=1))
        else:  # more lines of a message are not drawn
            after += 1
    if after > _LONGEST_MESSAGE:
        return None
    (text, frames), *members = [_of_part(part) for part in parts]
    leaves = [member for member in members if member[0] and not _GROUP_TEXT.search(member[0])]
    frames += next((each for _, each in leaves if each), [])
    return (": ".join(filter(None, [text, "; ".join(each for each, _ in leaves)])), frames) if text else None


def _of_part(lines: list[str]) -> tuple[str, Frames]:
    begin = max((i + 1 for i, line in enumerate(lines) if line.endswith(HEADER)), default=0)
    frames: Frames = []
    for line in lines[begin:]:
        frame = _FRAME.match(line)
        if frame:
            frames.append((frame["file"], int(frame["line"])))
        elif line[:1].strip():
            return _message([line]), frames
    return "", frames
