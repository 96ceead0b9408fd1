"""A training script for drills: numbered values that follow from its settings, checkpoints, one writer.

It fails where another process of the same job and host is alive, so that no job can run twice unseen.
"""

import fcntl
import os
import time

import bandstand

run = bandstand.start()
rate = run.hyperparameters.number("rate")
lock = os.open(run.checkpoint_dir.parent / f"{run.job_name}.{run.host}.lock", os.O_RDWR | os.O_CREAT)
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    raise RuntimeError(f"{run.job_name} runs twice on {run.host}") from None
for iteration in run.iterations(run.hyperparameters.integer("epochs")):
    run.report(iteration, {"score": rate * iteration, "loss": 1 / iteration})
    run.checkpoint(iteration, lambda path: path.write_text("state"), every=3)
    time.sleep(0.02)
run.save_model("model.txt", lambda path: path.write_text(f"{rate}"))
