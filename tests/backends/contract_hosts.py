"""A part of the contract of backends: what a host finds inside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .jobs import Job, channel, unpacked


class HostsContract:
    """Each host finds what a host of SageMaker finds."""

    region_and_account = "local:111122223333"
    """What stands in the ARN of a job."""

    def test_hosts_find_their_configuration_as_on_sagemaker(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        data = tmp_path / "data"
        data.mkdir()
        (data / "rows.csv").write_text("1,2\n")
        script = """
            import os
            base = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
            host = __import__("json").load(open(base + "/input/config/resourceconfig.json"))["current_host"]
            for name in os.listdir(base + "/input/config"):
                text = open(base + "/input/config/" + name).read()
                open(base + "/model/" + host + "." + name, "w").write(text)
            for name in ("model", "output/data", "checkpoints", "input/data/train"):
                assert os.path.isdir(base + "/" + name), name
        """
        train = channel("train", data, "ShardedByS3Key", content_type="text/csv", input_mode="FastFile")
        settings = {"eta": "1e-05", "flag": "true"}
        job = submit(script, hosts=3, hyperparameters=settings, channels=(train,))
        state = job.ends()
        assert state.status == "Completed", job.report()
        files = unpacked(state.model)
        hosts = ["algo-1", "algo-2", "algo-3"]
        for host in hosts:
            assert json.loads(files[f"{host}.resourceconfig.json"]) == {
                "current_host": host,
                "current_group_name": "homogeneousCluster",
                "current_instance_type": "ml.m5.xlarge",
                "hosts": hosts,
                "instance_groups": [
                    {
                        "instance_group_name": "homogeneousCluster",
                        "instance_type": "ml.m5.xlarge",
                        "hosts": hosts,
                    }
                ],
                "network_interface_name": json.loads(files[f"{host}.resourceconfig.json"])[
                    "network_interface_name"
                ],
            }
            found = json.loads(files[f"{host}.hyperparameters.json"])
            assert settings.items() <= found.items()
            assert all(isinstance(value, str) for value in found.values())
            assert json.loads(files[f"{host}.inputdataconfig.json"]) == {
                "train": {
                    "ContentType": "text/csv",
                    "TrainingInputMode": "FastFile",
                    "S3DistributionType": "ShardedByS3Key",
                    "RecordWrapperType": "None",
                }
            }

    def test_the_environment_names_the_job_and_has_the_requests_variables(
        self, submit: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SM_CHANNELS", "of the launcher's shell")
        monkeypatch.setenv("TRAINING_JOB_NAME", "of the launcher's shell")
        script = """
            import os
            for name in "TRAINING_JOB_NAME TRAINING_JOB_ARN GREETING SM_CHANNELS".split():
                print(name, os.environ.get(name))
        """
        job = submit(script, environment=(("GREETING", "good day"),))
        assert job.ends().status == "Completed", job.report()
        texts = job.texts()
        assert "TRAINING_JOB_NAME job-1" in texts
        assert f"TRAINING_JOB_ARN arn:aws:sagemaker:{self.region_and_account}:training-job/job-1" in texts
        assert "GREETING good day" in texts
        assert "SM_CHANNELS []" in texts

    def test_a_host_is_told_how_many_threads_a_rank_may_use(self, submit: Callable[..., Job]) -> None:
        job = submit("import os; print('threads', os.environ['BANDSTAND_THREADS'])", threads=3)
        job.ends()
        assert "threads 3" in job.texts()

    def test_the_requests_number_of_threads_wins(self, submit: Callable[..., Job]) -> None:
        job = submit(
            "import os; print('threads', os.environ['BANDSTAND_THREADS'])",
            environment=(("BANDSTAND_THREADS", "7"),),
        )
        job.ends()
        assert "threads 7" in job.texts()

    def test_a_host_runs_several_ranks_when_asked(self, submit: Callable[..., Job]) -> None:
        script = """
            import os
            os.write(1, "rank {BANDSTAND_RANK} of {BANDSTAND_WORLD_SIZE}\\n".format(**os.environ).encode())
        """
        job = submit(script, hosts=2, environment=(("BANDSTAND_RANKS_PER_HOST", "2"),))
        assert job.ends().status == "Completed", job.report()
        assert sorted(text for text in job.texts("algo-1") if text.startswith("rank")) == [
            "rank 0 of 4",
            "rank 1 of 4",
        ]
        assert sorted(text for text in job.texts("algo-2") if text.startswith("rank")) == [
            "rank 2 of 4",
            "rank 3 of 4",
        ]

    def test_hosts_have_names_that_resolve_and_a_true_opt_ml(self, submit: Callable[..., Job]) -> None:
        script = """
            import os, socket
            own = socket.gethostname()
            addresses = [socket.gethostbyname(f"algo-{number}") for number in (1, 2, 3)]
            assert len(set(addresses)) == 3, addresses
            assert socket.gethostbyname("localhost") == "127.0.0.1"
            server = socket.create_server((socket.gethostbyname(own), 0))
            assert os.path.isdir("/opt/ml/input/config")
            print("I am", own)
        """
        job = submit(script, hosts=3)
        assert job.ends().status == "Completed", job.report()
        for host in ("algo-1", "algo-2", "algo-3"):
            assert f"I am {host}" in job.texts(host)

    def test_a_job_tells_the_addresses_that_the_names_of_its_hosts_stand_for(
        self, submit: Callable[..., Job]
    ) -> None:
        script = "import socket; print('I am at', socket.gethostbyname(socket.gethostname()))"
        job = submit(script, hosts=2)
        for host in job.ends().hosts:
            assert f"I am at {host.address}" in job.texts(host.name)

    def test_every_host_sees_all_files_of_a_replicated_channel_and_its_share_of_a_sharded_one(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        data = tmp_path / "data ü, with: signs"
        (data / "deep" / "er").mkdir(parents=True)
        names = ["a.csv", "b.csv", "deep/c.csv", "deep/er/d.csv", "e.csv"]
        for name in names:
            (data / name).write_text(name)
        (tmp_path / "elsewhere.csv").write_text("f.csv")
        (data / "f.csv").symlink_to("../elsewhere.csv")
        script = """
            import json, os
            base = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
            for channel in ("all", "share", "file"):
                root = base + "/input/data/" + channel
                paths = [os.path.join(path, name) for path, _, files in os.walk(root) for name in files]
                found = {os.path.relpath(path, root): open(path).read() for path in paths}
                assert all(name == text or channel == "file" for name, text in found.items()), found
                print(json.dumps([channel, sorted(found)]))
        """
        channels = (
            channel("all", data),
            channel("share", data, "ShardedByS3Key"),
            channel("file", data / "deep" / "c.csv"),
        )
        job = submit(script, hosts=4, channels=channels)
        assert job.ends().status == "Completed", job.report()
        shares = []
        for host in ("algo-1", "algo-2", "algo-3", "algo-4"):
            seen = dict(json.loads(text) for text in job.texts(host) if text.startswith("["))
            assert seen["all"] == [*names, "f.csv"]
            assert seen["file"] == ["c.csv"]
            shares.append(seen["share"])
        assert shares == [["a.csv", "e.csv"], ["b.csv", "f.csv"], ["deep/c.csv"], ["deep/er/d.csv"]]

    def test_a_host_without_a_share_has_an_empty_channel(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "only.csv").write_text("1")
        script = """
            import os
            base = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
            print("files", os.listdir(base + "/input/data/train"))
        """
        job = submit(script, hosts=2, channels=(channel("train", tmp_path / "data", "ShardedByS3Key"),))
        assert job.ends().status == "Completed", job.report()
        assert "files ['only.csv']" in job.texts("algo-1")
        assert "files []" in job.texts("algo-2")

    def test_channels_cannot_be_changed(self, submit: Callable[..., Job], tmp_path: Path) -> None:
        data = tmp_path / "data"
        data.mkdir()
        (data / "rows.csv").write_text("1")
        script = """
            import os
            for channel in ("all", "share"):
                root = "/opt/ml/input/data/" + channel
                for attempt in (lambda: open(root + "/new.csv", "w"), lambda: open(root + "/rows.csv", "a"),
                                lambda: os.remove(root + "/rows.csv")):
                    try:
                        attempt()
                    except OSError as error:
                        assert error.errno in (30, 16), error
                    else:
                        raise SystemExit("changed " + channel)
        """
        job = submit(script, channels=(channel("all", data), channel("share", data, "ShardedByS3Key")))
        assert job.ends().status == "Completed", job.report()
        assert [path.name for path in data.iterdir()] == ["rows.csv"]

    def test_what_a_script_writes_beside_itself_stays_on_its_host(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        script = """
            import os
            assert not os.path.exists("notes.txt")
            open("notes.txt", "w").write("mine")
            assert os.path.exists("/opt/ml/code/notes.txt") and os.path.exists("/opt/ml/code/train.py")
        """
        job = submit(script, hosts=2)
        assert job.ends().status == "Completed", job.report()
        assert sorted(path.name for path in (tmp_path / "code of job-1").iterdir()) == ["train.py"]

    def test_checkpoints_are_shared_by_hosts_and_kept_where_the_plan_says(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        script = """
            import os
            base = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
            open(base + "/checkpoints/of-rank-" + os.environ["BANDSTAND_RANK"], "w").write("x")
        """
        kept = tmp_path / "check points"
        assert submit(script, hosts=2, checkpoints=kept.as_uri()).ends().status == "Completed"
        assert sorted(path.name for path in kept.iterdir()) == ["of-rank-0", "of-rank-1"]
