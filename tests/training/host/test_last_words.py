"""What is kept of a rank's stderr is enough to tell why it failed."""

from __future__ import annotations

from bandstand.training.host.last_words import TAIL_BYTES, LastWords

TRACEBACK = b'Traceback (most recent call last):\n  File "train.py", line 3, in f\n    f()\n'


def test_short_output_is_kept_whole() -> None:
    words = LastWords()
    assert not words.add(b"loading\n")
    assert words.add(TRACEBACK)
    assert not words.add("ValueError: größe\n".encode())
    assert words.text() == "loading\n" + TRACEBACK.decode() + "ValueError: größe\n"


def test_the_beginning_of_the_last_traceback_is_kept_before_a_message_of_any_size() -> None:
    words = LastWords()
    words.add(b"x" * 1000 + b"\n")
    told = TRACEBACK + b"ValueError: " + b"y" * 10 * TAIL_BYTES
    begun = [words.add(told[place : place + 1000]) for place in range(0, len(told), 1000)]
    assert begun == [True] + [False] * (len(begun) - 1)
    assert words.text().startswith(TRACEBACK.decode() + "ValueError: yyy")
    assert len(words.text()) < 2 * TAIL_BYTES


def test_a_header_that_comes_in_two_parts_is_noticed() -> None:
    words = LastWords()
    assert not words.add(TRACEBACK[:20])
    assert words.add(TRACEBACK[20:])
    words.add(b"ValueError: " + b"y" * 3 * TAIL_BYTES)
    assert words.text().startswith(TRACEBACK.decode())


def test_much_output_without_a_traceback_is_cut_to_its_end() -> None:
    words = LastWords()
    for number in range(100_000):
        words.add(b"%d\n" % number)
    assert words.text().endswith("99998\n99999\n")
    assert len(words.text()) == TAIL_BYTES
