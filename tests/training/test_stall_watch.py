"""A collective that does not end is noticed; one that ends, however often, is not."""

from __future__ import annotations

import threading

from bandstand.training.stall_watch import StallWatch

DEADLINE = 30.0


def test_a_collective_that_takes_longer_than_the_limit_is_noticed_once():
    noticed = threading.Event()
    watch = StallWatch(0.05, noticed.set)
    with watch.collective():
        assert noticed.wait(DEADLINE)


def test_many_short_collectives_that_take_long_together_are_not_noticed():
    now = [0.0]
    looked = threading.Semaphore(0)

    def clock() -> float:
        if threading.current_thread() is not threading.main_thread():
            looked.release()
        return now[0]

    noticed = threading.Event()
    watch = StallWatch(1.0, noticed.set, clock)
    for _ in range(5):
        with watch.collective():
            now[0] += 0.9
            assert looked.acquire(timeout=DEADLINE)
    now[0] += 100.0  # outside of any collective
    watch.close()
    assert not noticed.is_set()
