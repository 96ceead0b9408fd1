"""The tutorial on tuning code on a laptop: its blocks are run in order, against a service that it starts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.service.served import Server

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "tutorial" / "your-tuning-code-on-your-laptop.md").read_text("utf-8")
WALK, SDKS = PAGE.split("\n## With SageMaker's SDK\n")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", WALK, re.DOTALL)
FILE = re.compile(r"# (\w+\.py)\n")
START, *COMMANDS = [text for language, text in BLOCKS if language == "sh"]

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every file that the page shows."""
    place = tmp_path_factory.mktemp("tutorial")
    for language, text in BLOCKS:
        if language == "python":
            named = FILE.match(text)
            assert named, f"a block of Python does not name its file: {text[:40]}"
            (place / named[1]).write_text(text, "utf-8")
    return place


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """The service that the page starts, on any free port and with a home of the test's."""
    assert START == "bandstand local --port 8000\n"
    running = Server(folder / "home", "--port", "0", cwd=folder)
    yield running
    assert running.end() == 0


@pytest.fixture(scope="module")
def said(server: Server, folder: Path) -> dict[str, str]:
    """What each command of the page prints, all in one shell, in order."""
    steps = [line for text in COMMANDS for line in text.splitlines()]
    script = ["set -e", *(f"echo '>>> {line}'\n{line}" for line in steps)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment |= {
        "BANDSTAND_HOME": str(server.home),
        "HOME": str(folder),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-c", "\n".join(script).replace("http://127.0.0.1:8000", server.url)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    told = [path.read_text("utf-8", "replace") for path in sorted(server.home.rglob("logs/algo-1.log"))]
    assert done.returncode == 0, "\n".join([done.stdout, done.stderr, *told])
    parts = re.split(r"^>>> (.*)\n", done.stdout, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_the_tuning_code_runs_and_is_watched_to_its_end(said: dict[str, str]) -> None:
    *rounds, best, value = said["python watch.py churn"].splitlines()
    assert rounds[-1].startswith("Completed ")
    assert re.match(r"churn-\d{3}-[0-9a-f]{8} \{", best)
    assert "'eta': " in best
    assert "'max_depth': " in best
    assert 0.5 < float(value) < 1


def test_the_verbs_tell_of_the_job_that_the_code_made(said: dict[str, str]) -> None:
    shown = said["bandstand show churn"]
    assert shown.startswith("churn  Completed\n")
    assert "Stopped after 27 reports: MaxResource is reached." in shown
    assert "best job  churn-00" in said["bandstand report churn"]


def test_the_log_has_the_metric_of_every_job_and_the_lines_of_every_host(said: dict[str, str]) -> None:
    lines = said["python logs.py churn"].splitlines()
    reported = {line.split("/")[0] for line in lines if "validation:auc=" in line}
    assert len(reported) == 6
    assert {re.split(r"/|-\d+ ", line)[1] for line in lines} == {"algo-1", "algo-2"}
    told = said["bandstand logs churn"].count("validation:auc=")
    assert told == sum("validation:auc=" in line for line in lines)


def test_the_model_of_the_best_job_is_fetched_and_is_the_file_of_the_bucket(
    said: dict[str, str], folder: Path, server: Server
) -> None:
    best = said["python watch.py churn"].splitlines()[-2].split()[0]
    kept = server.home / "s3" / "my-bucket" / "churn" / "out" / best / "output" / "model.tar.gz"
    assert (folder / "model.tar.gz").read_bytes() == kept.read_bytes()
    with tarfile.open(kept) as archive:
        assert "xgboost-model" in archive.getnames()
    assert (folder / "xgboost-model").is_file()


def test_a_second_job_is_stopped(said: dict[str, str]) -> None:
    assert "Stopped" in said["bandstand stop churn-2"]
