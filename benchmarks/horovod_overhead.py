"""Overhead per epoch: the built-in Horovod, beside a bare Horovod loop that evaluates the same metrics."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from benchmarks.bench import ROOT, Bench, NotHereError
from benchmarks.children import bandstand_command, run_child
from benchmarks.findings import Findings

WORKERS = 2
BATCH, HIDDEN, RATE = 128, 128, 0.1


def measure(bench: Bench) -> Findings:
    """Epochs of both sides in turn, in the same ranks of one job; at most 3 % more than the bare loop takes.

    Its own epoch holds the report and the checkpoint that is due or not. Only an epoch beside the other tells
    a few percent on a machine whose speed changes from minute to minute.
    """
    if find_spec("horovod") is None:
        raise NotHereError("Horovod is not installed here; run it by make bench-horovod.")
    data = bench.data / "mnist"
    if not data.is_dir():
        raise NotHereError(f"MNIST's files are not in {data}.")
    findings = Findings("horovod_overhead")
    pairs = bench.repeats(16)
    findings.notes.append(f"MNIST, {WORKERS} ranks of one thread, batches of {BATCH}, {HIDDEN} hidden units")
    with bench.scratch() as folder:
        job = _job(folder, _laid_out(data, folder), pairs + 1)
        used = run_child([*bandstand_command(), "--home", folder / "home", "train", job, "--json"])
        facts = json.loads(used.output)
        if facts["status"] != "Completed":
            raise NotHereError(str(facts["failure_reason"]))
        found = json.loads((folder / "result.json").read_text("utf-8"))
    reached = [point["value"] for point in facts["metrics"] if point["name"] == "validation:accuracy"][-1]
    other_reached = found["metrics"]["validation:accuracy"]
    findings.notes.append(f"validation accuracy at the end: {reached:.4f}, bare {other_reached:.4f}")
    names = ("bandstand", "bare Horovod")
    mine, other = (findings.side(name, "ms", [1000 * value for value in found[name]]) for name in names)
    ratio = findings.ratio(mine, other)
    findings.aim("overhead per epoch, median of the pairs", 100 * (median(ratio.values) - 1), 3.0, "%")
    return findings


def _laid_out(data: Path, folder: Path) -> Path:
    """MNIST's files by channel, as links."""
    for prefix, channel in (("train", "train"), ("t10k", "validation")):
        (folder / "data" / channel).mkdir(parents=True)
        for path in data.glob(f"{prefix}-*"):
            (folder / "data" / channel / path.name).symlink_to(path)
    return folder / "data"


def _job(folder: Path, channels: Path, epochs: int) -> Path:
    (folder / "code").mkdir()
    (folder / "code" / "epochs.py").write_text(
        "from benchmarks.programs.horovod_epochs import main\n\nmain()\n", encoding="utf-8"
    )
    path = folder / "job.toml"
    settings = {"epochs": epochs, "batch_size": BATCH, "hidden": str(HIDDEN), "learning_rate": RATE}
    lines = ['name = "bench"', 'output = "out"', 'program = "epochs.py"', 'code = "code"']
    lines += ["[hyperparameters]", *(f"{name} = {json.dumps(value)}" for name, value in settings.items())]
    lines.append("[channels]")
    lines += [f"{name} = {{ path = {json.dumps(str(channels / name))} }}" for name in ("train", "validation")]
    lines += ["[cluster]", f"hosts = {WORKERS}", "threads = 1", "[environment]"]
    lines += [f"PYTHONPATH = {json.dumps(str(ROOT))}"]
    lines += [f"BENCH_RESULT = {json.dumps(str(folder / 'result.json'))}"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
