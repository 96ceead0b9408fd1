"""The version and revision that an image is named after."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bandstand.image.revision import Revision, read_revision


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", "-C", folder, *identity, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\nversion = "1.2"\n')
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    return tmp_path


def test_a_clean_folder_is_named_by_version_and_commit(project: Path):
    commit = git(project, "rev-parse", "HEAD")
    assert read_revision(project) == Revision("mine", "1.2", commit, None)
    assert read_revision(project).tag == f"1.2-{commit[:12]}"


@pytest.mark.parametrize("name", ["pyproject.toml", "new.py"])
def test_a_folder_that_differs_from_its_commit_is_called_dirty(project: Path, name: str):
    with (project / name).open("a") as file:
        file.write("\n")
    assert read_revision(project).tag == f"1.2-{git(project, 'rev-parse', 'HEAD')[:12]}-dirty"


def test_a_folder_without_project_and_git_is_latest(tmp_path: Path):
    assert read_revision(tmp_path) == Revision()
    assert read_revision(tmp_path).tag == "latest"


@pytest.mark.parametrize("text", ["[project", "project = 3", '[project]\nversion = ["x"]'])
def test_a_project_file_that_tells_no_version_is_no_obstacle(tmp_path: Path, text: str):
    (tmp_path / "pyproject.toml").write_text(text)
    assert read_revision(tmp_path) == Revision()


@pytest.mark.parametrize(
    ("remote", "source"),
    [
        ("https://user:secret@example.org/a/b.git", "https://example.org/a/b.git"),
        ("git@example.org:a/b.git", "git@example.org:a/b.git"),
        ("ssh://git@example.org/a.git", "ssh://example.org/a.git"),
        ("/home/me/b.git", None),
    ],
)
def test_the_source_shows_neither_credentials_nor_folders_of_this_machine(
    project: Path, remote: str, source: str | None
):
    git(project, "remote", "add", "origin", remote)
    assert read_revision(project).source == source


def test_a_tag_has_only_what_a_tag_may_have():
    assert Revision(version="1.0+local/1").tag == "1.0_local_1"
    assert len(Revision(version="1" * 200).tag) == 128
