"""Every verb on jobs that have ended: a tuning job, a good and a failed training job, really run once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
import json, os, sys
settings = json.load(open(os.environ["SM_INPUT_CONFIG_DIR"] + "/hyperparameters.json"))
if settings.get("fail"):
    raise ValueError("no rows in this file")
x = float(settings["x"])
for step in range(1, int(settings["epochs"]) + 1):
    print(f"\\x1b[32mepoch\\x1b[0m {step} loss={(x - 0.3) ** 2 + 1 / step}", flush=True)
print("Gr\\u00fc\\u00dfe", file=sys.stderr)
open(os.environ["SM_MODEL_DIR"] + "/model.txt", "w").write(str(x))
"""

JOB = """
name = "{name}"
program = "train.py"
code = "src"
output = "out"
role = "arn:aws:iam::111122223333:role/Training"
image = "bandstand:latest"
[hyperparameters]
epochs = 12
{settings}
[cluster]
hosts = {hosts}
[metrics]
loss = " loss=([-+0-9.eE]+)"
"""

TUNING = """
[tuning]
metric = "loss"
goal = "minimize"
strategy = "hyperband"
min_resource = 1
max_resource = 9
jobs = 5
parallel = 2
seed = 3
[ranges]
x = { continuous = [0, 1] }
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def write_jobs(folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src" / "train.py").write_text(SCRIPT)
    (folder / "tune.toml").write_text(JOB.format(name="digits", settings="", hosts=1) + TUNING)
    (folder / "one.toml").write_text(JOB.format(name="one", settings="x = 0.5", hosts=2))
    (folder / "bad.toml").write_text(JOB.format(name="bad", settings='x = 0.5\nfail = "yes"', hosts=1))


def command(folder: Path) -> Run:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("BANDSTAND_")}

    def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "bandstand.cli", *words],
            env={**kept, "BANDSTAND_HOME": str(folder / "home"), **more},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Run the three jobs and keep what the commands printed."""
    folder = tmp_path_factory.mktemp("ended")
    write_jobs(folder)
    run = command(folder)
    yield (
        folder,
        {"tune": run("tune", "tune.toml"), "bad": run("train", "bad.toml"), "one": run("train", "one.toml")},
    )
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def run(ended: tuple[Path, dict[str, Any]]) -> Run:
    return command(ended[0])


def test_tuning_in_a_pipe_tells_each_event_in_a_line_and_the_result_at_the_end(ended: Any) -> None:
    done = ended[1]["tune"]
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert sum(" started: x=" in line for line in lines) == 5
    assert "best job" in done.stdout
    assert "MaxResource saved" in done.stdout
    assert "stopping early saved" in done.stdout
    assert "billable time" in done.stdout
    assert lines[-1] == "More: bandstand show digits"
    assert "\x1b" not in done.stdout


def test_training_follows_the_log_and_ends_with_the_facts(ended: Any) -> None:
    done = ended[1]["one"]
    assert done.returncode == 0, done.stderr
    assert "algo-1 | epoch 12 loss=" in done.stdout
    assert "algo-2 | Grüße" in done.stdout
    assert "one  Completed" in done.stdout
    assert "out/one/output/model.tar.gz" in done.stdout


def test_a_failed_job_has_exit_code_1_and_its_reason(ended: Any) -> None:
    done = ended[1]["bad"]
    assert done.returncode == 1
    assert "ValueError: no rows in this file" in done.stdout
    assert "line 5" in done.stdout


def test_show_without_a_name_is_the_newest_job(run: Run) -> None:
    assert run("show").stdout.startswith("one  Completed")


def test_show_of_a_tuning_job_explains_each_stop(run: Run) -> None:
    document = json.loads(run("show", "digits", "--json").stdout)
    text = run("show", "digits").stdout
    stops = [job for job in document["training_jobs"] if job["stop"]]
    assert stops
    assert all(f"{job['number']:>3}  {job['stop']['reason']}" in text for job in stops)
    assert document["best"]["name"] in text


def test_json_is_all_there_is_on_standard_output(run: Run, ended: Any) -> None:
    name = json.loads(run("show", "digits", "--json").stdout)["training_jobs"][0]["name"]
    for words in (["list"], ["show", "digits"], ["show", name], ["report", "digits"], ["report", "one"]):
        done = run(*words, "--json")
        assert done.returncode == 0
        json.loads(done.stdout)
        assert done.stdout.isascii()
    points = json.loads(run("show", name, "--json").stdout)["metrics"]
    assert set(points[0]) == {"name", "iteration", "value", "host", "time"}


def test_list_has_every_job_the_newest_last(run: Run) -> None:
    names = [line.split()[0] for line in run("list").stdout.splitlines()]
    assert names == ["job", "digits", "bad", "one"]
    assert [job["status"] for job in json.loads(run("list", "--json").stdout)] == [
        "Completed",
        "Failed",
        "Completed",
    ]


def test_report_ranks_jobs_and_draws_their_curves(run: Run) -> None:
    document = json.loads(run("report", "digits", "--json").stdout)
    objectives = [job["final_objective"] for job in document["jobs"]]
    assert objectives == sorted(objectives)
    best = document["jobs"][0]
    assert best["curve"][-1] == [best["iterations"], best["final_objective"]]
    text = run("report", "digits").stdout
    assert "█" in text
    assert "█" not in run("report", "digits", PYTHONIOENCODING="ascii").stdout


def test_report_tells_what_other_terms_would_have_cost_and_found(run: Run) -> None:
    told = json.loads(
        run("report", "digits", "--json", "--what-if", "parallel=1", "--what-if", "jobs=2").stdout
    )
    assert (told["kind"], told["changes"]["jobs"]["is"]) == ("what-if", 2)
    assert told["what_if"]["iterations"] <= told["recorded"]["iterations"]
    text = run("report", "digits", "--what-if", "jobs=2").stdout
    assert text.startswith("digits  if it had jobs 2")
    assert "as recorded" in text
    wrong = run("report", "digits", "--what-if", "parallell=2")
    assert wrong.returncode == 2
    assert "Did you mean parallel?" in wrong.stderr


def test_reports_are_readable_in_the_c_locale(run: Run) -> None:
    done = run("report", "digits", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "#" in done.stdout


def test_logs_of_one_host_are_the_lines_as_they_were(run: Run) -> None:
    lines = run("logs", "one", "--host", "algo-2").stdout.splitlines()
    assert lines[0].startswith("\x1b[32mepoch\x1b[0m 1 loss=")
    assert "Grüße" in lines
    assert len(lines) >= 13


def test_logs_of_several_hosts_start_with_the_host(run: Run) -> None:
    lines = run("logs", "one").stdout.splitlines()
    assert {line.split(" | ")[0] for line in lines} == {"algo-1", "algo-2"}


@pytest.mark.parametrize("more", [[], ["--follow"]])
def test_logs_of_a_tuning_job_are_those_of_all_its_jobs(run: Run, more: list[str]) -> None:
    names = {job["name"] for job in json.loads(run("show", "digits", "--json").stdout)["training_jobs"]}
    lines = run("logs", "digits", *more).stdout.splitlines()
    assert {line.split(" ")[0] for line in lines} == names
    assert all(" algo-1 | " in line for line in lines)


def test_logs_as_json_are_one_object_a_line_in_order_of_time(run: Run) -> None:
    lines = [json.loads(line) for line in run("logs", "digits", "--json").stdout.splitlines()]
    assert set(lines[0]) == {"job", "host", "time", "text"}
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)


def test_a_host_that_does_not_exist_is_a_wrong_request(run: Run) -> None:
    for words in (["logs", "one", "--host", "algo-3"], ["logs", "digits", "--host", "algo-9", "--follow"]):
        done = run(*words)
        assert done.returncode == 2
        assert "algo-1" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", ["show", "logs", "stop", "report", "clean"])
def test_a_name_that_does_not_exist_gets_the_nearest(run: Run, verb: str) -> None:
    done = run(verb, "digit")
    assert done.returncode == 2
    assert "Did you mean 'digits'?" in done.stderr
    assert done.stdout == ""


def test_a_problem_is_also_json_when_json_is_asked_for(run: Run) -> None:
    done = run("show", "digit", "--json")
    assert done.returncode == 2
    assert "digits" in json.loads(done.stdout)["problems"][0]["message"]


def test_stopping_a_job_that_is_over_leaves_it_as_it_is(run: Run) -> None:
    done = run("stop", "digits")
    assert done.returncode == 0
    assert "is over already: Completed" in done.stdout
    assert json.loads(run("stop", "bad", "--json").stdout)["status"] == "Failed"


def test_clean_says_what_it_would_remove_and_asks_first(run: Run) -> None:
    done = run("clean", "--all", "--dry-run")
    assert done.returncode == 0
    assert "tuning job digits with 5 training jobs" in done.stdout
    assert run("clean", "--all").returncode == 2
    assert run("clean").returncode == 2
    assert len(json.loads(run("list", "--json").stdout)) == 3


def test_clean_removes_the_job_and_leaves_the_output(tmp_path: Path, ended: Any) -> None:
    before = sorted((ended[0] / "home" / "jobs").rglob("*"))
    shutil.copytree(ended[0] / "home", tmp_path / "home", ignore=shutil.ignore_patterns("control"))
    done = command(ended[0])("clean", "--all", "-y", "--home", str(tmp_path / "home"))
    assert done.returncode == 0, done.stderr
    assert "training job bad" in done.stdout
    assert list((tmp_path / "home" / "jobs").iterdir()) == []
    assert sorted((ended[0] / "home" / "jobs").rglob("*")) == before  # those of the home that was copied
    assert (ended[0] / "out" / "one" / "output" / "model.tar.gz").exists()
    assert "nothing to remove" in command(ended[0])("clean", "--all", "--home", str(tmp_path / "home")).stderr


def test_plan_prints_the_request_and_nothing_else(run: Run) -> None:
    plain, as_json = run("plan", "tune.toml"), run("plan", "tune.toml", "--json")
    assert plain.returncode == as_json.returncode == 0
    request = json.loads(plain.stdout)
    assert request == json.loads(as_json.stdout)
    assert request["HyperParameterTuningJobConfig"]["StrategyConfig"] == {
        "HyperbandStrategyConfig": {"MinResource": 1, "MaxResource": 9}
    }
    assert "TrainingJobName" in json.loads(run("plan", "one.toml").stdout)


def test_plan_names_what_sagemaker_would_refuse_and_a_run_here_does_not(run: Run, ended: Any) -> None:
    bare = (ended[0] / "one.toml").read_text("utf-8").replace("role =", "# role =").replace("image =", "# ")
    (ended[0] / "bare.toml").write_text(bare, "utf-8")
    told = run("plan", "bare.toml").stderr
    assert "note: role: none is given" in told
    assert "note: image: " in told
    assert "s3:// where this request has file:// addresses: HyperParameters.sagemaker_submit_dir" in told
    assert "OutputDataConfig.S3OutputPath." in told
    ran = run("train", "bare.toml", "--name", "bare").stderr
    assert "note: role: " not in ran
    assert "note: image: " not in ran


def test_plan_takes_the_same_changes_as_the_run(run: Run) -> None:
    words = ["--name", "other", "--jobs", "7", "--parallel", "3", "--seed", "11", "--hosts", "2"]
    request = json.loads(run("plan", "tune.toml", *words).stdout)
    config = request["HyperParameterTuningJobConfig"]
    assert request["HyperParameterTuningJobName"] == "other"
    assert config["ResourceLimits"] == {"MaxNumberOfTrainingJobs": 7, "MaxParallelTrainingJobs": 3}
    assert config["RandomSeed"] == 11
    assert request["TrainingJobDefinition"]["ResourceConfig"]["InstanceCount"] == 2


def test_plan_tells_every_problem_at_once(run: Run, ended: Any) -> None:
    text = (ended[0] / "tune.toml").read_text()
    (ended[0] / "wrong.toml").write_text(
        text.replace("hyperband", "hyperbend").replace("jobs = 5", "jobs = 0")
    )
    done = run("plan", "wrong.toml", "--json")
    assert done.returncode == 2
    problems = json.loads(done.stdout)["problems"]
    assert len(problems) == 2
    assert all(problem["number"] and problem["fix"] and problem["message"] for problem in problems)
    assert all(problem["message"] in done.stderr for problem in problems)
    plain = run("plan", "wrong.toml")
    assert (plain.returncode, plain.stdout) == (2, "")


@pytest.mark.parametrize("verb", ["plan", "train", "tune"])
def test_a_job_file_that_does_not_exist_gets_the_nearest(run: Run, verb: str) -> None:
    done = run(verb, "tun.toml")
    assert done.returncode == 2
    assert "Did you mean tune.toml?" in done.stderr
    assert run(verb, "src").returncode == 2


def test_each_kind_of_job_file_names_the_verb_for_the_other(run: Run) -> None:
    assert "bandstand train one.toml" in run("tune", "one.toml").stderr
    assert "bandstand tune tune.toml" in run("train", "tune.toml").stderr
