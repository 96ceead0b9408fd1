import json
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.errors import InputError, PlatformError
from bandstand.sagemaker_files import (
    Channel,
    Cluster,
    Folders,
    fit_failure,
    host_order,
    read_channels,
    read_cluster,
    read_hyperparameters,
    write_atomically,
    write_config,
    write_failure,
)

CLUSTER = Cluster("algo-2", ("algo-1", "algo-2", "algo-10"), "ml.m5.xlarge", "lo", "homogeneousCluster")


def channels(folders: Folders) -> list[Channel]:
    return [
        Channel("train", folders.data / "train", "text/csv", "ShardedByS3Key", "FastFile", "RecordIO"),
        Channel("validation", folders.data / "validation"),
    ]


def laid_out(tmp_path: Path, **documents: object) -> Folders:
    folders = Folders(tmp_path)
    folders.config.mkdir(parents=True)
    for name, document in documents.items():
        text = document if isinstance(document, str) else json.dumps(document)
        (folders.config / f"{name}.json").write_text(text)
    return folders


def test_the_folders_are_those_of_the_contract() -> None:
    folders = Folders.from_environment({})
    assert [
        str(path)
        for path in (
            folders.base,
            folders.input,
            folders.config,
            folders.data,
            folders.model,
            folders.output,
            folders.output_data,
            folders.failure,
            folders.checkpoints,
            folders.code,
        )
    ] == [
        "/opt/ml",
        "/opt/ml/input",
        "/opt/ml/input/config",
        "/opt/ml/input/data",
        "/opt/ml/model",
        "/opt/ml/output",
        "/opt/ml/output/data",
        "/opt/ml/output/failure",
        "/opt/ml/checkpoints",
        "/opt/ml/code",
    ]


def test_the_base_folder_can_be_moved() -> None:
    assert Folders.from_environment({"SAGEMAKER_BASE_DIR": "/tmp/ml"}).model == Path("/tmp/ml/model")
    assert Folders.from_environment({"SAGEMAKER_BASE_DIR": ""}).base == Path("/opt/ml")


def test_documents_have_the_services_names_and_letter_case(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    write_config(folders, {"eta": "0.1", "words": '["a"]'}, CLUSTER, channels(folders))
    read = {path.name: json.loads(path.read_text()) for path in folders.config.iterdir()}
    assert read == {
        "hyperparameters.json": {"eta": "0.1", "words": '["a"]'},
        "resourceconfig.json": {
            "current_group_name": "homogeneousCluster",
            "current_host": "algo-2",
            "current_instance_type": "ml.m5.xlarge",
            "hosts": ["algo-1", "algo-10", "algo-2"],
            "instance_groups": [
                {
                    "hosts": ["algo-1", "algo-10", "algo-2"],
                    "instance_group_name": "homogeneousCluster",
                    "instance_type": "ml.m5.xlarge",
                }
            ],
            "network_interface_name": "lo",
        },
        "inputdataconfig.json": {
            "train": {
                "ContentType": "text/csv",
                "RecordWrapperType": "RecordIO",
                "S3DistributionType": "ShardedByS3Key",
                "TrainingInputMode": "FastFile",
            },
            "validation": {
                "RecordWrapperType": "None",
                "S3DistributionType": "FullyReplicated",
                "TrainingInputMode": "File",
            },
        },
    }


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    write_config(folders, {"eta": "0.1", "_tuning_objective_metric": "auc"}, CLUSTER, channels(folders))
    assert read_hyperparameters(folders) == {"eta": "0.1", "_tuning_objective_metric": "auc"}
    assert read_cluster(folders) == CLUSTER
    assert read_channels(folders) == {channel.name: channel for channel in channels(folders)}


@given(values=st.dictionaries(st.text(min_size=1), st.text()))
def test_hyperparameters_survive_with_any_characters(
    values: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folders = Folders(tmp_path_factory.getbasetemp() / "characters")
    write_config(folders, values, CLUSTER, [])
    assert read_hyperparameters(folders) == values


def test_a_value_that_is_no_text_is_read_as_its_text(tmp_path: Path) -> None:
    folders = laid_out(tmp_path, hyperparameters={"a": 1, "b": True, "c": None, "d": [1], "e": "x"})
    assert read_hyperparameters(folders) == {"a": "1", "b": "true", "c": "null", "d": "[1]", "e": "x"}


def test_without_documents_there_is_one_host_and_the_folders_that_are_there(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    assert read_hyperparameters(folders) == {}
    assert read_cluster(folders) == Cluster("algo-1", ("algo-1",))
    assert read_channels(folders) == {}
    (folders.data / "train").mkdir(parents=True)
    (folders.data / "train-manifest").write_text("")
    assert read_channels(folders) == {"train": Channel("train", folders.data / "train")}


def test_an_empty_channel_document_means_no_channels(tmp_path: Path) -> None:
    folders = laid_out(tmp_path, inputdataconfig={})
    (folders.data / "stray").mkdir(parents=True)
    assert read_channels(folders) == {}


def test_local_mode_without_groups_is_tolerated(tmp_path: Path) -> None:
    folders = laid_out(
        tmp_path, resourceconfig={"current_host": "algo-1-x2k", "hosts": ["algo-2-a1b", "algo-1-x2k"]}
    )
    cluster = read_cluster(folders)
    assert cluster == Cluster("algo-1-x2k", ("algo-1-x2k", "algo-2-a1b"))
    assert (cluster.network_interface, cluster.group_name) == ("eth0", "homogeneousCluster")


def test_rank_follows_the_numbers_in_the_names_on_every_host(tmp_path: Path) -> None:
    hosts = [f"algo-{number}" for number in (10, 2, 1, 11, 3)]
    folders = laid_out(tmp_path, resourceconfig={"current_host": "algo-10", "hosts": hosts})
    cluster = read_cluster(folders)
    assert cluster.hosts == ("algo-1", "algo-2", "algo-3", "algo-10", "algo-11")
    assert (cluster.leader, cluster.index) == ("algo-1", 3)


@given(st.lists(st.text(alphabet="algo-0123456789x", min_size=1), unique=True).flatmap(st.permutations))
def test_the_order_of_hosts_does_not_depend_on_how_they_are_listed(hosts: list[str]) -> None:
    assert host_order(hosts) == host_order(sorted(hosts))


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ("{", "is no JSON"),
        ("[]", "must hold one JSON object"),
        ('{"current_host": "algo-3", "hosts": ["algo-1"]}', "'algo-3' is not among the hosts: algo-1"),
        ('{"current_host": "algo-1", "hosts": "algo-1"}', "'hosts' must be a list"),
        ('{"current_host": 1, "hosts": [1]}', "must be a list of names"),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_a_broken_resource_document_is_told_with_its_path(tmp_path: Path, document: str, told: str) -> None:
    folders = laid_out(tmp_path, resourceconfig=document)
    with pytest.raises(InputError) as caught:
        read_cluster(folders)
    assert told in str(caught.value)
    assert "resourceconfig.json" in str(caught.value)


def test_a_channel_that_is_no_object_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="channel 'train' must be an object"):
        read_channels(laid_out(tmp_path, inputdataconfig={"train": "x"}))


def test_a_document_that_is_no_text_is_told(tmp_path: Path) -> None:
    folders = laid_out(tmp_path)
    (folders.config / "hyperparameters.json").write_bytes(b"\xff")
    with pytest.raises(InputError, match="no UTF-8"):
        read_hyperparameters(folders)


def test_a_document_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    folders = laid_out(tmp_path)
    (folders.config / "hyperparameters.json").mkdir()
    with pytest.raises(PlatformError, match="cannot be read: Is a directory"):
        read_hyperparameters(folders)


def test_the_failure_file_holds_at_most_1024_characters(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    write_failure(folders, "é" * 5000)
    text = folders.failure.read_text(encoding="utf-8")
    assert len(text) == 1024
    assert text.startswith("éé")
    assert text.endswith("…")


def test_a_reason_that_fits_is_left_as_it_is() -> None:
    assert fit_failure("x" * 1024) == "x" * 1024
    assert fit_failure("x" * 1025) == "x" * 1023 + "…"


def test_a_failure_that_is_there_is_kept_unless_it_is_empty(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    folders.output.mkdir()
    folders.failure.touch()
    write_failure(folders, "first")
    write_failure(folders, "second")
    assert folders.failure.read_text() == "first"


def test_a_failure_with_broken_characters_is_written_all_the_same(tmp_path: Path) -> None:
    write_failure(Folders(tmp_path), "bad \udcff name")
    assert Folders(tmp_path).failure.read_text(encoding="utf-8") == "bad \\udcff name"


def test_a_file_is_put_in_place_whole_with_usual_rights_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "model"
    write_atomically(path, b"old")
    write_atomically(path, "né")
    assert path.read_bytes() == "né".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        write_atomically(path, b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_a_reader_never_sees_a_part(tmp_path: Path) -> None:
    path = tmp_path / "state"
    contents = {bytes([65 + number]) * 1_000_000 for number in range(2)}
    write_atomically(path, next(iter(contents)))

    def write() -> None:
        for _ in range(50):
            for content in contents:
                write_atomically(path, content)

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        assert path.read_bytes() in contents
    writer.join()
