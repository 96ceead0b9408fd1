"""From a task to running hosts: name spaces, addresses, folders, and one fork for each host."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from bandstand import host_variables
from bandstand.backends.addresses import PORT, Addresses, reserve
from bandstand.backends.descendants import kill_descendants
from bandstand.backends.enclosure import Enclosure, find_enclosure
from bandstand.backends.environment import host_environment
from bandstand.backends.host import Host
from bandstand.backends.host_process import HostSpec
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.layout import HOSTS_FILE, Layout
from bandstand.backends.log_writer import LogWriter
from bandstand.backends.mounts import Bind, Mount
from bandstand.backends.task import Task
from bandstand.sagemaker_files import BASE

_LOOKS = 400
_LOOK_SECONDS = 0.005


class Launch:
    """A job's hosts on their way up.

    Args:
        task: The job.
        folder: The job's folder.
        environ: The user's shell.

    Raises:
        InputError: Data or code is missing.
        OSError: The machine has no room, no address or no right for it.
    """

    def __init__(self, task: Task, folder: JobFolder, environ: Mapping[str, str]) -> None:
        self._task = task
        self._folder = folder
        self._environ = environ
        self._layout = Layout(task, folder)
        self._bases = [str(self._layout.write(index).base) for index in range(len(task.hosts))]
        self.enclosure: Enclosure = find_enclosure(
            environ, (Bind(self._bases[0], str(BASE)), Bind(HOSTS_FILE, HOSTS_FILE))
        )
        wanted = dict(task.environment).get(host_variables.PORT.name, "")
        self._addresses: Addresses = reserve(len(task.hosts), int(wanted) if wanted.isdecimal() else PORT)
        folder.logs.mkdir(exist_ok=True)
        self.hosts = tuple(
            Host(name, address, LogWriter(folder.log(name)), folder.process(name))
            for name, address in zip(task.hosts, self._addresses.hosts, strict=True)
        )

    def start(self) -> None:
        """Start every host; those that cannot be started say so."""
        self._say_what_is_missing()
        addresses = {host.name: host.address for host in self.hosts}
        key = os.urandom(32).hex()
        for index, host in enumerate(self.hosts):
            try:
                host.start(self._spec(index, addresses, key), self.enclosure)
            except OSError as error:
                for rest in self.hosts[index:]:
                    rest.refuse(str(error))
                break
        # The leader has it now; were it open here too, nobody would notice that the leader is gone.
        self._addresses.listener.close()

    def _spec(self, index: int, addresses: Mapping[str, str], key: str) -> HostSpec:
        own_files = self.enclosure.files
        mounts: tuple[Mount, ...] = ()
        if own_files:
            mounts = (*self._layout.mounts(index), self._layout.hosts_file(index, addresses))
        else:
            self._layout.link(index)
        listener = self._addresses.listener.fileno() if index == 0 else None
        environment = host_environment(
            self._task,
            self._environ,
            addresses=addresses,
            port=self._addresses.port,
            key=key,
            base=None if own_files else self._bases[index],
            listener=listener,
        )
        folder = str(BASE) if own_files else self._bases[index]
        return HostSpec(self._task.hosts[index], self._task.command, environment, folder, mounts, listener)

    def see_off(self) -> None:
        """Kill what a host that has ended left behind, where no PID name space has taken it along."""
        if not self.enclosure.processes:
            known = {process for each in self.hosts for process in each.processes}
            # What a killed keeper could not take along; a process is gone a moment after its signal.
            for _ in range(_LOOKS):
                if not kill_descendants(os.getpid(), known):
                    break
                time.sleep(_LOOK_SECONDS)

    def hand_over(self) -> str:
        """Nothing: the files of processes are the caller's."""
        return ""

    def close(self) -> str:
        """Let the job's addresses go."""
        self._addresses.close()
        return ""

    def leave(self) -> str:
        """Nothing: processes leave nothing else."""
        return ""

    def _say_what_is_missing(self) -> None:
        why = self.enclosure.reason
        if not why:
            return
        if not self.enclosure.files:
            text = (
                f"bandstand: hosts without name spaces of their own ({why}): SAGEMAKER_BASE_DIR stands for "
                f"/opt/ml ({self._bases[0]} for algo-1), BANDSTAND_HOST_MAP for the names of hosts, and "
                "channels are links through which they can be written."
            )
        elif not self.enclosure.processes:
            text = f"bandstand: hosts without process numbers of their own ({why}); all else is as usual."
        else:
            return
        self.hosts[0].log.note(time.time(), [text])
