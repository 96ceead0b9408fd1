"""From a task to running containers: a network of the job's own, folders, and one container for each host."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bandstand.backends.container_host import ContainerHost
from bandstand.backends.container_layout import archive_mount, engine_mounts, open_to_all
from bandstand.backends.container_planning import as_inside
from bandstand.backends.container_task import ContainerTask
from bandstand.backends.engine import Engine, EngineError, find_engine
from bandstand.backends.engine_faults import cannot_lay_over, explained
from bandstand.backends.file_owner import give_back
from bandstand.backends.gpus import Gpus, list_gpus, lock_folder
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.layout import Layout
from bandstand.backends.leftovers import FOLDER, HOME, HOST, JOB, OWNER, Removal
from bandstand.backends.log_writer import LogWriter
from bandstand.backends.task import Task
from bandstand.errors import PlatformError
from bandstand.sagemaker_files import BASE

PORT = 7777
INTERFACE = "eth0"
NOTE = BASE / "output" / ".bandstand-peak"
"""Where process 1, if it is ours, leaves the greatest memory of any of its processes."""


class ContainerLaunch:
    """A job's containers on their way up.

    Args:
        task: The job.
        container: How its hosts are made containers.
        folder: The job's folder.
        environ: The supervisor's own variables, which say where the engine is.

    Raises:
        InputError: Data or code is missing.
        PlatformError: There is no engine.
        OSError: The machine has no room for the folders.
    """

    def __init__(
        self, task: Task, container: ContainerTask, folder: JobFolder, environ: Mapping[str, str]
    ) -> None:
        self._task = as_inside(task)
        self._container = container
        self._folder = folder
        self._engine: Engine = find_engine(environ)
        self._layout = Layout(self._task, folder, network_interface=INTERFACE)
        self._bases = [self._layout.write(index).base for index in range(len(task.hosts))]
        self._shown = [self._layout.mounts(index) for index in range(len(task.hosts))]
        token = os.urandom(4).hex()
        self._prefix = f"{task.name}-{token}"
        self._network = ""
        self._gpus: Gpus | None = None
        self._removal: Removal | None = None
        folder.logs.mkdir(exist_ok=True)
        self.hosts = tuple(
            ContainerHost(
                name,
                LogWriter(folder.log(name)),
                self._engine,
                note=base / NOTE.relative_to(BASE),
                memory=container.memory,
            )
            for name, base in zip(task.hosts, self._bases, strict=True)
        )

    def start(self) -> None:
        """Start every host; those that cannot be started say so."""
        try:
            if self._container.gpus:
                self._gpus = Gpus(len(self.hosts), self._container.gpus, list_gpus(), lock_folder())
            network = self._engine.send("POST", "/networks/create", self._network_request())
            try:
                self._make_containers(lay_over=True)  # which needs the network only when they start
            finally:
                self._network = network.answer()["Id"]
            try:
                self._run()
            except EngineError as error:
                if not cannot_lay_over(error):
                    raise
                self._start_anew()
            self._ask_where_they_are()
        except EngineError as error:
            self._refuse_all(explained(error, self._container.image))
        except (PlatformError, OSError) as error:
            self._refuse_all(str(error))

    def see_off(self) -> None:
        """Nothing: whatever a container has started ends with it."""

    def hand_over(self) -> str:
        """Make all files the caller's, while the engine removes the containers."""
        containers = tuple(host.container for host in self.hosts if host.container)
        try:
            self._removal = Removal(self._engine, containers)
            places = (self._folder.hosts, Path(self._task.checkpoints or self._folder.checkpoints))
            give_back(self._engine, self._container.image, places, self._labels(""))
        except (PlatformError, OSError) as error:
            return str(error)
        return ""

    def close(self) -> str:
        """Let the job's GPUs go; remove its network when all containers are gone."""
        if self._gpus is not None:
            self._gpus.close()
        containers = tuple(host.container for host in self.hosts if host.container)
        try:
            removal = self._removal or Removal(self._engine, containers)
            removal.finish((self._network,) if self._network else ())
        except PlatformError as error:
            return f"{error} Then: bandstand clean --all"
        return ""

    def _network_request(self) -> dict[str, Any]:
        """Return what the engine is asked for as the job's network (NetworkCreate of its API)."""
        return {
            "Name": self._prefix,
            "CheckDuplicate": True,
            "Internal": self._container.isolated,
            "Labels": self._labels(""),
        }

    def _make_containers(self, *, lay_over: bool) -> None:
        key = os.urandom(32).hex()
        sent = [
            self._engine.send(
                "POST",
                "/containers/create",
                self._request(index, key, lay_over=lay_over),
                name=f"{self._prefix}-{host.name}",
            )
            for index, host in enumerate(self.hosts)
        ]
        fault: EngineError | None = None
        for exchange, host in zip(sent, self.hosts, strict=True):
            try:
                host.container = exchange.answer()["Id"]
            except EngineError as error:
                fault = fault or error
        if fault is not None:
            raise fault

    def _run(self) -> None:
        """Start all at the same time, the leader a moment earlier, so that its name is known first."""
        for host in self.hosts:
            host.attach(stdin=self._container.is_ours)
        sent = [self._engine.send("POST", f"/containers/{host.container}/start") for host in self.hosts]
        fault: EngineError | None = None
        for exchange in sent:
            try:
                exchange.answer()
            except EngineError as error:
                fault = fault or error
        if fault is not None:
            raise fault

    def _start_anew(self) -> None:
        """Try again with code that is read-only, where it cannot be laid over."""
        containers = tuple(host.container for host in self.hosts)
        for host in self.hosts:
            host.detach()
        Removal(self._engine, containers).finish(())
        self._make_containers(lay_over=False)
        self._run()

    def _ask_where_they_are(self) -> None:
        sent = [self._engine.send("GET", f"/containers/{host.container}/json") for host in self.hosts]
        for exchange, host in zip(sent, self.hosts, strict=True):
            host.began(exchange.answer(), self._prefix)

    def _refuse_all(self, fault: str) -> None:
        for host in self.hosts:
            host.refuse(fault)

    def _request(self, index: int, key: str, *, lay_over: bool) -> dict[str, Any]:
        """Return what the engine is asked to create (ContainerCreate of its API)."""
        host, own, base = self.hosts[index].name, self._container, self._bases[index]
        mounts = engine_mounts(self._shown[index], base, lay_over=lay_over)
        mounts += archive_mount(own, base)
        open_to_all(self._folder, host)
        request: dict[str, Any] = {
            "Image": own.image,
            "Cmd": list(own.arguments),
            "Hostname": host,
            "Env": [f"{name}={value}" for name, value in self._environment(key).items()],
            "Labels": self._labels(host),
            "OpenStdin": own.is_ours,
            "StdinOnce": own.is_ours,
            "AttachStdout": True,
            "AttachStderr": True,
            "HostConfig": {
                "NetworkMode": self._prefix,
                "Mounts": mounts,
                "ShmSize": own.shared_memory,
                "LogConfig": {"Type": "none"},
                "SecurityOpt": ["label=disable"],
            },
            "NetworkingConfig": {"EndpointsConfig": {self._prefix: {"Aliases": [host]}}},
        }
        limits: dict[str, Any] = request["HostConfig"]
        if own.memory is not None:
            limits |= {"Memory": own.memory, "MemorySwap": own.memory}
        if own.cores is not None:
            limits["NanoCpus"] = round(own.cores * 1e9)
        if self._gpus is not None:
            ids = list(self._gpus.of_hosts[index])
            limits["DeviceRequests"] = [{"DeviceIDs": ids, "Capabilities": [["gpu"]]}]
        if own.entrypoint is not None:
            request["Entrypoint"] = list(own.entrypoint)
        if own.user:
            request["User"] = own.user
        return request

    def _environment(self, key: str) -> dict[str, str]:
        """The variables of every host; the leader is found by its name."""
        values = {"BANDSTAND_THREADS": str(self._task.threads)} | dict(self._task.environment)
        values.setdefault("BANDSTAND_PORT", str(PORT))
        values |= {
            "TRAINING_JOB_NAME": self._task.name,
            "TRAINING_JOB_ARN": self._task.arn,
            "BANDSTAND_KEY": key,
        }
        if self._container.is_ours:
            values |= {"BANDSTAND_LIFE_FD": "0", "BANDSTAND_PEAK_FILE": str(NOTE)}
        return values

    def _labels(self, host: str) -> dict[str, str]:
        labels = {
            JOB: self._task.name,
            FOLDER: str(self._folder.path),
            HOME: str(self._folder.path.parents[1]),
            OWNER: str(os.geteuid()),
        }
        return labels | {HOST: host} if host else labels
