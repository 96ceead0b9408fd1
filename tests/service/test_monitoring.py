"""CloudWatch metrics of training jobs, as `TrainingJobAnalytics` and boto3 ask for them."""

from __future__ import annotations

import statistics
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import botocore.session
import pytest
from botocore.parsers import create_parser

from .served import Server, ended, refusal, training_request

NAMESPACE = "/aws/sagemaker/TrainingJobs"
JOB = "measured"
WHERE = {
    "Namespace": NAMESPACE,
    "MetricName": "score",
    "Dimensions": [{"Name": "TrainingJobName", "Value": JOB}],
}


@pytest.fixture(scope="module")
def cloudwatch(server: Server) -> Any:
    return server.client("cloudwatch")


@pytest.fixture(scope="module")
def job(sagemaker: Any, place: Path) -> dict[str, Any]:
    """A job that has reported 1.0 to 40.0."""
    sagemaker.create_training_job(**training_request(place, JOB, HyperParameters={"epochs": "40"}))
    return ended(sagemaker, JOB)


@pytest.fixture(scope="module")
def times(job: dict[str, Any]) -> dict[str, datetime]:
    """The times that `TrainingJobAnalytics` asks for."""
    return {
        "StartTime": job["TrainingStartTime"],
        "EndTime": job["TrainingEndTime"] + timedelta(minutes=1),
    }


def test_the_values_of_a_minute_are_one_datapoint(cloudwatch: Any, times: dict[str, datetime]) -> None:
    every = ["SampleCount", "Average", "Sum", "Minimum", "Maximum"]
    answer = cloudwatch.get_metric_statistics(**WHERE, **times, Period=60, Statistics=every)
    points = answer["Datapoints"]
    assert answer["Label"] == "score"
    assert sum(point["SampleCount"] for point in points) == 40
    assert sum(point["Sum"] for point in points) == sum(range(1, 41))
    assert min(point["Minimum"] for point in points) == 1
    assert max(point["Maximum"] for point in points) == 40
    for point in points:
        assert point["Average"] == pytest.approx(point["Sum"] / point["SampleCount"])
        assert point["Timestamp"].timestamp() % 60 == 0
        assert point["Unit"] == "None"


def test_only_statistics_that_are_asked_for_are_told(cloudwatch: Any, times: dict[str, datetime]) -> None:
    points = cloudwatch.get_metric_statistics(**WHERE, **times, Period=60, Statistics=["Average"])[
        "Datapoints"
    ]
    assert all(set(point) == {"Timestamp", "Average", "Unit"} for point in points)
    quantiles = cloudwatch.get_metric_statistics(
        **WHERE, **times, Period=3600, ExtendedStatistics=["p50", "p100"]
    )
    values = [point["ExtendedStatistics"] for point in quantiles["Datapoints"]]
    assert max(each["p100"] for each in values) == 40
    if len(values) == 1:
        assert values[0]["p50"] == statistics.median(range(1, 41))


def test_several_metrics_are_read_at_once_by_pages(cloudwatch: Any, times: dict[str, datetime]) -> None:
    queries = [
        {"Id": "a", "MetricStat": {"Metric": WHERE, "Period": 1, "Stat": "Sum"}},
        {"Id": "b", "Label": "best", "MetricStat": {"Metric": WHERE, "Period": 1, "Stat": "Maximum"}},
    ]
    whole = cloudwatch.get_metric_data(MetricDataQueries=queries, **times)["MetricDataResults"]
    assert [(each["Id"], each["Label"], each["StatusCode"]) for each in whole] == [
        ("a", "score", "Complete"),
        ("b", "best", "Complete"),
    ]
    assert sum(whole[0]["Values"]) == sum(range(1, 41))
    assert whole[0]["Timestamps"] == sorted(whole[0]["Timestamps"], reverse=True)
    pages = cloudwatch.get_paginator("get_metric_data").paginate(
        MetricDataQueries=queries, **times, ScanBy="TimestampAscending", MaxDatapoints=1
    )
    found: dict[str, list[float]] = {"a": [], "b": []}
    for page in pages:
        for each in page["MetricDataResults"]:
            found[each["Id"]] += each["Values"]
    assert found == {each["Id"]: each["Values"][::-1] for each in whole}


def test_metrics_that_jobs_have_reported_are_listed(cloudwatch: Any, job: dict[str, Any]) -> None:
    listed = cloudwatch.list_metrics(Namespace=NAMESPACE, RecentlyActive="PT3H")["Metrics"]
    assert {"Namespace": NAMESPACE, "MetricName": "score", "Dimensions": WHERE["Dimensions"]} in listed
    assert cloudwatch.list_metrics(**WHERE)["Metrics"] == [WHERE]
    assert cloudwatch.list_metrics(Namespace="/other")["Metrics"] == []
    assert cloudwatch.list_metrics(MetricName="loss")["Metrics"] == []


def test_what_no_job_has_reported_has_no_datapoints(cloudwatch: Any, times: dict[str, datetime]) -> None:
    wish = {**times, "Period": 60, "Statistics": ["Average"]}
    others: list[dict[str, Any]] = [
        {**WHERE, "MetricName": "loss"},
        {**WHERE, "Namespace": "/other"},
        {**WHERE, "Dimensions": [{"Name": "TrainingJobName", "Value": JOB.upper()}]},
        {**WHERE, "Dimensions": [{"Name": "Host", "Value": f"{JOB}/algo-1"}]},
        {**WHERE, "Unit": "Seconds"},
    ]
    for other in others:
        assert cloudwatch.get_metric_statistics(**other, **wish)["Datapoints"] == []


def test_what_cloudwatch_refuses_is_refused(cloudwatch: Any) -> None:
    now = datetime.now(UTC)
    day = {"StartTime": now - timedelta(days=1), "EndTime": now}
    ask = cloudwatch.get_metric_statistics
    code, words = refusal(ask, **WHERE, **day, Period=1, Statistics=["Sum"])
    assert code == "InvalidParameterCombination"
    assert "86,400 datapoints, which exceeds the limit of 1,440" in words
    assert refusal(ask, **WHERE, **day, Period=60)[0] == "InvalidParameterCombination"
    assert refusal(ask, **WHERE, **day, Period=61, Statistics=["Sum"])[0] == "InvalidParameterValue"
    turned = {"StartTime": now, "EndTime": now - timedelta(days=1)}
    assert refusal(ask, **WHERE, **turned, Period=60, Statistics=["Sum"])[0] == "InvalidParameterCombination"
    assert refusal(ask, **WHERE, **day, Period=60, ExtendedStatistics=["tm90"])[0] == "InvalidParameterValue"
    expression = [{"Id": "e", "Expression": "a + 1"}]
    assert refusal(cloudwatch.get_metric_data, MetricDataQueries=expression, **day)[0] == "ValidationError"
    assert refusal(cloudwatch.list_metrics, NextToken="?")[0] == "InvalidParameterValue"


def test_older_clients_are_answered_in_the_query_protocol(server: Server, times: dict[str, datetime]) -> None:
    form = {
        "Action": "GetMetricStatistics",
        "Version": "2010-08-01",
        "Namespace": NAMESPACE,
        "MetricName": "score",
        "Dimensions.member.1.Name": "TrainingJobName",
        "Dimensions.member.1.Value": JOB,
        "StartTime": times["StartTime"].astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "EndTime": times["EndTime"].astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "Period": "3600",
        "Statistics.member.1": "Sum",
    }
    status, body = posted(server, form)
    model = botocore.session.get_session().get_service_model("cloudwatch")
    shape = model.operation_model("GetMetricStatistics").output_shape
    answer = create_parser("query").parse({"status_code": status, "headers": {}, "body": body}, shape)
    assert sum(point["Sum"] for point in answer["Datapoints"]) == sum(range(1, 41))
    for wrong in (
        {"Action": "PutMetricData"},
        {**form, "Period": "x"},
        {**form, "Statistics.member.1": "Mean"},
    ):
        status, body = posted(server, wrong)
        assert status == 400
        assert b"<ErrorResponse>" in body


def posted(server: Server, form: dict[str, str]) -> tuple[int, bytes]:
    signed = {"Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/eu-west-1/monitoring/aws4_request"}
    request = Request(server.url, urlencode(form).encode(), signed)  # noqa: S310 - the service's own address
    try:
        with urlopen(request) as answer:  # noqa: S310 - as above
            return answer.status, answer.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()
