from __future__ import annotations

from bandstand.backends.ending import Ending, Lease, asked


def test_the_first_cause_stays_and_the_earliest_time_counts() -> None:
    first = asked(None, "stop", now=100.0, grace=120.0, detail="asked")
    assert first == Ending("stop", 220.0, "asked")
    assert asked(first, "owner", now=110.0, grace=5.0, detail="lost") == Ending("stop", 115.0, "asked")
    assert asked(first, "failure", now=110.0, grace=600.0) == first


def test_asking_again_and_again_does_not_put_the_end_off() -> None:
    end = asked(None, "stop", now=0.0, grace=10.0)
    for now in range(1, 20):
        end = asked(end, "stop", now=float(now), grace=10.0)
    assert end.deadline == 10.0


def test_a_negative_grace_is_none() -> None:
    assert asked(None, "stop", now=5.0, grace=-3.0).deadline == 5.0


def test_each_cause_has_its_last_status() -> None:
    ends = {cause: asked(None, cause, 0.0, 0.0) for cause in ("stop", "owner", "runtime", "failure")}
    assert {cause: (end.status, end.secondary_status) for cause, end in ends.items()} == {
        "stop": ("Stopped", "Stopped"),
        "owner": ("Stopped", "Stopped"),
        "runtime": ("Stopped", "MaxRuntimeExceeded"),
        "failure": ("Failed", "Failed"),
    }
    assert [cause for cause, end in ends.items() if not end.is_wanted] == ["failure"]


def test_a_lease_runs_out_when_its_mark_has_not_changed_for_its_time() -> None:
    lease = Lease(10.0, now=0.0)
    assert not lease.is_lost(1, 9.0)
    assert not lease.is_lost(1, 18.9)
    assert lease.is_lost(1, 19.0)


def test_any_change_of_the_mark_renews_a_lease_even_backwards() -> None:
    lease = Lease(10.0, now=0.0)
    for now, mark in ((5.0, 100), (14.0, 50), (23.0, 60)):
        assert not lease.is_lost(mark, now)
    assert lease.is_lost(60, 33.0)


def test_a_mark_that_cannot_be_read_is_no_renewal() -> None:
    lease = Lease(10.0, now=0.0)
    assert not lease.is_lost(1, 1.0)
    assert not lease.is_lost(None, 10.0)
    assert lease.is_lost(None, 11.0)
