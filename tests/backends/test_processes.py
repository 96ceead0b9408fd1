"""The processes backend, with name spaces and without."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bandstand.backends.host_process import NICENESS
from bandstand.backends.processes import ProcessBackend

from .contract import BackendContract
from .jobs import Alarm, Job, MakeBackend, channel, eventually, supervisor_of
from .scripts import POLITE, STUBBORN


class ProcessContract(BackendContract):
    """What holds for hosts that are processes, in addition."""

    def test_when_the_supervisor_is_killed_no_host_is_left_and_the_job_has_failed(
        self, submit: Callable[..., Job], alarm: Alarm, tmp_path: Path
    ) -> None:
        job = submit(STUBBORN, hosts=2, checkpoints=(tmp_path / "checkpoints").as_uri())
        job.says("grandchild", 2)
        os.kill(supervisor_of(job), signal.SIGKILL)
        eventually(alarm.is_over, "the end of all processes")
        state = job.ends()
        assert state.status == "Failed"
        assert "supervisor ended without a word" in (state.failure_reason or "")
        assert state == job.state
        assert state.ended is not None

    def test_what_a_supervisor_said_before_it_ended_is_the_reason(self, submit: Callable[..., Job]) -> None:
        job = submit(POLITE)
        job.says("ready")
        (job.folder / "supervisor.log").write_text("Traceback:\n  a place\nImportError: no such name\n\n")
        os.kill(supervisor_of(job), signal.SIGKILL)
        reason = job.ends().failure_reason or ""
        assert reason.startswith("The job's supervisor failed: ImportError: no such name (see ")

    def test_a_supervisor_outlives_its_launcher_and_the_signals_of_its_terminal(
        self, submit: Callable[..., Job]
    ) -> None:
        job = submit(POLITE)
        job.says("ready")
        supervisor = supervisor_of(job)
        assert os.getsid(supervisor) == supervisor
        for number in (signal.SIGHUP, signal.SIGINT):
            os.kill(supervisor, number)
        assert job.state.status == "InProgress"
        os.kill(supervisor, signal.SIGTERM)
        assert job.ends().status == "Stopped"

    def test_a_launcher_that_is_killed_leaves_no_host_once_its_lease_has_run_out(
        self, make_backend: MakeBackend, alarm: Alarm, tmp_path: Path
    ) -> None:
        home = tmp_path / "home"
        launcher = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, str(Path(__file__).parents[2]), str(tmp_path)],
            stdout=subprocess.PIPE,
        )
        with launcher:
            assert launcher.stdout is not None
            assert launcher.stdout.readline() == b"running\n"
            job = Job(make_backend(), home / "jobs" / "job-1")
            assert job.state.status == "InProgress"
            launcher.kill()
        assert job.ends().status == "Stopped"
        assert alarm.is_over()

    def test_a_file_in_place_of_the_model_folder_fails_the_job_rather_than_be_lost(
        self, submit: Callable[..., Job]
    ) -> None:
        script = """
            import os
            model = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml") + "/model"
            os.rmdir(model)
            open(model, "w").write("weights")
        """
        state = submit(script).ends()
        assert state.status == "Failed"
        assert "Not a directory" in (state.failure_reason or "")

    def test_hosts_give_way_to_the_processes_that_stop_them(self, submit: Callable[..., Job]) -> None:
        job = submit("import os; print('runs at', os.nice(0), os.sched_getscheduler(0), flush=True)")
        assert job.ends().status == "Completed", job.report()
        own = min(os.nice(0) + NICENESS, 19)
        assert f"runs at {own} {os.SCHED_BATCH}" in job.report()

    def test_a_rank_that_leaves_a_process_behind_does_not_keep_the_job(
        self, submit: Callable[..., Job], alarm: Alarm, tmp_path: Path
    ) -> None:
        script = STUBBORN.replace("while True:\n    time.sleep(60)\n'''", "").rpartition("while True:")[0]
        job = submit(script, checkpoints=(tmp_path / "checkpoints").as_uri())
        assert job.ends().status == "Completed", job.report()
        assert alarm.is_over()


LAUNCHER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.backends.jobs import Job, make_plan
from tests.backends.scripts import STUBBORN
from bandstand.backends.host_process import NICENESS
from bandstand.backends.processes import ProcessBackend
root = Path(sys.argv[2])
plan = make_plan(root, "job-1", STUBBORN, checkpoints=(root / "checkpoints").as_uri())
job = Job(ProcessBackend(lease_seconds=1.0, lease_grace=0.2), root / "home" / "jobs" / "job-1")
job.backend.submit(plan, job.folder, threads=1)
with job.owned():
    job.says("grandchild")
    print("running", flush=True)
    sys.stdin.read()
    __import__("signal").pause()
"""


class TestHostsInNameSpaces(ProcessContract):
    @pytest.fixture
    def make_backend(self) -> MakeBackend:
        return ProcessBackend

    def test_a_host_sees_its_own_processes_only(self, submit: Callable[..., Job]) -> None:
        script = """
            import os
            print("processes", sorted(int(name) for name in os.listdir("/proc") if name.isdecimal())[0])
            print("first", open("/proc/1/cmdline").read().split("\\0")[2:4])
        """
        job = submit(script)
        assert job.ends().status == "Completed", job.report()
        assert "processes 1" in job.texts()
        assert "first ['-m', 'bandstand.training']" in job.texts()

    def test_nothing_is_left_on_the_machines_own_file_system(self, submit: Callable[..., Job]) -> None:
        before = Path("/opt/ml").exists(), sorted(Path("/opt").iterdir()), Path("/etc/hosts").read_bytes()
        job = submit("import os; os.makedirs('/opt/ml/anything/deep')")
        assert job.ends().status == "Completed", job.report()
        assert before == (
            Path("/opt/ml").exists(),
            sorted(Path("/opt").iterdir()),
            Path("/etc/hosts").read_bytes(),
        )

    def test_the_machines_other_software_in_opt_stays_visible(self, submit: Callable[..., Job]) -> None:
        job = submit("import json, os; print(json.dumps(sorted(os.listdir('/opt'))))")
        assert job.ends().status == "Completed", job.report()
        expected = sorted({*(path.name for path in Path("/opt").iterdir()), "ml"})
        assert json.dumps(expected) in job.texts()

    def test_a_job_runs_from_a_folder_that_holds_its_code_and_its_home(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        (tmp_path / "train.py").write_text("open('/opt/ml/model/weights', 'w').write('x')")
        job = submit(hyperparameters={"sagemaker_submit_directory": tmp_path.as_uri()})
        state = job.ends()
        assert state.status == "Completed", job.report()
        assert state.model is not None


class TestHostsWithoutNameSpaces(ProcessContract):
    @pytest.fixture
    def make_backend(self, monkeypatch: pytest.MonkeyPatch) -> MakeBackend:
        monkeypatch.setenv("BANDSTAND_NAMESPACES", "off")
        return ProcessBackend

    def test_hosts_have_names_that_resolve_and_a_true_opt_ml(self, submit: Callable[..., Job]) -> None:
        """Here the environment has the addresses and the base folder, and the log says so."""
        script = """
            import json, os, socket
            assert len(set(json.loads(os.environ["BANDSTAND_HOST_MAP"]).values())) == 3
            assert os.path.isdir(os.environ["SAGEMAKER_BASE_DIR"] + "/input/config")
        """
        job = submit(script, hosts=3)
        assert job.ends().status == "Completed", job.report()
        assert job.texts("algo-1")[0].startswith(
            "bandstand: hosts without name spaces of their own (BANDSTAND_NAMESPACES=off)"
        )

    test_a_job_tells_the_addresses_that_the_names_of_its_hosts_stand_for = None

    def test_channels_cannot_be_changed(self, submit: Callable[..., Job], tmp_path: Path) -> None:
        """Here channels are links, and the user's files are the user's."""
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "rows.csv").write_text("1")
        script = """
            import os
            folder = os.environ["SAGEMAKER_BASE_DIR"] + "/input/data/train"
            assert os.path.realpath(folder) == os.path.realpath(os.environ["DATA"])
        """
        data = tmp_path / "data"
        job = submit(script, channels=(channel("train", data),), environment=(("DATA", str(data)),))
        assert job.ends().status == "Completed", job.report()
        assert (data / "rows.csv").read_text() == "1"

    def test_what_a_script_writes_beside_itself_stays_on_its_host(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        """Here it is the user's own folder."""
        job = submit("open('notes.txt', 'w').write('mine')")
        assert job.ends().status == "Completed", job.report()
        assert (tmp_path / "code of job-1" / "notes.txt").exists()

    def test_when_a_keeper_is_killed_its_host_has_failed_and_nothing_is_left(
        self, submit: Callable[..., Job], alarm: Alarm, tmp_path: Path
    ) -> None:
        job = submit(STUBBORN, checkpoints=(tmp_path / "checkpoints").as_uri())
        job.says("grandchild")
        for keeper in children_of(supervisor_of(job)):
            os.kill(keeper, signal.SIGKILL)
        state = job.ends()
        assert state.status == "Failed"
        assert "SIGKILL" in (state.failure_reason or "")
        assert alarm.is_over()


def children_of(process: int) -> list[int]:
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            try:
                stat = (path / "stat").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(stat.rpartition(")")[2].split()[1]) == process:
                found.append(int(path.name))
    return found
