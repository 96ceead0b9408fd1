from __future__ import annotations

import json
from dataclasses import replace

from bandstand.backends.environment import host_environment
from bandstand.backends.layout import hosts_text

from .test_task import TASK


def environment(shell: dict[str, str], *own: tuple[str, str], **changes: object) -> dict[str, str]:
    given: dict[str, object] = {
        "addresses": {"algo-1": "127.1.1.1", "algo-2": "127.1.1.2"},
        "port": 7777,
        "key": "ab" * 32,
        "base": None,
        "listener": None,
    }
    return host_environment(replace(TASK, environment=own), shell, **(given | changes))  # type: ignore[arg-type]


def test_the_shell_is_inherited_but_for_names_that_mean_something_inside() -> None:
    shell = {
        "PATH": "/bin",
        "SM_HOSTS": "x",
        "SAGEMAKER_PROGRAM": "x",
        "BANDSTAND_HOME": "x",
        "TRAINING_JOB_ARN": "x",
    }
    values = environment(shell)
    assert values["PATH"] == "/bin"
    assert not {"SM_HOSTS", "SAGEMAKER_PROGRAM", "BANDSTAND_HOME"} & set(values)
    assert values["TRAINING_JOB_ARN"] == TASK.arn


def test_the_requests_variables_win_over_the_shell_and_the_threads() -> None:
    values = environment(
        {"A": "shell"}, ("A", "request"), ("BANDSTAND_THREADS", "9"), ("SAGEMAKER_PROGRAM", "t.py")
    )
    assert (values["A"], values["BANDSTAND_THREADS"], values["SAGEMAKER_PROGRAM"]) == ("request", "9", "t.py")
    assert environment({})["BANDSTAND_THREADS"] == str(TASK.threads)


def test_where_the_hosts_meet_cannot_be_changed() -> None:
    values = environment(
        {}, ("BANDSTAND_KEY", "00"), ("BANDSTAND_HOST_MAP", "{}"), ("TRAINING_JOB_NAME", "other")
    )
    assert values["BANDSTAND_KEY"] == "ab" * 32
    assert json.loads(values["BANDSTAND_HOST_MAP"]) == {"algo-1": "127.1.1.1", "algo-2": "127.1.1.2"}
    assert values["TRAINING_JOB_NAME"] == TASK.name


def test_the_base_folder_and_the_socket_are_named_only_where_there_are_any() -> None:
    assert not {"SAGEMAKER_BASE_DIR", "BANDSTAND_LISTEN_FD"} & set(environment({}))
    values = environment({}, base="/home/jobs/ml", listener=9)
    assert (values["SAGEMAKER_BASE_DIR"], values["BANDSTAND_LISTEN_FD"]) == ("/home/jobs/ml", "9")


def test_a_hosts_file_names_the_jobs_hosts_and_keeps_the_machines_other_lines(tmp_path: object) -> None:
    from pathlib import Path

    machine = Path(str(tmp_path), "hosts")
    machine.write_text("# mine\n127.0.0.1 localhost box\n10.0.0.7 algo-1 old\n::1 ip6-localhost\n")
    assert hosts_text({"algo-1": "127.1.1.1", "algo-2": "127.1.1.2"}, str(machine)).splitlines() == [
        "127.1.1.1 algo-1",
        "127.1.1.2 algo-2",
        "# mine",
        "127.0.0.1 localhost box",
        "::1 ip6-localhost",
    ]
    assert hosts_text({"algo-1": "127.1.1.1"}, "/no/such/file") == "127.1.1.1 algo-1\n127.0.0.1 localhost\n"
