"""The supervisor with stand-ins for process 1, which do what ours never would."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bandstand.backends.processes import ProcessBackend

from .jobs import Alarm, Job, channel, eventually, make_plan

Start = Callable[..., Job]


@pytest.fixture(params=["", "off"], ids=["name spaces", "no name spaces"])
def start(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    monkeypatch.setenv("BANDSTAND_NAMESPACES", request.param)
    jobs = []

    def started(*command: str, **changes: object) -> Job:
        backend = ProcessBackend(lease_seconds=60.0, peer_grace=0.3, _host_command=command)
        job = Job(backend, tmp_path / "home" / "jobs" / "job-1")
        backend.submit(make_plan(tmp_path, "job-1", **changes), job.folder, threads=1)
        jobs.append(job)
        return job

    yield started
    for job in jobs:
        job.backend.kill(job.folder)
        job.ends()


def python(script: str) -> tuple[str, str, str]:
    return sys.executable, "-c", script


def test_a_first_process_that_cannot_be_started_is_told_with_its_reason(start: Start) -> None:
    state = start("/no/such/program").ends()
    assert state.status == "Failed"
    assert state.failure_reason is not None
    assert state.failure_reason.startswith("algo-1 could not be started: No such file or directory")


def test_a_first_process_that_a_signal_ends_is_named_with_signal_and_peak_memory(start: Start) -> None:
    script = "import ctypes; print('here', flush=True); held = bytearray(50 << 20); ctypes.string_at(0)"
    state = start(*python(script)).ends()
    assert state.status == "Failed"
    assert re.fullmatch(
        r"algo-1: process 1 was ended by SIGSEGV \(a fault in native code\), "
        r"peak memory of one process [56]\d MiB\. Last lines: here",
        state.failure_reason or "",
    )
    host = state.hosts[0]
    assert (host.exit_code, host.signal) == (128 + signal.SIGSEGV, "SIGSEGV")
    assert (host.peak_memory or 0) > 50 << 20


def test_an_exit_code_without_a_failure_file_is_told_with_the_last_lines(start: Start) -> None:
    state = start(*python("print('one'); print('two'); raise SystemExit(9)")).ends()
    assert state.failure_reason == (
        "algo-1: process 1 ended with exit code 9 and left no /opt/ml/output/failure. Last lines: one | two"
    )
    assert state.hosts[0].exit_code == 9


def test_the_other_hosts_get_their_time_and_are_killed_then(start: Start, tmp_path: Path) -> None:
    deaf = tmp_path / "deaf"
    script = f"""
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "BANDSTAND_LISTEN_FD" in os.environ:
    while not os.path.exists({str(deaf)!r}):
        time.sleep(0.01)
    raise SystemExit(5)
open({str(deaf)!r}, "w").close()
time.sleep(600)
"""
    state = start(*python(script), hosts=2).ends()
    assert state.status == "Failed"
    assert [host.exit_code for host in state.hosts] == [5, 128 + signal.SIGKILL]
    assert "algo-1" in (state.failure_reason or "")


def test_a_host_that_was_killed_is_the_cause_even_if_a_peer_that_missed_it_ends_first(
    start: Start, tmp_path: Path
) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    script = f"""
import ctypes, os, signal
if "BANDSTAND_LISTEN_FD" not in os.environ:
    open({str(ready)!r}).close()
    raise SystemExit("the connection to the leader has ended")
signal.signal(signal.SIGTERM, lambda number, frame: ctypes.string_at(0))
open({str(ready)!r}, "w").close()
while True:
    signal.pause()
"""
    state = start(*python(script), hosts=2).ends()
    assert [(host.exit_code, host.signal) for host in state.hosts] == [
        (128 + signal.SIGSEGV, "SIGSEGV"),
        (1, None),
    ]
    assert (state.failure_reason or "").startswith("algo-1: process 1 was ended by SIGSEGV")


def test_a_host_that_fails_while_the_job_is_being_stopped_does_not_fail_it(start: Start) -> None:
    script = """
import signal
def leave(number, frame):
    raise SystemExit(44)
signal.signal(signal.SIGTERM, leave)
print("ready", flush=True)
signal.pause()
"""
    job = start(*python(script), hosts=2)
    job.says("ready", 2)
    job.backend.stop(job.folder, 20)
    state = job.ends()
    assert state.status == "Stopped"
    assert [host.exit_code for host in state.hosts] == [44, 44]


def test_sigterm_waits_until_the_first_process_can_hear_it(start: Start, tmp_path: Path) -> None:
    """In a PID name space the kernel drops signals that process 1 has no handler for."""
    if os.environ["BANDSTAND_NAMESPACES"] == "off":
        return  # an ordinary process always hears SIGTERM
    script = f"""
import signal
print("deaf", flush=True)
open({str(tmp_path / "go")!r}).read()
def leave(number, frame):
    print("heard", flush=True)
    raise SystemExit(0)
signal.signal(signal.SIGTERM, leave)
while True:
    signal.pause()
"""
    os.mkfifo(tmp_path / "go")
    job = start(*python(script))
    job.says("deaf")
    job.backend.stop(job.folder, 600)
    eventually(lambda: job.state.status == "Stopping", "the status Stopping")
    (tmp_path / "go").write_text("go")
    assert job.ends().status == "Stopped"
    assert job.texts()[-1] == "heard"


def test_the_leader_inherits_a_socket_that_already_listens(start: Start) -> None:
    script = """
import json, os, socket
address = json.loads(os.environ["BANDSTAND_HOST_MAP"])["algo-1"]
port = int(os.environ["BANDSTAND_PORT"])
if "BANDSTAND_LISTEN_FD" in os.environ:
    listener = socket.socket(fileno=int(os.environ["BANDSTAND_LISTEN_FD"]))
    print("at", listener.getsockname() == (address, port), flush=True)
    connection, _ = listener.accept()
    print("got", connection.recv(5).decode(), flush=True)
else:
    socket.create_connection((address, port)).send(b"hello")
print("key", len(bytes.fromhex(os.environ["BANDSTAND_KEY"])), flush=True)
"""
    job = start(*python(script), hosts=2)
    assert job.ends().status == "Completed", job.report()
    assert {"at True", "got hello", "key 32"} <= set(job.texts("algo-1"))


def test_a_host_inherits_nothing_else(start: Start) -> None:
    script = """
import os
kinds = []
for number in range(64):
    try:
        kinds.append(os.readlink(f"/proc/self/fd/{number}").partition(":")[0])
    except FileNotFoundError:
        pass
print(kinds, os.getsid(0) == os.getpid())
"""
    job = start(*python(script), hosts=2)
    assert job.ends().status == "Completed", job.report()
    assert job.texts("algo-1")[-1] == "['/dev/null', 'pipe', 'pipe', 'socket'] True"
    assert job.texts("algo-2")[-1] == "['/dev/null', 'pipe', 'pipe'] True"


def test_a_host_has_the_usual_signals_though_its_supervisor_ignores_some(start: Start) -> None:
    script = """
import signal
for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
    assert signal.getsignal(number) == signal.SIG_DFL, number
assert signal.getsignal(signal.SIGINT) == signal.default_int_handler
assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())
"""
    job = start(*python(script))
    assert job.ends().status == "Completed", job.report()


def test_a_silent_host_that_closes_its_streams_is_waited_for(start: Start) -> None:
    script = "import os, time; print('bye', flush=True); os.close(1); os.close(2); time.sleep(0.3)"
    job = start(*python(script))
    assert job.ends().status == "Completed", job.report()
    assert job.texts()[-1] == "bye"


def test_a_channel_that_cannot_be_read_is_named(start: Start, tmp_path: Path) -> None:
    state = start(*python(""), channels=(channel("train", tmp_path / "nothing"),)).ends()
    assert state.status == "Failed"
    assert "nothing" in (state.failure_reason or "")


def test_a_lost_home_ends_the_job(start: Start, tmp_path: Path) -> None:
    script = f"""
import os
alarm = os.open({str(tmp_path / "alarm")!r}, os.O_WRONLY)
print("ready", flush=True)
import time; time.sleep(600)
"""
    alarm = Alarm(tmp_path / "alarm")
    backend = ProcessBackend(lease_seconds=0.4, lease_grace=0.1, _host_command=python(script))
    job = Job(backend, tmp_path / "lost" / "jobs" / "job-1")
    backend.submit(make_plan(tmp_path, "job-1"), job.folder, threads=1)
    with job.owned():
        job.says("ready")
    job.folder.rename(tmp_path / "elsewhere")
    eventually(alarm.is_over, "the end of the host")
    alarm.close()
