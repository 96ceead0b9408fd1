"""Words and streams by accident: bytes that are no UTF-8, control characters, closed streams."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

NO_UTF8 = b"caf\xe9"


def _bandstand(
    *words: bytes | str, cwd: Path, env: dict[str, str], closed: str = ""
) -> subprocess.CompletedProcess[bytes]:
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "bandstand.cli", *words]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, check=False, timeout=100)


@pytest.mark.parametrize(
    "word", [NO_UTF8, "a\x1b[31m", "a\nb", ""], ids=["no UTF-8", "colour", "line", "empty"]
)
@pytest.mark.parametrize(
    "verb",
    [
        ("show",),
        ("logs",),
        ("stop",),
        ("interrupt",),
        ("report",),
        ("clean",),
        ("tune", "--resume"),
        ("train", "--resume"),
    ],
    ids=" ".join,
)
def test_a_word_that_can_name_no_job_is_a_wrong_request(
    tmp_path: Path, env: dict[str, str], verb: tuple[str, ...], word: bytes | str
) -> None:
    done = _bandstand(*verb, word, cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"`bandstand list` shows" in done.stderr
    assert b"\x1b" not in done.stderr
    assert (rb"'caf\udce9' holds a control character, or a byte" in done.stderr) == (word == NO_UTF8)


@pytest.mark.parametrize("verb", ["list", "show", "local"])
@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has no such folders")
def test_a_home_whose_path_is_no_utf8_is_refused_before_anything_is_made(
    tmp_path: Path, env: dict[str, str], verb: str
) -> None:
    done = _bandstand("--home", NO_UTF8, verb, cwd=tmp_path, env=env)
    assert done.returncode == 2
    assert b"holds a byte that is no UTF-8 in its path" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_job_runs_to_its_end_whatever_streams_are_closed(
    tmp_path: Path, env: dict[str, str], closed: str
) -> None:
    (tmp_path / "train.py").write_text('print("iteration=1 score=1.0", flush=True)\n')
    (tmp_path / "job.toml").write_text('name = "one"\noutput = "out"\nprogram = "train.py"\n')
    home = ("--home", str(tmp_path / "home"))
    done = _bandstand("train", "job.toml", *home, cwd=tmp_path, env=env, closed=closed)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert not (tmp_path / "home" / "errors").exists()
    told = _bandstand("list", "--json", *home, cwd=tmp_path, env=env)
    assert [job["status"] for job in json.loads(told.stdout)] == ["Completed"]


@pytest.mark.parametrize("verb", ["list", "show", "clean"])
def test_closed_streams_are_no_fault_of_any_verb(tmp_path: Path, env: dict[str, str], verb: str) -> None:
    home = ("--home", str(tmp_path / "home"))
    words = {"clean": ("clean", "--all")}.get(verb, (verb,))
    open_ = _bandstand(*words, *home, cwd=tmp_path, env=env)
    shut = _bandstand(*words, *home, cwd=tmp_path, env=env, closed="<&- >&- 2>&-")
    assert (shut.returncode, shut.stderr) == (open_.returncode, b"")
    assert not (tmp_path / "home" / "errors").exists()
