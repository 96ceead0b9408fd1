"""Training scripts for the tests of backends."""

from __future__ import annotations

STUBBORN = '''
import os, signal, subprocess, sys, time
base = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
open(base + "/model/weights", "w").write("early")
os.mkdir(base + "/model/.bandstand-unfinished-x")
open(base + "/model/.bandstand-unfinished-x/weights", "w").write("ha")
alarm = os.open(base + "/checkpoints/alarm", os.O_WRONLY)
child = """
import os, signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
os.setsid()
if os.fork() == 0:
    os.setsid()
    print("grandchild", flush=True)
while True:
    time.sleep(60)
"""
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", child], pass_fds=[alarm])
while True:
    time.sleep(60)
'''
"""Ignores every polite signal, as do its child and grandchild in their own sessions; needs an alarm."""

POLITE = """
import os, signal, sys
base = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
def leave(number, frame):
    open(base + "/model/weights", "w").write("saved on the way out")
    sys.exit(int(os.environ.get("CODE", "0")))
signal.signal(signal.SIGTERM, leave)
print("ready", flush=True)
while True:
    signal.pause()
"""
"""Saves a model when it is told to stop, and ends with the exit code `CODE`."""
