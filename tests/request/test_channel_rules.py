"""Rules of the input channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bandstand.errors import PlanError
from bandstand.problem import Problem
from bandstand.request import TrainingPlan
from bandstand.request.loading import load

Change = Callable[..., dict[str, Any]]
Problems = Callable[..., list[Problem]]

CHANNEL = "InputDataConfig.0"
DATA = f"{CHANNEL}.DataSource.S3DataSource"
FILES = {
    "FileSystemId": "fs-0123456789",
    "FileSystemAccessMode": "ro",
    "FileSystemType": "EFS",
    "DirectoryPath": "/x",
}


@pytest.mark.parametrize(
    ("changes", "number", "where", "words"),
    [
        ({f"{CHANNEL}.DataSource": {}}, 406, "DataSource", "found nothing"),
        ({f"{CHANNEL}.DataSource.FileSystemDataSource": FILES}, 406, "DataSource", "S3DataSource and File"),
        ({f"{CHANNEL}.ChannelName": "validation"}, 407, "InputDataConfig[1].ChannelName", "a second time"),
        ({f"{CHANNEL}.ChannelName": "."}, 412, "InputDataConfig[0].ChannelName", "a folder can have"),
        ({f"{CHANNEL}.ChannelName": ".."}, 412, "InputDataConfig[0].ChannelName", "a folder can have"),
        ({f"{CHANNEL}.CompressionType": "Gzip"}, 408, "CompressionType", "Gzip with File"),
        ({f"{CHANNEL}.RecordWrapperType": "RecordIO"}, 408, "RecordWrapperType", "RecordIO with File"),
        ({f"{DATA}.S3DataType": "AugmentedManifestFile"}, 408, "S3DataType", "with Pipe only"),
        ({f"{DATA}.S3DataType": "AugmentedManifestFile"}, 408, "AttributeNames", "the manifest's attributes"),
        ({f"{DATA}.AttributeNames": ["a"]}, 408, "AttributeNames", "attributes with S3Prefix"),
        (
            {f"{CHANNEL}.InputMode": "FastFile", f"{DATA}.S3DataType": "ManifestFile"},
            408,
            "S3DataType",
            "ManifestFile with FastFile",
        ),
        (
            {f"{CHANNEL}.InputMode": "FastFile", f"{CHANNEL}.DataSource": {"FileSystemDataSource": FILES}},
            408,
            "InputMode",
            "FastFile with a file system",
        ),
    ],
)
def test_each_rule_of_a_channel_says_where_and_how_to_mend_it(
    training: dict[str, Any],
    assert_refused: Callable[..., None],
    changes: dict[str, Any],
    number: int,
    where: str,
    words: str,
) -> None:
    assert_refused(training, changes, number, where, words)


@pytest.mark.parametrize(
    ("changes", "repaired"),
    [
        ({f"{CHANNEL}.CompressionType": "Gzip"}, {f"{CHANNEL}.CompressionType": None}),
        ({f"{CHANNEL}.RecordWrapperType": "RecordIO"}, {f"{CHANNEL}.RecordWrapperType": None}),
        (
            {f"{DATA}.S3DataType": "AugmentedManifestFile", f"{DATA}.AttributeNames": ["source-ref"]},
            {f"{DATA}.S3DataType": "S3Prefix", f"{DATA}.AttributeNames": None},
        ),
    ],
)
def test_pipe_is_advised_where_there_is_pipe_only_and_what_is_advised_here_is_accepted(
    training: dict[str, Any],
    change: Change,
    plan_of: Callable[..., TrainingPlan],
    problems: Problems,
    changes: dict[str, Any],
    repaired: dict[str, Any],
) -> None:
    document = change(training, changes)
    (here,) = problems(document)
    assert here.number == 408
    assert "Pipe" not in here.fix
    plan_of(change(document, repaired))
    with pytest.raises(PlanError) as caught:
        load(document, on="sagemaker")
    (there,) = (problem for problem in caught.value.problems if problem.number == 408)
    assert "Set InputMode to Pipe" in there.fix


def test_a_channels_own_input_mode_counts(
    training: dict[str, Any], change: Change, plan_of: Callable[..., TrainingPlan]
) -> None:
    plan = plan_of(
        change(
            training,
            {
                f"{CHANNEL}.InputMode": "FastFile",
                f"{DATA}.S3DataDistributionType": "ShardedByS3Key",
                f"{CHANNEL}.ContentType": None,
            },
        )
    )
    train, validation = plan.channels
    assert (train.input_mode, train.distribution, train.content_type) == ("FastFile", "ShardedByS3Key", None)
    assert (validation.input_mode, validation.distribution) == ("File", "FullyReplicated")
    assert validation.content_type == "text/csv"
