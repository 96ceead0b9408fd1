"""The pages that are written by hand name everything that the code has, and nothing that it lacks."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import bandstand
from bandstand import host_variables
from bandstand.hyperparameters import Hyperparameters
from bandstand.sagemaker_files import Cluster, Folders
from bandstand.training.host import job
from bandstand.training.host.program import Program
from bandstand.training.host.script_mode import variables
from bandstand.training.rows.formats import CONTENT_TYPES, endings
from bandstand.training.run import Run
from bandstand_container.xgboost_settings import CHANNELS

DOCS = Path(__file__).resolve().parents[2] / "docs"
XGBOOST = (DOCS / "reference" / "xgboost.md").read_text("utf-8")
SCRIPT = (DOCS / "reference" / "training-script.md").read_text("utf-8")
SCRIPTS = re.findall(r"```python\n(.*?)```", SCRIPT, re.DOTALL)


def section(page: str, title: str) -> str:
    return page.split(f"\n## {title}\n")[1].split("\n## ")[0]


def first_column(text: str) -> list[str]:
    return re.findall(
        r"`([^`]+)`", "\n".join(row.split("|")[1] for row in re.findall(r"^\| `.*$", text, re.M))
    )


def test_the_formats_and_channels_of_the_built_in_xgboost_are_those_of_its_code() -> None:
    text = section(XGBOOST, "Channels")
    assert sorted(first_column(text)) == sorted(CONTENT_TYPES)
    assert set(re.findall(r"`(\.[a-z]+)`", text)) == {*endings().split(", "), ".gz"}
    assert all(f"`{name}`" in text for name in CHANNELS)


def test_the_public_names_of_the_package_are_told() -> None:
    told = set(re.findall(r"`bandstand\.(\w+)", section(SCRIPT, "bandstand")))
    told |= set(re.findall(r"`(\w+Error|Problem)`", section(SCRIPT, "bandstand")))
    assert told == set(bandstand.__all__) - {"__version__"}


def test_everything_public_of_a_run_is_told_and_is_there(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import bandstand; print(*dir(bandstand.start()))"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    public = {name for name in done.stdout.split() if not name.startswith("_")}
    assert set(re.findall(r"`run\.(\w+)", SCRIPT)) == public
    getters = {name for name in vars(Hyperparameters) if not name.startswith("_")} - {"objective"}
    row = next(line for line in SCRIPT.splitlines() if "`run.hyperparameters`" in line)
    assert {name.split("(")[0] for name in re.findall(r"`([a-z(, ]+\)?)`", row)} == getters


def test_the_arguments_of_a_run_are_those_of_its_code() -> None:
    for name, arguments in re.findall(r"^\| `run\.(\w+)\(([^`]*)\)`", SCRIPT, re.M):
        code = getattr(Run, name).__code__
        names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        assert tuple(word.split("=")[0] for word in arguments.split(", ") if word) == names


def test_the_variables_of_bandstand_are_those_that_the_code_reads_and_sets() -> None:
    sources = [Path(str(module.__file__)).read_text("utf-8") for module in (host_variables, job)]
    known = set(re.findall(r"BANDSTAND_[A-Z_]+", "\n".join(sources))) | {"BANDSTAND_HOME"}
    assert set(re.findall(r"BANDSTAND_[A-Z_]+", SCRIPT)) == known


def test_the_variables_of_the_toolkit_that_are_told_are_set(tmp_path: Path) -> None:
    given = variables(
        Program("train.py", ("python", "train.py"), tmp_path, True),
        Hyperparameters({"<name>": "1"}),
        Cluster("algo-1", ("algo-1",), "ml.m5.xlarge"),
        {},
        Folders(tmp_path),
        {},
    )
    told = set(re.findall(r"`(SM_[A-Z_<>]+)`", SCRIPT)) - {"SM_CHANNEL_<NAME>"}
    assert told <= set(given)


def test_the_script_of_the_page_trains_and_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPTS[0], "utf-8")
    (tmp_path / "job.toml").write_text(
        'name = "page"\nprogram = "train.py"\ncheckpoints = "kept"\n[hyperparameters]\nepochs = 5\n', "utf-8"
    )

    def command(*words: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "bandstand.cli", *words, "--home", "home"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        ).stdout

    losses = re.findall(r"iteration=\d+ validation:loss=(\S+)", command("train", "job.toml"))
    command("clean", "page", "--yes")
    (tmp_path / "job.toml").write_text((tmp_path / "job.toml").read_text().replace("= 5", "= 7"), "utf-8")
    again = command("train", "job.toml")
    assert "goes on after iteration 5" in again
    more = re.findall(r"iteration=(\d+) validation:loss=(\S+)", again)
    assert [number for number, _ in more] == ["6", "7"]
    assert float(more[0][1]) < float(losses[-1])  # it has loaded its weight


def test_the_declarations_of_the_page_are_what_plan_fills_in(tmp_path: Path) -> None:
    assert len(SCRIPTS) == 2
    ranges = re.search(r"```toml\n(.*?)```", section(SCRIPT, "Declared hyperparameters"), re.DOTALL)
    assert ranges
    (tmp_path / "train.py").write_text(SCRIPTS[1], "utf-8")
    tuning = '[tuning]\nmetric = "validation:loss"\ngoal = "minimize"\njobs = 2\nmax_resource = 5\n'
    (tmp_path / "job.toml").write_text(f'program = "train.py"\n{tuning}{ranges[1]}', "utf-8")

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={name: value for name, value in os.environ.items() if not name.startswith("BANDSTAND_")},
        )

    assert (
        "  --learning_rate, --eta\n      a number above 0; default 0.1"
        in command("train.py", "--help").stdout
    )
    tried = command("train.py", "--learning_rate", "0.5").stdout
    assert tried.splitlines()[0] == "iteration=1 validation:loss=0.5"
    command("train.py", "--export-hyperparameters")
    planned = command("-m", "bandstand.cli", "plan", "job.toml")
    assert "note: ranges.learning_rate: 0.0001 to 1, logarithmic scale, the default range of train.py." in (
        planned.stderr.splitlines()
    )
    names = re.findall(r'"Name": "([a-z_]+)"', planned.stdout)
    assert sorted(names) == ["dropout", "learning_rate", "optimizer"]


def test_the_arguments_of_a_declaration_are_those_of_its_code() -> None:
    told = set(re.findall(r"`([a-z]+)`", "\n".join(first_cells(section(SCRIPT, "Declared hyperparameters")))))
    assert told == set(inspect.signature(bandstand.hyperparameter).parameters) - {"name"}


def first_cells(text: str) -> list[str]:
    return [row.split("|")[1] for row in re.findall(r"^\| `.*$", text, re.M)]
