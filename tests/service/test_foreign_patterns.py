"""Metric patterns of tuning code in the wild: SageMaker takes them, so they are taken here, and noted."""

from __future__ import annotations

import pytest

from .served import Server, ended, refusal, training_request

PRINTED = "score 0.5\nepoch 3: average loss: 0.2184, then\n{'loss': 0.0712, 'epoch': 2}\nscore 7e-05\n"


@pytest.fixture(scope="module")
def printing(place):
    (place / "code" / "print.py").write_text(f"print({PRINTED!r}, end='', flush=True)\n")
    return {"sagemaker_program": "print.py"}


def defined(place, name: str, regex: str, settings, metric: str = "m"):
    request = training_request(place, name, HyperParameters=settings)
    request["AlgorithmSpecification"]["MetricDefinitions"] = [{"Name": metric, "Regex": regex}]
    return request


@pytest.mark.parametrize(
    ("name", "regex", "value", "note"),
    [
        ("digits-and-dots", r"average loss: ([0-9\.]+)", 0.2184, "7e-05 as 7"),
        ("two-groups", r"'loss': ([0-9]+(.|e\-)[0-9]+),?", 0.0712, "has 2 groups"),
    ],
)
def test_a_doubtful_pattern_reads_ordinary_numbers(
    server: Server, sagemaker, place, printing, name, regex, value, note
):
    sagemaker.create_training_job(**defined(place, name, regex, printing))
    (metric,) = ended(sagemaker, name)["FinalMetricDataList"]
    assert metric["Value"] == pytest.approx(value)
    lines = server.log.read_text().splitlines()
    assert sum(note in line and line.startswith(f"{name}: ") for line in lines) == 1


def test_what_many_requests_have_in_common_is_told_once(server: Server, sagemaker, place, printing):
    for name in ("first", "second"):
        sagemaker.create_training_job(**defined(place, name, r"loss: ([0-9.]+)", printing, metric="common"))
    told = [line for line in server.log.read_text().splitlines() if "'common' cuts numbers" in line]
    assert [line.partition(":")[0] for line in told] == ["first"]


@pytest.mark.parametrize("regex", [r"score ([0-9])", r"score [0-9.]+", r"score (.+?)", r"score (.*?)", "("])
def test_a_pattern_that_reads_no_ordinary_number_is_refused(sagemaker, place, printing, regex):
    code, message = refusal(sagemaker.create_training_job, **defined(place, "never", regex, printing))
    assert code == "ValidationException"
    assert "[rule 501]" in message
