"""What a supervisor waits for, in a process of its own, since it takes over the signals."""

from __future__ import annotations

import subprocess
import sys


def test_descriptors_that_were_never_opened_can_be_forgotten() -> None:
    script = """
import os
from bandstand.backends.events import Events
events = Events()
events.forget(-1)
read, write = os.pipe()
events.forget(read)
events.watch(read, lambda: print(os.read(read, 9)))
os.write(write, b"here")
events.wait(10.0)
events.forget(read)
events.forget(read)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("b'here'\n", "")
