"""Drills: the service is killed hard at random moments while clients create jobs, and started again.

Run it with `python -m benchmarks.service_drills --kills 100`. In each drill boto3 creates training jobs and a
tuning job; the service is killed with SIGKILL, alone, with the supervisors of its jobs, or with every process
there is, and started again, to be killed again; some jobs lose their hosts just before, as spot jobs do. At
the end every create that was acknowledged has to have run to its end, once, with each of its points in the
record once; and no process may be left.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from bandstand import metric_definitions
from bandstand.backends.requests import Interruption
from bandstand.errors import InputError
from bandstand.runs.interrupting import interrupt
from bandstand.runs.ledger import history
from bandstand.runs.ownership import owners
from bandstand.runs.reconcile import reconcile
from bandstand.runs.record import Record
from bandstand.runs.stored import training_jobs, tuning_jobs
from bandstand.study import StudySpec, replay
from benchmarks.bench import ROOT
from benchmarks.children import bandstand_command
from benchmarks.drills import (
    MARK,
    PATIENCE_SECONDS,
    REACHES,
    BrokenError,
    check_points,
    kill,
    marked,
)

JOBS_OF_A_LIFE = 3
"""Most training jobs that are created between two kills."""

INTERRUPTED = 0.5
"""Share of the kills before which a job is interrupted, if one runs."""


@dataclass
class ServiceDrill:
    """One home whose service is killed and started again.

    Args:
        folder: Where all of it lies.
        choose: Chooses moments and victims.
        kills: How often it has been killed, by reach.
        acknowledged: The jobs whose create was answered.
        interruptions: How often hosts were taken away, as spot instances are.
    """

    folder: Path
    choose: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    acknowledged: list[str] = field(default_factory=list)
    interruptions: int = 0
    _created: int = 0

    @property
    def home(self) -> Path:
        """The home of the service."""
        return self.folder / "home"

    def run(self, most: int) -> None:
        """Kill the service some times, then let it finish, and check what there is.

        Args:
            most: How many kills.

        Raises:
            BrokenError: Something was lost, is double or is left.
        """
        for _ in range(most):
            service, url = self._start()
            clients = threading.Thread(target=self._create, args=(url,))
            clients.start()
            time.sleep(self.choose.random() * self.choose.choice((0.5, 2.0, 6.0)))
            if self.choose.random() < INTERRUPTED and self._interrupt():
                time.sleep(self.choose.random() * self.choose.choice((0.0, 0.5, 3.0)))
            self._kill(service)
            clients.join()
            if self.choose.random() < 0.3:
                self._look_on(until_lost=self.choose.random() < 0.3)
        service, url = self._start()
        try:
            self._finish(_client(url))
        finally:
            service.terminate()
            service.communicate(timeout=PATIENCE_SECONDS)
        with Record.open(self.home) as record:
            self._check(record)

    def _start(self) -> tuple[subprocess.Popen[str], str]:
        with (self.folder / "service.log").open("ab") as log:
            service = subprocess.Popen(
                [*bandstand_command(), "local", "--home", str(self.home), "--allow", "/"],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        line = service.stdout.readline() if service.stdout is not None else ""
        if not line.startswith("listening on "):
            raise BrokenError(f"the service does not start: {(self.folder / 'service.log').read_text()}")
        return service, line.removeprefix("listening on ").strip()

    def _create(self, url: str) -> None:
        """Create jobs until there are enough for this life, or the service is gone."""
        client = _client(url)
        try:
            for _ in range(JOBS_OF_A_LIFE):
                self._created += 1
                name = f"job-{self._created}"
                if self._created % 6 == 1:
                    client.create_hyper_parameter_tuning_job(**self._tuning(name))
                else:
                    client.create_training_job(**self._training(name))
                self.acknowledged.append(name)
        except (BotoCoreError, ClientError) as error:
            if isinstance(error, ClientError):
                raise

    def _interrupt(self) -> bool:
        """Take the hosts of a job away, as spot instances are, perhaps for a while; whether there was one."""
        wish = Interruption(self.choose.choice((0.0, 5.0)), away=self.choose.choice((0.0, 1.0, 4.0)))
        with Record.open(self.home) as record:
            for name in reversed(self.acknowledged):
                try:
                    interrupt(record, name, wish)
                except InputError:
                    continue  # it has not begun yet, or is over
                self.interruptions += 1
                return True
        return False

    def _kill(self, service: subprocess.Popen[str]) -> None:
        reach = self.choose.choice(REACHES)
        self.kills[reach] += 1
        kill(self.folder, service, reach)

    def _look_on(self, *, until_lost: bool) -> None:
        """Look at the jobs while no service runs; perhaps until the leases of all have run out."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        with Record.open(self.home) as record:
            reconcile(record)
            while until_lost and owners(record):
                if time.monotonic() > deadline:
                    raise BrokenError("the leases never end")
                time.sleep(0.2)
                reconcile(record)

    def _finish(self, client: Any) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (
            client.list_training_jobs(StatusEquals="InProgress")["TrainingJobSummaries"]
            or (
                client.list_hyper_parameter_tuning_jobs(StatusEquals="InProgress")[
                    "HyperParameterTuningJobSummaries"
                ]
            )
        ):
            if time.monotonic() > deadline:
                raise BrokenError("the jobs do not end")
            time.sleep(0.2)

    def _check(self, record: Record) -> None:
        rows = record.read("SELECT name FROM training_jobs UNION SELECT name FROM tuning_jobs")
        known = {row["name"] for row in rows}
        lost = [name for name in self.acknowledged if name not in known]
        if lost:
            raise BrokenError(f"these creates were acknowledged and are gone: {lost}")
        for row in training_jobs(record):
            if row.status != "Completed" and row.tuning_job is None:
                raise BrokenError(f"{row.name} ended as {row.status}: {row.failure_reason}")
            check_points(record, row)
        for job in tuning_jobs(record):
            if job.status != "Completed":
                raise BrokenError(f"{job.name} ended as {job.status}: {job.failure_reason}")
            again = replay(StudySpec.from_plan(job.plan, job.seed), history(record, job.name))
            if again.differences:
                raise BrokenError(f"the decisions do not follow from the record: {again.differences}")
            number = len(training_jobs(record, "tuning_job = ?", (job.name,)))
            if number != job.plan.jobs:
                raise BrokenError(f"{job.name} has {number} of {job.plan.jobs} training jobs")
        left = marked(self.folder.name)
        if left:
            raise BrokenError(f"processes are left: {left}")

    def _training(self, name: str) -> dict[str, Any]:
        return {"TrainingJobName": name, "HyperParameters": _settings(rate="0.5"), **self._body()}

    def _tuning(self, name: str) -> dict[str, Any]:
        return {
            "HyperParameterTuningJobName": name,
            "HyperParameterTuningJobConfig": {
                "Strategy": "Hyperband",
                "StrategyConfig": {"HyperbandStrategyConfig": {"MinResource": 1, "MaxResource": 9}},
                "HyperParameterTuningJobObjective": {"Type": "Maximize", "MetricName": "score"},
                "ResourceLimits": {"MaxNumberOfTrainingJobs": 4, "MaxParallelTrainingJobs": 2},
                "ParameterRanges": {
                    "ContinuousParameterRanges": [{"Name": "rate", "MinValue": "0.1", "MaxValue": "1.0"}]
                },
            },
            "TrainingJobDefinition": {"StaticHyperParameters": _settings(), **self._body()},
        }

    def _body(self) -> dict[str, Any]:
        return {
            "RoleArn": "arn:aws:iam::111122223333:role/Training",
            "AlgorithmSpecification": {
                "TrainingImage": "drilled:1",
                "TrainingInputMode": "File",
                "MetricDefinitions": metric_definitions(["score", "loss"]),
            },
            "OutputDataConfig": {"S3OutputPath": (self.folder / "out").as_uri()},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
            "StoppingCondition": {"MaxRuntimeInSeconds": 3600, "MaxWaitTimeInSeconds": 3600},
            "EnableManagedSpotTraining": True,
            "Environment": {MARK: self.folder.name},
        }


def _settings(**more: str) -> dict[str, str]:
    code = (ROOT / "benchmarks" / "programs").as_uri()
    return {
        "sagemaker_program": "drilled.py",
        "sagemaker_submit_directory": code,
        "epochs": "12",
        **more,
    }


def _client(url: str) -> Any:
    return boto3.client(
        "sagemaker",
        endpoint_url=url,
        region_name="eu-west-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",  # noqa: S106 - any will do
        config=Config(retries={"total_max_attempts": 1}),
    )


def main(arguments: list[str] | None = None) -> int:
    """Run drills until enough was killed; print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service_drills", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="how many kills in all")
    parser.add_argument("--seed", type=int, default=0, help="chooses moments and victims")
    chosen = parser.parse_args(arguments)
    kills, jobs, interruptions, number = 0, 0, 0, 0
    begun = time.monotonic()
    while kills < chosen.kills:
        number += 1
        folder = Path(tempfile.mkdtemp(prefix=f"bandstand-served-{number}-"))
        drill = ServiceDrill(folder, random.Random(chosen.seed * 10_000 + number))
        try:
            drill.run(min(12, chosen.kills - kills))
        except (BrokenError, subprocess.TimeoutExpired, ClientError) as error:
            print(f"drill {number}: BROKEN after {dict(drill.kills)}: {error}\nAll of it is in {folder}")
            return 1
        shutil.rmtree(folder)
        kills, jobs = kills + sum(drill.kills.values()), jobs + len(drill.acknowledged)
        interruptions += drill.interruptions
        done = f"{kills} of {chosen.kills} kills, {time.monotonic() - begun:.0f} s"
        print(f"drill {number}: {len(drill.acknowledged)} acknowledged jobs whole ({done})", flush=True)
    what = f"{kills} kills, {interruptions} interruptions, {jobs} acknowledged jobs"
    print(f"{what}: nothing lost, nothing twice, nothing left running")
    return 0


if __name__ == "__main__":
    sys.exit(main())
