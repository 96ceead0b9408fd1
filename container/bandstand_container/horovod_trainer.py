"""The training loop of the built-in Horovod classifier, written with what any script may use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from bandstand.training.batches import Batch, Batches
from bandstand.training.gradient_ring import GradientRing
from bandstand.training.gradients import Gradients
from bandstand.training.output import note
from bandstand.training.run import Run
from bandstand_container.horovod_model import build, evaluate, optimizer_of, save_model
from bandstand_container.horovod_rows import Labelled
from bandstand_container.horovod_settings import Pace, seed_of

MODEL = "model.pt"
"""The model's file name; `bandstand_container.horovod_model.load_model` reads it."""

CHECKPOINT_SECONDS = 30.0
"""About how much time lies between two checkpoints."""


@dataclass
class Progress:
    """How far the training has come.

    Args:
        steps: Steps that are done of the epoch that has begun.
        loss: Sum of the losses of the rows of these steps, on this rank.
        rows: How many rows these are, on all ranks.
    """

    steps: int = 0
    loss: float = 0.0
    rows: int = 0


class Trainer:
    """One rank's part in training one classifier.

    Args:
        run: This rank.
        ring: The ranks that train together.
        pace: Rows and learning rate of each step.
        rows: The rows to train on.
        validation: The rows to validate on; None for none.
        classes: How many classes there are.
    """

    def __init__(
        self,
        run: Run,
        ring: GradientRing,
        pace: Pace,
        rows: Labelled,
        validation: Labelled | None,
        classes: int,
    ) -> None:
        settings = run.settings
        torch.manual_seed(settings.seed)
        self.run, self.ring, self.pace, self.scale = run, ring, pace, rows.scale
        self.model = build(rows.features.shape[1], settings.hidden, classes, settings.dropout).to(ring.device)
        self.optimizer = optimizer_of(settings, self.model)
        self.progress = Progress()
        self._resume()
        ring.broadcast_model(self.model)
        self.gradients = Gradients(ring, self.model, settings.compression)
        self.batches = Batches(rows.counts, pace.batch_rows, ring.position, ring.size, settings.seed)
        self.features = torch.from_numpy(rows.features).to(ring.device)
        self.labels = torch.from_numpy(rows.labels).to(ring.device)
        self.validation = None
        if validation is not None:
            mine = validation.share(ring.position, ring.size)
            held = [torch.from_numpy(array[mine]).to(ring.device) for array in _arrays(validation)]
            self.validation = (held[0], held[1], validation.total)

    def train(self) -> None:
        """Train, report each epoch, and leave the model of the last step. Collective."""
        run = self.run
        for epoch in run.iterations(run.settings.epochs):
            if run.is_leader and epoch == run.resume_iteration + 1:
                rows = min(self.pace.batch_rows, self.batches.rows)
                note(f"an epoch has {self.batches.steps} steps of {rows} rows on all ranks.")
            if not self.train_epoch(epoch):
                break
        path = run.save_model(MODEL, self._save_model)
        if run.is_leader:
            note(f"model {path}: {path.stat().st_size} bytes.")

    def train_epoch(self, epoch: int) -> bool:
        """Train, evaluate and report one epoch; returns False if it was stopped before its end. Collective.

        Args:
            epoch: From 1.
        """
        if not self._do_steps(epoch):
            return False
        run = self.run
        run.report(epoch, self._metrics())
        self.progress = Progress()
        run.checkpoint(epoch, self._save, every_seconds=CHECKPOINT_SECONDS, suffix=".pt", shared=True)
        return True

    def _do_steps(self, epoch: int) -> bool:
        """Do the steps of an epoch; returns whether all of them are done."""
        loss = torch.zeros((), dtype=torch.float64, device=self.ring.device)
        stop = False
        for batch in self.batches.epoch(epoch, after=self.progress.steps):
            loss += self._step(epoch, batch)
            self.progress.steps, self.progress.rows = batch.step, self.progress.rows + batch.total
            stop = self.gradients.sum(self.run.stopping)
            self.optimizer.step()
            if stop and batch.step < self.batches.steps:
                break
        self.progress.loss += float(loss)
        if self.progress.steps == self.batches.steps:
            return True
        self._leave(epoch)
        return False

    def _step(self, epoch: int, batch: Batch) -> Any:
        """Find the gradients of this rank's rows of one batch; returns the sum of their losses."""
        settings = self.run.settings
        if settings.dropout:
            torch.manual_seed(seed_of(settings.seed, epoch, batch.step, self.ring.position))
        for group in self.optimizer.param_groups:
            group["lr"] = self.pace.rate(epoch, batch.step, self.batches.steps)
        rows = torch.from_numpy(batch.rows).to(self.ring.device)
        features = self.features[rows].to(torch.float32) * self.scale
        self.gradients.clear()
        loss = torch.nn.functional.cross_entropy(self.model(features), self.labels[rows], reduction="sum")
        (loss / batch.total).backward()
        return loss.detach()

    def _metrics(self) -> dict[str, float]:
        """The epoch's metrics over all rows of all ranks. Collective."""
        sums = [self.progress.loss]
        if self.validation is not None:
            sums += evaluate(self.model, self.validation[0], self.validation[1], self.scale)
        total = torch.tensor(sums, dtype=torch.float64, device=self.ring.device)
        self.ring.sum(total)
        values = {"train:loss": float(total[0]) / self.progress.rows}
        if self.validation is not None:
            rows = self.validation[2]
            values |= {
                "validation:loss": float(total[1]) / rows,
                "validation:accuracy": float(total[2]) / rows,
            }
        return values

    def _leave(self, epoch: int) -> None:
        """Asked to stop within an epoch: keep what its steps have done, for a restart to go on from."""
        so_far = torch.tensor([self.progress.loss], dtype=torch.float64, device=self.ring.device)
        self.ring.sum(so_far)
        self.progress.loss = float(so_far[0])
        self.run.checkpoint(epoch - 1, self._save, suffix=".pt", shared=True)
        if self.run.is_leader:
            place = f"step {self.progress.steps} of {self.batches.steps} of epoch {epoch}"
            note(f"asked to stop: every rank leaves after {place}.")

    def _save(self, path: Path) -> None:
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "progress": vars(self.progress),
        }
        torch.save(state, path)

    def _resume(self) -> None:
        """Go on from a checkpoint, if there is one: the leader has it and hands it on. Collective."""
        path = self.run.resume_path
        reads = path is not None and self.ring.position == 0
        state = self.ring.broadcast_state(torch.load(path, weights_only=True) if reads else None)
        if state is None:
            return
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.progress = Progress(**state["progress"])
        if self.ring.position:
            self.progress.loss = 0.0  # the leader has the sum over all ranks

    def _save_model(self, path: Path) -> None:
        save_model(path, self.model, self.scale)


def _arrays(rows: Labelled) -> tuple[Any, Any]:
    return rows.features, rows.labels
