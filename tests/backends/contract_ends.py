"""A part of the contract of backends: how a job fails, and what it leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .jobs import Job, unpacked


class EndsContract:
    """Failures have reasons; archives are merged."""

    def test_the_first_failing_host_ends_the_others_and_gives_the_reason(
        self, submit: Callable[..., Job]
    ) -> None:
        script = """
            import os, signal
            if os.environ["BANDSTAND_RANK"] == "1":
                raise ValueError("no such column: age")
            while True:
                signal.pause()
        """
        job = submit(script, hosts=3)
        state = job.ends()
        assert (state.status, state.secondary_status) == ("Failed", "Failed")
        assert state.failure_reason is not None
        assert "ValueError: no such column: age" in state.failure_reason
        assert "algo-2" in state.failure_reason
        assert len(state.failure_reason) <= 1024
        assert state.model is None
        assert "Stopping" not in [step.status for step in state.transitions]

    def test_a_scripts_own_failure_file_is_the_reason_up_to_1024_characters(
        self, submit: Callable[..., Job]
    ) -> None:
        script = """
            import os, sys
            base = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
            open(base + "/output/failure", "w").write("the müller row is broken" + "!" * 2000)
            sys.exit(3)
        """
        state = submit(script).ends()
        assert state.failure_reason == ("the müller row is broken" + "!" * 2000)[:1024]

    def test_a_rank_that_a_signal_ends_is_named_with_the_signal(self, submit: Callable[..., Job]) -> None:
        script = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
        state = submit(script).ends()
        assert state.status == "Failed"
        assert "SIGSEGV" in (state.failure_reason or "")
        assert "algo-1" in (state.failure_reason or "")

    def test_a_failed_job_keeps_its_output_data_but_no_model(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        script = """
            import os, sys
            base = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
            open(base + "/model/weights", "w").write("half")
            open(base + "/output/data/log.txt", "w").write("so far")
            sys.exit("broken")
        """
        state = submit(script).ends()
        assert state.status == "Failed"
        assert state.model is None
        left = tmp_path / "out" / "job-1" / "output"
        assert [path.name for path in left.iterdir()] == ["output.tar.gz"]
        assert unpacked(left / "output.tar.gz") == {"log.txt": b"so far"}

    def test_what_the_hosts_leave_is_merged_into_archives_the_leader_first(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        script = """
            import os
            base = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
            rank = os.environ["BANDSTAND_RANK"]
            os.mkdir(base + "/model/parts")
            for folder in ("/model/", "/output/data/"):
                open(base + folder + "same", "w").write("rank " + rank)
            open(base + "/model/parts/part-" + rank, "w").write(rank)
        """
        output = tmp_path / "out ünd about"
        state = submit(script, hosts=2, output=output.as_uri()).ends()
        assert state.status == "Completed"
        left = output / "job-1" / "output"
        assert state.model == left / "model.tar.gz"
        assert unpacked(state.model) == {"same": b"rank 0", "parts/part-0": b"0", "parts/part-1": b"1"}
        assert unpacked(left / "output.tar.gz") == {"same": b"rank 0"}
        assert sorted(path.name for path in left.iterdir()) == ["model.tar.gz", "output.tar.gz"]

    def test_a_job_tells_where_its_output_data_is_and_which_files_of_the_model_several_hosts_had(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        script = """
            import os
            base = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
            for folder in ("/model/", "/output/data/"):
                open(base + folder + "same", "w").write("rank " + os.environ["BANDSTAND_RANK"])
        """
        state = submit(script, hosts=2).ends()
        assert state.output == tmp_path / "out" / "job-1" / "output" / "output.tar.gz"
        assert "algo-2: same" in state.transitions[-1].message

    def test_the_same_files_make_the_same_archive(self, submit: Callable[..., Job]) -> None:
        script = """
            import os
            base = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
            for name in ("b", "a", "c"):
                open(base + "/model/" + name, "w").write(name * 1000)
        """
        archives = [submit(script, name).ends().model for name in ("job-1", "job-2")]
        assert archives[0] is not None
        assert archives[1] is not None
        assert archives[0].read_bytes() == archives[1].read_bytes()

    def test_a_job_that_saved_nothing_has_no_archives(self, submit: Callable[..., Job]) -> None:
        state = submit().ends()
        assert (state.status, state.model, state.output) == ("Completed", None, None)

    def test_an_output_folder_that_cannot_be_made_fails_the_job(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        (tmp_path / "out").write_text("a file")
        script = """
            import os
            open(os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml") + "/model/weights", "w").write("x")
        """
        state = submit(script).ends()
        assert state.status == "Failed"
        assert str(tmp_path / "out") in (state.failure_reason or "")
