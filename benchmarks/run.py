"""Run benchmarks: python -m benchmarks.run [NAME ...] [--scale 10] [--repeat N]."""

from __future__ import annotations

import argparse
import compileall
import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bandstand
import bandstand_container
from benchmarks.bench import Bench, NotHereError, cache_folder, data_folder
from benchmarks.findings import Findings

NAMES = (
    "start_up",
    "trivial_jobs",
    "stop_latency",
    "round_overhead",
    "training_time",
    "memory_and_bytes",
    "hyperband_quality",
    "hyperband_curves",
    "service_load",
)


def main(words: Sequence[str] | None = None) -> int:
    """Run what is asked for; 0 if every benchmark ran, whether or not it met its aims, else 1."""
    options = _parser().parse_args(words)
    for package in (bandstand, bandstand_container):  # as an installation does, so that no side pays for it
        compileall.compile_dir(Path(package.__file__).parent, quiet=2)
    failed = []
    documents = []
    for place, name in enumerate(options.names or NAMES, 1):
        print(f"{name} ({place} of {len(options.names or NAMES)}), load {_load()}", flush=True)
        start = time.monotonic()
        bench = Bench(
            options.scale,
            options.repeat,
            options.data,
            options.cache,
            not options.no_peers,
            _teller(start),
            tuple(options.side),
        )
        try:
            findings: Findings = importlib.import_module(f"benchmarks.{name}").measure(bench)
        except NotHereError as error:
            failed.append(name)
            print(f"  could not run: {error}", flush=True)
            continue
        print("\n".join(findings.lines()), flush=True)
        documents.append({**findings.document(), "load_before": _load(), "seconds": time.monotonic() - start})
    if documents:
        path = _write(options, documents)
        print(f"results: {path}")
    if failed:
        print(f"not run: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.run", description="Bandstand beside its peers and beside bare XGBoost."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all by default")
    parser.add_argument("--scale", type=float, default=1.0, help="times the usual work (default: 1)")
    parser.add_argument("--repeat", type=int, help="how often each side is measured")
    parser.add_argument(
        "--data", type=Path, default=data_folder(), help="folder with bank-marketing and flights-3m"
    )
    parser.add_argument("--cache", type=Path, default=cache_folder(), help="peers, prepared data, curves")
    parser.add_argument("--results", type=Path, help="folder of the result (default: results in the cache)")
    parser.add_argument(
        "--side",
        action="append",
        default=[],
        metavar="TEXT",
        help="only sides or curves with this text in their names; of some benchmarks, repeatable",
    )
    parser.add_argument("--no-peers", action="store_true", help="install and measure no peers")
    return parser


def _teller(start: float) -> Any:
    def tell(text: str) -> None:
        print(f"  {time.monotonic() - start:6.1f} s  {text}", file=sys.stderr, flush=True)

    return tell


def _load() -> str:
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def _write(options: argparse.Namespace, documents: list[dict[str, Any]]) -> Path:
    folder: Path = options.results or options.cache / "results"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.json"
    facts = {
        "bandstand": bandstand.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "scale": options.scale,
        "benchmarks": documents,
    }
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    sys.exit(main())
