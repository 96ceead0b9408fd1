from __future__ import annotations

import pytest

from bandstand.request.limits import HostLimits, read_limits


def test_nothing_is_limited_unless_asked() -> None:
    assert read_limits({}) == (HostLimits(), ())
    assert read_limits({"BANDSTAND_HOST_MEMORY": " "}) == (HostLimits(), ())


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512m", 512 << 20),
        ("4g", 4 << 30),
        ("1.5G", 3 << 29),
        ("2 GiB", 2 << 30),
        ("8MB", 8 << 20),
        ("9000000", 9_000_000),
    ],
)
def test_sizes_are_read_as_the_engine_reads_them(text: str, size: int) -> None:
    assert read_limits({"BANDSTAND_HOST_MEMORY": text})[0].memory == size
    assert read_limits({"BANDSTAND_HOST_SHM": text})[0].shared_memory == size


def test_all_limits_are_read() -> None:
    environment = {
        "BANDSTAND_HOST_CPUS": "1.5",
        "BANDSTAND_HOST_GPUS": "2",
        "BANDSTAND_HOST_USER": "1000:100",
    }
    assert read_limits(environment) == (HostLimits(cores=1.5, gpus=2, user="1000:100"), ())


def test_every_fault_is_told_and_leaves_no_limit() -> None:
    environment = {
        "BANDSTAND_HOST_MEMORY": "lots",
        "BANDSTAND_HOST_SHM": "1k",
        "BANDSTAND_HOST_CPUS": "0",
        "BANDSTAND_HOST_GPUS": "-1",
        "BANDSTAND_HOST_USER": "root; rm",
    }
    limits, faults = read_limits(environment)
    assert limits == HostLimits()
    assert [fault.name for fault in faults] == list(environment)
    assert [fault.found for fault in faults] == list(environment.values())
    assert all(fault.allowed and fault.fix for fault in faults)


@pytest.mark.parametrize("text", ["nan", "inf", "1e999", "", "0x10", "1_0", "٣"])
def test_a_number_of_cores_is_an_ordinary_number(text: str) -> None:
    assert read_limits({"BANDSTAND_HOST_CPUS": text})[0].cores is None


@pytest.mark.parametrize("text", ["1_0", "+1", "1.0", "٣", "9" * 5000])
def test_a_number_of_gpus_is_a_whole_number_in_plain_digits(text: str) -> None:
    limits, faults = read_limits({"BANDSTAND_HOST_GPUS": text})
    assert limits.gpus == 0
    assert [fault.name for fault in faults] == ["BANDSTAND_HOST_GPUS"]


@pytest.mark.parametrize(("text", "cores"), [("1.5", 1.5), (".5", 0.5), ("2", 2.0)])
def test_a_number_of_cores_may_have_a_fraction(text: str, cores: float) -> None:
    assert read_limits({"BANDSTAND_HOST_CPUS": text})[0].cores == cores
