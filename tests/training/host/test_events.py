"""No signal is lost on its way to the main loop."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from bandstand.training.host.events import Events

from ..conftest import clean_environment


def test_events_come_in_order_and_wake_the_one_who_waits():
    events = Events()
    assert events.get(0.0) is None
    thread = threading.Thread(target=lambda: (events.put("a", 1), events.put("b", 2)))
    thread.start()
    found = []
    while len(found) < 2:
        event = events.get(60.0)
        if event:
            found.append(event)
    assert found == [("a", 1), ("b", 2)]
    thread.join()


def test_more_events_than_a_pipe_holds_are_all_kept():
    events = Events()
    for number in range(100_000):
        events.put("n", number)
    found = 0
    while events.get(0.0):
        found += 1
    assert found == 100_000


def test_a_signal_that_arrives_in_another_thread_is_an_event(tmp_path: Path):
    code = (
        "import os, signal, threading\n"
        "from bandstand.training.host.events import Events\n"
        "events = Events()\n"
        "events.listen([(signal.SIGTERM, lambda number: ('signal', number))])\n"
        "def other():\n"
        "    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)\n"
        "for _ in range(200):\n"
        "    thread = threading.Thread(target=other)\n"
        "    thread.start()\n"
        "    while not events.get(60.0): pass\n"
        "    thread.join()\n"
        "print('all')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=clean_environment(), capture_output=True, timeout=60
    )
    assert done.stdout == b"all\n", done.stderr


def test_a_signal_that_was_blocked_comes_through_once_somebody_listens(tmp_path: Path):
    code = (
        "import os, signal\n"
        "from bandstand.training.host.events import Events\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n"
        "os.kill(os.getpid(), signal.SIGTERM)\n"
        "events = Events()\n"
        "events.listen([(signal.SIGTERM, lambda number: ('signal', number))])\n"
        "print(events.get(60.0))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=clean_environment(), capture_output=True, timeout=60
    )
    assert b"('signal', 15)" in done.stdout or b"SIGTERM" in done.stdout, done.stderr
