"""The hyperparameters of the built-in Horovod classifier, declared once: for its start, `plan`, and the docs.

`python -m bandstand_container.horovod_ring --export-hyperparameters` writes the file that `plan` reads.
"""

from __future__ import annotations

from pathlib import Path

from bandstand.hyperparameter_by_type import hyperparameter as hp
from bandstand.hyperparameter_file import ENDING
from bandstand.hyperparameter_schema import Schema

FILE = Path(__file__).with_name(f"horovod{ENDING}")
"""Where the declarations stand for readers outside of the image."""

BATCH_SIZE = 64
"""Rows of a batch on all ranks, if nothing is said."""

SCHEMA = Schema(
    [
        hp("algorithm", ["horovod"], default="horovod", tunable=False, help="Names this algorithm."),
        hp(
            "epochs",
            int,
            1,
            default=10,
            help="Times that every row is trained on; an epoch is an iteration of the metric line.",
        ),
        hp(
            "batch_size",
            int,
            1,
            default=None,
            tune=(16, 512),
            scale="log",
            help=f"Rows of a step on all ranks together; {BATCH_SIZE} if neither this nor "
            "per_rank_batch_size is given.",
        ),
        hp(
            "per_rank_batch_size",
            int,
            1,
            default=None,
            tune=(16, 512),
            scale="log",
            help="Rows of a step on each rank, so that a step has this many times the ranks.",
        ),
        hp(
            "learning_rate",
            float,
            above=0,
            default=0.1,
            tune=(1e-3, 1.0),
            scale="log",
            help="The optimizer's step size.",
        ),
        hp(
            "optimizer",
            ["sgd", "adam", "adamw", "rmsprop"],
            default="sgd",
            tune=["sgd", "adam"],
            help="torch.optim's, by its name in small letters.",
        ),
        hp(
            "momentum",
            float,
            0,
            below=1,
            default=0.0,
            tune=(0.0, 0.95),
            scale="linear",
            help="Of sgd and rmsprop; the others have their own.",
        ),
        hp("weight_decay", float, 0, default=0.0, tune=(1e-6, 1e-2), scale="log", help="The optimizer's."),
        hp(
            "hidden",
            list[int],
            1,
            default=[128],
            tune=["64", "128", "256", "128,64"],
            help="Units of each hidden layer, as in 256,128; each is followed by ReLU and dropout.",
        ),
        hp(
            "dropout",
            float,
            0,
            below=1,
            default=0.0,
            tune=(0.0, 0.5),
            scale="linear",
            help="Share of a hidden layer's units that a step leaves out.",
        ),
        hp(
            "lr_scaling",
            ["none", "linear", "sqrt"],
            default="none",
            help="With per_rank_batch_size: the learning rate grows with the number of ranks, or its root.",
        ),
        hp(
            "warmup_epochs",
            float,
            0,
            default=0.0,
            help="Epochs over which the learning rate grows from the given to the scaled one.",
        ),
        hp(
            "compression",
            ["none", "fp16"],
            default="none",
            tunable=False,
            help="fp16 sends gradients in half precision.",
        ),
        hp(
            "seed",
            int,
            0,
            2**31 - 1,
            default=0,
            tunable=False,
            help="Of the first weights, the order of rows, and dropout.",
        ),
        hp(
            "ring",
            ["auto", "horovod", "torch"],
            default="auto",
            tunable=False,
            help="Whose ring-allreduce: auto is Horovod's where it is installed, else torch's own.",
        ),
        hp(
            "stall_seconds",
            float,
            2,
            default=300.0,
            tunable=False,
            help="How long ranks wait for one that stays away from a step before the job is given up.",
        ),
    ]
)
