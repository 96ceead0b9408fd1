"""What more hosts do to a model: one host, n hosts with nothing else changed, n hosts tuned; one picture.

    measure.py [--hosts 4] [--jobs 8] [--into FOLDER]

For both algorithms, each with the data of its example, which has to be prepared before. With Horovod each
host adds its own batch, as data-parallel scripts do: n hosts make a step of n times the rows. XGBoost has no
batches: n hosts split the rows and grow the same trees. Writes convergence.json and convergence.svg.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Story:
    """One algorithm.

    Args:
        name: For people.
        data: Its example's folder.
        kind: Content type of its channels, None for idx files.
        metric: What is better when it is greater.
        settings: Hyperparameters that nobody has tuned.
        ranges: What the tuning job tries, as lines of a job file.
    """

    name: str
    data: Path
    kind: str | None
    metric: str
    settings: Mapping[str, object]
    ranges: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """What came of one way to train.

    Args:
        algorithm: Its name for people.
        case: Which way.
        quality: The metric at the end.
        seconds: From start to end of the model's own training job.
        instance_seconds: Of all training jobs, those of the tuning included: what would be paid for.
        settings: The hyperparameters that it was trained with.
    """

    algorithm: str
    case: str
    quality: float
    seconds: float
    instance_seconds: float
    settings: Mapping[str, str]


STORIES = (
    Story(
        "Horovod",
        EXAMPLES / "digits",
        None,
        "validation:accuracy",
        {"algorithm": "horovod", "epochs": 6, "per_rank_batch_size": 128, "learning_rate": 0.1, "seed": 7},
        (
            'learning_rate = { continuous = [0.05, 2.0], scale = "log" }',
            "momentum = { continuous = [0, 0.95] }",
        ),
    ),
    Story(
        "XGBoost",
        EXAMPLES / "direct_marketing",
        "csv",
        "validation:auc",
        {
            "algorithm": "xgboost",
            "num_round": 30,
            "objective": "binary:logistic",
            "eval_metric": "auc",
            "seed": 7,
        },
        (
            'eta = { continuous = [0.02, 0.5], scale = "log" }',
            "max_depth = { integer = [2, 8] }",
            "min_child_weight = { continuous = [1, 20] }",
        ),
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=8, help="of the tuning job")
    parser.add_argument("--into", type=Path, default=Path(__file__).parent / "out")
    parser.add_argument("--draw", action="store_true", help="only draw what convergence.json holds")
    chosen = parser.parse_args()
    found = chosen.into / "convergence.json"
    if not chosen.draw:
        missing = [str(story.data / "data") for story in STORIES if not (story.data / "data").is_dir()]
        if missing:
            print(f"not there: {', '.join(missing)}. Run prepare.py of each example first.", file=sys.stderr)
            return 2
        chosen.into.mkdir(parents=True, exist_ok=True)
        cases = [case for story in STORIES for case in tell(story, chosen.hosts, chosen.jobs, chosen.into)]
        document = {"hosts": chosen.hosts, "cases": [asdict(case) for case in cases]}
        found.write_text(json.dumps(document, indent=1) + "\n")
    document = json.loads(found.read_text())
    draw([Case(**case) for case in document["cases"]], chosen.into / "convergence.svg")
    return 0


def tell(story: Story, hosts: int, jobs: int, folder: Path) -> list[Case]:
    """Train one algorithm in the three ways."""
    cases = []
    for case, count in (("1 host", 1), (f"{hosts} hosts, untouched", hosts)):
        job = write(story, count, folder / "job.toml")
        facts = bandstand("train", job, folder)
        used = facts["billable_seconds"]
        cases.append(
            Case(story.name, case, last(facts, story.metric), used, used * count, dict_of(story.settings))
        )
        print(cases[-1], flush=True)
    tuning = ["[tuning]", f'metric = "{story.metric}"', 'goal = "maximize"', 'strategy = "hyperband"']
    tuning += [
        "min_resource = 1",
        f"max_resource = {rounds(story)}",
        f"jobs = {jobs}",
        "parallel = 1",
        "seed = 7",
    ]
    job = write(
        story, hosts, folder / "job.toml", [*tuning, 'early_stopping = "off"', "[ranges]", *story.ranges]
    )
    facts = bandstand("tune", job, folder)
    best = next(each for each in facts["training_jobs"] if each["name"] == facts["best"]["name"])
    paid = sum(each["instance_seconds"] or 0 for each in facts["training_jobs"])
    quality = best["final_objective"]
    case = Case(
        story.name, f"{hosts} hosts, tuned", quality, best["billable_seconds"], paid, best["hyperparameters"]
    )
    print(case, flush=True)
    return [*cases, case]


def rounds(story: Story) -> Any:
    return story.settings.get("epochs") or story.settings["num_round"]


def write(story: Story, hosts: int, path: Path, tuning: list[str] | None = None) -> Path:
    """Write a job file; what is tuned is not set."""
    tuned = {line.split(" ")[0] for line in story.ranges} if tuning else set()
    lines = ['name = "convergence"', 'output = "out"', "[hyperparameters]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in story.settings.items() if name not in tuned]
    lines.append("[channels]")
    kind = f', type = "{story.kind}"' if story.kind else ""
    for channel in ("train", "validation"):
        lines.append(f"{channel} = {{ path = {json.dumps(str(story.data / 'data' / channel))}{kind} }}")
    lines += ["[cluster]", f"hosts = {hosts}", "threads = 1", *(tuning or [])]
    path.write_text("\n".join(lines) + "\n")
    return path


def bandstand(verb: str, job: Path, folder: Path) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "bandstand.cli",
        "--home",
        str(folder / "home"),
        verb,
        str(job),
        "--json",
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"bandstand {verb} ended with {done.returncode}")
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def last(facts: Mapping[str, Any], metric: str) -> float:
    return float([point["value"] for point in facts["metrics"] if point["name"] == metric][-1])


def dict_of(settings: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in settings.items()}


def draw(cases: list[Case], path: Path) -> None:
    """Draw quality, time and instance-seconds of every case, one row for each algorithm."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "bandstand"
    from matplotlib import pyplot

    names = list(dict.fromkeys(case.algorithm for case in cases))
    figure, axes = pyplot.subplots(len(names), 3, figsize=(10, 2.4 * len(names)), squeeze=False)
    for row, name in zip(axes, names, strict=True):
        mine = [case for case in cases if case.algorithm == name]
        columns = (
            ("validation metric", [case.quality for case in mine], "{:.4f}"),
            ("seconds of the training job", [case.seconds for case in mine], "{:.0f}"),
            ("instance-seconds, tuning included", [case.instance_seconds for case in mine], "{:.0f}"),
        )
        for axis, (title, values, form) in zip(row, columns, strict=True):
            bars = axis.barh([case.case for case in mine], values, color=["#9aa5b1", "#d98c5f", "#3d7ea6"])
            axis.bar_label(bars, [form.format(value) for value in values], padding=3, fontsize=8)
            axis.invert_yaxis()
            axis.set_title(f"{name}: {title}", fontsize=9)
            axis.tick_params(labelsize=8)
            axis.spines[["top", "right"]].set_visible(False)
            if title.startswith("validation"):
                low, high = min(values), max(values)
                axis.set_xlim(low - 1.5 * (high - low or 0.01), high + 0.6 * (high - low or 0.01))
            else:
                axis.set_xlim(0, 1.25 * max(values))
    for axis in axes[:, 1:].flat:
        axis.set_yticklabels([])
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    print(path)


if __name__ == "__main__":
    sys.exit(main())
