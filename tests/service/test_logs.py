"""CloudWatch Logs of training jobs, as boto3 and the SDKs read them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bandstand.backends.log_writer import LogWriter
from bandstand.service.log_events import backward, escaped, forward, seek

from .served import SCRIPT, Server, ended, refusal, training_request, until

GROUP = "/aws/sagemaker/TrainingJobs"
NOISY = SCRIPT + '\nprint("a\\tb \\x1b[31mred\\x1b[0m \\x7f ä")\n'


@pytest.fixture(scope="module")
def logs(server: Server) -> Any:
    return server.client("logs")


@pytest.fixture(scope="module")
def job(sagemaker: Any, place: Path) -> str:
    """A training job of two hosts that has ended."""
    (place / "code" / "noisy.py").write_text(NOISY)
    hosts = {"InstanceType": "ml.m5.large", "InstanceCount": 2, "VolumeSizeInGB": 1}
    program = {"sagemaker_program": "noisy.py"}
    sagemaker.create_training_job(
        **training_request(place, "noisy-1", ResourceConfig=hosts, HyperParameters=program)
    )
    assert ended(sagemaker, "noisy-1")["TrainingJobStatus"] == "Completed"
    return "noisy-1"


def streams_of(logs: Any, job: str, **more: Any) -> list[str]:
    answer = logs.describe_log_streams(logGroupName=GROUP, logStreamNamePrefix=f"{job}/", **more)
    return [each["logStreamName"] for each in answer["logStreams"]]


def read(logs: Any, stream: str, **more: Any) -> list[str]:
    """Read a stream to its end as the SDKs do: until a page is empty."""
    lines: list[str] = []
    token: dict[str, str] = {}
    while True:
        answer = logs.get_log_events(
            logGroupName=GROUP, logStreamName=stream, startFromHead=True, **token, **more
        )
        token = {"nextToken": answer["nextForwardToken"]}
        if not answer["events"]:
            return lines
        lines += [each["message"] for each in answer["events"]]


def test_a_stream_is_named_after_job_host_and_the_second_it_began(logs: Any, job: str) -> None:
    answer = logs.describe_log_streams(
        logGroupName=GROUP, logStreamNamePrefix=f"{job}/", orderBy="LogStreamName", limit=2
    )
    assert "nextToken" not in answer
    for number, each in enumerate(answer["logStreams"], 1):
        assert each["logStreamName"] == f"{job}/algo-{number}-{each['firstEventTimestamp'] // 1000}"
        assert each["lastEventTimestamp"] >= each["firstEventTimestamp"]
    assert len(answer["logStreams"]) == 2


def test_lines_are_told_as_the_service_tells_them(logs: Any, job: str) -> None:
    lines = read(logs, streams_of(logs, job)[0])
    assert [line for line in lines if line.startswith("iteration=")] == [
        f"iteration={n} score={n}.0" for n in (1, 2, 3)
    ]
    assert "a#011b #033[31mred#033[0m #177 ä" in lines
    assert escaped("\t\r\0") == "#011#015#000"


def test_every_page_size_gives_every_line_once_from_either_end(logs: Any, job: str) -> None:
    stream = streams_of(logs, job)[0]
    whole = read(logs, stream)
    for size in (1, 2, 5):
        assert read(logs, stream, limit=size) == whole
    place = {"logGroupName": GROUP, "logStreamName": stream}
    found: list[str] = []
    token: dict[str, str] = {}
    while True:
        answer = logs.get_log_events(**place, limit=3, **token)
        found = [each["message"] for each in answer["events"]] + found
        if not answer["events"]:
            break
        token = {"nextToken": answer["nextBackwardToken"]}
    assert found == whole
    assert answer["nextBackwardToken"] == token["nextToken"]


def test_a_token_at_the_end_comes_back_and_finds_lines_that_are_new(
    logs: Any, sagemaker: Any, place: Path
) -> None:
    hold = place / "hold"
    hold.touch()
    sagemaker.create_training_job(
        **training_request(place, "held", HyperParameters={"hold": str(hold), "epochs": "3"})
    )
    until(lambda: streams_of(logs, "held"), "a stream")
    where = {"logGroupName": GROUP, "logStreamName": streams_of(logs, "held")[0], "startFromHead": True}

    def at_two() -> Any:
        answer = logs.get_log_events(**where)
        return answer if any("iteration=2" in each["message"] for each in answer["events"]) else None

    token = until(at_two, "iteration 2")["nextForwardToken"]
    again = logs.get_log_events(**where, nextToken=token)
    assert (again["events"], again["nextForwardToken"]) == ([], token)
    hold.unlink()
    ended(sagemaker, "held")
    news = logs.get_log_events(**where, nextToken=token)["events"]
    assert news[0]["message"] == "iteration=3 score=3.0"


def test_times_cut_a_stream_from_both_sides(logs: Any, job: str) -> None:
    stream = streams_of(logs, job)[0]
    events = logs.get_log_events(logGroupName=GROUP, logStreamName=stream, startFromHead=True)["events"]
    middle = events[len(events) // 2]["timestamp"]
    for start, end in (
        (middle, None),
        (None, middle),
        (middle, middle + 1),
        (events[-1]["timestamp"] + 1, None),
    ):
        times = {"startTime": start, "endTime": end}
        wish = {name: value for name, value in times.items() if value is not None}
        wanted = [
            each["message"]
            for each in events
            if (start is None or each["timestamp"] >= start) and (end is None or each["timestamp"] < end)
        ]
        assert read(logs, stream, **wish) == wanted
        tail = logs.get_log_events(logGroupName=GROUP, logStreamName=stream, **wish)["events"]
        assert [each["message"] for each in tail] == wanted


def test_events_of_all_streams_are_filtered_in_order_of_time(logs: Any, job: str) -> None:
    place = {"logGroupName": GROUP, "logStreamNamePrefix": f"{job}/"}
    everything = logs.filter_log_events(**place)["events"]
    assert [each["timestamp"] for each in everything] == sorted(each["timestamp"] for each in everything)
    assert {each["logStreamName"] for each in everything} == set(streams_of(logs, job))
    assert len({each["eventId"] for each in everything}) == len(everything)
    pages = logs.get_paginator("filter_log_events").paginate(**place, PaginationConfig={"PageSize": 3})
    assert [each for page in pages for each in page["events"]] == everything
    for pattern, wanted in (
        ("iteration score", lambda text: "iteration" in text and "score" in text),
        ('"iteration=2 "', lambda text: "iteration=2 " in text),
        ("?iteration=1 ?iteration=3", lambda text: "iteration=1" in text or "iteration=3" in text),
        ("iteration -score=2", lambda text: "iteration" in text and "score=2" not in text),
    ):
        found = logs.filter_log_events(**place, filterPattern=pattern)["events"]
        assert found == [each for each in everything if wanted(each["message"])], pattern


def test_streams_are_listed_by_pages_in_either_order(logs: Any, job: str) -> None:
    pages = logs.get_paginator("describe_log_streams").paginate(
        logGroupName=GROUP, PaginationConfig={"PageSize": 1}
    )
    names = [each["logStreamName"] for page in pages for each in page["logStreams"]]
    assert set(streams_of(logs, job)) <= set(names)
    assert len(set(names)) == len(names)
    for order in ("LogStreamName", "LastEventTime"):
        there = {"logGroupName": GROUP, "orderBy": order, "limit": 50}
        up = [each["logStreamName"] for each in logs.describe_log_streams(**there)["logStreams"]]
        down = logs.describe_log_streams(**there, descending=True)["logStreams"]
        assert sorted(up) == sorted(names)
        assert [each["logStreamName"] for each in down] == up[::-1]


def test_the_group_is_there_once_there_is_a_job(logs: Any, job: str) -> None:
    assert [each["logGroupName"] for each in logs.describe_log_groups()["logGroups"]] == [GROUP]
    for words in ({"logGroupNamePrefix": "/aws/sage"}, {"logGroupNamePattern": "training"}):
        assert len(logs.describe_log_groups(**words)["logGroups"]) == 1
    assert logs.describe_log_groups(logGroupNamePrefix="/other")["logGroups"] == []


def test_what_the_service_refuses_is_refused(logs: Any, job: str) -> None:
    def code(call: Callable[..., Any], **words: Any) -> str:
        return refusal(call, **words)[0]

    assert code(logs.get_log_events, logGroupName="/other", logStreamName="x") == "ResourceNotFoundException"
    missing = {"logGroupName": GROUP, "logStreamName": f"{job}/algo-9-1"}
    assert code(logs.get_log_events, **missing) == "ResourceNotFoundException"
    upper = {"logGroupName": GROUP, "logStreamName": streams_of(logs, job)[0].upper()}
    assert code(logs.get_log_events, **upper) == "ResourceNotFoundException"
    there = {"logGroupName": GROUP, "logStreamName": streams_of(logs, job)[0]}
    assert code(logs.get_log_events, **there, nextToken="nonsense") == "InvalidParameterException"
    assert code(logs.filter_log_events, logGroupName=GROUP, nextToken="!") == "InvalidParameterException"
    assert (
        code(logs.filter_log_events, logGroupName=GROUP, filterPattern="{$.a=1}")
        == "InvalidParameterException"
    )
    both = {"logGroupName": GROUP, "orderBy": "LastEventTime", "logStreamNamePrefix": job}
    assert code(logs.describe_log_streams, **both) == "InvalidParameterException"
    assert logs.describe_log_streams(logGroupName=GROUP, logStreamNamePrefix="nobody/")["logStreams"] == []


def test_a_large_log_is_read_from_any_place_and_half_a_line_is_left_out(tmp_path: Path) -> None:
    log = tmp_path / "algo-1.log"
    writer = LogWriter(log)
    for number in range(20_000):
        writer.write(1000 + number // 3, [f"line {number} " + "x" * (number % 97)])
    writer.write(9000, ["y" * 200_000, "last"])
    writer.close()
    with log.open("ab") as file:
        file.write(b"9001.0 half a li")
    ahead = [each.message for each in forward(log, 0)]
    assert [each.message for each in backward(log, 1 << 62)] == ahead[::-1]
    assert (len(ahead), ahead[-1]) == (20_002, "last")
    for second in (0, 1000, 1001, 4321, 7666, 7667, 9000, 9001):
        found = next(forward(log, seek(log, second * 1000)), None)
        times = [1000 + number // 3 for number in range(20_000)] + [9000, 9000]
        wanted = next((ahead[n] for n, time in enumerate(times) if time >= second), None)
        assert (found.message if found else None) == wanted


def test_lines_come_while_others_are_written(tmp_path: Path) -> None:
    log = tmp_path / "algo-1.log"
    writer = LogWriter(log)

    def write() -> None:
        for number in range(3000):
            writer.write(number, [f"line {number}"])

    writing = threading.Thread(target=write)
    writing.start()
    place, seen = 0, []
    while len(seen) < 3000:
        for event in forward(log, place):
            seen.append(event.message)
            place = event.end
    writing.join()
    writer.close()
    assert seen == [f"line {number}" for number in range(3000)]
