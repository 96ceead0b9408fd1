"""From a task to running containers: a network of the job's own, folders, and one container for each host."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bandstand import host_variables
from bandstand.backends.container_host import ContainerHost
from bandstand.backends.container_layout import archive_mount, engine_mounts, open_to_all
from bandstand.backends.container_network import Network, labels
from bandstand.backends.container_planning import as_inside
from bandstand.backends.container_task import ContainerTask
from bandstand.backends.engine import Engine, EngineError
from bandstand.backends.engine_address import find_engine
from bandstand.backends.engine_faults import cannot_lay_over, explained
from bandstand.backends.environment import JOB_ARN, SERVICE
from bandstand.backends.file_owner import give_back
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.layout import Layout
from bandstand.backends.leftovers import Removal
from bandstand.backends.log_writer import LogWriter
from bandstand.backends.task import Task
from bandstand.errors import PlatformError
from bandstand.sagemaker_files import BASE

if TYPE_CHECKING:
    from bandstand.backends.gpus import Gpus
    from bandstand.backends.relay import Relay

PORT = 7777
INTERFACE = "eth0"
HOST = "bandstand.host"
CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_AFTERWARDS = "Then: bandstand clean --all"
NOTE = BASE / "output" / ".bandstand-peak"
"""Where process 1, if it is ours, leaves the greatest memory of any of its processes."""


class ContainerLaunch:
    """A job's containers on their way up.

    Args:
        task: The job.
        container: How its hosts are made containers.
        folder: The job's folder.
        environ: The supervisor's own variables, which say where the engine is.
        network: The job's network, if it was asked for already.

    Raises:
        InputError: Data or code is missing.
        PlatformError: There is no engine.
        OSError: The machine has no room for the folders.
    """

    def __init__(
        self,
        task: Task,
        container: ContainerTask,
        folder: JobFolder,
        environ: Mapping[str, str],
        network: Network | None = None,
    ) -> None:
        self._task = as_inside(task)
        self._container = container
        self._folder = folder
        self._arn = environ.get(JOB_ARN, task.arn)
        self._service = "" if container.isolated else environ.get(SERVICE, "")
        self._credentials = {name: environ[name] for name in CREDENTIALS if name in environ}
        self._relay: Relay | None = None
        self._engine: Engine = find_engine(environ)
        self._layout = Layout(self._task, folder, network_interface=INTERFACE)
        self._bases = [self._layout.write(index).base for index in range(len(task.hosts))]
        self._shown = [self._layout.mounts(index) for index in range(len(task.hosts))]
        self._network = network
        self._networks: tuple[str, ...] = ()
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
                from bandstand.backends.gpus import Gpus, list_gpus, lock_folder  # costs 10 ms

                self._gpus = Gpus(len(self.hosts), self._container.gpus, list_gpus(), lock_folder())
            isolated = self._container.isolated
            network = self._network or Network(self._engine, self._task.name, self._folder, isolated=isolated)
            self._prefix = network.name
            try:
                if not self._service:  # whose containers need the network only when they start
                    self._make_containers(lay_over=True)
            finally:
                self._networks = (network.take(),)
            if self._service:
                self._open_relay()
                self._make_containers(lay_over=True)
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
        """Make all files the caller's, while the engine removes the containers and their network."""
        containers = tuple(host.container for host in self.hosts if host.container)
        try:
            self._removal = Removal(self._engine, containers, self._networks)
            places = (self._folder.hosts, Path(self._task.checkpoints or self._folder.checkpoints))
            give_back(self._engine, self._container.image, places, labels(self._task.name, self._folder))
        except (PlatformError, OSError) as error:
            return str(error)
        return ""

    def close(self) -> str:
        """Let the job's GPUs and its way to the service go; wait until its containers are gone."""
        if self._gpus is not None:
            self._gpus.close()
        if self._relay is not None:
            self._relay.close()
        containers = tuple(host.container for host in self.hosts if host.container)
        try:
            self._removal = self._removal or Removal(self._engine, containers, self._networks)
            self._removal.see_containers_off()
        except PlatformError as error:
            return f"{error} {_AFTERWARDS}"
        return ""

    def leave(self) -> str:
        """Wait until the job's network is gone."""
        try:
            if self._removal is not None:
                self._removal.see_networks_off()
        except (PlatformError, OSError) as error:
            return f"{error} {_AFTERWARDS}"
        return ""

    def _open_relay(self) -> None:
        """Give the containers a way to the service, and nobody else."""
        from bandstand.backends.relay import Neighbourhood, Relay  # costs 50 ms

        network = self._engine.ask("GET", f"/networks/{self._networks[0]}")
        try:
            self._relay = Relay(Neighbourhood.of(network), self._service, self._task.name)
        except OSError as error:
            text = (
                f"bandstand: hosts cannot reach the service ({error}): the engine's networks are not on this"
                " machine. They get no AWS_ENDPOINT_URL and no credentials."
            )
            self.hosts[0].log.note(time.time(), [text])

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
        Removal(self._engine, containers).see_containers_off()
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
            "Labels": {**labels(self._task.name, self._folder), HOST: host},
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
        values = {host_variables.THREADS.name: str(self._task.threads)}
        if self._relay is not None:
            values |= self._credentials | {"AWS_ENDPOINT_URL": self._relay.url}
        values |= dict(self._task.environment)
        values.setdefault(host_variables.PORT.name, str(PORT))
        values |= {
            "TRAINING_JOB_NAME": self._task.name,
            "TRAINING_JOB_ARN": self._arn,
            host_variables.KEY.name: key,
        }
        if self._container.is_ours:
            values |= {host_variables.LIFE_FD.name: "0", host_variables.PEAK_FILE.name: str(NOTE)}
        return values
