"""A name that a training job and a tuning job have, on the command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .conftest import Command

JOB = """
name = "plain"
program = "train.py"
code = "src"
output = "out"
role = "arn:aws:iam::111122223333:role/Training"
image = "bandstand:latest"
[metrics]
loss = " loss=([-+0-9.eE]+)"
"""

TUNING = """
[tuning]
metric = "loss"
goal = "minimize"
strategy = "random"
jobs = 2
parallel = 1
seed = 3
[ranges]
x = { continuous = [0, 1] }
"""

WHICH = "same is a tuning job and a training job. Say which is meant: --kind tuning or --kind training."

VERBS = (["show"], ["logs"], ["report"], ["stop"], ["interrupt"], ["clean", "-y"])
"""Every verb that takes the name of a job."""


@pytest.fixture
def both(bandstand: Command, tmp_path: Path) -> Command:
    """The command, in a home with a training job and a tuning job of the name `same`."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text("print('step 1 loss=0.5')\n")
    (tmp_path / "one.toml").write_text(JOB)
    (tmp_path / "many.toml").write_text(JOB + TUNING)
    for words in (("train", "one.toml"), ("tune", "many.toml")):
        done = bandstand(*words, "--name", "same")
        assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("More: bandstand show same --kind tuning\n")
    return bandstand


def facts(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_verb_says_how_to_choose_between_two_jobs_of_a_name(both: Command) -> None:
    for verb in VERBS:
        done = both(*verb, "same")
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{WHICH}\n"), verb
        told = both(*verb, "same", "--json")
        assert json.loads(told.stdout)["problems"][0]["message"] == WHICH, verb


def test_the_kind_chooses_one_of_two_jobs(both: Command) -> None:
    assert facts(both("show", "same", "--kind", "training", "--json"))["kind"] == "training"
    assert len(facts(both("show", "same", "--kind", "tuning", "--json"))["training_jobs"]) == 2
    assert both("logs", "same", "--kind", "training").stdout == "step 1 loss=0.5\n"
    assert both("logs", "same", "--kind", "tuning").stdout.count("loss=0.5") == 2
    assert facts(both("report", "same", "--kind", "training", "--json"))["kind"] == "training"
    what_if = ("report", "same", "--what-if", "parallel=2", "--json")
    assert facts(both(*what_if, "--kind", "tuning"))["kind"] == "what-if"
    assert "--what-if is for tuning jobs" in both(*what_if, "--kind", "training").stdout
    stopped = both("stop", "same", "--kind", "training")
    assert stopped.stdout == "same is over already: Completed.\nsame: Completed\n"
    assert "is over already" in both("interrupt", "same", "--kind", "tuning").stderr
    assert [job["kind"] for job in facts(both("list", "--json"))] == ["training", "tuning"]


def test_without_a_name_the_newest_job_of_the_kind_is_shown(both: Command) -> None:
    assert facts(both("show", "--json"))["kind"] == "tuning"
    assert facts(both("show", "--kind", "training", "--json"))["kind"] == "training"
    both("clean", "same", "--kind", "training", "-y")
    none = both("show", "--kind", "training")
    assert none.returncode == 2
    assert none.stderr.startswith("There are no training jobs in ")


def test_cleaning_one_of_two_jobs_leaves_the_other(both: Command) -> None:
    assert both("clean", "same", "--kind", "tuning", "-y").stdout == "tuning job same with 2 training jobs\n"
    assert facts(both("show", "same", "--json"))["kind"] == "training"
    gone = both("show", "same", "--kind", "tuning")
    assert gone.stderr.startswith("There is no tuning job 'same' in ")
    assert gone.stderr.endswith("; same is a training job.\n")
    refused = both("clean", "--all", "--kind", "training", "-y")
    assert refused.returncode == 2
    assert "--kind is for jobs that are named" in refused.stderr


def test_the_verb_that_resumes_chooses_the_kind(both: Command) -> None:
    for verb in ("train", "tune"):
        refused = both(verb, "--resume", "same").stderr
        assert refused.startswith("same is over already: Completed.")
        assert f"`bandstand show same --kind {'training' if verb == 'train' else 'tuning'}` tells" in refused


def test_a_name_that_is_chosen_for_somebody_is_no_other_jobs(both: Command, tmp_path: Path) -> None:
    assert both("train", "one.toml").returncode == 0
    done = both("tune", "many.toml")
    assert "note: the name plain is taken; this one is plain-2" in done.stderr
    assert facts(both("show", "plain", "--json"))["kind"] == "training"
