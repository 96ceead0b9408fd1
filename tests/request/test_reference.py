"""The reference pages: current, complete, and with an example that runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bandstand.request import TuningPlan
from bandstand.request.job_reading import keys
from bandstand.request.reference import job_schema, main, pages
from bandstand.request.rules import CHAPTERS, RULES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", pages())
def test_the_reference_pages_are_current(name: str) -> None:
    committed = (ROOT / "docs" / "reference" / name).read_text()
    assert committed == pages()[name], "run: python -m bandstand.request.reference docs/reference"


def test_every_rule_is_in_a_chapter_on_the_page_and_in_the_code() -> None:
    code = "".join(
        path.read_text() for path in (ROOT / "src/bandstand/request").glob("*.py") if path.name != "rules.py"
    )
    for number in RULES:
        assert number // 100 in CHAPTERS
        assert f"| {number} |" in pages()["rules.md"]
        assert re.search(rf"(?<![\d.]){number}(?!\d)", code), number


def test_every_key_of_a_job_file_is_on_the_page() -> None:
    page = pages()["job-file.md"]
    for name, path in keys():
        assert f"| `{name}` |" in page or f"## [{path}]" in page


def test_the_example_is_a_job_file_without_a_problem(
    job: Callable[..., Path], plan_of: Callable[..., TuningPlan]
) -> None:
    example = pages()["job-file.md"].split("```toml\n")[1].split("```")[0]
    assert plan_of(job(text=example)).jobs == 30


def test_the_schema_refuses_unknown_keys_and_asks_for_needed_ones() -> None:
    schema = job_schema()
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Tuning"]["required"] == ["metric"]
    assert "title" not in schema
    assert schema["$defs"]["Span"]["properties"]["integer"]["anyOf"][0]["items"] == {"type": "number"}


def test_the_pages_are_written_into_the_folder_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "new")]) == 0
    assert {path.name: path.read_text() for path in (tmp_path / "new").iterdir()} == pages()
    assert main([]) == 2
    assert "FOLDER" in capsys.readouterr().err
