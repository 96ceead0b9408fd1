"""Assertions explain themselves in the parts of the contract suite, too, though these are no test modules."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    *(f"{__package__}.contract_{part}" for part in ("ends", "hosts", "life", "logs", "stopping")),
    f"{__package__}.jobs",
)
