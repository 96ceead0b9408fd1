"""The gradients of a model in one flat tensor, so that a step needs one collective."""

from __future__ import annotations

from typing import Any, Literal

from bandstand.errors import JobError
from bandstand.training.gradient_ring import GradientRing

Compression = Literal["none", "fp16"]


class Gradients:
    """A model's gradients, summed over all ranks in one call, with the wish to stop beside them.

    While this object is in use, each parameter's `grad` is a part of one tensor.

    Args:
        ring: The ranks that train together.
        model: A `torch.nn.Module`, built alike on every rank; its parameters are of one type, on one device.
        compression: `fp16` halves what travels, at the price of 11 bits of precision.

    Raises:
        JobError: If there is nothing to train, or the parameters are of several types.
    """

    def __init__(self, ring: GradientRing, model: Any, compression: Compression = "none") -> None:
        import torch

        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        kinds = {(parameter.dtype, parameter.device) for parameter in parameters}
        if len(kinds) != 1:
            found = ", ".join(sorted(f"{dtype} on {device}" for dtype, device in kinds)) or "none"
            raise JobError(f"Gradients() takes parameters of one type on one device; found: {found}.")
        dtype, device = kinds.pop()
        self._ring = ring
        self._travels = torch.float16 if compression == "fp16" else dtype
        sizes = [parameter.numel() for parameter in parameters]
        self._all = torch.zeros(sum(sizes) + 1, dtype=dtype, device=device)
        self._parts = [
            (parameter, part.view_as(parameter))
            for parameter, part in zip(parameters, self._all[:-1].split(sizes), strict=True)
        ]
        self.clear()

    def clear(self) -> None:
        """Set all gradients to zero before a step, in place of the optimizer's `zero_grad`."""
        self._all.zero_()
        for parameter, part in self._parts:
            parameter.grad = part

    def sum(self, stop: bool = False) -> bool:
        """Replace the gradients by their sums over all ranks, the same on every rank. Collective.

        If each rank's loss is the sum over its rows divided by the rows of all ranks, these are the gradients
        of the mean over all rows, however these are spread.

        Args:
            stop: Whether this rank has been asked to stop.

        Returns:
            Whether any rank has, so that all of them leave after the same step.
        """
        for parameter, part in self._parts:
            if parameter.grad is not part:  # zero_grad() or the script has put another tensor there
                part.zero_() if parameter.grad is None else part.copy_(parameter.grad)
                parameter.grad = part
        if self._ring.size == 1:
            return stop
        self._all[-1] = float(stop)
        if self._travels == self._all.dtype:
            self._ring.sum(self._all)
        else:
            small = self._all.to(self._travels)
            self._ring.sum(small)
            self._all.copy_(small)
        return bool(self._all[-1] > 0)
