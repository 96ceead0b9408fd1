from __future__ import annotations

from pathlib import Path

from bandstand.cli.reference import reference


def test_the_reference_page_is_current() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
    assert page.read_text(encoding="utf-8") == reference(), (
        "run: python -m bandstand.cli.reference > docs/reference/cli.md"
    )
