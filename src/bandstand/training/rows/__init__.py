"""Rows of CSV, libsvm and Parquet channels: each used once, whatever the number of hosts, files and sizes.

    from bandstand.training import rows

    run = bandstand.start()
    channels = rows.load(run, ["train"], optional=["validation"], columns=rows.Columns(label="3"))
    mine = channels["train"].rows       # this rank's: mine.labels, mine.features, mine.weights, mine.groups

Without a word on columns, rows are label first with no header, as SageMaker's built-in algorithms expect CSV.
"""

from bandstand.training.rows.columns import Columns
from bandstand.training.rows.files import ChannelFiles, DataFile, list_files
from bandstand.training.rows.loading import LoadedChannel, load, rank_names
from bandstand.training.rows.places import Fault, Place
from bandstand.training.rows.ranges import ByteRange, split
from bandstand.training.rows.reading import read_rows, read_share
from bandstand.training.rows.shares import share_of
from bandstand.training.rows.table import Reading, Rows

__all__ = [
    "ByteRange",
    "ChannelFiles",
    "Columns",
    "DataFile",
    "Fault",
    "LoadedChannel",
    "Place",
    "Reading",
    "Rows",
    "list_files",
    "load",
    "rank_names",
    "read_rows",
    "read_share",
    "share_of",
    "split",
]
