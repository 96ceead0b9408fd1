"""The job file's keys and their types, said once: for reading, for editors and for the docs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_wrap_validator_function

from bandstand.hyperparameters import encode


class WrittenFloat(float):
    """A number of a job file that remembers how it was written: `1e-5` stays `1e-5`."""

    text: str

    def __new__(cls, text: str) -> WrittenFloat:
        """Read the number, and keep its text without the underscores that TOML allows."""
        number = super().__new__(cls, text)
        number.text = text.replace("_", "")
        return number

    def __deepcopy__(self, memo: object) -> WrittenFloat:
        return self


def as_text(value: object) -> str:
    """Return a value of a job file as the text that a request carries."""
    return value.text if isinstance(value, WrittenFloat) else encode(value)


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticCustomError("number", "a number")
    return value


def _scalar(value: object) -> object:
    if not isinstance(value, str | bool | int | float):
        raise PydanticCustomError("scalar", "a text, a number, true or false")
    return value


def _setting(value: object) -> object:
    if isinstance(value, list):
        return [_setting(item) for item in value]
    if isinstance(value, dict):
        return {name: _setting(item) for name, item in value.items()}
    if not isinstance(value, str | bool | int | float):
        raise PydanticCustomError("setting", "a text, a number, true or false, a list, or a table of these")
    return value


_SCALARS = {"type": ["string", "number", "boolean"]}
Number = Annotated[Any, BeforeValidator(_number), WithJsonSchema({"type": "number"})]
Scalar = Annotated[Any, BeforeValidator(_scalar), WithJsonSchema(_SCALARS)]
Setting = Annotated[
    Any,
    BeforeValidator(_setting),
    WithJsonSchema({"type": ["string", "number", "boolean", "array", "object"]}),
]


class Table(BaseModel):
    """A table of a job file: keys of exactly these types, and no others."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, title=None)


class Channel(Table):
    """One input channel."""

    path: str = Field(min_length=1, description="A folder or file, relative to the job file; or `s3://`.")
    type: str | None = Field(
        default=None,
        description="What the data is: `csv`, `libsvm`, `parquet`, or a content type such as `text/csv`.",
    )
    sharded: bool = Field(
        default=False, description="Whether each host gets its share of the files, rather than all."
    )


class Cluster(Table):
    """The hosts of one training job."""

    instance_type: str = Field(default="ml.m5.xlarge", description="What each host is on SageMaker.")
    hosts: int = Field(default=1, description="How many hosts.")
    ranks: int | None = Field(default=None, description="Processes per host; 1 if not given.")
    threads: int | None = Field(
        default=None,
        description="Threads per rank; if not given, this machine's cores shared out over all ranks.",
    )
    volume_gb: int = Field(default=30, description="Disk per host on SageMaker, in GB.")


class Tuning(Table):
    """How settings are tried; without this table the job is one training job."""

    metric: str = Field(description="The objective, by its metric's name.")
    goal: Literal["maximize", "minimize"] | None = Field(
        default=None, description="Which way is better; follows from well-known metrics' names."
    )
    strategy: Literal["hyperband", "hyperband-tpe", "random", "bayesian", "grid"] = Field(
        default="hyperband",
        description="How settings are chosen and jobs are stopped; `hyperband-tpe` is for this machine only.",
    )
    min_resource: int | None = Field(
        default=None,
        description="Hyperband: objective reports before which no job is stopped; 1 if not given.",
    )
    max_resource: int | None = Field(
        default=None,
        description=(
            "Hyperband: objective reports after which a job is done; follows from a static hyperparameter "
            "called epochs, numepochs, n-epochs, n_epochs or num_epochs."
        ),
    )
    jobs: int | None = Field(
        default=None,
        description="Training jobs in all; needed, but for `grid`, which has one per combination.",
    )
    parallel: int = Field(default=1, description="Training jobs at a time, at most.")
    early_stopping: Literal["off", "auto"] = Field(
        default="off",
        description="`auto`: the median rule stops jobs that are worse than half of the earlier ones; "
        "`off` with Hyperband.",
    )
    target: Number | None = Field(
        default=None, description="The objective at which the tuning job is complete; the rest is stopped."
    )
    not_improving: int | None = Field(
        default=None,
        description="Training jobs, at least 3, that gain less than 1 % before the tuning job is complete.",
    )
    convergence: bool = Field(
        default=False, description="Whether the tuning job is complete when the search has converged."
    )
    warm_start: list[str] | None = Field(
        default=None,
        description="Names of 1 to 5 earlier tuning jobs to begin with; `bayesian` and `hyperband-tpe` learn "
        "from them.",
    )
    warm_start_type: Literal["identical", "transfer"] = Field(
        default="identical",
        description="Whether data and algorithm are those of the earlier tuning jobs; `transfer` if not.",
    )
    seed: int | None = Field(default=None, description="Seed of the settings; drawn anew if not given.")


class Span(Table):
    """The values of one tuned hyperparameter: one of integer, continuous or categorical."""

    integer: list[Number] | None = Field(default=None, description="The least and the greatest whole number.")
    continuous: list[Number] | None = Field(default=None, description="The least and the greatest number.")
    categorical: list[Scalar] | None = Field(default=None, description="The words to choose from.")
    scale: Literal["auto", "linear", "log", "reverse-log"] | None = Field(
        default=None,
        description="How tries are spread: `log` needs bounds above 0, `reverse-log` 0 <= bounds < 1.",
    )


DEFAULT = Span()
"""Stands for `"default"`: the range that the program declares."""


class SpanOrDefault:
    """Lets a range be the word `"default"` instead of a table."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Read the word before the table is."""
        return no_info_wrap_validator_function(_span, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Tell editors of both."""
        return {"anyOf": [handler(core), {"const": "default"}]}


def _span(value: object, handler: ValidatorFunctionWrapHandler) -> Span:
    if value == "default":
        return DEFAULT
    if isinstance(value, str):
        raise PydanticCustomError("span", 'a table such as { continuous = [0.1, 1.0] }, or "default"')
    span: Span = handler(value)
    return span


class Stopping(Table):
    """How long jobs may run."""

    job_seconds: int = Field(default=86_400, description="One training job.")
    spot_seconds: int | None = Field(
        default=None,
        description="Managed spot training: one training job with all its waiting and interruptions; not "
        "less than `job_seconds`. Without it, no spot instances.",
    )
    tuning_seconds: int | None = Field(default=None, description="The whole tuning job: 120 to 15768000.")


class JobFile(Table):
    """A job file: one training job, or with the table `tuning` one tuning job."""

    name: str | None = Field(default=None, description="The job's name; the file's name if not given.")
    image: str | None = Field(
        default=None,
        description="The training image; `bandstand:latest` if not given and `program` or `algorithm` is.",
    )
    program: str | None = Field(default=None, min_length=1, description="The script to run, below `code`.")
    code: str | None = Field(
        default=None,
        min_length=1,
        description="The folder (or tar.gz) with the program; the program's own folder if not given.",
    )
    role: str | None = Field(
        default=None, description="The ARN of the role for SageMaker; not needed on this machine."
    )
    output: str = Field(
        default="out", description="Where models go: a folder, relative to the job file, or `s3://`."
    )
    checkpoints: str | None = Field(
        default=None, min_length=1, description="Where checkpoints are kept: a folder or `s3://`."
    )
    hyperparameters: dict[str, Setting] = Field(
        default={}, description="Static hyperparameters, kept as written."
    )
    channels: dict[str, Channel] = Field(default={}, description="Input channels by name.")
    cluster: Cluster = Field(default=Cluster(), description="The hosts.")
    tuning: Tuning | None = Field(
        default=None, description="How settings are tried; without it the job is one training job."
    )
    ranges: dict[str, Annotated[Span, SpanOrDefault()]] = Field(
        default={},
        description=(
            'Tuned hyperparameters by name. `NAME = "default"` takes the range that the program declares, '
            '`"*" = "default"` those of all that are not static.'
        ),
    )
    metrics: dict[str, str] = Field(
        default={}, description="Patterns by metric; if none is given, those of Bandstand's metric line."
    )
    environment: dict[str, Scalar] = Field(default={}, description="Variables for the hosts.")
    tags: dict[str, Scalar] = Field(default={}, description="Tags of the job.")
    stopping: Stopping = Field(default=Stopping(), description="Limits in seconds.")
