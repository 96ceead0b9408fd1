"""Scripts get what the SageMaker training toolkit gives them."""

from __future__ import annotations

import json

from bandstand.hyperparameters import Hyperparameters
from bandstand.training.host.script_mode import arguments

from ..conftest import Launcher

SCRIPT = """
    import json, os, sys
    print(json.dumps({"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(), "path": sys.path}))
"""


def test_arguments_are_sorted_and_reserved_names_are_left_out():
    given = {
        "b": "1",
        "alpha": "1e-5",
        "flag": "true",
        "word": '"quoted"',
        "spaced": "a b; $HOME",
        "code": "007",
        "list": "[1, 2]",
        "map": '{"x": 1, "y": "z"}',
        "none": "null",
        "text": "True",
        "sagemaker_program": "train.py",
        "_tuning_objective_metric": "m",
    }
    assert arguments(Hyperparameters(given)) == [
        *("--alpha", "1e-5"),
        *("-b", "1"),
        *("--code", "007"),
        *("--flag", "True"),
        *("--list", "[1, 2]"),
        *("--map", "x=1,y=z"),
        *("--none", ""),
        *("--spaced", "a b; $HOME"),
        *("--text", "True"),
        *("--word", "quoted"),
    ]


def test_a_script_sees_the_toolkits_variables_and_ours(cluster: Launcher):
    job = cluster(
        2,
        SCRIPT,
        hyperparameters={
            "epochs": "3",
            "learning-rate": '"0.1"',
            "flag": "true",
            "_tuning_objective_metric": "m",
        },
        channels=("train", "validation"),
        environment={"BANDSTAND_THREADS": "3", "MINE": "kept"},
    )
    assert job.wait() == [0, 0], job.log
    for index, host in enumerate(job):
        seen = json.loads(host.out)
        env = seen["env"]
        base = str(host.folders.base)
        assert seen["argv"] == ["--epochs", "3", "--flag", "True", "--learning-rate", "0.1"]
        assert seen["cwd"] == seen["path"][0] == f"{base}/code"
        assert json.loads(env["SM_HPS"]) == {"epochs": 3, "flag": True, "learning-rate": "0.1"}
        assert env["SM_HP_EPOCHS"] == "3"
        assert env["SM_HP_FLAG"] == "true"
        assert env["SM_HP_LEARNING-RATE"] == "0.1"
        assert json.loads(env["SM_CHANNELS"]) == ["train", "validation"]
        assert env["SM_CHANNEL_TRAIN"] == f"{base}/input/data/train"
        assert json.loads(env["SM_HOSTS"]) == ["algo-1", "algo-2"]
        assert env["SM_CURRENT_HOST"] == host.name
        assert env["SM_MODEL_DIR"] == f"{base}/model"
        assert env["SM_OUTPUT_DATA_DIR"] == f"{base}/output/data"
        assert env["SM_INPUT_DIR"] == f"{base}/input"
        assert env["SM_INPUT_CONFIG_DIR"] == f"{base}/input/config"
        assert env["SM_MODULE_DIR"] == f"{base}/code"
        assert env["SM_MODULE_NAME"] == "train"
        assert env["SM_USER_ENTRY_POINT"] == "train.py"
        assert json.loads(env["SM_USER_ARGS"]) == seen["argv"]
        assert json.loads(env["SM_RESOURCE_CONFIG"])["current_host"] == host.name
        assert json.loads(env["SM_INPUT_DATA_CONFIG"])["train"]["S3DistributionType"] == "FullyReplicated"
        assert json.loads(env["SM_TRAINING_ENV"])["is_master"] == (index == 0)
        assert int(env["SM_NUM_CPUS"]) >= 1
        assert env["SM_NETWORK_INTERFACE_NAME"] == "eth0"
        assert env["OMP_NUM_THREADS"] == env["BANDSTAND_THREADS"] == "3"
        assert env["BANDSTAND_RANK"] == str(index)
        assert env["BANDSTAND_WORLD_SIZE"] == "2"
        assert env["MINE"] == "kept"
        assert env["PYTHONUNBUFFERED"] == "1"
        assert "BANDSTAND_LISTEN_FD" not in env


def test_what_the_user_has_set_about_threads_stays(cluster: Launcher):
    job = cluster(1, SCRIPT, environment={"BANDSTAND_THREADS": "3", "OMP_NUM_THREADS": "7"})
    assert job.wait() == [0]
    assert json.loads(job[0].out)["env"]["OMP_NUM_THREADS"] == "7"
