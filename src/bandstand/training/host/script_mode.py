"""What a script is given, as the SageMaker training toolkit gives it: arguments and `SM_*` variables.

Names and formats are those of sagemaker-training 5.1.4 (mapping.py, environment.py), which users know.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from bandstand.cores import usable_cores
from bandstand.hyperparameters import Hyperparameters
from bandstand.sagemaker_files import Channel, Cluster, Folders
from bandstand.training.host.program import Program


def arguments(hyperparameters: Hyperparameters) -> list[str]:
    """The hyperparameters as command line: sorted `--name value`, or `-n value` for names of one letter.

    Numbers stay as they are written; text loses one layer of JSON quotes; true becomes True, as the toolkit
    has it.
    """
    words = []
    for name in sorted(hyperparameters):
        words += [f"-{name}" if len(name) == 1 else f"--{name}", _argument(hyperparameters[name])]
    return words


def variables(
    program: Program,
    hyperparameters: Hyperparameters,
    cluster: Cluster,
    channels: Mapping[str, Channel],
    folders: Folders,
    environ: Mapping[str, str],
) -> dict[str, str]:
    """The `SM_*` variables, name to text."""
    values = {name: _json(text) for name, text in hyperparameters.items()}
    inputs = {
        name: {
            "TrainingInputMode": channel.input_mode,
            "S3DistributionType": channel.distribution,
            "RecordWrapperType": channel.record_wrapper,
            **({"ContentType": channel.content_type} if channel.content_type else {}),
        }
        for name, channel in channels.items()
    }
    resources = {
        "current_group_name": cluster.group_name,
        "current_host": cluster.current_host,
        "current_instance_type": cluster.instance_type,
        "hosts": list(cluster.hosts),
        "network_interface_name": cluster.network_interface,
    }
    module = program.name.removesuffix(".py")
    facts: dict[str, object] = {
        "channel_input_dirs": {name: str(channel.path) for name, channel in channels.items()},
        "current_host": cluster.current_host,
        "current_instance_group": cluster.group_name,
        "current_instance_type": cluster.instance_type,
        "hosts": list(cluster.hosts),
        "hyperparameters": values,
        "input_config_dir": str(folders.config),
        "input_data_config": inputs,
        "input_dir": str(folders.input),
        "is_master": cluster.index == 0,
        "job_name": environ.get("TRAINING_JOB_NAME", ""),
        "log_level": 20,
        "master_hostname": cluster.leader,
        "model_dir": str(folders.model),
        "module_dir": str(program.folder or folders.code),
        "module_name": module,
        "network_interface_name": cluster.network_interface,
        "num_cpus": usable_cores(),
        "num_gpus": gpus(environ),
        "output_data_dir": str(folders.output_data),
        "output_dir": str(folders.output),
        "output_intermediate_dir": str(folders.output / "intermediate"),
        "resource_config": resources,
        "user_entry_point": program.name,
    }
    given = arguments(hyperparameters) if program.takes_arguments else []
    settings: dict[str, object] = {
        "hps": values,
        "channels": sorted(channels),
        "training_env": facts,
        "user_args": given,
        **{name: fact for name, fact in facts.items() if name not in _ONLY_INSIDE},
        **{f"hp_{name}": value for name, value in values.items()},
        **{f"channel_{name}": str(channel.path) for name, channel in channels.items()},
    }
    return {f"SM_{name.upper()}": _text(value) for name, value in settings.items()}


_ONLY_INSIDE = frozenset(
    {"channel_input_dirs", "hyperparameters", "is_master", "job_name", "master_hostname"}
)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _argument(text: str) -> str:
    value = _json(text)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return ",".join(f"{key}={item}" for key, item in value.items())
    return str(value) if isinstance(value, bool | list) else text


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def gpus(environ: Mapping[str, str]) -> int:
    """How many GPUs a process with this environment may use."""
    chosen = environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return len([word for word in chosen.split(",") if word.strip() not in ("", "-1")])
    names = [entry.name for entry in Path("/dev").iterdir()]
    return len([name for name in names if name[:6] == "nvidia" and name[6:].isdigit()])
