"""The numbered rules: what each number in a problem stands for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CHAPTERS: Mapping[int, tuple[str, str]] = MappingProxyType(
    {
        1: ("Reading", "The request can be read, and a job file says what a job needs."),
        2: (
            "The service model",
            "The document is as SageMaker's own service model has it. boto3 enforces members and types only.",
        ),
        3: ("Tuning jobs", "Objective, ranges, strategy and limits of a tuning job fit together."),
        4: ("Training jobs", "Image, channels, instances and limits of a training job fit together."),
        5: (
            "Metrics",
            (
                "The patterns read numbers from the log, uncut. `bandstand local` takes, as SageMaker does, a"
                " pattern with a second group, or one that cuts `7e-05` but not `0.8132`, and says so on its"
                " terminal."
            ),
        ),
        6: (
            "Not on this machine yet",
            (
                "SageMaker takes what is refused here; this release cannot run it here, or not on processes."
                "\n`bandstand local` has an S3 of its own, so that it takes `s3://` as well (rule 613)."
            ),
        ),
        7: ("On SageMaker", "What the service itself needs, and a job of this machine does not."),
    }
)
"""Chapter (the first digit of a rule's number) to its title and what its rules have in common."""

RULES: Mapping[int, str] = MappingProxyType(
    {
        101: "The request is a file that can be read, in UTF-8.",
        102: "A job file is TOML.",
        103: "A document is JSON, with each member once and finite numbers.",
        104: "A document is a CreateHyperParameterTuningJob or a CreateTrainingJob request.",
        105: "A job file has known keys only.",
        106: "A job file's value is of the key's type.",
        107: "A job file has the keys that a job needs.",
        108: "Only one key says it: a program is given by `program` or by its hyperparameters, not by both.",
        109: "Options of the command line fit the request; a document is passed on unchanged.",
        201: "A member is one that the request has.",
        202: "A required member is there.",
        203: "A value is of the member's type.",
        204: "A text matches the member's pattern, from its first to its last character.",
        205: "A word is one of those listed.",
        206: "A text, list or map is neither too short nor too long.",
        207: "A number is within the member's limits.",
        208: "A location is `s3://` or, on this machine, `file://` and an absolute path.",
        209: "A text has characters that can be passed on: no NUL, and no half of a UTF-16 pair.",
        301: "A tuning job has either one training job definition or a list of them.",
        302: "A tuning job has an objective, in the place for it.",
        303: "The objective is the name of one of the metric definitions.",
        304: "A tuning job has something to tune, in the place for it.",
        305: "A hyperparameter has one range.",
        306: "A hyperparameter is static or tuned, not both.",
        307: "A tuning job has at most 30 ranges in all.",
        308: "A job has at most 100 hyperparameters, `_tuning_objective_metric` and tuned ones included.",
        309: "A hyperparameter's name is not empty and not one that AMT sets.",
        310: "A bound is a finite number; a whole one, of 64 bits, in an integer range.",
        311: "The lower bound of a range is less than its upper bound.",
        312: "A scale fits its range.",
        313: "A category is listed once.",
        314: "Hints of AutoParameters need Autotune.",
        321: "Hyperband's settings need the strategy Hyperband.",
        322: "With Hyperband, early stopping is Off.",
        323: "With Hyperband, the maximum resource is given, or follows from a static hyperparameter.",
        324: "With Hyperband, the minimum resource is not above the maximum.",
        325: "With Hyperband, the maximum resource is at most 20,000.",
        326: "Grid has categorical ranges only, and as many training jobs as there are combinations.",
        327: "At most 100 training jobs run at a time.",
        328: "At most 750 training jobs, or 10,000 with Random.",
        329: "A completion criterion says when it is met, in numbers that an objective can have.",
        331: "Each definition of a list has a name of its own.",
        332: "Several definitions go with neither warm start nor early stopping.",
        333: "A parent of a warm start is named once.",
        334: "Several definitions are all to maximize their objectives, or all to minimize them.",
        401: "A job has either a training image or an algorithm.",
        402: "A job says what it runs on in one place.",
        403: "A job has at least one instance, of one type.",
        404: "The longest wait is given with spot instances only, and not less than the longest run.",
        405: "A job runs for at most 28 days.",
        406: "A channel has one source of data.",
        407: "A channel's name is used once.",
        408: "Compression, record wrapping, attributes and file systems fit the channel's input mode.",
        409: "Definitions have at most 48 environment variables in all.",
        410: "A tag's key is used once and does not begin with `aws:`.",
        411: "What Bandstand reads from the environment is what it expects there.",
        412: "A channel's name can be that of its folder, `/opt/ml/input/data/NAME`: neither `.` nor `..`.",
        421: "Something says which program runs.",
        422: "The program exists, and can be run.",
        423: "A channel's folder, file or prefix is there and holds something.",
        424: "The built-in XGBoost has the channels it reads and an objective it reports.",
        425: "No job writes its output or checkpoints into a channel.",
        426: "Output and checkpoints are folders, there already or to be made.",
        427: "A manifest is a JSON list: a prefix, then names, each once and of a file that is there.",
        431: "A hyperparameter is one that the program declares.",
        432: "A hyperparameter's value is of the declared type and within the declared range.",
        433: "A range holds values that the hyperparameter may have; its bounds are among them.",
        434: "A hyperparameter with a range is one that may be tuned.",
        435: "A hyperparameter that the program needs is given or tuned.",
        436: "A hyperparameter is given under one of its names.",
        437: "A default range is one that the program declares.",
        438: "The file of a program's hyperparameters is of CreateAlgorithm's shape, and fits together.",
        501: "A metric's pattern reads one number, uncut.",
        502: "A metric is defined once.",
        503: "No metrics are defined for AWS's XGBoost image, which brings its own: SageMaker refuses them.",
        601: "What chooses settings is installed: optuna, for Bayesian and for hyperband-tpe.",
        606: "No Autotune.",
        607: "The number of training jobs is given; with Grid it may be left out.",
        611: "Input modes: File and FastFile.",
        612: "Channels: all files below a prefix, or those that a manifest lists, from this machine.",
        613: "Locations: `file://`.",
        614: "The model is archived as `model.tar.gz`.",
        615: "Checkpoints are at `/opt/ml/checkpoints`.",
        616: "One kind of host per job.",
        617: "No network isolation on processes.",
        618: "On processes a program is started as in script mode, not by an entry point of the container.",
        619: "The algorithm is in the image, not on a market place.",
        620: "Built-in algorithms: xgboost, horovod.",
        621: "The built-in XGBoost reads CSV, libsvm and Parquet.",
        622: "No services beside the training job.",
        623: "What a host may use (`BANDSTAND_HOST_*`) is a size, a number or a user.",
        701: "On SageMaker a job has a role that it takes on.",
        702: "On SageMaker an image is named with its registry.",
        703: "On SageMaker the addresses of a document are `s3://`; it is passed on unchanged.",
        704: "On SageMaker code comes with the job, or with the image: Bandstand's image reads no `s3://`.",
    }
)
"""Number to what must be so."""
