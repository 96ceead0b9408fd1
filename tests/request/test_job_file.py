"""From a job file to its request: values as written, paths made absolute, repairs said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.validate import ParamValidator

from bandstand.problem import Problem
from bandstand.request import Plan, TrainingPlan, TuningPlan
from bandstand.request.job_file import location
from bandstand.request.service_model import TUNING, request_shape

Job = Callable[..., Path]
Problems = Callable[..., list[Problem]]
PlanOf = Callable[..., Plan]

SCRIPT = """
name = "mine"
program = "train.py"
code = "src"
[hyperparameters]
rate = 1e-5
steps = 1_000
big = 1_0.5
flag = true
words = ["a", "b"]
nested = { depth = 3, names = ["x"] }
empty = ""
quoted = '"512"'
code = "007"
[metrics]
loss = " loss=(\\\\S+)"
"""


def _body(plan: Plan) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(plan.document)
    body: dict[str, Any] = document["TrainingJobDefinition"]
    return body


def test_the_usual_job_file_becomes_the_request_that_it_stands_for(
    job: Job, plan_of: Callable[..., TuningPlan], folder: Path
) -> None:
    plan = plan_of(job())
    document = json.loads(plan.document)
    assert document["HyperParameterTuningJobName"] == "direct-marketing"
    assert list(document["HyperParameterTuningJobConfig"])[:3] == [
        "Strategy",
        "StrategyConfig",
        "HyperParameterTuningJobObjective",
    ]
    assert document["HyperParameterTuningJobConfig"] == {
        "Strategy": "Hyperband",
        "StrategyConfig": {"HyperbandStrategyConfig": {"MinResource": 1, "MaxResource": 30}},
        "HyperParameterTuningJobObjective": {"Type": "Maximize", "MetricName": "validation:auc"},
        "ResourceLimits": {"MaxNumberOfTrainingJobs": 30, "MaxParallelTrainingJobs": 4},
        "ParameterRanges": {
            "IntegerParameterRanges": [
                {"Name": "num_round", "MinValue": "100", "MaxValue": "200", "ScalingType": "Auto"}
            ],
            "ContinuousParameterRanges": [
                {"Name": "eta", "MinValue": "1e-3", "MaxValue": "1.0", "ScalingType": "Logarithmic"}
            ],
            "CategoricalParameterRanges": [{"Name": "booster", "Values": ["gbtree", "dart"]}],
        },
        "TrainingJobEarlyStoppingType": "Off",
        "RandomSeed": 7,
    }
    body = document["TrainingJobDefinition"]
    assert body["StaticHyperParameters"] == {"algorithm": "xgboost", "objective": "binary:logistic"}
    assert body["InputDataConfig"][0] == {
        "ChannelName": "train",
        "DataSource": {
            "S3DataSource": {
                "S3DataType": "S3Prefix",
                "S3Uri": (folder / "data" / "train").as_uri(),
                "S3DataDistributionType": "FullyReplicated",
            }
        },
        "ContentType": "text/csv",
    }
    assert body["ResourceConfig"] == {
        "InstanceType": "ml.m5.xlarge",
        "InstanceCount": 3,
        "VolumeSizeInGB": 30,
    }
    assert body["StoppingCondition"] == {"MaxRuntimeInSeconds": 3600}
    assert body["OutputDataConfig"] == {"S3OutputPath": (folder / "out").as_uri()}
    assert not ParamValidator().validate(document, request_shape(TUNING)).has_errors()


def test_the_plan_says_what_the_job_file_said(job: Job, plan_of: Callable[..., TuningPlan]) -> None:
    plan = plan_of(job())
    assert (plan.objective, plan.goal, plan.strategy) == ("validation:auc", "maximize", "Hyperband")
    assert (plan.min_resource, plan.max_resource, plan.jobs, plan.parallel, plan.seed) == (1, 30, 30, 4, 7)
    assert [spread.name for spread in plan.definitions[0].ranges] == ["num_round", "eta", "booster"]
    assert (
        plan.definitions[0].training.hosts,
        plan.definitions[0].training.max_runtime,
        plan.max_runtime,
    ) == (3, 3600, None)
    assert not plan.exact


def test_values_are_kept_as_written(job: Job, plan_of: Callable[..., TrainingPlan], folder: Path) -> None:
    settings = dict(plan_of(job(text=SCRIPT)).hyperparameters)
    submit = settings.pop("sagemaker_submit_directory")
    assert submit == (folder / "src").as_uri()
    assert settings == {
        "rate": "1e-5",
        "steps": "1000",
        "big": "10.5",
        "flag": "true",
        "words": '["a", "b"]',
        "nested": '{"depth": 3, "names": ["x"]}',
        "empty": '""',
        "quoted": '"\\"512\\""',
        "code": "007",
        "sagemaker_program": "train.py",
    }


def test_without_tuning_it_is_one_training_job(job: Job, plan_of: PlanOf) -> None:
    plan = plan_of(job(text=SCRIPT))
    assert isinstance(plan, TrainingPlan)
    assert json.loads(plan.document)["TrainingJobName"] == "mine"
    assert plan.metrics == (("loss", r" loss=(\S+)"),)
    assert plan.image == "bandstand:latest"
    assert any(note.startswith("image: bandstand:latest") for note in plan.notes)


def test_a_program_brings_its_own_folder_if_no_code_is_named(
    job: Job, plan_of: Callable[..., TrainingPlan], folder: Path
) -> None:
    text = SCRIPT.replace('"train.py"\ncode = "src"', '"src/train.py"')
    settings = dict(plan_of(job(text=text)).hyperparameters)
    assert settings["sagemaker_program"] == "train.py"
    assert settings["sagemaker_submit_directory"] == (folder / "src").as_uri()


def test_a_program_said_twice_is_refused(job: Job, problems: Problems) -> None:
    text = SCRIPT.replace("rate = 1e-5", 'sagemaker_program = "a.py"')
    assert [(problem.number, problem.where) for problem in problems(job(text=text))] == [(108, "program")]


def test_code_without_a_program_and_nothing_to_run_are_refused(job: Job, problems: Problems) -> None:
    found = problems(job(text=SCRIPT.replace('program = "train.py"\n', "")))
    assert {(problem.number, problem.where) for problem in found} == {(107, "program")}
    assert any("nothing, yet there is code" in problem.found for problem in found)


def test_a_script_that_is_not_there_is_told_by_its_key(job: Job, problems: Problems) -> None:
    found = problems(job(text=SCRIPT.replace("train.py", "trian.py")))
    assert [(problem.number, problem.where, problem.fix) for problem in found] == [
        (422, "code", "Did you mean train.py?")
    ]


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        ("direct-marketing", "direct_marketing", "became direct-marketing"),
        ("direct-marketing", "d" * 33, f'name: "{"d" * 33}" became ddd'),
        ("[1e-3, 1.0]", "[0.5, 0.50]", "ranges.eta: holds one value, 0.5; it is a static hyperparameter."),
        ('["gbtree", "dart"]', '["dart"]', "ranges.booster: holds one value, dart"),
        ('["gbtree", "dart"]', '["dart", "gbtree", "dart"]', "ranges.booster: repeated categories"),
        ("parallel = 4", "parallel = 40", "tuning.parallel: 30 rather than 40"),
        ('goal = "maximize"\n', "", "tuning.goal: maximize, since that is what validation:auc is for"),
        ('goal = "maximize"', 'goal = "minimize"', "tuning.goal is minimize, yet"),
        ("hosts = 3", "hosts = 3", "role: none is given; the request has a placeholder"),
    ],
)
def test_every_repair_is_said(job: Job, plan_of: PlanOf, old: str, new: str, note: str) -> None:
    plan = plan_of(job((old, new)))
    assert any(note in said for said in plan.notes), plan.notes
    ParamValidator().validate(json.loads(plan.document), request_shape(TUNING))


def test_the_maximum_resource_is_inferred_and_said(job: Job, plan_of: PlanOf) -> None:
    epochs = ("[hyperparameters]", "[hyperparameters]\nepochs = 30")
    plan = plan_of(job(epochs, ("max_resource = 30\n", ""), script=True))
    assert "tuning.max_resource: 30, from the static hyperparameters, as AMT infers it." in plan.notes


def test_a_range_of_one_value_becomes_static(job: Job, plan_of: Callable[..., TuningPlan]) -> None:
    plan = plan_of(job(("[100, 200]", "[150, 150]")))
    assert dict(plan.definitions[0].training.hyperparameters)["num_round"] == "150"
    assert [spread.name for spread in plan.definitions[0].ranges] == ["eta", "booster"]


def test_neighbours_among_great_whole_numbers_are_two_values(
    job: Job, plan_of: Callable[..., TuningPlan]
) -> None:
    plan = plan_of(job(("[100, 200]", "[9007199254740992, 9007199254740993]")))
    assert [spread.name for spread in plan.definitions[0].ranges] == ["num_round", "eta", "booster"]


@pytest.mark.parametrize(
    ("old", "new", "advice"),
    [
        ("[1e-3, 1.0]", "[1e400, 1e401]", "Write a number such as 0.5 or 1e-5."),
        ("[100, 200]", f"[{2**63}, {2**63}]", "Write a whole number, or make the range continuous."),
        ("[100, 200]", "[100.0, 200]", "Write 100."),
    ],
)
def test_bounds_beyond_reason_or_with_a_point_are_told(
    job: Job, problems: Problems, old: str, new: str, advice: str
) -> None:
    found = problems(job((old, new)))
    assert {(problem.number, problem.fix) for problem in found} == {(310, advice)}


def test_ranges_of_one_value_each_leave_nothing_to_tune(job: Job, problems: Problems) -> None:
    one = (("[100, 200]", "[150, 150]"), ("[1e-3, 1.0]", "[0.5, 0.5]"), ('["gbtree", "dart"]', '["dart"]'))
    found = problems(job(*one))
    assert [(problem.number, problem.where) for problem in found] == [(304, "ranges")]
    assert "num_round, eta, booster can take one value only" in found[0].found


def test_categories_that_differ_in_text_are_not_one_value(
    job: Job, plan_of: Callable[..., TuningPlan]
) -> None:
    plan = plan_of(job(('["gbtree", "dart"]', '["1", "1.0", 2, true]'), script=True))
    assert plan.definitions[0].ranges[2].values == ("1", "1.0", "2", "true")  # type: ignore[union-attr]


def test_a_wrong_goal_is_one_problem_whatever_the_metric(job: Job, problems: Problems) -> None:
    for metric in ("validation:auc", "validation:gain"):
        found = problems(job(('goal = "maximize"', 'goal = "up"'), ("validation:auc", metric)))
        assert [(problem.number, problem.where) for problem in found] == [(106, "tuning.goal")]


def test_no_goal_for_an_unknown_metric_is_asked_for(job: Job, problems: Problems) -> None:
    found = problems(job(('goal = "maximize"\n', ""), ("validation:auc", "validation:gain")))
    assert [(problem.number, problem.where) for problem in found] == [(107, "tuning.goal")]


def test_ranges_without_tuning_are_refused(job: Job, problems: Problems) -> None:
    text = SCRIPT + "[ranges]\nx = { integer = [1, 2] }\n"
    assert [(problem.number, problem.where) for problem in problems(job(text=text))] == [(107, "tuning")]


def test_the_built_in_defines_what_it_reports(job: Job, plan_of: Callable[..., TuningPlan]) -> None:
    plan = plan_of(
        job(('objective = "binary', 'eval_metric = "auc,logloss"\ntrain_metrics = true\nobjective = "binary'))
    )
    names = [name for name, _ in plan.definitions[0].training.metrics]
    assert names == ["validation:auc", "train:auc", "validation:logloss", "train:logloss"]


def test_an_objective_of_a_script_must_be_among_its_metrics(job: Job, problems: Problems) -> None:
    tuning = '[tuning]\nmetric = "los"\ngoal = "minimize"\nstrategy = "random"\njobs = 2\n'
    found = problems(job(text=SCRIPT + tuning + "[ranges]\nx = { integer = [1, 9] }\n"))
    assert [(problem.number, problem.where, problem.fix) for problem in found] == [
        (303, "tuning.metric", "Did you mean loss?")
    ]


def test_a_script_without_patterns_is_read_by_the_metric_line(
    job: Job, plan_of: Callable[..., TuningPlan]
) -> None:
    text = SCRIPT.split("[metrics]", maxsplit=1)[0]
    tuning = '[tuning]\nmetric = "loss"\nstrategy = "random"\njobs = 2\n'
    plan = plan_of(job(text=text + tuning + "[ranges]\nx = { integer = [1, 9] }\n"))
    assert [name for name, _ in plan.definitions[0].training.metrics] == ["loss"]
    assert plan.goal == "minimize"


def test_ranks_threads_environment_tags_and_checkpoints_reach_the_plan(
    job: Job, plan_of: Callable[..., TuningPlan], folder: Path
) -> None:
    extra = 'ranks = 2\nthreads = 3\nvolume_gb = 50\n[environment]\nA = 1\nB = ""\n'
    extra += '[tags]\nteam = "ads"\nyear = 24'
    plan = plan_of(
        job(("hosts = 3", f"hosts = 3\n{extra}"), ('name = "direct', 'checkpoints = "kept"\nname = "direct'))
    )
    definition = plan.definitions[0].training
    assert (definition.ranks_per_host, definition.threads, definition.volume_gb) == (2, 3, 50)
    assert dict(definition.environment) == {
        "A": "1",
        "B": "",
        "BANDSTAND_RANKS_PER_HOST": "2",
        "BANDSTAND_THREADS": "3",
    }
    assert plan.tags == (("team", "ads"), ("year", "24"))
    assert definition.checkpoint_path == folder / "kept"
    assert any("cluster.volume_gb" in note for note in plan.notes)


def test_ranks_said_twice_are_refused(job: Job, problems: Problems) -> None:
    twice = "hosts = 3\nranks = 2\n[environment]\nBANDSTAND_RANKS_PER_HOST = 2"
    assert [(problem.number, problem.where) for problem in problems(job(("hosts = 3", twice)))] == [
        (108, "cluster.ranks")
    ]


def test_what_has_no_effect_is_said_only_of_keys_that_were_given(job: Job, plan_of: PlanOf) -> None:
    assert not any("without effect" in note for note in plan_of(job()).notes)
    role = 'role = "arn:aws:iam::111122223333:role/T"\nname = "direct'
    plan = plan_of(job(('name = "direct', role)))
    assert "Accepted without effect on this machine: role (no role is taken on)." in plan.notes
    assert not any("placeholder" in note for note in plan.notes)


@pytest.mark.parametrize("key", ["min_resource", "max_resource"])
def test_resources_without_hyperband_are_told_by_their_key(job: Job, problems: Problems, key: str) -> None:
    other = "max_resource = 30\n" if key == "min_resource" else "min_resource = 1\n"
    found = problems(job(('"hyperband"', '"random"'), (other, "")))
    assert [(problem.number, problem.where) for problem in found] == [(321, f"tuning.{key}")]


def test_hyperband_without_a_maximum_names_the_five_names(job: Job, problems: Problems) -> None:
    found = problems(job(("max_resource = 30\n", "")))
    assert [(problem.number, problem.where) for problem in found] == [(323, "tuning.max_resource")]
    assert "num_round is none of the names that AMT knows" in found[0].found
    assert "epochs, numepochs, n-epochs, n_epochs, num_epochs" in found[0].allowed


def test_over_30_ranges_are_counted_over_all_kinds(job: Job, problems: Problems) -> None:
    many = "\n".join(f"r{k} = {{ integer = [1, 9] }}" for k in range(28))
    found = problems(job(("[ranges]", f"[ranges]\n{many}"), script=True))
    assert [(problem.number, problem.where) for problem in found] == [(307, "ranges")]


def test_locations_are_absolute_uris(folder: Path) -> None:
    assert location("data/a b", folder) == (folder / "data" / "a b").as_uri()
    assert location("/data", folder) == "file:///data"
    assert location("s3://bucket/x", folder) == "s3://bucket/x"
    assert location("~", folder) == Path.home().resolve().as_uri()
    assert location("a\0b", folder).endswith("a%00b")
