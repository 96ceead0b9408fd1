"""Lays out `/opt/ml` for each host of a job, as SageMaker does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bandstand.backends.job_folder import JobFolder
from bandstand.backends.mounts import Bind, Mount, Overlay, Selection
from bandstand.backends.task import ChannelTask, Task
from bandstand.channels.data import ChannelData
from bandstand.channels.source import Source, find_source
from bandstand.sagemaker_files import BASE, Channel, Cluster, Folders, write_config

HOSTS_FILE = "/etc/hosts"

CHANGEABLE = frozenset({"sm_drivers"})
"""Channels that a host may change for itself: SageMaker's SDK 3 brings its start-up script in one, and its
container's entry point makes it executable first."""


class Layout:
    """The folders of a job's hosts.

    Args:
        task: The job.
        folder: The job's folder.
        network_interface: The interface of a host that leads to the others.

    Raises:
        InputError: The data of a channel, or the code, is not there. All such faults are told at once.
        OSError: Something cannot be written.
    """

    def __init__(self, task: Task, folder: JobFolder, network_interface: str = "lo") -> None:
        self._task = task
        self._folder = folder
        self._interface = network_interface
        self._sources = _find_sources(task)
        self._checkpoints = Path(task.checkpoints or folder.checkpoints)
        self._checkpoints.mkdir(parents=True, exist_ok=True)

    def write(self, index: int) -> Folders:
        """Make one host's folders, with its configuration in them.

        Args:
            index: Which host, from 0.
        """
        task = self._task
        host = task.hosts[index]
        folders = Folders(self._folder.host(host) / "ml")
        for path in (folders.data, folders.model, folders.output_data):
            path.mkdir(parents=True)
        channels = [
            Channel(
                name=channel.name,
                path=folders.data / channel.name,
                content_type=channel.content_type,
                distribution=channel.distribution,
                input_mode=channel.input_mode,
                record_wrapper=channel.record_wrapper,
            )
            for channel in task.channels
        ]
        cluster = Cluster(host, task.hosts, task.instance_type, network_interface=self._interface)
        write_config(folders, dict(task.hyperparameters), cluster, channels)
        return folders

    def mounts(self, index: int) -> tuple[Mount, ...]:
        """Return what a host with its own mounts sees at `/opt/ml`.

        Args:
            index: Which host, from 0.
        """
        host = self._task.hosts[index]
        inner, outer = Folders(BASE), Folders(self._folder.host(host) / "ml")
        shown: list[Mount] = [Bind(str(outer.base), str(inner.base))]
        outer.checkpoints.mkdir()
        shown.append(Bind(str(self._checkpoints), str(inner.checkpoints)))
        outer.code.mkdir()
        if self._task.code is not None:
            shown.append(Overlay(self._task.code, str(inner.code), self._scratch(host, "code")))
        for name, source in self._shares(index):
            (outer.data / name).mkdir()
            target = str(inner.data / name)
            if source.files is None and name in CHANGEABLE:
                shown.append(Overlay(source.folder, target, self._scratch(host, name)))
            elif source.files is None:
                shown.append(Bind(source.folder, target, read_only=True))
            else:
                shown.append(Selection(source.folder, target, source.files))
        return tuple(shown)

    def _scratch(self, host: str, name: str) -> str:
        """Make the folders for what a host changes of a folder, and return where they are."""
        scratch = self._folder.host(host) / name
        for layer in ("upper", "work"):
            (scratch / layer).mkdir(parents=True)
        return str(scratch)

    def hosts_file(self, index: int, addresses: Mapping[str, str]) -> Bind:
        """Return the hosts file that a host with its own mounts sees.

        Args:
            index: Which host, from 0.
            addresses: Each host's address.
        """
        path = self._folder.host(self._task.hosts[index]) / "hosts"
        path.write_text(hosts_text(addresses), encoding="utf-8")
        return Bind(str(path), HOSTS_FILE)

    def link(self, index: int) -> None:
        """Show a host without its own mounts the same files by links, below its own base folder.

        Args:
            index: Which host, from 0.
        """
        folders = Folders(self._folder.host(self._task.hosts[index]) / "ml")
        folders.checkpoints.symlink_to(self._checkpoints.resolve())
        if self._task.code is None:
            folders.code.mkdir()
        else:
            folders.code.symlink_to(self._task.code)
        for name, source in self._shares(index):
            place = folders.data / name
            if source.files is None:
                place.symlink_to(source.folder)
                continue
            place.mkdir()
            for shown, found in source.files:
                (place / shown).parent.mkdir(parents=True, exist_ok=True)
                (place / shown).symlink_to(Path(source.folder, found))

    def _shares(self, index: int) -> list[tuple[str, Source]]:
        return [
            (
                channel.name,
                source.share(index, len(self._task.hosts))
                if channel.distribution == "ShardedByS3Key"
                else source,
            )
            for channel, source in zip(self._task.channels, self._sources, strict=True)
        ]


def hosts_text(addresses: Mapping[str, str], machine: str = HOSTS_FILE) -> str:
    """Return a hosts file: the job's hosts, then the machine's own lines, less those that name the job's
    hosts.

    Args:
        addresses: Each host's address.
        machine: The machine's own hosts file.
    """
    lines = [f"{address} {host}" for host, address in addresses.items()]
    try:
        own = Path(machine).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        own = ["127.0.0.1 localhost"]
    for line in own:
        names = line.partition("#")[0].split()[1:]
        if not any(name in addresses for name in names):
            lines.append(line)
    return "\n".join([*lines, ""])


def _find_sources(task: Task) -> tuple[Source, ...]:
    from bandstand.errors import InputError

    faults = []
    sources = []
    for channel in task.channels:
        if channel.name in (".", ".."):
            faults.append(
                f"A channel cannot be named {channel.name!r}; give it a name of letters and digits."
            )
        try:
            sources.append(_find_source(channel))
        except InputError as error:
            faults.append(f"Channel {channel.name!r}: {error}")
        except PermissionError as error:
            faults.append(f"Channel {channel.name!r}: {error.filename} cannot be read: {error.strerror}.")
    if task.code is not None and not Path(task.code).is_dir():
        faults.append(
            f"sagemaker_submit_directory: {task.code} is no folder. Name the folder of the program."
        )
    if faults:
        raise InputError("\n".join(faults))
    return tuple(sources)


def _find_source(channel: ChannelTask) -> Source:
    data = ChannelData(channel.place, channel.is_manifest, channel.buckets)
    return find_source(data, sharded=channel.distribution == "ShardedByS3Key")
