"""Several ranks train the model that one rank trains."""

from __future__ import annotations

import pytest

from .conftest import difference, train


@pytest.mark.parametrize("ring", ["horovod", "torch"])
@pytest.mark.parametrize(("hosts", "ranks"), [(4, 1), (2, 2)])
def test_four_ranks_with_a_quarter_of_each_batch_end_with_the_weights_of_one(
    jobs, channels, ring, hosts, ranks
):
    alone = train(jobs, channels)
    together = train(jobs, channels, hosts, ranks, ring=ring)
    assert difference(alone, together) < 1e-5
