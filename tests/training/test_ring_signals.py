"""A signal that comes while the ring of XGBoost is formed or taken down breaks no connection."""

from __future__ import annotations

import pytest

from .conftest import Launcher


@pytest.mark.parametrize("step", ["init", "finalize"])
def test_signals_while_a_rank_waits_for_a_slower_one_do_not_break_the_ring(cluster: Launcher, step: str):
    script = f"""
    import signal, time
    import bandstand
    from bandstand.training.ring import join_ring
    from xgboost import collective

    run = bandstand.start()
    if run.rank == 1:
        inner = collective.{step}
        def late(**words):
            time.sleep(0.5)
            return inner(**words)
        collective.{step} = late
    else:
        signal.signal(signal.SIGALRM, lambda number, frame: None)
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    with join_ring(run) as ring:
        size = ring.size
    signal.setitimer(signal.ITIMER_REAL, 0)
    print("a ring of", size, flush=True)
    """
    job = cluster(2, script)
    assert job.wait() == [0, 0], job.log
    assert [host.out for host in job] == ["a ring of 2\n"] * 2
