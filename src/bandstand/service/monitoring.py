"""CloudWatch metrics of training jobs: the record's points, summed up by periods as CloudWatch does."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bandstand.runs.record import Record
from bandstand.service.context import Context
from bandstand.service.protocol import Document, Operation, ServiceError

NAMESPACE = "/aws/sagemaker/TrainingJobs"
DIMENSION = "TrainingJobName"
MOST_DATAPOINTS = 1440
"""Datapoints of GetMetricStatistics at most."""
MOST_DATA = 100_800
"""Datapoints of a page of GetMetricData at most."""
MOST_METRICS = 500
"""Metrics of a page of ListMetrics."""

_ACTIVE_SECONDS = 3 * 3600
_SHORT_PERIODS = (1, 5, 10, 20, 30)
_STATISTICS = ("SampleCount", "Average", "Sum", "Minimum", "Maximum")
_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,10})?|100)", re.ASCII)


_POINTS = (
    "FROM points WHERE job = ? AND job = ? COLLATE BINARY AND name = ? AND value IS NOT NULL"
    " AND time >= ? AND time < ?"
)


@dataclass(frozen=True)
class Series:
    """What is asked of one metric of one training job.

    Args:
        job: The training job; None where what is asked for can have no data.
        metric: The metric's name.
        begin: The first second, since the epoch.
        end: The second after the last one.
        period: Seconds that are summed up.
        percentiles: Percentiles that are wanted, by their words.
    """

    job: str | None
    metric: str
    begin: float
    end: float
    period: int
    percentiles: Mapping[str, float]

    def read(self, record: Record) -> list[Document]:
        """Read the datapoints, the oldest first; periods without a value have none."""
        if self.job is None:
            return []
        begin = self.begin // self.period * self.period
        values = (self.job, self.job, self.metric, begin, self.end)
        rows = record.read(
            "SELECT CAST(time / ? AS INTEGER) * ? AS begun, COUNT(*) AS n, SUM(value) AS total,"
            f" MIN(value) AS least, MAX(value) AS most {_POINTS} GROUP BY begun ORDER BY begun",
            (self.period, self.period, *values),
        )
        found = {
            row["begun"]: {
                "Timestamp": row["begun"],
                "SampleCount": float(row["n"]),
                "Average": row["total"] / row["n"],
                "Sum": row["total"],
                "Minimum": row["least"],
                "Maximum": row["most"],
                "Unit": "None",
            }
            for row in rows
            if math.isfinite(row["total"])
        }
        if self.percentiles and found:
            points = record.read(f"SELECT time, value {_POINTS} ORDER BY value", values)
            for begun, each in found.items():
                there = [row["value"] for row in points if begun <= row["time"] < begun + self.period]
                each["ExtendedStatistics"] = {
                    word: _percentile(there, part) for word, part in self.percentiles.items()
                }
        return list(found.values())


def get_metric_statistics(context: Context, parameters: Document) -> Document:
    """GetMetricStatistics: what `TrainingJobAnalytics` of the SageMaker SDK asks for."""
    statistics, extended = parameters.get("Statistics", []), parameters.get("ExtendedStatistics", [])
    if not statistics and not extended:
        raise ServiceError(
            "InvalidParameterCombination", "Must specify either Statistics or ExtendedStatistics"
        )
    series = _series(parameters, parameters, parameters["Period"], extended)
    count = math.ceil((series.end - series.begin) / series.period)
    if count > MOST_DATAPOINTS:
        raise ServiceError(
            "InvalidParameterCombination",
            f"You have requested up to {count:,} datapoints, which exceeds the limit of {MOST_DATAPOINTS:,}."
            " You may reduce the datapoints requested by increasing Period, or decreasing the time range.",
        )
    wanted = {"Timestamp", "Unit", *statistics, *(["ExtendedStatistics"] if extended else [])}
    points = series.read(context.record()) if parameters.get("Unit", "None") == "None" else []
    return {
        "Label": parameters["MetricName"],
        "Datapoints": [{name: value for name, value in each.items() if name in wanted} for each in points],
    }


def list_metrics(context: Context, parameters: Document) -> Document:
    """ListMetrics: every metric of which a training job has reported a value."""
    dimensions = parameters.get("Dimensions", [])
    others = [each for each in dimensions if each["Name"] != DIMENSION]
    if parameters.get("Namespace", NAMESPACE) != NAMESPACE or others:
        return {"Metrics": []}
    conditions, values = ["1"], []
    if "NextToken" in parameters:
        conditions.append("(job.name, metric.key) > (?, ?)")
        values += _place(parameters["NextToken"], (str, int))
    if "MetricName" in parameters:
        conditions.append("json_extract(metric.value, '$[0]') = ?")
        values.append(parameters["MetricName"])
    for each in dimensions:
        if "Value" in each:
            conditions.append("job.name = ? AND job.name = ? COLLATE BINARY")
            values += [each["Value"], each["Value"]]
    if parameters.get("RecentlyActive") == "PT3H":
        conditions.append("(job.ended IS NULL OR job.ended > (julianday('now') - 2440587.5) * 86400.0 - ?)")
        values.append(_ACTIVE_SECONDS)
    rows = context.record().read(
        "SELECT job.name AS job, metric.key AS place, json_extract(metric.value, '$[0]') AS name"  # noqa: S608 -
        " FROM training_jobs AS job, json_each(job.plan, '$.metrics') AS metric"  # all texts are ours
        f" WHERE {' AND '.join(conditions)} AND EXISTS (SELECT 1 FROM points WHERE points.job = job.name"
        " AND points.name = json_extract(metric.value, '$[0]'))"
        " ORDER BY job.name, metric.key LIMIT ?",
        (*values, MOST_METRICS + 1),
    )
    answer: Document = {
        "Metrics": [
            {
                "Namespace": NAMESPACE,
                "MetricName": row["name"],
                "Dimensions": [{"Name": DIMENSION, "Value": row["job"]}],
            }
            for row in rows[:MOST_METRICS]
        ]
    }
    if len(rows) > MOST_METRICS:
        last = rows[MOST_METRICS - 1]
        answer["NextToken"] = _token([last["job"], last["place"]])
    return answer


def get_metric_data(context: Context, parameters: Document) -> Document:
    """GetMetricData: several metrics at once; metric math is refused."""
    most = min(parameters.get("MaxDatapoints", MOST_DATA), MOST_DATA)
    skipped = _place(parameters["NextToken"], (int,))[0] if "NextToken" in parameters else 0
    descending = parameters.get("ScanBy", "TimestampDescending") == "TimestampDescending"
    identifiers = [each["Id"] for each in parameters["MetricDataQueries"]]
    if len(set(identifiers)) < len(identifiers):
        raise ServiceError(
            "ValidationError", "The values for parameter id in MetricDataQueries are not unique."
        )
    results, passed, left = [], 0, most
    for query in parameters["MetricDataQueries"]:
        times, values = _data(context, query, parameters)
        if descending:
            times, values = times[::-1], values[::-1]
        begin = max(0, skipped - passed)
        passed += len(times)
        if not query.get("ReturnData", True):
            passed -= len(times)
            continue
        shown = slice(begin, begin + left)
        left -= len(times[shown])
        results.append(
            {
                "Id": query["Id"],
                "Label": query.get("Label") or query["MetricStat"]["Metric"]["MetricName"],
                "Timestamps": times[shown],
                "Values": values[shown],
                "StatusCode": "PartialData" if len(times) > begin + len(times[shown]) else "Complete",
            }
        )
    answer: Document = {"MetricDataResults": results, "Messages": []}
    if passed > skipped + most:
        answer["NextToken"] = _token([skipped + most])
    return answer


def _data(context: Context, query: Document, parameters: Document) -> tuple[list[float], list[float]]:
    if "MetricStat" not in query:
        raise ServiceError(
            "ValidationError",
            f"The query {query['Id']} is an expression, which this local service does not have. Ask for its"
            " metrics with MetricStat, and compute with their values.",
        )
    wish = query["MetricStat"]
    word = wish["Stat"]
    extended = [] if word in _STATISTICS else [word]
    series = _series(wish["Metric"], parameters, wish["Period"], extended)
    points = series.read(context.record()) if wish.get("Unit", "None") == "None" else []
    values = [each["ExtendedStatistics"][word] if extended else each[word] for each in points]
    return [each["Timestamp"] for each in points], values


def _series(metric: Document, times: Document, period: int, extended: Sequence[str]) -> Series:
    begin, end = times["StartTime"], times["EndTime"]
    if begin >= end:
        raise ServiceError(
            "InvalidParameterCombination", "The parameter StartTime must be less than the parameter EndTime."
        )
    if period not in _SHORT_PERIODS and (period < 1 or period % 60):
        raise ServiceError(
            "InvalidParameterValue",
            f"The parameter Period must be 1, 5, 10, 20, 30 or a multiple of 60; found {period}.",
        )
    percentiles = {}
    for word in extended:
        found = _PERCENTILE.fullmatch(word)
        if found is None:
            raise ServiceError(
                "InvalidParameterValue",
                f"The statistic {word} is none that this local service has: take {', '.join(_STATISTICS)},"
                " or a percentile such as p90.",
            )
        percentiles[word] = float(found[1])
    dimensions = {each["Name"]: each.get("Value") for each in metric.get("Dimensions", [])}
    right = metric.get("Namespace") == NAMESPACE and set(dimensions) == {DIMENSION}
    job = dimensions[DIMENSION] if right else None
    return Series(job, metric.get("MetricName", ""), begin, end, period, percentiles)


def _percentile(values: Sequence[float], part: float) -> float:
    """A percentile of sorted values, between neighbours in a straight line."""
    place = (len(values) - 1) * part / 100
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


def _token(place: list[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode()


def _place(token: str, kinds: tuple[type, ...]) -> list[Any]:
    try:
        place = json.loads(base64.urlsafe_b64decode(token))
    except (ValueError, binascii.Error):
        place = None
    right = isinstance(place, list) and len(place) == len(kinds)
    if not right or not all(isinstance(each, kind) for each, kind in zip(place, kinds, strict=True)):
        raise ServiceError("InvalidParameterValue", "The parameter NextToken is none that this service gave.")
    return list(place)


OPERATIONS: Mapping[str, Operation] = {
    "GetMetricStatistics": get_metric_statistics,
    "ListMetrics": list_metrics,
    "GetMetricData": get_metric_data,
}
"""Every operation of CloudWatch that this service answers."""
