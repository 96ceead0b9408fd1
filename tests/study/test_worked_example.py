from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from bandstand.study.rungs import bracket_rungs, bracket_sizes, places_kept

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "hyperband.md"


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return found


def test_the_page_shows_what_its_example_prints() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", block("python")], capture_output=True, text=True, timeout=60, check=True
    )
    assert printed.stdout == block("text")


def test_the_numbers_in_the_page_are_those_of_the_rules() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert len(bracket_rungs(1, 30)) == 4
    assert "four for 1 to 30" in page
    assert bracket_sizes(4) == (27, 12, 6, 4)
    assert "27, 12, 6 and 4 for four brackets" in page
    assert bracket_rungs(1, 9) == ((1, 3), (3,), ())
    assert bracket_sizes(3) == (9, 5, 3)
    assert "A round holds 9, 5 and 3 trials" in page
    assert places_kept(2) == 1
    assert places_kept(4) == 2
