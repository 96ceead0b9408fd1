"""The wheel is built once for what it depends on; a build that cannot end well ends early, with advice."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docker" / "horovod"
sys.path.insert(0, str(FOLDER))

import build_wheel  # noqa: E402
from torch_headers import AdviceError, Torch, check_headers, find_torch  # noqa: E402


def test_the_wheel_of_this_run_is_in_the_cache_and_printed(tmp_path: Path):
    command = [sys.executable, FOLDER / "build_wheel.py", "--into", tmp_path / "wheels"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    path = Path(done.stdout.strip())
    assert path.parent == tmp_path / "wheels"
    build_wheel.check_wheel(path)


def test_the_name_of_a_wheels_folder_tells_what_it_depends_on():
    name = build_wheel.key("2.13.0+cpu", nccl=False)
    assert name.startswith("horovod-0.28.1-torch-2.13.0-cpu-cp3")
    assert "+" not in name
    assert len({name, build_wheel.key("2.13.0+cpu", nccl=True), build_wheel.key("2.14.0", nccl=False)}) == 3


def test_a_source_archive_with_another_hash_is_refused(tmp_path: Path):
    path = tmp_path / "horovod.tar.gz"
    with tarfile.open(path, "w:gz"):
        pass
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(AdviceError, match=f"{found}; expected {build_wheel.SHA256}"):
        build_wheel.unpack(path, tmp_path / "source")


def test_a_source_that_is_not_as_the_patch_expects_is_refused(tmp_path: Path):
    (tmp_path / "CMakeLists.txt").write_text("set(CMAKE_CXX_STANDARD 17)\n")
    with pytest.raises(AdviceError, match=r"CMakeLists.txt has .* 0 times; expected once"):
        build_wheel.patch(tmp_path)


def test_a_wheel_without_its_library_is_refused(tmp_path: Path):
    path = tmp_path / "horovod.whl"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("somewhere/horovod/torch/mpi_lib_v2.so", "")
    path.write_bytes(content.getvalue())
    with pytest.raises(AdviceError, match="lacks horovod/torch/mpi_lib_v2"):
        build_wheel.check_wheel(path)


def test_a_torch_whose_headers_do_not_compile_is_told_with_the_compilers_error(tmp_path: Path):
    header = tmp_path / "torch" / "extension.h"
    header.parent.mkdir()
    header.write_text("#error You need another compiler\n")
    with pytest.raises(AdviceError) as caught:
        check_headers(Torch("9.9.9", (str(tmp_path),)), 20)
    assert "the headers of torch 9.9.9 do not compile as C++20" in str(caught.value)
    assert "You need another compiler" in str(caught.value)
    assert "ring=torch" in str(caught.value)


def test_nccl_without_a_torch_for_cuda_is_refused():
    with pytest.raises(AdviceError, match="built without CUDA"):
        find_torch(nccl=True)
