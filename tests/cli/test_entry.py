from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from bandstand.cli.faults import report_error
from bandstand.cli.place import Place
from bandstand.cli.verbs import VERBS

WITHOUT_STATE = ("build", "push")
"""Verbs that neither read nor write the home."""


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_help_text_with_examples(bandstand: Any, verb: str) -> None:
    done = bandstand(verb, "--help")
    assert done.returncode == 0
    assert f"bandstand {verb}" in done.stdout.split("Examples:")[1]
    assert ("--home" in done.stdout) == (verb not in WITHOUT_STATE)


def test_help_lists_every_verb_in_order_and_loads_nothing_heavy(env: dict[str, str]) -> None:
    program = (
        "import sys\n"
        "from bandstand.cli.entry import run\n"
        "code = run(['--help'])\n"
        "heavy = ('rich', 'pydantic', 'boto3', 'botocore', 'sqlite3', 'numpy', 'difflib', 'hashlib',"
        " 'bandstand.report', 'bandstand.request.plan')\n"
        "print(code, [name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
    )
    *text, last = done.stdout.splitlines()
    assert last == "0 []"
    listed = [line.split()[0] for line in text if re.match(r"  \w+ {2,}\w", line)]
    assert [verb for verb in listed if verb in VERBS] == list(VERBS)


def test_a_misspelt_verb_is_a_wrong_request_and_the_nearest_is_named(bandstand: Any) -> None:
    done = bandstand("tun", "job.toml")
    assert done.returncode == 2
    assert "Did you mean 'tune'?" in done.stderr
    assert done.stdout == ""


def test_a_misspelt_option_is_a_wrong_request_and_the_nearest_is_named(bandstand: Any) -> None:
    done = bandstand("tune", "job.toml", "--paralel", "3")
    assert done.returncode == 2
    assert "--parallel" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tune", "job.toml", "--paralel", "3", "--json"), "No such option '--paralel'"),
        (("tun", "--json"), "Did you mean 'tune'?"),
        (("train", "--json"), "Missing argument 'JOB'"),
        (("train", "--json", "--hosts", "none", "job.toml"), "'none' is not a valid integer"),
    ],
)
def test_a_word_that_is_wrong_is_told_as_json_too_where_facts_are(
    bandstand: Any, words: tuple[str, ...], message: str
) -> None:
    done = bandstand(*words)
    assert done.returncode == 2
    (problem,) = json.loads(done.stdout)["problems"]
    assert message in problem["message"]
    assert problem["message"] in done.stderr


@pytest.mark.parametrize("seconds", ["nan", "inf", "-nan", "-1", "soon"])
@pytest.mark.parametrize(
    "words",
    [
        ("stop", "job", "--grace"),
        ("interrupt", "job", "--grace"),
        ("interrupt", "job", "--away"),
        ("train", "job.toml", "--grace"),
        ("tune", "job.toml", "--grace"),
    ],
)
def test_a_time_that_is_no_number_of_seconds_is_a_wrong_request(
    bandstand: Any, words: tuple[str, ...], seconds: str
) -> None:
    done = bandstand(*words[:-1], f"{words[-1]}={seconds}")
    assert done.returncode == 2
    assert f"Invalid value for '{words[-1]}'" in done.stderr


def test_the_version_is_told(bandstand: Any) -> None:
    assert re.fullmatch(r"bandstand \d+\.\d+\.\d+\S*\n", bandstand("--version").stdout)


def test_no_verb_is_a_wrong_request_that_is_answered_with_help(bandstand: Any) -> None:
    done = bandstand()
    assert done.returncode == 2
    assert "tune" in done.stdout + done.stderr


def test_home_is_taken_before_the_verb_after_it_and_from_the_environment(
    bandstand: Any, tmp_path: Path
) -> None:
    for words, chosen in (
        (("--home", "a", "list"), "a"),
        (("list", "--home", "b"), "b"),
        (("--home", "c", "list", "--home", "d"), "d"),
    ):
        done = bandstand(*words)
        assert (done.returncode, done.stdout) == (0, "")
        assert f"no jobs in {tmp_path / chosen} yet" in done.stderr
    assert "no jobs in " + str(tmp_path / "e") in bandstand("list", BANDSTAND_HOME="e").stderr
    assert "no jobs in " + str(tmp_path / ".bandstand") in bandstand("list", BANDSTAND_HOME="").stderr


@pytest.mark.parametrize("words", [("--home", "", "list"), ("list", "--home", "")])
def test_an_empty_home_is_not_the_working_folder(bandstand: Any, tmp_path: Path, words: Any) -> None:
    done = bandstand(*words)
    assert done.returncode == 2
    assert "it is empty. Name a folder, or leave the option out." in done.stderr
    assert not (tmp_path / "bandstand.db").exists()


def test_a_fault_of_ours_is_one_line_and_its_traceback_is_kept(home: Path, env: dict[str, str]) -> None:
    program = (
        "import sys\n"
        "import bandstand.runs.views\n"
        "bandstand.runs.views.jobs = lambda record: {}['nothing\\nhere']\n"
        "from bandstand.cli import main\n"
        "main(['show'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "fault of Bandstand" in done.stderr
    kept = Path(done.stderr.split()[-1])
    assert kept.parent == home / "errors"
    assert "KeyError" in kept.read_text(encoding="utf-8")
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_traceback_is_kept_among_temporary_files_where_the_home_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "home").write_text("a file")
    assert report_error(KeyError("fault"), Place(tmp_path / "home")) == 1
    kept = Path(capsys.readouterr().err.split()[-1])
    assert kept.parent == tmp_path
    assert kept.read_text(encoding="utf-8") == "KeyError: 'fault'\n"


@pytest.mark.parametrize("words", [("plan",), ("plan", "--hyperparameters"), ("train",), ("tune",)])
def test_a_path_that_no_file_system_can_have_is_the_users_mistake(
    bandstand: Any, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "loop.toml").symlink_to(tmp_path / "loop.toml")
    for path in (f"{'a' * 5000}.toml", str(tmp_path / "loop.toml")):
        done = bandstand(*words, path)
        assert done.returncode == 2, done.stderr
        assert "Bandstand, not" not in done.stderr
        assert len(done.stderr) < 1000


def test_a_home_that_cannot_be_written_is_told_without_a_traceback(bandstand: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = bandstand("list", "--home", "file")
    assert done.returncode == 2
    assert "file" in done.stderr
    done = bandstand("list", "--home", "file/below")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Bandstand, not" not in done.stderr


def test_a_reader_that_leaves_early_is_no_error(env: dict[str, str], tmp_path: Path) -> None:
    program = (
        "import bandstand.cli.output as output\n"
        "import bandstand.cli.list as verb\n"
        "output.put_json = lambda document: [print('x' * 100) for _ in range(100000)]\n"
        "from bandstand.cli import main\n"
        "main(['list', '--json'])"
    )
    reading, writing = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", program], env=env, stdout=writing, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(writing)
        os.read(reading, 10)
        os.close(reading)
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait() == 0


def test_a_full_disk_behind_standard_output_is_told(env: dict[str, str]) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this platform has no /dev/full")
    with full.open("w") as sink:
        done = subprocess.run(
            [sys.executable, "-m", "bandstand.cli", "list", "--json"],
            env=env,
            stdout=sink,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "This machine refused: No space left on device.\n"


def test_the_command_says_what_to_install_where_click_is_missing(env: dict[str, str]) -> None:
    program = "import sys\nsys.modules['click'] = None\nfrom bandstand.cli import main\nmain([])"
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "The command line needs more packages; run: pip install 'bandstand[launch]'\n"


def test_the_verb_to_take_instead_can_be_copied_with_blanks_and_home(bandstand: Any, tmp_path: Path) -> None:
    folder = tmp_path / "my jobs"
    folder.mkdir()
    (folder / "one.py").write_text("")
    (folder / "one.toml").write_text('program = "one.py"\n')
    done = bandstand("tune", "my jobs/one.toml", "--home", "my home")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("bandstand train 'my jobs/one.toml' --home 'my home'")
