"""The file that says where a job of SageMaker's runs, in a folder of its own below the home."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bandstand.atomic_files import write_atomically

if TYPE_CHECKING:
    from bandstand.backends.sagemaker.region import Region


FILE = "service.json"


@dataclass(frozen=True)
class Served:
    """A job that runs on SageMaker.

    Args:
        name: Its name.
        kind: `training` or `tuning`.
        region: The region.
        endpoint: What stood in for AWS when it was handed in, or None.
        hosts: How many hosts each training job has; of a tuning job's definitions the most.
        submitted: When it was handed in for the first time, in epoch seconds; None for a job that somebody
            else has begun.
        arn: Its ARN; None until SageMaker has acknowledged it.
        fetch: The folder of this machine that models are fetched into, or None.
        tuning_job: The tuning job that it is a training job of, or None.
        hosts_by_definition: Hosts of each training job, by the name of a tuning job's definition.
    """

    name: str
    kind: Literal["training", "tuning"]
    region: str
    endpoint: str | None = None
    hosts: int = 1
    submitted: float | None = None
    arn: str | None = None
    fetch: str | None = None
    tuning_job: str | None = None
    hosts_by_definition: Mapping[str, int] = field(default_factory=dict)

    def trial(self, name: str, definition: str | None) -> Served:
        """Where a training job of this tuning job runs.

        Args:
            name: The training job.
            definition: The name of its definition, or None where it has none.
        """
        hosts = self.hosts_by_definition.get(definition or "", self.hosts)
        return Served(name, "training", self.region, self.endpoint, hosts, tuning_job=self.name)

    def there(self) -> Region:
        """The region that it runs in."""
        from bandstand.backends.sagemaker.region import region_of  # boto3 takes its time

        return region_of(self.region, self.endpoint)


def write_served(folder: Path, served: Served) -> None:
    """Write where a job runs into its folder, which is made; only this user may look into it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(folder / FILE, json.dumps(asdict(served), indent=2) + "\n")


def read_served(folder: Path) -> Served | None:
    """Read where a job runs; None where the folder has no job of SageMaker's."""
    try:
        return Served(**json.loads((folder / FILE).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
