"""Log lines of CloudWatch arrive once, whole and in order, whenever whoever copies them is killed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bandstand.backends.sagemaker.log_mirror import LogMirror
from bandstand.backends.sagemaker.region import Region

from .region import NAME

STREAMS = ("algo-1-1700000000", "algo-2-1700000001", "algo-1-1700000500")


class Logs:
    """Stands in for CloudWatch's client: streams with pages, and a token that ends where it began."""

    def __init__(self) -> None:
        self.streams: dict[str, list[list[str]]] = {name: [] for name in STREAMS[:2]}
        self.asked = 0
        self.fails_after: int | None = None

    def describe_log_streams(self, **_: Any) -> dict[str, Any]:
        names = [*self.streams, "algo-1-170/other", "profiler"]
        return {"logStreams": [{"logStreamName": f"job-1/{name}"} for name in names]}

    def get_log_events(
        self,
        *,
        logStreamName: str,  # noqa: N803
        nextToken: str = "f/0",  # noqa: N803
        **_: Any,
    ) -> dict[str, Any]:
        self.asked += 1
        if self.fails_after is not None and self.asked > self.fails_after:
            raise KeyboardInterrupt
        stream = logStreamName.removeprefix("job-1/")
        at = int(nextToken.removeprefix("f/"))
        pages = self.streams[stream]
        page = pages[at] if at < len(pages) else []
        begin = int(stream.rpartition("-")[2]) * 1000
        return {
            "events": [{"timestamp": begin + at, "message": text} for text in page],
            "nextForwardToken": f"f/{at + bool(page)}",
        }


@pytest.fixture
def logs() -> Logs:
    return Logs()


@pytest.fixture
def mirror(logs: Logs, tmp_path: Path) -> LogMirror:
    region = Region(NAME, "http://127.0.0.1:9")
    region._clients["logs"] = logs
    return LogMirror(region, "job-1", tmp_path, 2)


def texts(folder: Path, host: str) -> list[str]:
    lines = (folder / "logs" / f"{host}.log").read_text().splitlines()
    return [line.partition(" ")[2] for line in lines]


def test_lines_of_all_hosts_are_copied_and_only_new_ones_are_asked_for(
    logs: Logs, mirror: LogMirror, tmp_path: Path
) -> None:
    logs.streams["algo-1-1700000000"] = [["one", "two\nthree"], ["four"]]
    logs.streams["algo-2-1700000001"] = [["ün\tdeux"]]
    assert mirror.pull(search=False, patience=1)
    assert texts(tmp_path, "algo-1") == ["one", "two", "three", "four"]
    assert texts(tmp_path, "algo-2") == ["ün\tdeux"]
    before = logs.asked
    assert mirror.pull(search=False, patience=1)
    assert logs.asked == before + 2
    logs.streams["algo-1-1700000000"].append(["five"])
    assert mirror.pull(search=False, patience=1)
    assert texts(tmp_path, "algo-1")[-1] == "five"
    assert (tmp_path / "logs" / "algo-1.log").read_text().startswith("1700000000.000000 one\n")


def test_a_later_attempt_has_a_stream_of_its_own_which_comes_after_the_first(
    logs: Logs, mirror: LogMirror, tmp_path: Path
) -> None:
    logs.streams["algo-1-1700000000"] = [["first attempt"]]
    mirror.pull(search=False, patience=1)
    logs.streams[STREAMS[2]] = [["second attempt"]]
    mirror.pull(search=False, patience=1)
    assert texts(tmp_path, "algo-1") == ["first attempt"]
    mirror.pull(search=True, patience=1)
    assert texts(tmp_path, "algo-1") == ["first attempt", "second attempt"]


@pytest.mark.parametrize("calls", range(1, 7))
def test_whoever_is_killed_on_the_way_leaves_every_line_once(
    logs: Logs, mirror: LogMirror, tmp_path: Path, calls: int
) -> None:
    logs.streams["algo-1-1700000000"] = [["a"], ["b"], ["c"]]
    logs.streams["algo-2-1700000001"] = [["d"], ["e"]]
    logs.fails_after = calls
    with pytest.raises(KeyboardInterrupt):
        mirror.pull(search=False, patience=1)
    # A line that was written and not noted, and half of one.
    log = tmp_path / "logs" / "algo-1.log"
    if log.exists():
        log.write_bytes(log.read_bytes() + b"1700000000.000001 b\n17000000")
    logs.fails_after = None
    assert mirror.pull(search=False, patience=1)
    assert mirror.pull(search=False, patience=1)
    assert (texts(tmp_path, "algo-1"), texts(tmp_path, "algo-2")) == (["a", "b", "c"], ["d", "e"])


def test_two_that_copy_at_once_do_not_double_a_line(logs: Logs, mirror: LogMirror, tmp_path: Path) -> None:
    logs.streams["algo-1-1700000000"] = [["a"]]
    with mirror._locked() as mine:
        assert mine
        assert not mirror.pull(search=False, patience=1)
    assert mirror.pull(search=False, patience=1)
    assert texts(tmp_path, "algo-1") == ["a"]
    assert json.loads((tmp_path / "cursors.json").read_text())["bytes"]["algo-1"] > 0
