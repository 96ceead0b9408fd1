"""What the README shows is what happens: its job file plans, its script trains, its links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bandstand.request import load

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def block(language: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert len(found) == 1, f"the README should have one {language} block"
    return str(found[0])


def test_the_job_file_of_the_readme_makes_a_plan(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(block("toml"), "utf-8")
    (tmp_path / "train.py").write_text("print('accuracy=0.5')\n", "utf-8")

    plan = load(tmp_path / "job.toml")

    assert plan.strategy == "Hyperband"
    assert plan.max_resource == 27
    assert [(r.name, r.low, r.high) for r in plan.definitions[0].ranges] == [("learning_rate", 1e-4, 1.0)]


def test_the_script_of_the_readme_trains_as_a_job_of_two_hosts(tmp_path: Path) -> None:
    given = (
        "from pathlib import Path\n"
        "def train_one_epoch():\n    return 0.5 + run.rank, 10 * (1 + run.rank)\n"
        "def load(path):\n    raise RuntimeError('nothing to resume from')\n"
        "def save(path):\n    Path(path).write_text(str(iteration))\n"
    )
    (tmp_path / "train.py").write_text(given + block("python"), "utf-8")
    (tmp_path / "job.toml").write_text(
        'name = "readme"\nprogram = "train.py"\noutput = "out"\n[hyperparameters]\nepochs = 3\n'
        "[cluster]\nhosts = 2\n",
        "utf-8",
    )

    done = subprocess.run(
        [sys.executable, "-m", "bandstand.cli", "--home", "home", "train", "job.toml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    lines = re.findall(r"iteration=(\d) validation:loss=(\S+)", done.stdout)
    assert lines == [(str(i), repr((0.5 * 10 + 1.5 * 20) / 30)) for i in (1, 2, 3)]
    assert (tmp_path / "out" / "readme" / "output" / "model.tar.gz").is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_to_files(page: Path) -> None:
    targets = [
        link for link in LINK.findall(page.read_text("utf-8")) if not link.startswith(("http", "mailto:"))
    ]

    missing = [link for link in targets if not (page.parent / link).exists()]

    assert missing == []


def heading_names(page: Path) -> set[str]:
    """What links call the headings of a page: small letters, hyphens for spaces, no other signs."""
    heads = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_a_part_of_a_page_lead_to_a_heading(page: Path) -> None:
    links = re.findall(r"\]\((?!http)([^)#\s]*)#([^)\s]+)\)", page.read_text("utf-8"))

    missing = [
        f"{path}#{part}"
        for path, part in links
        if part not in heading_names(page.parent / path if path else page)
    ]

    assert missing == []


def test_every_page_of_the_documentation_is_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        links = [link for link in LINK.findall(page.read_text("utf-8")) if not link.startswith("http")]
        waiting += [path for link in links if (path := (page.parent / link).resolve()).is_file()]

    assert set((ROOT / "docs").rglob("*.md")) - reached == set()


def test_the_make_targets_that_the_pages_name_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {
        name
        for page in [*PAGES, ROOT / "CONTRIBUTING.md"]
        for name in re.findall(r"(?:^ {4}|`)make ([a-z-]+)", page.read_text("utf-8"), re.MULTILINE)
    }

    assert named <= targets
