from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bandstand.errors import PlatformError
from bandstand.runs.ownership import Claim, Renewal, alive, forget

CLAIM = """
import pathlib, sys
from bandstand.runs.ownership import Claim
from bandstand.runs.record import Record
with Record.open(pathlib.Path(sys.argv[1])) as record:
    claim = Claim.make(record)
    print(claim.owner, flush=True)
    sys.stdin.read()
"""


def test_a_claim_lives_as_long_as_its_process_and_no_longer(record):
    words = [sys.executable, "-c", CLAIM, str(record.home)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        owner = process.stdout.readline().strip()
        assert alive(record, owner)
        forget(record)
        assert alive(record, owner)
        process.kill()
        process.wait()
    assert not alive(record, owner)
    forget(record)
    assert record.read("SELECT * FROM owners") == []
    assert list((record.home / "owners").iterdir()) == []


def test_two_claims_of_one_process_are_kept_apart(record):
    with Claim.make(record) as one, Claim.make(record) as other:
        assert one.owner != other.owner
        one_alive = alive(record, one.owner)
    assert one_alive
    assert not alive(record, one.owner)
    assert not alive(record, other.owner)


def test_a_claim_that_cannot_be_written_is_told_in_words(record):
    (record.home / "owners").write_text("in the way")
    with pytest.raises(PlatformError, match="cannot be written"):
        Claim.make(record)


def test_leases_are_renewed_until_a_job_is_taken_off_and_a_failure_stops_nobody_else(tmp_path):
    renewed: list[Path] = []
    enough = threading.Event()

    def renew(folder: Path) -> None:
        if folder.name == "gone":
            raise FileNotFoundError(folder)
        renewed.append(folder)
        if len(renewed) == 3:
            enough.set()

    with Renewal(renew, seconds=0.001) as renewal:
        renewal.add(tmp_path / "gone")
        renewal.add(tmp_path / "job")
        assert enough.wait(30)
        renewal.remove(tmp_path / "job")
        renewal.remove(tmp_path / "job")
    assert set(renewed) == {tmp_path / "job"}
