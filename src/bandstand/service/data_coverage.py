"""What this service does with each member of a request of CloudWatch Logs and CloudWatch.

A member that is in no table is refused, so that nothing is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_ONE_ACCOUNT = "accepted without effect: there is one account"
_NAMED = {
    "logGroupName": "`/aws/sagemaker/TrainingJobs`, the only group",
    "logGroupIdentifier": "the group's name or ARN, in place of logGroupName",
}
_TIMES = {"startTime": "events at it or later", "endTime": "events before it"}
_PAGE = {"nextToken": "goes on where a page ended", "limit": "entries of a page at most"}
_PRESENT = "accepted without effect: nothing is masked"

LOGS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "DescribeLogGroups": {
            "logGroupNamePrefix": "what the name begins with",
            "logGroupNamePattern": "what the name holds; upper and lower case count as equal",
            "logGroupIdentifiers": "names or ARNs",
            "logGroupClass": "the group is `STANDARD`",
            "accountIdentifiers": _ONE_ACCOUNT,
            "includeLinkedAccounts": _ONE_ACCOUNT,
            **_PAGE,
        },
        "DescribeLogStreams": {
            **_NAMED,
            "logStreamNamePrefix": "what the name begins with: `<job>/` for those of a job",
            "orderBy": "`LastEventTime` goes by the time at which a log was last written to",
            "descending": "the last one first",
            **_PAGE,
        },
        "GetLogEvents": {
            **_NAMED,
            "logStreamName": "`<job>/algo-N-<epoch seconds>`",
            **_TIMES,
            "startFromHead": "the oldest first; else the page ends with the newest",
            "unmask": _PRESENT,
            **_PAGE,
        },
        "FilterLogEvents": {
            **_NAMED,
            "logStreamNames": "the streams",
            "logStreamNamePrefix": "what their names begin with",
            **_TIMES,
            "filterPattern": 'words, "phrases", -exclusions and ?choices; other patterns are refused',
            "startFromHead": "the oldest come first; false is refused",
            "interleaved": "accepted without effect: streams always are, as in the service",
            "unmask": _PRESENT,
            **_PAGE,
        },
    }
)
"""Members of the requests of CloudWatch Logs, and what they do."""

_METRIC = {
    "Namespace": "`/aws/sagemaker/TrainingJobs`; others have no data",
    "MetricName": "a metric of a training job's definitions",
    "Dimensions": "`TrainingJobName`; others have no data",
}
_PERIOD = {"StartTime": "the first moment", "EndTime": "the moment after the last one"}

METRICS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "GetMetricStatistics": {
            **_METRIC,
            **_PERIOD,
            "Period": "seconds that are one datapoint: 1, 5, 10, 20, 30 or whole minutes",
            "Statistics": "all five",
            "ExtendedStatistics": "percentiles; others are refused",
            "Unit": "`None`; others have no data",
        },
        "ListMetrics": {
            **_METRIC,
            "NextToken": "goes on where a page ended",
            "RecentlyActive": "of jobs that run or ended less than three hours ago",
            "IncludeLinkedAccounts": _ONE_ACCOUNT,
            "OwningAccount": _ONE_ACCOUNT,
        },
        "GetMetricData": {
            "MetricDataQueries": "metrics; expressions are refused",
            **_PERIOD,
            "NextToken": "goes on where a page ended",
            "ScanBy": "the order of the datapoints",
            "MaxDatapoints": "datapoints of a page at most",
            "LabelOptions": "accepted without effect: labels are told as they are given",
        },
    }
)
"""Members of the requests of CloudWatch, and what they do."""
