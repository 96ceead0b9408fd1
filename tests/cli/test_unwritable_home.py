"""What is in a home can be looked at where nothing can be written: a full disk, a read-only file system."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]

DRIVER = """
import json, os, sqlite3, subprocess, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from bandstand.backends import kernel, mounts
from bandstand.backends.enclosure import Enclosure

root, what = Path(sys.argv[2]), sys.argv[3]
Enclosure(files=True, processes=False, users=os.geteuid() != 0).enter()
mounts.make_private()
home = root / "home"
home.mkdir()
kernel.mount("tmpfs", str(home), "tmpfs", 0, "size=4m")

def bandstand(*words):
    done = subprocess.run([sys.executable, "-m", "bandstand.cli", *words, "--home", str(home)], cwd=root,
                          capture_output=True, text=True, timeout=100)
    return [done.returncode, done.stdout, done.stderr]

def change(sql):
    with sqlite3.connect(home / "bandstand.db") as connection:
        connection.execute(sql)
    connection.close()

begun = bandstand("train", "job.toml")
assert begun[0] == 0, begun
if what == "orphan":  # a job whose owner is gone, of which nobody has taken note yet
    change("UPDATE training_jobs SET status = 'InProgress', owner = 'gone'")
if what == "damaged":
    with (home / "bandstand.db").open("r+b") as file:
        file.write(b"x" * 100)
if what == "full":
    with (home / "fill").open("wb", 0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
else:
    kernel.mount("tmpfs", str(home), "tmpfs", 32 | 1, "size=4m")  # MS_REMOUNT, MS_RDONLY
asked = [("list", "--json"), ("show", "one", "--json"), ("logs", "one"), ("report", "one")]
print(json.dumps({words[0]: bandstand(*words) for words in asked}))
"""


@pytest.fixture
def looked(tmp_path: Path) -> Any:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("1,2\n")
    (tmp_path / "train.py").write_text('print("iteration=1 score=1.0", flush=True)\n')
    (tmp_path / "job.toml").write_text(
        'name = "one"\noutput = "out"\nprogram = "train.py"\n[channels.train]\npath = "data"\n'
    )

    def look(what: str) -> dict[str, tuple[int, str, str]]:
        if sys.platform != "linux":
            pytest.skip("needs a file system of its own")
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, str(REPOSITORY), str(tmp_path), what],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        told: dict[str, tuple[int, str, str]] = json.loads(done.stdout.splitlines()[-1])
        return told

    return look


@pytest.mark.parametrize("what", ["full", "read-only"])
def test_jobs_that_are_over_are_shown_as_ever(looked: Any, what: str) -> None:
    told = looked(what)
    assert {verb: (code, err) for verb, (code, _, err) in told.items()} == dict.fromkeys(told, (0, ""))
    assert [job["status"] for job in json.loads(told["list"][1])] == ["Completed"]
    assert json.loads(told["show"][1])["status"] == "Completed"
    assert told["logs"][1] == "iteration=1 score=1.0\n"
    assert told["report"][1].startswith("one  Completed")


def test_what_cannot_be_brought_up_to_date_is_shown_and_said_to_be_old(looked: Any) -> None:
    told = looked("orphan")
    assert [job["status"] for job in json.loads(told["list"][1])] == ["InProgress"]
    for code, _, err in told.values():
        assert code == 0
        assert err.count("What is shown may be old. The record ") == 1
        assert "read-only file system" in err
        assert len(err.splitlines()) == 1


def test_a_home_that_cannot_be_read_either_is_told_in_one_message(looked: Any) -> None:
    for code, out, err in looked("damaged").values():
        assert (code, out) == (1, "")
        assert "it is no record of Bandstand's" in err
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("place", "told"),
    [("home", "it, or its folder jobs, is no folder"), ("home/jobs/a", "a part of its path is no folder")],
)
def test_a_home_that_cannot_be_a_folder_is_told_so(
    bandstand: Any, tmp_path: Path, place: str, told: str
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "jobs").touch()
    done = bandstand("list", "--home", str(tmp_path / place))
    assert (done.returncode, done.stdout) == (1, "")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
