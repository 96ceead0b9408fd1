"""A job file's keys and types, with every fault in the user's words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bandstand.problem import Problem

Job = Callable[..., Path]
Problems = Callable[..., list[Problem]]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("name = ", "line 1, column 8", "Put text into quotes"),
        ("a = 1\njobs = no", "line 2, column 8", 'at: "jobs = no"'),
        ("a = 1\na = 2", "line 2", "Keep each key and each table once."),
        ("[tuning]\njobs = 1\n[tuning]\n", "line 3", "Keep each key and each table once."),
        ("name: x", "line 1, column 5", "Write key = value."),
        ("[tuning\n", "line 1", "end of a table declaration"),
        ("name = 'a", "line 1", "Mend the syntax"),
        ("name = '''a\nb", "line 2, column 2", "Mend the syntax"),
        ("a = " + "[" * 100_000, "job.toml", "too deep to read"),
        ("a = 1" + "0" * 5000, "job.toml", "a whole number of thousands of digits"),
        ("a = 0x" + "f" * 5000, "job.toml", "a whole number of thousands of digits"),
    ],
)
def test_what_is_no_toml_is_told_with_line_and_column(
    job: Job, problems: Problems, text: str, place: str, words: str
) -> None:
    found = problems(job(text=text))
    assert [problem.number for problem in found] == [102]
    assert "job.toml" in found[0].where
    assert place in found[0].where
    assert words in str(found[0])


@pytest.mark.parametrize(
    ("old", "new", "number", "where", "words"),
    [
        ("parallel = 4", "paralel = 4", 105, "tuning.paralel", "Did you mean tuning.parallel?"),
        ("hosts = 3", "host = 3", 105, "cluster.host", "Did you mean cluster.hosts?"),
        ("seed = 7", "seed = 7\nhosts = 3", 105, "tuning.hosts", "Did you mean cluster.hosts?"),
        ("seed = 7", 'output = "x"', 105, "tuning.output", "before the first [table]"),
        ("seed = 7", "zzz = 1", 105, "tuning.zzz", "Take it out."),
        ('type = "csv" }\nv', 'typ = "csv" }\nv', 105, "channels.train.typ", "channels.train.type?"),
        ("continuous =", "contiuous =", 105, "ranges.eta.contiuous", "ranges.eta.continuous?"),
        ("jobs = 30", 'jobs = "30"', 106, "tuning.jobs", "Write it without quotes: 30."),
        ("jobs = 30", "jobs = 30.0", 106, "tuning.jobs", "the number 30.0; allowed: a whole number"),
        ("jobs = 30", "jobs = true", 106, "tuning.jobs", "a whole number"),
        ('metric = "validation:auc"', "metric = 3", 106, "tuning.metric", 'Write it in quotes: "3".'),
        ('strategy = "hyperband"', 'strategy = "hyperbnad"', 106, "tuning.strategy", '"hyperband"?'),
        ('goal = "maximize"', 'goal = "max"', 106, "tuning.goal", "maximize, minimize"),
        ('scale = "log"', 'scale = "logarithmic"', 106, "ranges.eta.scale", "reverse-log"),
        ("[100, 200]", '[100, "200"]', 106, "ranges.num_round.integer.1", "without quotes: 200."),
        ("[100, 200]", "[100]", 106, "ranges.num_round.integer", "1 values; allowed: two numbers"),
        ("[100, 200]", "100", 106, "ranges.num_round.integer", "Write a list."),
        ('["gbtree", "dart"]', "[]", 106, "ranges.booster.categorical", "List the values."),
        ('["gbtree", "dart"]', "[[1]]", 106, "ranges.booster.categorical.0", "true or false"),
        ('["gbtree", "dart"] }', '["gbtree"], integer = [1, 2] }', 106, "ranges.booster", "one of"),
        ('{ categorical = ["gbtree", "dart"] }', "{}", 106, "ranges.booster", "found no values"),
        ('"dart"] }', '"dart"], scale = "log" }', 106, "ranges.booster.scale", "categories have no order"),
        ('{ categorical = ["gbtree", "dart"] }', '"gbtree"', 106, "ranges.booster", "a table"),
        ("[cluster]", "[[cluster]]", 106, "cluster", "a table"),
        ("hosts = 3", "hosts = 3\n[environment]\nA = [1]", 106, "environment.A", "true or false"),
        ('algorithm = "xgboost"', "algorithm = 2024-01-31", 106, "hyperparameters.algorithm", "in quotes"),
        ('path = "data/train"', 'path = ""', 106, "channels.train.path", "not empty"),
        ('path = "data/train"', 'path = ""', 106, "channels.train.path", "Fill it in"),
        ("jobs = 30\n", "", 107, "tuning.jobs", "Add tuning.jobs."),
        ('metric = "validation:auc"', "", 107, "tuning.metric", "Add tuning.metric."),
        ('path = "data/train", ', "", 107, "channels.train.path", "Add channels.train.path."),
    ],
)
def test_each_fault_of_a_job_file_is_told_once_with_its_key(
    job: Job, problems: Problems, old: str, new: str, number: int, where: str, words: str
) -> None:
    found = problems(job((old, new)))
    assert [(problem.number, problem.where) for problem in found] == [(number, where)], found
    assert words in str(found[0])


def test_faults_of_keys_and_broken_rules_come_together(job: Job, problems: Problems) -> None:
    found = problems(
        job(
            ("parallel = 4", "paralel = 4"),
            ("jobs = 30", 'jobs = "many"'),
            ("max_resource = 30", "max_resource = 0"),
            ("[1e-3, 1.0]", "[0, 1.0]"),
            ('path = "data/train"', 'path = "data/tarin"'),
        )
    )
    assert [(problem.number, problem.where) for problem in found] == [
        (106, "tuning.jobs"),
        (105, "tuning.paralel"),
        (207, "tuning.max_resource"),
        (312, "ranges.eta.scale"),
        (423, "channels.train.path"),
    ]


def test_no_problem_of_a_job_file_speaks_of_members_of_the_api(job: Job, problems: Problems) -> None:
    found = problems(
        job(
            ("max_resource = 30", "max_resource = 20001"),
            ("min_resource = 1", "min_resource = 20002"),
            ("[100, 200]", "[200, 100]"),
            ('["gbtree", "dart"]', "['a', '" + "b" * 257 + "']"),
            ("parallel = 4", "parallel = 0"),
            ('goal = "maximize"', 'goal = "maximize"\nearly_stopping = "auto"'),
            ("hosts = 3", 'hosts = 0\ninstance_type = "ml.m5.xlrage"\nranks = 0\nvolume_gb = -1'),
            ("job_seconds = 3600", "job_seconds = 0\ntuning_seconds = 3"),
            ('name = "direct-marketing"', 'name = "a"\nrole = "Training"\noutput = "s3://bucket/out"'),
            ('objective = "binary:logistic"', "objective = '" + "x" * 2501 + "'"),
        )
    )
    assert {problem.where for problem in found} == {
        "tuning.max_resource",
        "tuning.min_resource",
        "ranges.num_round",
        "ranges.booster.categorical",
        "tuning.parallel",
        "tuning.early_stopping",
        "cluster.hosts",
        "cluster.instance_type",
        "cluster.ranks",
        "cluster.volume_gb",
        "stopping.job_seconds",
        "stopping.tuning_seconds",
        "role",
        "output",
        "hyperparameters.objective",
    }
    for word in ("MaxResource", "ParameterRanges", "InstanceCount", "TrainingJobDefinition"):
        assert word not in "".join(map(str, found))
