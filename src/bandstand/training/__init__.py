"""What runs inside the image: start-up, rendezvous, ranks, the public run object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn


def main(words: Sequence[str] = ("train",)) -> NoReturn:
    """Run this host's part of a training job, then end this process with the job's exit code.

    Also works as the SageMaker training toolkit's plug-in,
    `SAGEMAKER_TRAINING_MODULE=bandstand.training:main`; the process ends here, since the toolkit would drop
    the exit code.

    Args:
        words: The container's arguments: none or `train`.
    """
    import signal

    # A signal that comes before the handlers are in place waits for them.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])
    from bandstand.training.host.process import run

    run(words)
