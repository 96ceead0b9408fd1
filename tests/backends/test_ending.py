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
    causes = ("stop", "owner", "runtime", "wait", "interruption", "failure")
    ends = {cause: asked(None, cause, 0.0, 0.0) for cause in causes}
    assert {cause: (end.status, end.secondary_status) for cause, end in ends.items()} == {
        "stop": ("Stopped", "Stopped"),
        "owner": ("Stopped", "Stopped"),
        "runtime": ("Stopped", "MaxRuntimeExceeded"),
        "wait": ("Stopped", "MaxWaitTimeExceeded"),
        "interruption": ("Stopped", "Interrupted"),
        "failure": ("Failed", "Failed"),
    }
    assert [cause for cause, end in ends.items() if not end.is_wanted] == ["failure"]


def test_any_other_cause_takes_the_place_of_an_interruption_which_is_no_end_of_the_job() -> None:
    first = asked(None, "interruption", now=0.0, grace=120.0, detail="interrupted")
    assert asked(first, "stop", now=10.0, grace=120.0, detail="asked") == Ending("stop", 120.0, "asked")
    assert asked(first, "interruption", now=10.0, grace=5.0) == Ending("interruption", 15.0)
    stopped = asked(None, "stop", now=0.0, grace=120.0, detail="asked")
    assert asked(stopped, "interruption", now=0.0, grace=5.0) == Ending("stop", 5.0, "asked")


def looks(lease: Lease, mark: int | None, *times: float) -> list[bool]:
    return [lease.is_lost(mark, now) for now in times]


def test_a_lease_runs_out_when_its_mark_has_not_changed_for_its_time() -> None:
    lease = Lease(10.0, now=0.0)
    assert looks(lease, 1, 4.0, 9.0, 13.9, 14.0) == [False, False, False, True]
    assert not lease.is_lost(2, 20.0)


def test_any_change_of_the_mark_renews_a_lease_even_backwards() -> None:
    lease = Lease(10.0, now=0.0)
    for now, mark in ((5.0, 100), (10.0, 100), (14.0, 50), (19.0, 50), (23.0, 60)):
        assert not lease.is_lost(mark, now)
    assert looks(lease, 60, 28.0, 33.0) == [False, True]


def test_a_mark_that_cannot_be_read_is_no_renewal() -> None:
    lease = Lease(10.0, now=0.0)
    assert not lease.is_lost(1, 1.0)
    assert looks(lease, None, 6.0, 10.0, 11.0) == [False, False, True]


def test_of_a_time_in_which_the_watcher_itself_was_halted_only_half_a_lease_counts() -> None:
    lease = Lease(10.0, now=0.0)
    assert not lease.is_lost(1, 1.0)
    assert looks(lease, 1, 3600.0, 3604.9, 3605.0) == [False, False, True]
    lease = Lease(10.0, now=0.0)
    assert looks(lease, 1, 1.0, 3600.0) == [False, False]
    assert looks(lease, 2, 3601.0, 3606.0, 3610.9, 3611.0) == [False, False, False, True]
