"""A program of a client of SageMaker's, run with its own Python against the local service.

The programs beside this file know nothing of Bandstand: all that leads them here is AWS_ENDPOINT_URL.
"""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import xgboost

SDKS = Path(os.environ.get("BANDSTAND_SDKS", Path.home() / ".cache" / "bandstand"))
PROGRAMS = Path(__file__).parent / "programs"
SECONDS = 300


class Program:
    """A program that runs.

    Args:
        python: The interpreter whose packages are the client's.
        script: The program's file name.
        words: Its arguments.
        url: Where the service is.
        place: The folder that it runs in; what the programs of one place leave there is shared.
    """

    def __init__(self, python: Path, script: str, *words: str, url: str, place: Path) -> None:
        inherited = {name: text for name, text in os.environ.items() if not name.startswith("AWS_")}
        self._name = " ".join([script, *words])
        self._log = place / f"{'-'.join([Path(script).stem, *words])}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [python, PROGRAMS / script, *words],
                cwd=place,
                env={
                    **inherited,
                    "HOME": str(place),
                    "AWS_ENDPOINT_URL": url,
                    "AWS_ACCESS_KEY_ID": "any",
                    "AWS_SECRET_ACCESS_KEY": "any",
                    "AWS_DEFAULT_REGION": "eu-west-1",
                    "AWS_EC2_METADATA_DISABLED": "true",
                    "PYTHONUNBUFFERED": "1",
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def output(self) -> str:
        """Wait for its end, which must be a good one; all that it printed."""
        code = self._process.wait(SECONDS)
        text = self._log.read_text()
        assert code == 0, f"{self._name} ended with {code}:\n{text}"
        return text

    @property
    def has_ended(self) -> bool:
        """Whether it is over, well or badly."""
        return self._process.poll() is not None

    def facts(self) -> dict[str, Any]:
        """Wait for its end; the last line that is a JSON object, after which an SDK may log more."""
        objects = [line for line in self.output().splitlines() if line.startswith("{")]
        assert objects, self.output()
        found: dict[str, Any] = json.loads(objects[-1])
        return found

    def end(self) -> None:
        """End it, if it still runs."""
        self._process.kill()
        self._process.wait()


def sdk(version: str) -> Path:
    """The Python that has one of the SDKs: "v2" or "v3"."""
    return SDKS / f"sdk-{version}" / "bin" / "python"


def write_rows(place: Path) -> None:
    """Write data/train and data/validation: label first, no header, as SageMaker's XGBoost takes it."""
    rows = [f"{number % 2},{number % 7},{number * 5 % 11},{number % 2 + number % 3}" for number in range(400)]
    for channel, part in (("train", rows[:300]), ("validation", rows[300:])):
        folder = place / "data" / channel
        folder.mkdir(parents=True)
        (folder / "part-0.csv").write_text("\n".join(part) + "\n")


def booster(folder: Path) -> xgboost.Booster:
    """The model in the archive that a program has fetched into a folder."""
    with tarfile.open(folder / "model.tar.gz") as archive:
        archive.extract("xgboost-model", folder, filter="data")
    return xgboost.Booster(model_file=folder / "xgboost-model")
