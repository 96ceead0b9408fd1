"""Which program trains, and clear words when there is none that can."""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path

import pytest

from bandstand.errors import BandstandError, InputError
from bandstand.hyperparameters import Hyperparameters
from bandstand.sagemaker_files import Folders
from bandstand.training.host.program import find_program

from ..conftest import Launcher


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    found = Folders(tmp_path)
    found.code.mkdir()
    return found


def put(folders: Folders, name: str, content: bytes = b"", mode: int = 0o644) -> Path:
    path = folders.code / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return path


def find(folders: Folders, environ: dict[str, str] | None = None, **hyperparameters: str):
    return find_program(environ or {}, Hyperparameters(hyperparameters), folders)


def test_the_environment_goes_before_the_hyperparameter_and_that_before_the_built_in(folders: Folders):
    put(folders, "a.py")
    put(folders, "b.py")
    everything = {"sagemaker_program": "b.py", "algorithm": "xgboost"}
    assert find(folders, {"SAGEMAKER_PROGRAM": "a.py"}, **everything).name == "a.py"
    assert find(folders, **everything).name == "b.py"
    assert find(folders, algorithm="xgboost").command[-1] == "bandstand_container.xgboost_rowsplit"


def test_values_may_be_quoted_as_json(folders: Folders):
    put(folders, "b.py")
    assert find(folders, sagemaker_program='"b.py"').command == (
        sys.executable,
        "-u",
        str(folders.code / "b.py"),
    )
    assert find(folders, algorithm="horovod").command[-1] == "bandstand_container.horovod_ring"
    assert find(folders, algorithm='"xgboost"').name == "xgboost"


def test_a_built_in_that_is_given_code_has_its_requirements_too(folders: Folders):
    wanted = put(folders, "requirements.txt")
    assert find(folders, algorithm="xgboost").requirements is None
    given = {"sagemaker_submit_directory": str(folders.code)}
    assert find(folders, algorithm="xgboost", **given).requirements == wanted


def test_a_folder_that_was_submitted_is_used_where_it_is(folders: Folders, tmp_path: Path):
    source = tmp_path / "my code"
    source.mkdir()
    (source / "c.py").touch()
    uri = f"file://{tmp_path}/my%20code"
    found = find(folders, sagemaker_program="c.py", sagemaker_submit_directory=uri)
    assert found.folder == source


def archive(path: Path, names: dict[str, bytes], links: dict[str, str] | None = None) -> None:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in names.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)


@pytest.fixture(params=["filters", "no filters"])
def python_with_and_without_filters(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian 12's Python is older than the filters of archives."""
    if request.param == "no filters":
        monkeypatch.delattr(tarfile, "data_filter")


@pytest.mark.usefixtures("python_with_and_without_filters")
def test_an_archive_is_unpacked_into_the_code_folder_once(folders: Folders, tmp_path: Path):
    archive(tmp_path / "s.tar.gz", {"train.py": b"1", "lib/a.py": b"2"})
    for _ in range(2):
        found = find(
            folders, sagemaker_program="train.py", sagemaker_submit_directory=f"file://{tmp_path}/s.tar.gz"
        )
        assert found.folder == folders.code
        assert (folders.code / "lib" / "a.py").read_bytes() == b"2"
    assert not list(tmp_path.glob(".bandstand*"))


@pytest.mark.usefixtures("python_with_and_without_filters")
@pytest.mark.parametrize("kind", ["path", "link", "damaged"])
def test_an_archive_that_would_write_elsewhere_or_is_damaged_is_refused(
    folders: Folders, tmp_path: Path, kind: str
):
    source = tmp_path / "s.tar.gz"
    if kind == "path":
        archive(source, {"../out": b"x"})
    elif kind == "link":
        archive(source, {}, links={"l": "/etc/passwd"})
    else:
        source.write_bytes(b"no archive")
    with pytest.raises(InputError, match="cannot be unpacked"):
        find(folders, sagemaker_program="t.py", sagemaker_submit_directory=str(source))
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".bandstand*"))


@pytest.mark.parametrize(
    ("name", "content", "mode", "words"),
    [
        ("gone.py", None, 0, "which holds: other.py"),
        ("../up.py", None, 0, "within the code folder"),
        ("/abs.py", None, 0, "within the code folder"),
        ("fit", b"#!/bin/sh\n", 0o644, "is not executable: chmod +x fit"),
        ("fit", b"#!/bin/sh\r\necho\r\n", 0o755, "has Windows line endings"),
        ("fit.sh", b"#!/bin/bash\r\necho\r\n", 0o644, "has Windows line endings"),
        ("fit", b"#!/no/such/interpreter\n", 0o755, "'/no/such/interpreter', which is not here"),
        ("fit", b"#!/usr/bin/env no-such-thing\n", 0o755, "'no-such-thing', which is not on the PATH"),
        ("fit", b"#!\n", 0o755, "names no interpreter"),
        ("fit", b"", 0o755, "is empty"),
        ("fit", b"echo hello\n", 0o755, "without a first line that says what runs it"),
    ],
)
def test_a_program_that_cannot_be_started_is_told_with_what_to_do(
    folders: Folders, name: str, content: bytes | None, mode: int, words: str
):
    put(folders, "other.py")
    if content is not None:
        put(folders, name, content, mode)
    with pytest.raises(InputError) as caught:
        find(folders, sagemaker_program=name)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "command"),
    [
        ("a.sh", b"echo\n", ("/bin/sh",)),
        ("a.sh", b"#!/bin/bash -e\necho\n", ("/bin/bash", "-e")),
        ("a.sh", b"#!/usr/bin/env sh\necho\n", ("/usr/bin/env", "sh")),
    ],
)
def test_a_shell_script_runs_with_the_shell_that_it_names(
    folders: Folders, name: str, content: bytes, command
):
    path = put(folders, name, content)
    assert find(folders, sagemaker_program=name).command == (*command, str(path))


@pytest.mark.parametrize(
    ("hyperparameters", "words"),
    [
        ({}, "There is nothing to train with"),
        ({"algorithm": "xgbost"}, "Did you mean 'xgboost'?"),
        ({"sagemaker_program": "a.py", "sagemaker_submit_directory": "s3://b/k.tar.gz"}, "file:// URI"),
        (
            {"sagemaker_program": "a.py", "sagemaker_submit_directory": "/no/such"},
            "no folder or file /no/such",
        ),
    ],
)
def test_a_job_with_nothing_to_run_is_told_what_would_be(folders: Folders, hyperparameters, words: str):
    with pytest.raises(BandstandError) as caught:
        find(folders, **hyperparameters)
    assert words in str(caught.value)


def test_a_missing_program_is_one_clear_message_with_exit_code_and_failure_file(cluster: Launcher):
    job = cluster(1, hyperparameters={})
    assert job.wait() == [2]
    assert job[0].failure.startswith("There is nothing to train with")
    assert "Traceback" not in job[0].err
    assert job[0].err.count("nothing to train with") == 1


def test_a_program_that_the_system_refuses_is_told(cluster: Launcher):
    def make(folders):
        (folders.code / "fit").write_bytes(b"\x7fELF nonsense")
        (folders.code / "fit").chmod(0o755)

    job = cluster(1, hyperparameters={"sagemaker_program": "fit"}, prepare=make)
    assert job.wait() == [126]
    assert "fit cannot be started on algo-1: Exec format error" in job[0].failure


def test_requirements_that_nobody_installs_are_told_of(cluster: Launcher):
    def make(folders):
        (folders.code / "requirements.txt").write_text("numpy\n")

    job = cluster(1, "print('trained')", prepare=make)
    assert job.wait() == [0]
    assert "requirements.txt is not installed; the packages here are used" in job[0].err


@pytest.mark.parametrize("words", [("serve",), ("tarin",), ("train", "now")])
def test_other_words_than_train_are_refused(cluster: Launcher, words: tuple[str, ...]):
    job = cluster(1, "print(1)", words=words)
    assert job.wait() == [2]
    assert ("'serve' is not part" if words == ("serve",) else "expected 'train'") in job[0].err


def test_no_word_trains(cluster: Launcher):
    job = cluster(1, "print('trained')", words=())
    assert job.wait() == [0]
    assert "trained" in job[0].out


def test_a_broken_configuration_is_one_clear_message(cluster: Launcher):
    def damage(folders):
        (folders.config / "hyperparameters.json").write_text("{")

    job = cluster(1, prepare=damage)
    assert job.wait() == [2]
    assert "hyperparameters.json is no JSON" in job[0].failure
