"""Going on from a checkpoint: its model comes to all ranks, and the log tells what it cannot repeat."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import xgboost

from bandstand.errors import JobError
from bandstand.training.output import note
from bandstand.training.ring import Ring
from bandstand.training.run import Run
from bandstand_container.xgboost_configuration import parameters_in

_CHUNK = 4 << 20
"""Bytes that are sent at a time."""

_SAMPLING = ("subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode")


def resumed_model(run: Run, ring: Ring) -> bytearray | None:
    """The model to go on from, on all ranks; None at the first start. Collective in the ring.

    Args:
        run: This rank.
        ring: The ranks that train together, the job's leader first.
    """
    if not run.resume_iteration:
        return None
    reads = ring.position == 0 and run.resume_path is not None
    given = np.frombuffer(Path(str(run.resume_path)).read_bytes() if reads else b"", np.uint8)
    length = int(ring.sum(np.array([len(given)], np.int64))[0])
    got = bytearray()
    for start in range(0, length, _CHUNK):
        part = np.zeros(min(_CHUNK, length - start), np.uint8)
        if len(given):
            part[:] = given[start : start + _CHUNK]
        got += ring.sum(part).tobytes()
    return got


def check_resumed(run: Run, booster: xgboost.Booster) -> None:
    """Make sure that a loaded model is the checkpoint's, and tell what will not be as if undisturbed.

    Args:
        run: This rank.
        booster: The model, with its parameters set.

    Raises:
        JobError: If it has another number of iterations than its checkpoint says.
    """
    if not run.resume_iteration:
        return
    found = booster.num_boosted_rounds()
    if found != run.resume_iteration:
        raise JobError(
            f"The checkpoint of iteration {run.resume_iteration} in {run.checkpoint_dir} holds a model of "
            f"{found} iterations. Remove it, and the job goes on from an older one or starts anew."
        )
    if run.is_leader:
        causes = not_repeated(booster)
        if causes:
            note(
                f"resumed with {', '.join(causes)}: the model will not be that of an undisturbed job, since "
                "XGBoost's models do not hold the state behind these."
            )


def xgboosts_first(run: Run, booster: xgboost.Booster) -> int:
    """The job's iteration that XGBoost is told as its 0th: with position bias, whose estimates it cannot load
    from a model, it trains on only as if from the start.

    Args:
        run: This rank.
        booster: The model, with its parameters set.
    """
    unbiased = run.resume_iteration and _values(booster).get("lambdarank_unbiased", "0") != "0"
    return 1 + (run.resume_iteration if unbiased else 0)


def not_repeated(booster: xgboost.Booster) -> list[str]:
    """Settings with which a resumed training differs from an undisturbed one, as `name=value`.

    Found by experiment with XGBoost 3.2.0: with any others the model is the same, byte for byte. With
    `seed_per_iteration` every draw of dart, of `exact` and of the random selector is seeded anew; other
    samplers are objects that keep their generator from the first iteration on.

    Args:
        booster: The model, with its parameters set.
    """
    values = _values(booster)

    def number(name: str) -> float:
        return float(values.get(name, "0"))

    seeded = number("seed_per_iteration") != 0
    names = []
    if values["booster"] == "gblinear":
        selector = values["feature_selector"]
        if selector == "shuffle" or (selector == "random" and not seeded):
            names.append("feature_selector")
        if values["updater"] == "shotgun" and number("nthread") != 1:
            names += ["updater", "nthread"]
    else:
        if not (seeded and "grow_colmaker" in values["updater"]):
            names += [name for name in _SAMPLING if number(name) < 1]
        if values["booster"] == "dart" and not seeded:
            names += [name for name in ("rate_drop", "one_drop") if number(name)]
    if number("lambdarank_unbiased"):
        names.append("lambdarank_unbiased")
    return [f"{name}={_as_given(values[name])}" for name in names]


def _as_given(text: str) -> str:
    """A value without the digits that a float32 adds to it."""
    return str(np.float32(text)) if "." in text else text


def _values(booster: xgboost.Booster) -> dict[str, str]:
    """All parameters of a booster, name to text."""
    return dict(parameters_in(json.loads(booster.save_config())))
