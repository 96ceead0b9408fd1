from __future__ import annotations

import subprocess
import sys

FAMILY = """
import os, signal, sys, time
from bandstand.backends import kernel
from bandstand.backends.descendants import kill_descendants
kernel.adopt_orphans()
alarm, held = os.pipe()
ready, tells = os.pipe()

def live(depth):
    # a family that ignores signals, leaves sessions and loses its parents
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    os.setsid()
    if depth and os.fork() == 0:
        live(depth - 1)
    if depth == 2:
        os._exit(0)
    os.write(tells, b"x")
    while True:
        time.sleep(600)

if os.fork() == 0:
    os.close(alarm)
    live(3)
spared = os.fork()
if spared == 0:
    for descriptor in (held, tells):
        os.close(descriptor)
    os.read(alarm, 1)
    os._exit(7)
os.close(held), os.close(tells)
for _ in range(3):
    os.read(ready, 1)
assert kill_descendants(os.getpid(), {spared})
assert os.read(alarm, 1) == b""
assert os.waitstatus_to_exitcode(os.waitpid(spared, 0)[1]) == 7
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
assert not kill_descendants(os.getpid())
print("done")
"""


def test_a_whole_family_is_ended_but_those_that_are_spared() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAMILY], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == "done\n", done.stderr
