"""Pin what the image installs: `python docker/lock.py` writes docker/lock/ACCELERATOR/EXTRA.txt.

Each file holds an extra's packages with everything that they need, and the hash of the one file of each that
may be installed. All files of an accelerator are resolved together, so that any of them fit one another.
Only the standard library and pip are used.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON = "3.11"
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in range(28, 4, -1)] + ["manylinux2014_x86_64"]
"""Every one that a base with glibc 2.28 or newer takes: of a named platform, pip tries only exactly that."""
TORCH = "torch==2.13.0"
NVCC = tuple(
    f"{name}==13.0.*" for name in ("nvidia-cuda-nvcc", "nvidia-cuda-crt", "nvidia-cuda-cccl", "nvidia-nvvm")
)
"""CUDA's compiler, of the version that torch is built for; it is in no image."""
TOOLKIT = (
    *("numpy", "scipy>=1.2.2", "boto3>=1.28.57", "six", "retrying>=1.3.3", "gevent", "werkzeug>=0.15.5"),
    *("paramiko>=2.4.2", "psutil>=5.6.7", "protobuf>=5.28.1", "setuptools"),
)
"""What sagemaker-training 5.1.4 requires; the two packages that have no wheel are pinned in wheels.py."""


def main(words: Sequence[str] | None = None) -> int:
    """Write the files of one accelerator, or of both."""
    parser = argparse.ArgumentParser(description="Pin what the image installs, in docker/lock.")
    parser.add_argument("accelerators", nargs="*", default=["cpu", "cuda"], metavar="cpu|cuda")
    chosen = parser.parse_args(words)
    for accelerator in chosen.accelerators:
        wanted = extras(accelerator)
        everything = resolve([name for names in wanted.values() for name in names], accelerator)
        pins = [f"{name}=={version}" for name, version, _ in everything]
        folder = HERE / "lock" / accelerator
        folder.mkdir(parents=True, exist_ok=True)
        for extra, names in wanted.items():
            lines = [
                f"{name}=={version} --hash=sha256:{digest}"
                for name, version, digest in resolve(names, accelerator, pins)
            ]
            text = "\n".join([f"# Written by `python docker/lock.py` for: {', '.join(names)}", *lines, ""])
            (folder / f"{extra}.txt").write_text(text)
            print(f"{accelerator}/{extra}.txt: {len(lines)} packages", flush=True)
    return 0


def extras(accelerator: str) -> Mapping[str, Sequence[str]]:
    """The packages that each extra names."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())
    optional = project["project"]["optional-dependencies"]
    xgboost = optional["xgboost"]
    if accelerator == "cuda":
        xgboost = [name.replace("xgboost-cpu", "xgboost") for name in xgboost]
    return {
        "build": ["pip", *project["build-system"]["requires"]],
        "xgboost": xgboost,
        "parquet": optional["parquet"],
        "horovod": [
            TORCH,
            *(optional["xgboost"][1:2]),
            "cloudpickle",
            "psutil",
            "pyyaml",
            "packaging",
            "cffi",
        ],
        "toolkit": TOOLKIT,
        **({"nvcc": NVCC} if accelerator == "cuda" else {}),
    }


def resolve(names: Sequence[str], accelerator: str, pins: Sequence[str] = ()) -> list[tuple[str, str, str]]:
    """Ask pip what it would install: name, version and SHA-256 of every file, sorted by name."""
    environ = dict(os.environ)
    if accelerator == "cuda":  # a folder or second index of CPU files would win over the index's own
        environ |= {"PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": "", "PIP_CONFIG_FILE": os.devnull}
    with tempfile.TemporaryDirectory() as work:
        constraints = Path(work, "pins.txt")
        constraints.write_text("\n".join(pins))
        report = Path(work, "report.json")
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"),
                *("--only-binary", ":all:", "--python-version", PYTHON),
                *(word for platform in PLATFORMS for word in ("--platform", platform)),
                *("--target", work, "--report", str(report), "-c", str(constraints), *names),
            ],
            check=True,
            env=environ,
        )
        installs = json.loads(report.read_text())["install"]
    return sorted(
        (
            item["metadata"]["name"].lower(),
            item["metadata"]["version"],
            item["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for item in installs
    )


if __name__ == "__main__":
    sys.exit(main())
