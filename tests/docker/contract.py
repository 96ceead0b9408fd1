"""What an image must do to train on SageMaker and here: a suite that any image can be held against.

Subclass `ImageContract` and name your image:

    class TestMyImage(ImageContract):
        image = "mine:latest"

The image must take a program from /opt/ml/code, as Bandstand's process 1 does, and be in the engine already.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.docker.containers import Container, docker, run_image
from tests.training.host.test_requirements import BUILDS_A_WHEEL

Start = Callable[..., Container]

FORBIDDEN_PROGRAMS = (
    *("gcc", "cc", "g++", "c++", "clang", "ld", "make", "cmake", "nvcc"),
    *("ssh", "sshd", "ssh-keygen", "mpirun", "mpiexec", "orterun"),
)
SECRET_FILES = (
    ".pypirc",
    ".netrc",
    ".git-credentials",
    "pip.conf",
    "credentials",
    "id_rsa",
    "id_ed25519",
    ".env",
)
SECRET_TEXTS = r"AKIA[0-9A-Z]{16}|BEGIN [A-Z ]*PRIVATE KEY|https?://[^/@:]+:[^/@]+@"


class ImageContract:
    """The suite; every test starts containers of `image`."""

    image: str
    entry_point: tuple[str, ...] = ("python", "-m", "bandstand.training")

    @pytest.fixture
    def start(self, tmp_path: Path) -> Iterator[Start]:
        """Starts the image with a program and documents in /opt/ml; removes the containers afterwards."""
        started: list[Container] = []

        def begin(words: tuple[str, ...] = ("train",), **how: Any) -> Container:
            container = run_image(self.image, words, folder=tmp_path, **how)
            started.append(container)
            return container

        yield begin
        for container in started:
            container.remove()

    @pytest.mark.parametrize("words", [("train",), ()], ids=["train", "nothing"])
    def test_it_trains_with_the_word_train_and_with_none(self, start: Start, words: tuple[str, ...]) -> None:
        container = start(words, program="print('trained')")
        assert container.wait() == 0
        assert "trained" in container.output()

    @pytest.mark.parametrize(
        ("word", "said"), [("serve", "does not serve"), ("tarin", "expected 'train' or none")]
    )
    def test_other_words_are_refused_with_exit_code_2(self, start: Start, word: str, said: str) -> None:
        container = start((word,), program="print('trained')")
        assert container.wait() == 2
        assert said in container.output()
        assert "trained" not in container.output()

    def test_process_1_is_ours_and_no_shell_stands_before_it(self, start: Start) -> None:
        config = json.loads(docker("image", "inspect", self.image))[0]["Config"]
        assert tuple(config["Entrypoint"]) == self.entry_point
        container = start(program="print(open('/proc/1/cmdline').read().split(chr(0))[:-1])")
        assert container.wait() == 0
        assert str([*self.entry_point, "train"]) in container.output()

    def test_hyperparameters_come_as_arguments_and_variables(self, start: Start) -> None:
        program = (
            "import json, os, sys\n"
            "names = ['SM_HP_ETA', 'SM_CHANNEL_TRAIN', 'SM_MODEL_DIR']\n"
            "names += ['SM_CURRENT_HOST', 'SM_HOSTS', 'SM_NUM_CPUS']\n"
            "print('FACTS', json.dumps([sys.argv[1:], {name: os.environ.get(name) for name in names}]))"
        )
        hyperparameters = {"eta": "0.1", "booster": '"dart"', "n": "3"}
        container = start(program=program, hyperparameters=hyperparameters, data={"train/rows.csv": "1,2\n"})
        assert container.wait() == 0, container.output()
        facts = re.search("FACTS (.*)", container.output())
        assert facts is not None
        words, variables = json.loads(facts[1])
        assert words == ["--booster", "dart", "--eta", "0.1", "-n", "3"]
        assert int(variables.pop("SM_NUM_CPUS")) >= 1
        assert variables == {
            "SM_HP_ETA": "0.1",
            "SM_CHANNEL_TRAIN": "/opt/ml/input/data/train",
            "SM_MODEL_DIR": "/opt/ml/model",
            "SM_CURRENT_HOST": "algo-1",
            "SM_HOSTS": '["algo-1"]',
        }

    @pytest.mark.parametrize("user", ["0", "12345:54321"], ids=["root", "any user"])
    def test_requirements_are_installed_before_the_program_starts(self, start: Start, user: str) -> None:
        files = {
            "requirements.txt": "./project\n",
            "project/backend.py": BUILDS_A_WHEEL,
            "project/pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\n'
            'backend-path = ["."]\n[project]\nname = "wanted"\nversion = "1.0"\n',
        }
        container = start(program="import wanted; print('answer', wanted.ANSWER)", code=files, user=user)
        assert container.wait() == 0, container.output()
        assert "answer 42" in container.output()

    def test_any_user_may_run_it_and_its_model_is_kept(self, start: Start) -> None:
        program = "import os; open(os.environ['SM_MODEL_DIR'] + '/model', 'w').write(str(os.getuid()))"
        container = start(program=program, user="12345:54321")
        assert container.wait() == 0, container.output()
        assert container.read("/opt/ml/model/model") == "12345"

    @pytest.mark.parametrize("code", [1, 41])
    def test_the_programs_exit_code_and_reason_are_the_jobs(self, start: Start, code: int) -> None:
        program = f"import sys; print('no such column: age', file=sys.stderr); sys.exit({code})"
        container = start(program=program)
        assert container.wait() == code
        assert "no such column: age" in container.read("/opt/ml/output/failure")

    def test_a_stop_reaches_the_program_which_saves_and_the_job_ends_well(self, start: Start) -> None:
        program = (
            "import signal, sys\n"
            "def save(*_):\n"
            "    open('/opt/ml/model/model', 'w').write('saved')\n"
            "    sys.exit(0)\n"
            "signal.signal(signal.SIGTERM, save)\n"
            "print('ready', flush=True)\n"
            "while True: signal.pause()"
        )
        container = start(program=program)
        container.says("ready")
        docker("stop", "--time", "60", container.name)
        assert container.wait() == 0
        assert container.read("/opt/ml/model/model") == "saved"

    def test_the_public_library_is_inside(self, start: Start) -> None:
        program = (
            "import bandstand\n"
            "run = bandstand.start()\n"
            "for iteration in run.iterations(3):\n"
            "    run.report(iteration, {'validation:loss': bandstand.mean(1 / iteration, weight=2)})\n"
            "run.save_model('model.bin', lambda path: path.write_text('good'))"
        )
        container = start(program=program)
        assert container.wait() == 0, container.output()
        assert "iteration=2 validation:loss=0.5" in container.output()
        assert container.read("/opt/ml/model/model.bin") == "good"

    def test_no_compiler_ssh_or_mpi_is_inside(self) -> None:
        names = " ".join(FORBIDDEN_PROGRAMS)
        found = self.sh(f"for name in {names}; do command -v $name; done; true")
        assert found == ""
        assert self.sh("find / -xdev -name 'libmpi.so*' -o -xdev -name 'sshd*' -path '*bin*' | head") == ""

    def test_no_secret_is_inside(self) -> None:
        names = " -o ".join(f"-name '{name}'" for name in SECRET_FILES)
        assert self.sh(f"find / -xdev -type f \\( {names} \\) | grep -v site-packages | head") == ""
        texts = f"grep -rEl '{SECRET_TEXTS}' /etc /root /opt/ml /home /tmp 2>/dev/null | head"
        assert self.sh(texts) == ""
        history = docker("history", "--no-trunc", "--format", "{{.CreatedBy}}", self.image)
        assert not re.search(SECRET_TEXTS, history)

    def test_labels_tell_where_it_comes_from(self) -> None:
        labels: Mapping[str, str] = json.loads(docker("image", "inspect", self.image))[0]["Config"]["Labels"]
        for name in ("source", "version", "revision"):
            assert labels[f"org.opencontainers.image.{name}"]

    def sh(self, script: str) -> str:
        """What a shell in the image prints."""
        done = subprocess.run(
            ["docker", "run", "--rm", "--network", "none", "--entrypoint", "sh", self.image, "-c", script],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode in (0, 1), done.stderr
        return done.stdout.strip()
