"""`bandstand local` under load, beside moto's server: calls a second, a line's way to its metric, memory.

Both servers hold the same number of stored training jobs and are asked by the same clients; only here are
jobs running besides. Cost is to grow with what is asked, not with what is stored: so a home with a hundredth
of the jobs is asked too.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from bandstand import metric_definitions
from bandstand.runs.record import Record
from benchmarks.bench import Bench, NotHereError
from benchmarks.children import bandstand_command, run_child
from benchmarks.findings import Findings
from benchmarks.jobs import PROGRAMS

STORED, RUNNING, CLIENTS, CALLS, POINTS = 5000, 50, 20, 2000, 100_000
OPERATIONS = ("DescribeTrainingJob", "ListTrainingJobs")
PATIENCE_SECONDS = 300.0
MOTO = Path(sys.executable).with_name("moto_server")
_RESTING, _FEW = "nothing running", "nothing running, a hundredth of the jobs stored"
_BUSY, _MOTO = "jobs running", "moto"
_OVER = ("Completed", "Failed", "Stopped")
_LATENCIES = 20


def measure(bench: Bench) -> Findings:
    """Ask both servers, then follow lines to their metrics, then print many at once."""
    findings = Findings("service_load")
    stored, running = bench.times(STORED, least=20), bench.times(RUNNING, least=2)
    calls = bench.times(CALLS, least=CLIENTS)
    found: dict[str, list[float]] = {}
    with bench.scratch() as folder:
        home, small = folder / "home", folder / "small"
        _store(home, stored)
        _store(small, max(10, stored // 100))
        with _service(small, folder) as (_, few), _service(home, folder) as (number, url):
            resting = {_RESTING: (url, stored), _FEW: (few, max(10, stored // 100))}
            _ask_all(bench, resting, calls, found)
            busy = {_BUSY: (url, stored)}
            moto = _moto(folder) if bench.peers and MOTO.exists() else None
            try:
                if moto is not None:
                    busy[_MOTO] = (moto[1], stored)
                    _store_in_moto(moto[1], stored)
                client = _client(url)
                names = [_begin(client, f"running-{each:03}", folder, stays="1") for each in range(running)]
                _until_training(client, names, bench)
                _ask_all(bench, busy, calls, found)
                late = _latencies(client, folder)
                for name in names:
                    client.stop_training_job(TrainingJobName=name)
                _until_over(client, names)
            finally:
                if moto is not None:
                    moto[0].terminate()
                    moto[0].wait()
            before = _memory(number)
            lines = bench.times(POINTS, least=100)
            many = _begin(client, "many-points", folder, lines=str(lines))
            _until_over(client, [many])
            after = _memory(number)
    spreads = {name: findings.side(name, "calls/s", values) for name, values in found.items()}
    for operation in OPERATIONS:
        for ours, theirs in ((_RESTING, _FEW), (_BUSY, _MOTO)):
            if f"{operation}, {theirs}" in spreads:
                findings.ratio(spreads[f"{operation}, {ours}"], spreads[f"{operation}, {theirs}"])
    findings.side(f"a log line to its metric, {running} jobs running", "ms", late)
    findings.side("memory of the service before", "MiB", [before])
    findings.side(f"memory of the service after {lines} more points", "MiB", [after])
    findings.notes.append(f"{stored} jobs stored, {running} running, {CLIENTS} clients, {calls} calls")
    return findings


@contextmanager
def _service(home: Path, folder: Path) -> Iterator[tuple[int, str]]:
    """A running service; its process number and address."""
    log = folder / f"{home.name}.log"
    with log.open("wb") as err:
        service = subprocess.Popen(
            [*bandstand_command(), "local", "--home", str(home), "--allow", "/"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
        )
    try:
        line = service.stdout.readline() if service.stdout is not None else ""
        if not line.startswith("listening on "):
            raise NotHereError(f"the service does not start: {log.read_text()}")
        yield service.pid, line.removeprefix("listening on ").strip()
    finally:
        service.terminate()
        service.communicate(timeout=PATIENCE_SECONDS)


def _store(home: Path, jobs: int) -> None:
    """Run one training job through the service, and store it as often as asked, under other names."""
    with _service(home, home.parent) as (_, url):
        client = _client(url)
        _until_over(client, [_begin(client, "pattern", home.parent, lines="9")])
    with Record.open(home) as record:
        (job,) = record.read("SELECT * FROM training_jobs WHERE name = 'pattern'")
        points = record.read("SELECT * FROM points WHERE job = 'pattern'")
        with record.transaction() as connection:
            for number in range(jobs):
                name = f"stored-{number:05}"
                created = job["created"] + number / 1000
                _add(connection, "training_jobs", {**dict(job), "name": name, "created": created})
                for point in points:
                    _add(connection, "points", {**dict(point), "job": name})


def _add(connection: Any, table: str, row: dict[str, Any]) -> None:
    marks = ", ".join("?" for _ in row)
    sql = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"  # noqa: S608 - columns of the record
    connection.execute(sql, tuple(row.values()))


def _moto(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """moto's server in a process of its own, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (folder / "moto.log").open("wb") as log:
        server = subprocess.Popen(
            [MOTO, "-H", "127.0.0.1", "-p", str(port)],
            stdout=log,
            stderr=log,
        )
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, f"http://127.0.0.1:{port}"
        time.sleep(0.05)
    server.kill()
    raise NotHereError(f"moto's server does not start: {(folder / 'moto.log').read_text()[-500:]}")


def _store_in_moto(url: str, jobs: int) -> None:
    client = _client(url)
    for number in range(jobs):
        client.create_training_job(**_request(f"stored-{number:05}", Path("/nowhere"), {}))


def _ask_all(
    bench: Bench, sides: dict[str, tuple[str, int]], calls: int, found: dict[str, list[float]]
) -> None:
    """Ask servers in turn; add calls a second to what was found.

    Args:
        bench: How often.
        sides: Name to address and number of stored jobs.
        calls: How many calls each time.
        found: Operation and name to what was found.
    """
    for turn in range(1, bench.repeats(3) + 1):
        for name, (url, jobs) in sides.items():
            for operation in OPERATIONS:
                bench.tell(f"{turn}: {operation}, {name}")
                found.setdefault(f"{operation}, {name}", []).append(_ask(url, operation, calls, jobs))


def _ask(url: str, operation: str, calls: int, jobs: int) -> float:
    words = [url, operation, CLIENTS, calls, jobs]
    return float(run_child([sys.executable, PROGRAMS / "service_clients.py", *map(str, words)]).output)


def _latencies(client: Any, folder: Path) -> list[float]:
    """Milliseconds from a line's print to the answer that has its value."""
    asks = folder / "asks"
    asks.write_bytes(b"")
    name = _begin(client, "asked", folder, asks=str(asks))
    found = []
    for wanted in range(1, _LATENCIES + 1):
        with asks.open("ab") as file:
            file.write(b"x")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while _loss(client.describe_training_job(TrainingJobName=name)) != wanted:
            if time.monotonic() > deadline:
                raise NotHereError(f"line {wanted} has never become a metric")
        seen = time.clock_gettime(time.CLOCK_MONOTONIC)
        printed = float(Path(f"{asks}.{wanted}").read_text())
        found.append(1000 * (seen - printed))
    client.stop_training_job(TrainingJobName=name)
    _until_over(client, [name])
    return found


def _loss(answer: dict[str, Any]) -> float | None:
    return next((each["Value"] for each in answer.get("FinalMetricDataList", [])), None)


def _memory(process: int) -> float:
    """Resident memory of a process in MiB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _client(url: str) -> Any:
    return boto3.client(
        "sagemaker",
        endpoint_url=url,
        region_name="eu-central-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",  # noqa: S106 - nobody checks it
        config=Config(retries={"total_max_attempts": 1}),
    )


def _begin(client: Any, name: str, folder: Path, **settings: str) -> str:
    client.create_training_job(**_request(name, folder, settings))
    return name


def _request(name: str, folder: Path, settings: dict[str, str]) -> dict[str, Any]:
    code = {"sagemaker_program": "told_lines.py", "sagemaker_submit_directory": PROGRAMS.as_uri()}
    return {
        "TrainingJobName": name,
        "RoleArn": "arn:aws:iam::111122223333:role/Training",
        "AlgorithmSpecification": {
            "TrainingImage": "somebody/image:1",
            "TrainingInputMode": "File",
            "MetricDefinitions": metric_definitions(["loss"]),
        },
        "HyperParameters": code | settings,
        "OutputDataConfig": {"S3OutputPath": (folder / "out").as_uri()},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
    }


def _until_training(client: Any, names: list[str], bench: Bench) -> None:
    bench.tell(f"until {len(names)} jobs are running")
    _until(client, names, lambda answer: "FinalMetricDataList" in answer)


def _until_over(client: Any, names: list[str]) -> None:
    _until(client, names, lambda answer: answer["TrainingJobStatus"] in _OVER)


def _until(client: Any, names: list[str], there: Any) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    for name in names:
        for look in count():
            answer = client.describe_training_job(TrainingJobName=name)
            if there(answer):
                break
            if answer["TrainingJobStatus"] == "Failed" or time.monotonic() > end:
                reason = answer.get("FailureReason", "it takes too long")
                raise NotHereError(f"{name} is {answer['TrainingJobStatus']} at look {look}: {reason}")
            time.sleep(0.05)
