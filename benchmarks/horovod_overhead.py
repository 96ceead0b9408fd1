"""Overhead per epoch: the built-in Horovod, beside a bare Horovod loop that evaluates the same metrics."""

from __future__ import annotations

import json
import sys
from functools import partial
from importlib.util import find_spec
from itertools import count, pairwise
from pathlib import Path
from statistics import median

from benchmarks.bench import Bench, NotHereError
from benchmarks.children import bandstand_command, run_child
from benchmarks.findings import Findings, interleaved
from benchmarks.jobs import as_seconds

WORKERS = 2
BATCH, HIDDEN, RATE = 128, 128, 0.1


def measure(bench: Bench) -> Findings:
    """Median time from one epoch's report to the next; at most 3 % more than the bare loop takes."""
    if find_spec("horovod") is None:
        raise NotHereError("Horovod is not installed here; run it by make bench-horovod.")
    data = bench.data / "mnist"
    if not data.is_dir():
        raise NotHereError(f"MNIST's files are not in {data}.")
    findings = Findings("horovod_overhead")
    epochs = bench.times(8, 3)
    findings.notes.append(f"MNIST, {WORKERS} ranks of one thread, batches of {BATCH}, {HIDDEN} hidden units")
    with bench.scratch() as folder:
        channels = _laid_out(data, folder)
        homes = count()

        def ours() -> float:
            job = _job(folder, channels, epochs)
            home = folder / f"home-{next(homes)}"
            used = run_child([*bandstand_command(), "train", job, "--json", "--home", home])
            facts = json.loads(used.output)
            if facts["status"] != "Completed":
                raise NotHereError(str(facts["failure_reason"]))
            times = [point["time"] for point in facts["metrics"] if point["name"] == "validation:accuracy"]
            return 1000 * _between([as_seconds(moment) for moment in times])

        def bare() -> float:
            program = "benchmarks.programs.bare_horovod"
            words = [channels, WORKERS, epochs, BATCH, HIDDEN, RATE]
            used = run_child([sys.executable, "-m", program, *map(str, words)])
            return 1000 * _between(json.loads(used.output.splitlines()[-1])["epochs"])

        sides = {"bandstand": partial(ours), "bare Horovod": partial(bare)}
        found = interleaved(sides, bench.repeats(5), bench.tell)
    mine, other = (findings.side(name, "ms", values) for name, values in found.items())
    findings.ratio(mine, other)
    findings.aim("overhead per epoch", 100 * (mine.median / other.median - 1), 3.0, "%")
    return findings


def _laid_out(data: Path, folder: Path) -> Path:
    """MNIST's files by channel, as links."""
    for prefix, channel in (("train", "train"), ("t10k", "validation")):
        (folder / "data" / channel).mkdir(parents=True)
        for path in data.glob(f"{prefix}-*"):
            (folder / "data" / channel / path.name).symlink_to(path)
    return folder / "data"


def _job(folder: Path, channels: Path, epochs: int) -> Path:
    path = folder / "job.toml"
    settings = {"epochs": epochs, "batch_size": BATCH, "hidden": str(HIDDEN), "learning_rate": RATE}
    lines = ['name = "bench"', 'output = "out"', "[hyperparameters]", 'algorithm = "horovod"']
    lines += [f"{name} = {json.dumps(value)}" for name, value in {**settings, "ring": "horovod"}.items()]
    lines.append("[channels]")
    lines += [f"{name} = {{ path = {json.dumps(str(channels / name))} }}" for name in ("train", "validation")]
    lines += ["[cluster]", f"hosts = {WORKERS}", "threads = 1"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _between(times: list[float]) -> float:
    return median(after - before for before, after in pairwise(times))
