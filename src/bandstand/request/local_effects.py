"""What each member of a request does on this machine: it is honoured, has no effect, or is refused.

Paths leave list positions out; a definition's paths hold for a training job's request as well. A member
that is in none of the tables is refused, so that nothing is ignored in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

Path = tuple[str, ...]


@dataclass(frozen=True)
class Refusal:
    """Why a member is refused here.

    Args:
        number: The rule.
        allowed: What this release can run.
        fix: What to do.
        when: Tells for which values; always, if None.
        from_buckets: Whether `s3://` is fine after all where this machine has an S3 of its own.
    """

    number: int
    allowed: str
    fix: str
    when: Callable[[object], bool] | None = None
    from_buckets: bool = False


def _elsewhere(value: object) -> bool:
    return isinstance(value, str) and not value.startswith("file:")


def _is(*words: object) -> Callable[[object], bool]:
    return lambda value: value in words


def _own_folder(value: object) -> bool:
    return value not in ("/opt/ml/checkpoints", "/opt/ml/checkpoints/")


_LOCAL = Refusal(
    613,
    "file:// and an absolute path",
    "Copy what it holds here and name the copy.",
    _elsewhere,
    from_buckets=True,
)
_OUTPUT = Refusal(613, "file:// and an absolute path", "Name a folder of this machine.", _elsewhere)
_PIPE = Refusal(611, "File or FastFile", "Set it to File.", _is("Pipe"))
_FILES = Refusal(612, "S3Prefix with file://", "Name a folder or file of this machine.")
_SERVICE = Refusal(622, "the training job itself", "Take it out to run here.")
_START = Refusal(
    618,
    "script mode",
    "Take it out, and name the program by sagemaker_program and sagemaker_submit_directory.",
)

_SOURCE = ("InputDataConfig", "DataSource")
_DATA = (*_SOURCE, "S3DataSource")
_RESOURCES = ("ResourceConfig", "HyperParameterTuningResourceConfig")
_CONFIG = ("HyperParameterTuningJobConfig",)
_CRITERIA = (*_CONFIG, "TuningJobCompletionCriteria")

HONOURED: frozenset[Path] = frozenset(
    {
        ("TrainingJobName",),
        ("AlgorithmSpecification",),
        ("AlgorithmSpecification", "TrainingImage"),
        ("AlgorithmSpecification", "TrainingInputMode"),
        ("AlgorithmSpecification", "MetricDefinitions"),
        ("HyperParameters",),
        ("StaticHyperParameters",),
        ("HyperParameterRanges",),
        ("TuningObjective",),
        ("InputDataConfig",),
        ("InputDataConfig", "ChannelName"),
        ("InputDataConfig", "ContentType"),
        ("InputDataConfig", "CompressionType"),
        ("InputDataConfig", "RecordWrapperType"),
        ("InputDataConfig", "InputMode"),
        _SOURCE,
        _DATA,
        (*_DATA, "S3DataType"),
        (*_DATA, "S3Uri"),
        (*_DATA, "S3DataDistributionType"),
        (*_DATA, "AttributeNames"),
        ("OutputDataConfig",),
        ("OutputDataConfig", "S3OutputPath"),
        ("OutputDataConfig", "CompressionType"),
        *((name,) for name in _RESOURCES),
        *((name, member) for name in _RESOURCES for member in ("InstanceType", "InstanceCount")),
        *((name, "InstanceConfigs") for name in _RESOURCES),
        *((name, "InstancePreferences") for name in _RESOURCES),
        *(
            (name, member, inner)
            for name in _RESOURCES
            for member in ("InstanceConfigs", "InstancePreferences")
            for inner in ("InstanceType", "InstanceCount")
        ),
        ("StoppingCondition",),
        ("StoppingCondition", "MaxRuntimeInSeconds"),
        ("StoppingCondition", "MaxWaitTimeInSeconds"),
        ("EnableManagedSpotTraining",),
        ("RetryStrategy",),
        ("RetryStrategy", "MaximumRetryAttempts"),
        ("CheckpointConfig",),
        ("CheckpointConfig", "S3Uri"),
        ("CheckpointConfig", "LocalPath"),
        ("Environment",),
        ("Tags",),
        ("HyperParameterTuningJobName",),
        _CONFIG,
        (*_CONFIG, "Strategy"),
        (*_CONFIG, "StrategyConfig"),
        (*_CONFIG, "HyperParameterTuningJobObjective"),
        (*_CONFIG, "ResourceLimits"),
        (*_CONFIG, "ParameterRanges"),
        ("WarmStartConfig",),
        (*_CONFIG, "TrainingJobEarlyStoppingType"),
        (*_CONFIG, "RandomSeed"),
        _CRITERIA,
        (*_CRITERIA, "TargetObjectiveMetricValue"),
        (*_CRITERIA, "BestObjectiveNotImproving"),
        (*_CRITERIA, "BestObjectiveNotImproving", "MaxNumberOfTrainingJobsNotImproving"),
        (*_CRITERIA, "ConvergenceDetected"),
        (*_CRITERIA, "ConvergenceDetected", "CompleteOnConvergence"),
        ("TrainingJobDefinition",),
        ("TrainingJobDefinitions",),
        ("DefinitionName",),
    }
)
"""Members that do here what they do on SageMaker."""

WHOLE: frozenset[Path] = frozenset(
    {
        ("AlgorithmSpecification", "MetricDefinitions"),
        ("HyperParameters",),
        ("StaticHyperParameters",),
        ("HyperParameterRanges",),
        ("TuningObjective",),
        ("Environment",),
        ("Tags",),
        (*_CONFIG, "StrategyConfig"),
        (*_CONFIG, "HyperParameterTuningJobObjective"),
        (*_CONFIG, "ResourceLimits"),
        (*_CONFIG, "ParameterRanges"),
        ("WarmStartConfig",),
        (*_DATA, "AttributeNames"),
    }
)
"""Members that are honoured with all that is in them."""

WITHOUT_EFFECT: Mapping[Path, str] = MappingProxyType(
    {
        ("RoleArn",): "no role is taken on",
        ("OutputDataConfig", "KmsKeyId"): "files are not encrypted",
        **{(name, "VolumeSizeInGB"): "the disk is this machine's" for name in _RESOURCES},
        **{(name, "VolumeKmsKeyId"): "files are not encrypted" for name in _RESOURCES},
        **{(name, "InstanceConfigs", "VolumeSizeInGB"): "the disk is this machine's" for name in _RESOURCES},
        ("ResourceConfig", "KeepAlivePeriodInSeconds"): "there is no warm pool; AMT clears it as well",
        **{(name, "TrainingPlanArn"): "no capacity is reserved" for name in _RESOURCES},
        **{(name, "InstancePlacementConfig"): "all hosts are this machine" for name in _RESOURCES},
        **{
            (name, "InstancePreferences", "TrainingPlanArns"): "no capacity is reserved"
            for name in _RESOURCES
        },
        **{(name, "AllocationStrategy"): "the first of the instances is taken" for name in _RESOURCES},
        ("StoppingCondition", "MaxPendingTimeInSeconds"): "nothing waits for capacity",
        ("VpcConfig",): "hosts use this machine's network",
        ("EnableInterContainerTrafficEncryption",): "traffic between hosts does not leave this machine",
        ("InputDataConfig", "ShuffleConfig"): "files have no order",
        ("AlgorithmSpecification", "TrainingImageConfig"): "no image is pulled",
        ("AlgorithmSpecification", "EnableSageMakerMetricsTimeSeries"): "every point is recorded anyway",
        ("DebugHookConfig",): "the debugger is a service of its own",
        ("DebugRuleConfigurations",): "the debugger is a service of its own",
        ("ProfilerConfig",): "the profiler is a service of its own",
        ("ProfilerRuleConfigurations",): "the profiler is a service of its own",
        ("TensorBoardOutputConfig",): "nothing is copied while a job runs",
        ("ExperimentConfig",): "experiments are a service of their own",
        ("RemoteDebugConfig",): "the hosts are on this machine already",
        ("InfraCheckConfig",): "there is no fleet to check",
        ("SessionChainingConfig",): "no role is taken on",
    }
)
"""Members that are accepted, without effect here, and why."""

REFUSED: Mapping[Path, Refusal] = MappingProxyType(
    {
        ("Autotune",): Refusal(606, "none", "Take it out, and give ranges and limits."),
        ("AlgorithmSpecification", "TrainingInputMode"): _PIPE,
        ("InputDataConfig", "InputMode"): _PIPE,
        ("InputDataConfig", "CompressionType"): Refusal(
            611, "None", "Unpack the files, and set it to None.", _is("Gzip")
        ),
        ("InputDataConfig", "RecordWrapperType"): Refusal(611, "None", "Set it to None.", _is("RecordIO")),
        (*_DATA, "S3DataType"): Refusal(
            612,
            "S3Prefix or ManifestFile",
            "Name a folder, or list the files in a manifest.",
            _is("AugmentedManifestFile", "Converse"),
        ),
        (*_DATA, "S3Uri"): _LOCAL,
        (*_DATA, "ModelAccessConfig"): _FILES,
        (*_DATA, "HubAccessConfig"): _FILES,
        (*_DATA, "InstanceGroupNames"): Refusal(616, "none", "Take it out: all hosts are of one kind."),
        (*_SOURCE, "FileSystemDataSource"): _FILES,
        (*_SOURCE, "DatasetSource"): _FILES,
        ("OutputDataConfig", "S3OutputPath"): _OUTPUT,
        ("OutputDataConfig", "CompressionType"): Refusal(614, "GZIP", "Set it to GZIP.", _is("NONE")),
        ("CheckpointConfig", "S3Uri"): _OUTPUT,
        ("CheckpointConfig", "LocalPath"): Refusal(615, "/opt/ml/checkpoints", "Leave it out.", _own_folder),
        **{
            (name, "InstanceGroups"): Refusal(
                616, "InstanceType and InstanceCount", "Give one type and a number of hosts."
            )
            for name in _RESOURCES
        },
        ("EnableNetworkIsolation",): Refusal(
            617, "false", "Take it out to run here: hosts can reach what this machine can.", _is(True)
        ),
        ("AlgorithmSpecification", "ContainerEntrypoint"): _START,
        ("AlgorithmSpecification", "ContainerArguments"): _START,
        ("AlgorithmSpecification", "AlgorithmName"): Refusal(
            619, "TrainingImage", "Name an image, and the program."
        ),
        ("ServerlessJobConfig",): _SERVICE,
        ("MlflowConfig",): _SERVICE,
        ("ModelPackageConfig",): _SERVICE,
    }
)
"""Members that SageMaker takes and this release cannot run, or some of their values."""
