"""The door: files that cannot be read, documents passed on unchanged, options of the command line."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bandstand.errors import InputError, PlanError
from bandstand.problem import Problem
from bandstand.request import Plan, TrainingPlan, TuningPlan, load

Job = Callable[..., Path]
Problems = Callable[..., list[Problem]]
Write = Callable[..., Path]


def test_a_document_is_passed_on_unchanged(
    tuning: dict[str, Any], training: dict[str, Any], write_json: Write
) -> None:
    for document in (tuning, training):
        plan = load(write_json(document))
        assert json.loads(plan.document) == document
        assert list(json.loads(plan.document)) == list(document)
        assert plan.exact


def test_a_document_may_come_as_a_mapping_which_is_left_alone(tuning: dict[str, Any]) -> None:
    before = copy.deepcopy(tuning)
    plan = load(tuning)
    assert isinstance(plan, TuningPlan)
    assert tuning == before


def test_a_job_file_may_come_as_a_mapping_relative_to_the_working_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    job = {
        "name": "mine",
        "program": "src/train.py",
        "hyperparameters": {"rate": 1e-05},
        "channels": {"train": {"path": "data/train"}},
    }
    plan = load(job)
    assert isinstance(plan, TrainingPlan)
    assert plan.channels[0].path == folder / "data" / "train"
    assert dict(plan.hyperparameters)["rate"] == "1e-05"


def test_keys_of_a_mapping_that_are_no_text_are_refused(problems: Problems) -> None:
    for table in ("channels", "hyperparameters", "ranges"):
        found = problems({"name": "a", "program": "a.py", table: {1: {"path": "x"}}})
        assert (106, f"{table}.1") in {(problem.number, problem.where) for problem in found}
    assert problems({"name": "a", "program": "a.py", 1: 2})


def test_a_document_of_any_suffix_is_known_by_its_brace(training: dict[str, Any], write_json: Write) -> None:
    assert load(write_json("\n " + json.dumps(training), "request.txt")).name == "train"


def test_a_byte_order_mark_is_no_fault(job: Job, folder: Path) -> None:
    path = folder / "bom.toml"
    path.write_bytes(b"\xef\xbb\xbf" + job().read_bytes())
    assert load(path).name == "direct-marketing"


def test_a_job_file_without_a_name_is_called_as_its_file(job: Job) -> None:
    assert load(job(('name = "direct-marketing"\n', ""))).name == "job"


def test_a_folder_is_refused_and_the_file_in_it_named(job: Job, problems: Problems) -> None:
    path = job()
    found = problems(path.parent)
    assert (found[0].number, found[0].found) == (101, "a folder")
    assert f"Name the file in it, such as {path}." == found[0].fix
    assert problems(path.parent / "data")[0].fix == "Name the job file."


def test_what_cannot_be_read_is_refused(folder: Path, problems: Problems) -> None:
    assert problems(folder / "none.toml")[0].found == "no file of this name"
    assert problems(str(folder / "none.toml"))[0].number == 101
    assert problems("a\0b")[0].number == 101
    assert problems(Path("/dev/null"))[0].found == "no regular file"
    assert problems(folder / ("x" * 300))[0].found == "File name too long"


def test_bytes_that_are_no_text_are_refused(folder: Path, problems: Problems) -> None:
    path = folder / "job.toml"
    path.write_bytes(b"name = 'a'\nx = '\xff'\n")
    assert problems(path)[0].found == "a byte that is no UTF-8 in line 2"
    path.write_bytes(b"\x7fELF\0\0\xff")
    assert problems(path)[0].found == "bytes that are no text"
    path.write_bytes(b"#" * 10_000_001)
    assert problems(path)[0].found == "more than 10 MB"


def test_options_stand_in_for_keys_of_a_job_file(
    job: Job, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.chdir(folder / "src")
    path = job(("[cluster]\nhosts = 3\n", ""))
    plan = load(path, name="other", jobs=5, parallel=2, seed=0, hosts=2, output="elsewhere")
    assert isinstance(plan, TuningPlan)
    assert (plan.name, plan.jobs, plan.parallel, plan.seed) == ("other", 5, 2, 0)
    assert plan.definitions[0].training.hosts == 2
    assert plan.definitions[0].training.output_path == folder / "src" / "elsewhere"


def test_an_empty_output_is_not_the_working_folder(job: Job, problems: Problems) -> None:
    assert [(problem.number, problem.where) for problem in problems(job(), output="")] == [(106, "output")]
    path = job(("[hyperparameters]", 'checkpoints = ""\n[hyperparameters]'))
    assert [(problem.number, problem.where) for problem in problems(path)] == [(106, "checkpoints")]


def test_options_are_checked_like_keys(job: Job, problems: Problems) -> None:
    found = problems(job(), jobs=0, hosts=0)
    assert {(problem.number, problem.where) for problem in found} == {
        (207, "tuning.jobs"),
        (403, "cluster.hosts"),
    }


def test_options_of_tuning_jobs_do_not_fit_a_training_job(job: Job, problems: Problems) -> None:
    text = 'program = "src/train.py"\n'
    assert [(problem.number, problem.where) for problem in problems(job(text=text), seed=3)] == [
        (109, "seed")
    ]


def test_options_do_not_change_a_document(tuning: dict[str, Any], problems: Problems) -> None:
    assert [(problem.number, problem.where) for problem in problems(tuning, name="a", jobs=3)] == [
        (109, "name"),
        (109, "jobs"),
    ]


def test_a_place_where_this_release_runs_nothing_is_refused(job: Job) -> None:
    with pytest.raises(InputError, match="this release runs them on processes, containers, sagemaker"):
        load(job(), on="the-moon")


def test_the_message_of_all_problems_counts_them(job: Job) -> None:
    with pytest.raises(PlanError, match="2 problems in this request:") as caught:
        load(job(("min_resource = 1", "min_resource = 40"), ("[100, 200]", "[200, 100]")))
    assert "\n  [rule 324] tuning.min_resource" in str(caught.value)
    assert "\n  [rule 311] ranges.num_round" in str(caught.value)


def test_the_same_file_gives_the_same_plan(job: Job) -> None:
    first, second = load(job()), load(job())
    assert first == second
    assert hash(first) == hash(second)


def test_importing_the_package_reads_neither_the_service_model_nor_pydantic() -> None:
    code = (
        "import sys; import bandstand.request, bandstand.request.loading; "
        "print(sorted({'boto3', 'botocore', 'pydantic', 'numpy', 'click'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_checking_a_document_does_not_import_boto3(training: dict[str, Any], write_json: Write) -> None:
    code = "import sys; from bandstand.request import load; load(sys.argv[1]); print('boto3' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code, str(write_json(training))], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "False"


def test_an_unknown_name_of_the_package_is_told() -> None:
    import bandstand.request

    with pytest.raises(AttributeError, match="no attribute 'laod'"):
        bandstand.request.laod  # noqa: B018


def test_a_plan_prints_itself(job: Job, plan_of: Callable[..., Plan]) -> None:
    assert "direct-marketing" in repr(plan_of(job()))
