from __future__ import annotations

from bandstand.report import Page
from bandstand.report.table import Column, facts, table, wrap

COLUMNS = [Column("no.", right=True), Column("name", drop=2), Column("state"), Column("why", drop=3)]
ROWS = [
    ("1", "direct-marketing-001-0a1b2c3d", "Completed", ""),
    ("22", "direct-marketing-022-0a1b2c3d", "Stopped", "a long sentence " * 8),
]


def test_columns_line_up() -> None:
    lines = table(Page(), COLUMNS[:3], [row[:3] for row in ROWS])
    assert lines[0] == "no.  name                           state"
    assert lines[1] == "  1  direct-marketing-001-0a1b2c3d  Completed"


def test_nothing_is_cut_in_a_pipe() -> None:
    assert ROWS[1][3].rstrip() in table(Page(width=None), COLUMNS, ROWS)[2]


def test_no_line_is_longer_than_any_page_is_wide() -> None:
    for width in range(16, 200):
        lines = table(Page(width=width), COLUMNS, ROWS)
        assert max(map(len, lines)) <= width, width
        assert len(lines) == 3


def test_the_least_wanted_columns_go_first_on_a_narrow_page() -> None:
    assert "why" not in table(Page(width=46), COLUMNS, ROWS)[0]
    assert "name" not in table(Page(width=20), COLUMNS, ROWS)[0]
    assert "state" in table(Page(width=16), COLUMNS, ROWS)[0]


def test_a_column_without_a_word_is_left_out_unless_it_keeps_its_place() -> None:
    assert table(Page(), [Column("a"), Column("b")], [("x", "")])[0] == "a"
    assert table(Page(), [Column("a"), Column("b", least=4)], [("x", "")])[0] == "a  b"


def test_a_table_without_rows_is_nothing() -> None:
    assert table(Page(), COLUMNS, []) == []


def test_long_facts_go_on_below_their_begin_and_empty_ones_are_left_out() -> None:
    lines = facts(Page(width=40), [("model", "/a/b"), ("empty", ""), ("why", "word " * 20)])
    assert lines[0] == "  model  /a/b"
    assert lines[1].startswith("  why    word word")
    assert lines[2].startswith("         word")
    assert max(map(len, lines)) <= 40
    assert facts(Page(), [("empty", "")]) == []


def test_a_path_is_never_broken() -> None:
    path = "/a/very/long/path/" * 5 + "model.tar.gz"
    assert wrap(Page(width=30), path) == [path]
