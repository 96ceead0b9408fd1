"""FilterLogEvents: events of many streams in order of time."""

from __future__ import annotations

import base64
import binascii
import hashlib
import heapq
import json
from collections.abc import Iterator

from bandstand.service.context import Context
from bandstand.service.log_events import MOST_BYTES, MOST_EVENTS, Event, forward, seek
from bandstand.service.log_filter import pattern_of
from bandstand.service.log_streams import Stream, check_group, stream, streams
from bandstand.service.protocol import Document, ServiceError

MOST_LOOKED_AT = 50_000
"""Events that one call looks at; a page may be short, or empty, and have a token all the same."""

Key = tuple[int, str, int]
"""An event's place among those of all streams: its time, its stream's name, where it begins in the log."""


def filter_log_events(context: Context, parameters: Document) -> Document:
    """FilterLogEvents: a page of the events that match, the oldest first."""
    record = context.record()
    check_group(context, record, parameters)
    names, prefix = parameters.get("logStreamNames"), parameters.get("logStreamNamePrefix")
    if names is not None and prefix is not None:
        raise ServiceError(
            "InvalidParameterException", "logStreamNamePrefix and logStreamNames are mutually exclusive."
        )
    if not parameters.get("startFromHead", True):
        raise ServiceError(
            "InvalidParameterException",
            "startFromHead=false is not answered here: the oldest events come first.",
        )
    pattern = pattern_of(parameters.get("filterPattern", ""))
    chosen = streams(record, prefix or "") if names is None else (stream(record, name) for name in set(names))
    start, end = parameters.get("startTime", 0), parameters.get("endTime", 1 << 62)
    after = _after(parameters.get("nextToken"))
    most = parameters.get("limit", MOST_EVENTS)
    found: list[Document] = []
    size, last, more = 0, after, False
    for looked, (key, event) in enumerate(_merged(chosen, max(start, after[0]), end, after)):
        matching = pattern.matches(event.message)
        full = matching and (len(found) == most or (found and size + event.size > MOST_BYTES))
        if full or looked == MOST_LOOKED_AT:
            more = True
            break
        last = key
        if matching:
            size += event.size
            found.append(_told(key, event))
    answer: Document = {"events": found, "searchedLogStreams": []}
    return answer | (
        {"nextToken": base64.urlsafe_b64encode(json.dumps(last).encode()).decode()} if more else {}
    )


def _merged(chosen: Iterator[Stream], start: int, end: int, after: Key) -> Iterator[tuple[Key, Event]]:
    """Give events of many streams in order; a log is opened when the time of its first event has come."""
    logs: dict[str, Iterator[Event]] = {}
    heap: list[tuple[Key, Event | None, Stream]] = []
    for each in chosen:
        if each.begun < end and each.written * 1000 + 1000 >= start:
            heapq.heappush(heap, ((max(each.begun, start), each.name, -1), None, each))
    while heap:
        key, event, each = heapq.heappop(heap)
        if event is None:
            logs[each.name] = forward(each.log, seek(each.log, start))
        elif key > after:
            yield key, event
        following = next(logs[each.name], None)
        if following is not None and following.time < end:
            # A clock that was set back must not bring events out of order: they keep that of the log.
            time = max(following.time, key[0])
            heapq.heappush(heap, ((time, each.name, following.begin), following, each))


def _told(key: Key, event: Event) -> Document:
    name = hashlib.sha256(f"{key[1]}\0{key[2]}".encode()).hexdigest()
    return {
        "logStreamName": key[1],
        "timestamp": event.time,
        "message": event.message,
        "ingestionTime": event.time,
        "eventId": f"{int(name[:44], 16):056d}"[-56:],
    }


def _after(token: str | None) -> Key:
    if token is None:
        return (0, "", -1)
    try:
        time, name, begin = json.loads(base64.urlsafe_b64decode(token))
        return (int(time), str(name), int(begin))
    except (ValueError, TypeError, binascii.Error) as error:
        raise ServiceError("InvalidParameterException", "The specified nextToken is invalid.") from error
