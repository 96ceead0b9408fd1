"""XGBoost's configuration, searched for its parameters."""

from __future__ import annotations

from collections.abc import Iterator


def parameters_in(configuration: object) -> Iterator[tuple[str, str]]:
    """Every parameter of a booster with its value as text, whatever part of XGBoost it belongs to.

    Parameters stand in the objects that are called `..._param`; the rest is the tree of XGBoost's parts.

    Args:
        configuration: What `xgboost.Booster.save_config` writes, out of its JSON.
    """
    if isinstance(configuration, list):
        for part in configuration:
            yield from parameters_in(part)
    elif isinstance(configuration, dict):
        for name, part in configuration.items():
            if name.endswith("_param") and isinstance(part, dict):
                yield from part.items()
            else:
                yield from parameters_in(part)
