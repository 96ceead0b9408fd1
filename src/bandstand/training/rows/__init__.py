"""Rows of CSV channels: each one used once, whatever the number of hosts, files and sizes.

    from bandstand.training import rows

    run = bandstand.start()
    channels = rows.load(run, ["train"], optional=["validation"])
    mine = channels["train"].rows       # this rank's: mine.labels, mine.features

Rows are label first, with no header line, as SageMaker's built-in algorithms expect CSV.
"""

from bandstand.training.rows.faults import Fault
from bandstand.training.rows.files import ChannelFiles, DataFile, list_files
from bandstand.training.rows.loading import LoadedChannel, load, rank_names
from bandstand.training.rows.ranges import ByteRange, split
from bandstand.training.rows.reading import Reading, Rows, read_rows

__all__ = [
    "ByteRange",
    "ChannelFiles",
    "DataFile",
    "Fault",
    "LoadedChannel",
    "Reading",
    "Rows",
    "list_files",
    "load",
    "rank_names",
    "read_rows",
    "split",
]
