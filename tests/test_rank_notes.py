"""Notes that process 1 reads are read as they are written, and nothing else is."""

from __future__ import annotations

from bandstand.rank_notes import (
    noted_resume,
    noted_rows,
    resumed_note,
    rows_note,
    started_note,
    started_process,
)


def test_the_rows_of_a_rank_are_read_as_they_are_written():
    assert noted_rows(f"bandstand: {rows_note(3, 'algo-2', 12)}") == 12


def test_only_the_line_of_note_rows_tells_rows():
    assert noted_rows("bandstand: rank 3 on algo-2 has 12 rows.") == 12
    assert noted_rows("rank 3 on algo-2 has 12 rows.") is None


def test_the_process_of_a_rank_is_read_among_other_lines():
    lines = f"loading\nbandstand: {started_note(1, 4, 4711)}\nready\n"
    assert started_process(lines.encode()) == 4711
    assert started_process(lines.replace("\n", "\r\n").encode()) == 4711


def test_a_line_of_a_script_is_not_taken_for_the_note_of_its_process():
    assert started_process(b"rank 1 of 4 runs as process 4711.\n") is None
    assert started_process(b"bandstand: rank 1 of 4 runs as process soon.\n") is None


def test_the_iteration_that_a_job_goes_on_after_is_read_as_it_is_written():
    assert noted_resume(f"bandstand: {resumed_note(12)}") == 12
    assert noted_resume(resumed_note(12)) is None
