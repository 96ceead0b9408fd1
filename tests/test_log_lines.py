import itertools
import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.log_lines import MAX_LINE_BYTES, LineSplitter, clean, closest_lines, strip_escapes

PIECES = st.lists(
    st.sampled_from(
        [b"\n", b"\r", b"\r\n", b"\n\r", b" ", b"loss=0.5", "é🎺".encode(), b"\xff", b"\xc3", b""]
    )
)


def split(*chunks: bytes) -> list[str]:
    splitter = LineSplitter()
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return lines + splitter.flush()


def test_newline_return_and_both_end_a_line() -> None:
    assert split(b"one\ntwo\rthree\r\nfour\n") == ["one", "two", "three", "four"]


def test_half_lines_are_joined() -> None:
    assert split(b"loss=0", b".81", b"32\nlo", b"ss=0.7\n") == ["loss=0.8132", "loss=0.7"]


def test_the_last_line_needs_no_separator() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"loss=0.5") == []
    assert splitter.flush() == ["loss=0.5"]
    assert splitter.flush() == []


def test_a_metric_behind_a_progress_bar_is_a_line_of_its_own() -> None:
    assert split(b"\r 10%\r 50%\r100%\rloss=0.5\n") == [" 10%", " 50%", "100%", "loss=0.5"]


def test_a_line_that_a_return_ends_is_told_at_once() -> None:
    assert LineSplitter().feed(b"epoch 1 loss=0.5\r") == ["epoch 1 loss=0.5"]


def test_blank_lines_are_kept_however_they_end_and_are_chunked() -> None:
    assert split(b"a\n\nb\r\n\r\nc") == split(b"a\n\nb\r", b"\n\r", b"\nc") == ["a", "", "b", "", "c"]


def test_a_character_cut_by_a_chunk_survives() -> None:
    data = "épöch 🎺\n".encode()
    for cut in range(len(data)):
        assert split(data[:cut], data[cut:]) == ["épöch 🎺"]


def test_broken_bytes_become_replacement_characters_and_spoil_nothing_else() -> None:
    assert split(b"\xff\xfe iteration=1 loss=0.5 \xc3\n") == ["�� iteration=1 loss=0.5 �"]


def test_separators_that_only_python_knows_stay_inside_a_line() -> None:
    assert split("a\x0bb\x0cc\x1cd\x85e\u2028f\n".encode()) == ["a\x0bb\x0cc\x1cd\x85e\u2028f"]


@given(PIECES, st.lists(st.integers(0, 60)))
def test_lines_do_not_depend_on_how_the_stream_is_chunked(pieces: list[bytes], cuts: list[int]) -> None:
    data = b"".join(pieces)
    edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    chunks = [data[start:end] for start, end in itertools.pairwise(edges)]
    assert split(*chunks) == split(data) == split(*(bytes([byte]) for byte in data))


@given(PIECES)
def test_no_byte_but_separators_is_lost(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    expected = re.sub(rb"[\r\n]+", b"\n", data).split(b"\n")
    assert [line for line in split(data) if line] == [
        part.decode("utf-8", errors="replace") for part in expected if part
    ]


def test_the_longest_line_is_kept_whole_and_a_longer_one_is_cut() -> None:
    assert split(b"x" * MAX_LINE_BYTES + b"\n") == ["x" * MAX_LINE_BYTES]
    assert split(b"x" * (MAX_LINE_BYTES + 1) + b"\n") == ["x" * MAX_LINE_BYTES, "x"]


def test_a_long_line_is_cut_before_white_space_which_the_next_piece_keeps() -> None:
    text = b"x" * (MAX_LINE_BYTES - 10) + b" validation:auc=0.8132"
    assert split(text) == ["x" * (MAX_LINE_BYTES - 10), " validation:auc=0.8132"]


@pytest.mark.parametrize("number", [b"0.8132", b"7e-05", b"-3.4028235e+38", b"12"])
def test_no_cut_goes_through_a_number_even_without_white_space(number: bytes) -> None:
    for shift in range(-len(number) - 1, 3):
        before = b"x" * (MAX_LINE_BYTES + shift - 1) + b"="
        pieces = split(before + number + b";" + b"y" * 100)
        assert "".join(pieces) == (before + number + b";" + b"y" * 100).decode()
        assert any(number.decode() in piece for piece in pieces)


def test_digits_longer_than_any_number_are_cut_all_the_same() -> None:
    assert [len(piece) for piece in split(b"1" * (MAX_LINE_BYTES + 5))] == [MAX_LINE_BYTES, 5]


def test_a_cut_never_breaks_a_character() -> None:
    for shift in range(4):
        text = "x" * shift + "🎺" * (MAX_LINE_BYTES // 4 + 10)
        pieces = split(text.encode())
        assert "".join(pieces) == text
        assert all(len(piece.encode()) <= MAX_LINE_BYTES for piece in pieces)


@given(st.integers(1, 3), st.lists(st.sampled_from([b" ", b"x", b"7", b"\t", b"\r", b"\n"]), max_size=40))
def test_long_lines_are_cut_alike_however_they_are_chunked(chunks: int, tail: list[bytes]) -> None:
    data = b"a " + b"z" * (MAX_LINE_BYTES - 20) + b"".join(tail) + b"0.5" * 9
    size = len(data) // chunks + 1
    assert split(data) == split(*(data[start : start + size] for start in range(0, len(data), size)))


def test_a_hundred_megabytes_without_a_newline_need_little_memory() -> None:
    splitter = LineSplitter()
    chunk = b"0123456789abcdef" * 4096
    longest = total = 0
    tracemalloc.start()
    try:
        for _ in range(100 * 16):
            for line in splitter.feed(chunk):
                longest = max(longest, len(line))
                total += len(line)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    total += sum(map(len, splitter.flush()))
    assert total == 100 * 16 * len(chunk)
    assert longest <= MAX_LINE_BYTES
    assert peak < 8 * MAX_LINE_BYTES


def test_white_space_at_bad_places_does_not_make_the_pieces_small() -> None:
    block = b"x " + b"y" * (MAX_LINE_BYTES - 1)
    pieces = split(block * 40)
    assert len(pieces) <= 2 * 40 + 1


def test_escapes_are_stripped_and_text_stays() -> None:
    text = "\x1b[1;31mloss\x1b[0m=\x1b[38;5;12m0.5\x1b[K \x1b]8;;http://x\x1b\\link\x1b]8;;\x07"
    assert strip_escapes(text) == "loss=0.5 link"


def test_clean_text_has_no_control_characters_but_tabs() -> None:
    assert clean("a\x00b\x07\tc\x1b[2Jd\x7f") == "ab\tcd"


@given(st.text(alphabet="\x1b[]()0;m\\\x07aZ ", max_size=200))
def test_what_is_clean_stays_as_it_is(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert "\x1b" not in once


def test_an_unended_title_does_not_swallow_later_escapes() -> None:
    assert clean("\x1b]0;never ended " * 1000).count("never ended") == 1000


LOG = [
    "starting",
    "epoch 1: validation acuracy=0.5",
    "epoch 2: validation acuracy=0.6",
    "train loss=3",
    "done",
]


def test_the_closest_lines_are_those_that_share_words_with_the_pattern() -> None:
    assert closest_lines(r"validation accuracy=([-+0-9.eE]+)", LOG, 1) == ["epoch 2: validation acuracy=0.6"]


def test_lines_that_differ_in_numbers_only_are_told_once() -> None:
    assert closest_lines("epoch [0-9]+: validation accuracy", LOG) == ["epoch 2: validation acuracy=0.6"]


def test_syntax_of_a_pattern_counts_as_no_word() -> None:
    assert closest_lines(r"(?:abc|\S+)[starting]", ["starting", "the abc"]) == ["the abc"]


def test_nothing_near_gives_no_lines() -> None:
    assert closest_lines("validation:auc", ["0.5", "", "ok"]) == []
    assert closest_lines("", LOG) == []
