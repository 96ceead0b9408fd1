"""Commands that are given as advice can be typed as they stand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bandstand.cli.place import Place


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "my place" / "bin" / "bandstand"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program)])
    return program


def test_a_command_on_the_path_is_named(command: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(command.parent))
    assert Place().advice("show one") == "bandstand show one"


def test_a_command_that_is_not_on_the_path_is_given_with_its_own(
    command: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.chdir(command.parents[1])
    assert Place().advice("show one") == "bin/bandstand show one"
    monkeypatch.chdir("/")
    assert Place().advice("show one") == f"'{command.relative_to('/')}' show one"


def test_the_home_is_given_when_it_was_said(command: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(command.parent))
    assert Place(Path("my home"), said=True).advice("list") == "bandstand list --home 'my home'"
