"""A part of the contract of backends: what a host says."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from bandstand.backends.backend import Backend

from .jobs import Job


class LogsContract:
    """Every line is kept, whole."""

    def test_both_streams_are_read_by_whole_lines_with_rising_times(self, submit: Callable[..., Job]) -> None:
        script = r"""
            import os
            os.write(1, b"half a ")
            os.write(2, b"loss=0.5\n")
            os.write(1, b"line\rprogress 1\rprogress 2\r\nb\xff\xc3\xa4d\n")
            os.write(1, b"the last one has no end")
        """
        job = submit(script)
        assert job.ends().status == "Completed", job.report()
        texts = job.texts()
        for expected in ("loss=0.5", "half a line", "progress 1", "progress 2", "b\ufffdäd"):
            assert texts.count(expected) == 1, texts
        printed = [
            text for text in texts if text != "loss=0.5"
        ]  # of the two streams, either may be read first
        assert printed[-1] == "the last one has no end"
        times = [line.time for line in job.lines()]
        assert times == sorted(times)
        assert job.state.created <= times[0] <= times[-1] <= (job.state.ended or 0)

    def test_lines_can_be_read_on_from_any_offset_and_while_the_job_runs(
        self, submit: Callable[..., Job], backend: Backend, tmp_path: Path
    ) -> None:
        script = """
            import os
            print("before", flush=True)
            base = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
            open(base + "/checkpoints/go").read()
            print("after", flush=True)
        """
        (tmp_path / "checkpoints").mkdir()
        os.mkfifo(tmp_path / "checkpoints" / "go")
        job = submit(script, checkpoints=(tmp_path / "checkpoints").as_uri())
        job.says("before")
        first, offsets = backend.lines(job.folder, {})
        assert first[-1].text == "before"
        assert backend.lines(job.folder, offsets) == ([], offsets)
        (tmp_path / "checkpoints" / "go").write_text("go")
        job.ends()
        rest, _ = backend.lines(job.folder, offsets)
        assert [line.text for line in rest] == ["after"]
        assert backend.lines(job.folder, {})[0] == first + rest

    def test_a_great_many_lines_all_arrive_though_nobody_reads_them(self, submit: Callable[..., Job]) -> None:
        job = submit("for number in range(60000): print(number, 'x' * 100)")
        assert job.ends().status == "Completed"
        numbers = [int(text.split()[0]) for text in job.texts() if text.endswith("xxx")]
        assert numbers == list(range(60000))

    def test_the_last_lines_of_a_killed_host_are_whole(self, submit: Callable[..., Job]) -> None:
        script = """
            import os, signal
            for number in range(1000):
                print("line", number, flush=True)
            os.write(1, b"cut sh")
            os.kill(os.getpid(), signal.SIGKILL)
        """
        job = submit(script)
        assert job.ends().status == "Failed"
        texts = job.texts()
        assert [text for text in texts if text.startswith("line ")] == [f"line {n}" for n in range(1000)]
        assert "cut sh" in texts
