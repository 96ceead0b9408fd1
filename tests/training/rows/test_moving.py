"""Rows survive their way to another rank, and stand behind the rows that are there."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from scipy.sparse import csr_array

from bandstand.training.rows import Rows
from bandstand.training.rows.moving import Shape, arrays_of, joined, rows_of
from bandstand.training.rows.table import no_rows

RNG = np.random.default_rng(2)


def some_rows(count: int, *, sparse: bool, weighted: bool, grouped: bool) -> Rows:
    features = RNG.normal(size=(count, 4)).astype(np.float32) * (RNG.random((count, 4)) < 0.5)
    return Rows(
        np.arange(count, dtype=np.float32),
        csr_array(features) if sparse else features,
        RNG.random(count).astype(np.float32) if weighted else None,
        np.array([2, count - 2], np.int64) if grouped else None,
    )


def table(rows: Rows) -> np.ndarray:
    return rows.features if isinstance(rows.features, np.ndarray) else rows.features.toarray()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_rows_become_arrays_and_rows_again(sparse: bool, weighted: bool, grouped: bool) -> None:
    rows = some_rows(7, sparse=sparse, weighted=weighted, grouped=grouped)
    arrays = arrays_of(rows)
    shape = Shape(*astuple(Shape.of(rows)))
    assert [(len(array), array.dtype.type) for array in arrays] == shape.arrays()

    first = some_rows(5, sparse=sparse, weighted=weighted, grouped=grouped)
    found = joined(first, rows_of(shape, arrays))

    np.testing.assert_array_equal(table(found), np.concatenate([table(first), table(rows)]))
    np.testing.assert_array_equal(found.labels, [*range(5), *range(7)])
    assert (found.weights is not None and len(found.weights) == 12) == weighted
    assert (found.groups is not None and found.groups.tolist() == [2, 3, 2, 5]) == grouped


def test_rows_behind_none_are_those_rows() -> None:
    rows = some_rows(3, sparse=True, weighted=False, grouped=False)
    assert joined(no_rows(4), rows) is rows
