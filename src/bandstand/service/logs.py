"""CloudWatch Logs: what the hosts of training jobs print, read where their supervisors write it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from bandstand.service.context import Context
from bandstand.service.log_events import (
    MOST_BYTES,
    MOST_EVENTS,
    Event,
    backward,
    forward,
    seek,
)
from bandstand.service.log_filtering import filter_log_events
from bandstand.service.log_streams import GROUP, Stream, check_group, created, group_arn, stream, streams
from bandstand.service.protocol import Document, Operation, ServiceError

_USUAL_STREAMS = 50
_TOKEN = re.compile(r"(?P<way>[fb])/(?P<place>\d{56})/s", re.ASCII)


def describe_log_groups(context: Context, parameters: Document) -> Document:
    """DescribeLogGroups: the one group there is, once a training job has been created."""
    prefix, part = parameters.get("logGroupNamePrefix"), parameters.get("logGroupNamePattern")
    if prefix is not None and part is not None:
        raise ServiceError(
            "InvalidParameterException",
            "LogGroup name prefix and LogGroup name pattern are mutually exclusive.",
        )
    begun = created(context.record())
    wanted = GROUP.startswith(prefix or "") and (part or "").casefold() in GROUP.casefold()
    named = parameters.get("logGroupIdentifiers", [GROUP])
    if begun is None or not wanted or not {GROUP, group_arn(context)} & set(named):
        return {"logGroups": []}
    group = {
        "logGroupName": GROUP,
        "creationTime": int(begun * 1000),
        "metricFilterCount": 0,
        "arn": f"{group_arn(context)}:*",
        "logGroupArn": group_arn(context),
        "logGroupClass": "STANDARD",
    }
    return {"logGroups": [group] if parameters.get("logGroupClass", "STANDARD") == "STANDARD" else []}


def describe_log_streams(context: Context, parameters: Document) -> Document:
    """DescribeLogStreams: one for each host that has written a line."""
    record = context.record()
    check_group(context, record, parameters)
    prefix, after = parameters.get("logStreamNamePrefix", ""), parameters.get("nextToken", "")
    most = parameters.get("limit", _USUAL_STREAMS)
    by_time = parameters.get("orderBy", "LogStreamName") == "LastEventTime"
    if by_time and prefix:
        raise ServiceError(
            "InvalidParameterException", "Cannot order by LastEventTime with a logStreamNamePrefix."
        )
    found: Iterable[Stream]
    if by_time or parameters.get("descending", False):
        key = _by_time if by_time else _by_name
        there = sorted(streams(record, prefix), key=key, reverse=parameters.get("descending", False))
        passed = [place for place, each in enumerate(there) if each.name == after]
        if after and not passed:
            raise ServiceError("InvalidParameterException", "The specified nextToken is invalid.")
        found = there[passed[0] + 1 :] if passed else there
    else:
        found = streams(record, prefix, after)
    page = list(islice(found, most + 1))
    answer: Document = {"logStreams": [_described(context, each) for each in page[:most]]}
    return answer | ({"nextToken": page[most - 1].name} if len(page) > most else {})


def get_log_events(context: Context, parameters: Document) -> Document:
    """GetLogEvents: a page of a stream; at an end of it, the token that was given comes back."""
    record = context.record()
    check_group(context, record, parameters)
    log = stream(record, parameters["logStreamName"]).log
    start, end = parameters.get("startTime"), parameters.get("endTime")
    most = parameters.get("limit", MOST_EVENTS)
    way, place = _token_of(parameters.get("nextToken"))
    if way is None:
        way = "f" if parameters.get("startFromHead", False) else "b"
        if way == "b":
            place = 1 << 62 if end is None else seek(log, end)
    if way == "f":
        place = max(place, 0 if start is None else seek(log, start))
        events = _page(_until(forward(log, place), end), most)
    else:
        events = _page(_since(backward(log, place), start), most)[::-1]
        place = place if place < 1 << 62 else _end(log)
    first, last = (events[0].begin, events[-1].end) if events else (place, place)
    return {
        "events": [
            {"timestamp": each.time, "message": each.message, "ingestionTime": each.time} for each in events
        ],
        "nextForwardToken": f"f/{last:056d}/s",
        "nextBackwardToken": f"b/{first:056d}/s",
    }


def _token_of(token: str | None) -> tuple[str | None, int]:
    if token is None:
        return None, 0
    found = _TOKEN.fullmatch(token)
    if found is None:
        raise ServiceError("InvalidParameterException", "The specified nextToken is invalid.")
    return found["way"], int(found["place"])


def _until(events: Iterator[Event], end: int | None) -> Iterator[Event]:
    for event in events:
        if end is not None and event.time >= end:
            return
        yield event


def _since(events: Iterator[Event], start: int | None) -> Iterator[Event]:
    for event in events:
        if start is not None and event.time < start:
            return
        yield event


def _page(events: Iterator[Event], most: int) -> list[Event]:
    page: list[Event] = []
    size = 0
    for event in events:
        size += event.size
        if len(page) == most or (page and size > MOST_BYTES):
            break
        page.append(event)
    return page


def _end(log: Path) -> int:
    last = next(backward(log, 1 << 62), None)
    return 0 if last is None else last.end


def _by_time(each: Stream) -> tuple[float, str]:
    return each.written, each.name


def _by_name(each: Stream) -> tuple[float, str]:
    return 0.0, each.name


def _described(context: Context, each: Stream) -> Document:
    last = next(backward(each.log, 1 << 62), None)
    time = each.begun if last is None else last.time
    return {
        "logStreamName": each.name,
        "creationTime": each.begun,
        "firstEventTimestamp": each.begun,
        "lastEventTimestamp": time,
        "lastIngestionTime": time,
        "uploadSequenceToken": f"{each.begun:056d}",
        "arn": f"{group_arn(context)}:log-stream:{each.name}",
        "storedBytes": 0,
    }


OPERATIONS: Mapping[str, Operation] = {
    "DescribeLogGroups": describe_log_groups,
    "DescribeLogStreams": describe_log_streams,
    "GetLogEvents": get_log_events,
    "FilterLogEvents": filter_log_events,
}
"""Every operation of CloudWatch Logs that this service answers."""
