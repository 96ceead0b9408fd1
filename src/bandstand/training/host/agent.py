"""Process 1 of a host: meets the other hosts, starts the ranks, passes signals on, tells how it ended."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bandstand.errors import BandstandError
from bandstand.host_variables import RANK
from bandstand.training.host.events import Events
from bandstand.training.host.job import Job
from bandstand.training.host.launchers import under
from bandstand.training.host.program import Program, find_program
from bandstand.training.host.ranks import Rank, Ranks
from bandstand.training.host.reasons import failed_message, leave_reason, reason_of
from bandstand.training.host.relay import Stream
from bandstand.training.host.script_mode import arguments
from bandstand.training.saving import sweep

if TYPE_CHECKING:
    from bandstand.training.host.attendance import Attendance

KILL_AFTER = 5.0
"""Seconds that ranks have between SIGTERM and SIGKILL once the job has failed."""
VERDICT_WITHIN = 10.0
"""Seconds in which the leader must say why the job failed; after that this host's own reason counts."""
TELL_WITHIN = 5.0
"""Seconds for which a host that was asked to stop still tries to tell the others."""
_LOOK_AGAIN = 0.05
_STOPPED_CODES = frozenset({0, 128 + signal.SIGTERM, 128 + signal.SIGINT})


class Agent:
    """Runs one host's part of a training job.

    Args:
        job: The job.
        out: This process's stdout.
        err: This process's stderr.
        events: What happens: (`signal`, number) and (`child`, None) from signal handlers, and what the
            rendezvous tells.
        clock: Seconds of a monotonic clock.
    """

    def __init__(
        self,
        job: Job,
        out: Stream,
        err: Stream,
        events: Events,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._job = job
        self._err = err
        self._events = events
        self._clock = clock
        self._program: Program | None = None
        self._ranks = Ranks(out, err)
        self._begun = False
        self._stopping = False
        self._reported_end = False
        self._failure: tuple[str, int] | None = None
        self._verdict: str | None = None
        self._judge_by: float | None = None
        self._kill_at: float | None = None
        self._leave_by: float | None = None
        self._code: int | None = None
        self._attendance: Attendance | None = None

    def run(self) -> int:
        """Run until the job has ended on all hosts.

        Returns:
            The exit code: 0 if it went well or was stopped, else the failing rank's.
        """
        self._clear()
        try:
            fault = self._prepare()
            if self._job.world_size > 1:
                from bandstand.training.host.attendance import Attendance

                self._attendance = Attendance(self._job, self._err.say, self._events.put)
            if fault is not None:
                raise fault
        except BandstandError as error:
            self._fail(f"{error} (on {self._job.cluster.current_host})", error.exit_code)
        if self._attendance is None and self._failure is None:
            self._begin()
        try:
            while self._code is None:
                self._wait()
                self._collect()
                self._look_at_clock()
        except BaseException:
            self._ranks.signal(signal.SIGKILL)
            raise
        return self._finish(self._code)

    def _prepare(self) -> BandstandError | None:
        """Find the program and what it requires; a fault is kept until the other hosts can be told of it."""
        try:
            job = self._job
            program = find_program(job.environ, job.hyperparameters, job.folders)
            self._program = under(job.launcher if job.world_size > 1 else None, program)
            if job.launcher is not None and job.launcher.options:
                self._err.say(f"without effect, since there is no mpirun here: {job.launcher.options}")
            required = program.requirements
            if required is None:
                return None
            if not self._job.settings.requirements:
                self._err.say(f"{required} is not installed; the packages here are used.")
                return None
            from bandstand.training.host.requirements import install

            added = install(required, self._job.environ, self._events, self._err)
        except BandstandError as error:
            return error
        if added is None:
            self._program = None  # nothing begins any more; the signal is the next event
        else:
            self._job = replace(self._job, environ={**self._job.environ, **added})
        return None

    def _clear(self) -> None:
        """Start with no failure file of an earlier attempt, and keep an inherited socket from the ranks."""
        try:
            self._job.folders.failure.unlink(missing_ok=True)
            if self._job.settings.listen_fd is not None:
                os.set_inheritable(self._job.settings.listen_fd, False)
        except OSError as error:
            self._err.say(f"{error}; going on.")

    def _wait(self) -> None:
        """Wait for the next thing to happen, and see to it."""
        event = self._events.get(self._patience())
        if event is None:
            return
        kind, value = event
        if kind == "signal":
            self._on_signal(value)
        elif kind == "linked":
            self._on_linked()
        elif kind == "message":
            self._on_message(value)
        elif kind == "lost":
            self._on_lost(value)

    def _patience(self) -> float | None:
        if self._verdict is not None and self._ranks.all_ended:
            return 0.0
        times = [at for at in (self._judge_by, self._kill_at, self._leave_by) if at is not None]
        patience = max(0.0, min(times) - self._clock()) if times else None
        lingering = self._ranks.any_spared and not self._reported_end
        return _LOOK_AGAIN if lingering else patience

    def _on_signal(self, number: int) -> None:
        if self._stopping and number == signal.SIGINT:  # a person has pressed Ctrl-C twice
            self._kill_at = self._clock()
        if not self._stopping:
            self._err.say(f"{signal.Signals(number).name}: the job shall stop.")
            self._stop(number)
            if self._attendance is not None:
                self._attendance.send({"kind": "stop"})

    def _on_linked(self) -> None:
        if self._failure is not None and self._attendance is not None:
            self._attendance.send(failed_message(self._failure[0], age=0.0, ranks=self._all_ranks()))
        elif self._stopping and self._attendance is not None:
            self._leave_by = None
            self._attendance.send({"kind": "stop"})

    def _on_message(self, message: dict[str, Any]) -> None:
        kind = message["kind"]
        if kind == "begin" and self._failure is None and not self._stopping:
            self._begin(message["ports"])
        elif kind == "stop" and not self._stopping:
            self._err.say("another host was asked to stop: this one does, too.")
            self._stop(signal.SIGTERM)
        elif kind == "failed":
            self._judge(message["reason"])
        elif kind == "end":
            self._end(0)

    def _on_lost(self, fault: str) -> None:
        if self._verdict is None and self._code is None:
            own = self._failure[0] if self._failure else f"{fault} (on {self._job.cluster.current_host})"
            self._judge(own)

    def _begin(self, ports: Sequence[int] = ()) -> None:
        program, job = self._program, self._job
        if program is None:
            return
        self._begun = True
        meet = self._attendance.meet if self._attendance is not None else None
        words = arguments(job.hyperparameters) if program.takes_arguments else []
        try:
            if program.folder is not None:
                os.chdir(program.folder)
            for local_rank in range(job.settings.ranks_per_host):
                environ = job.rank_environment(local_rank, program, meet, ports)
                number = int(environ[RANK.name])
                command = [*program.command, *words]
                self._ranks.start(number, command, environ, shares_stdout=job.settings.ranks_per_host > 1)
        except OSError as error:
            self._fail(
                f"{program.name} cannot be started on {job.cluster.current_host}: {error.strerror or error} "
                f"({program.command[0]}).",
                126,
            )

    def _stop(self, number: int) -> None:
        self._stopping = True
        self._ranks.ask_to_stop(number)
        if self._attendance is not None and not self._attendance.linked:
            self._leave_by = self._clock() + TELL_WITHIN

    def _collect(self) -> None:
        over = self._verdict is not None
        for rank in self._ranks.reap(stopping=self._stopping and not over):
            self._on_rank_end(rank)
        if (
            self._reported_end
            or self._failure is not None
            or over
            or (not self._begun and not self._stopping)
        ):
            return
        if not self._ranks.all_ended or self._ranks.rest_remains():
            return
        if self._attendance is None:
            self._end(0)
        elif self._attendance.linked:
            self._reported_end = True
            self._attendance.send({"kind": "ended"})

    def _on_rank_end(self, rank: Rank) -> None:
        ended = rank.ended
        if ended is None or self._program is None or self._verdict is not None:
            return
        if ended.code == 0 or (self._stopping and ended.code in _STOPPED_CODES):
            if self._attendance is not None:
                self._attendance.send({"kind": "left", "rank": rank.number})
            return
        reason = reason_of(self._job, self._program, rank, ended)
        began = rank.stderr.trouble_at if ended.signal is None else None
        self._fail(reason, ended.code, age=self._clock() - began if began else 0.0, ranks=[rank.number])

    def _fail(self, reason: str, code: int, *, age: float = 0.0, ranks: list[int] | None = None) -> None:
        if self._failure is None:
            self._failure = (reason, code or 1)
            self._judge_by = self._clock() + VERDICT_WITHIN
        if self._attendance is None:
            self._judge(reason)
        elif self._attendance.linked:
            self._attendance.send(
                failed_message(reason, age=age, ranks=self._all_ranks() if ranks is None else ranks)
            )
        else:
            self._judge_by = self._clock() + self._job.settings.start_timeout

    def _judge(self, reason: str) -> None:
        """The job has failed: end what runs here."""
        if self._verdict is not None:
            return
        self._verdict = reason
        self._judge_by = None
        if self._attendance is not None:
            self._attendance.leave()
        self._ranks.signal(signal.SIGTERM)
        self._kill_at = self._clock() + KILL_AFTER

    def _look_at_clock(self) -> None:
        now = self._clock()
        if self._judge_by is not None and now >= self._judge_by and self._failure is not None:
            self._judge(self._failure[0])
        if self._kill_at is not None and now >= self._kill_at:
            self._ranks.signal(signal.SIGKILL)
            self._kill_at = None
        if self._leave_by is not None and now >= self._leave_by:
            self._end(0)
        if self._verdict is not None and self._ranks.all_ended:
            self._end(self._failure[1] if self._failure is not None else 1)

    def _end(self, code: int) -> None:
        if self._code is None:
            self._code = code

    def _finish(self, code: int) -> int:
        if self._verdict is not None:
            self._ranks.signal(signal.SIGKILL)  # what a stopped rank has left behind
        self._ranks.finish()
        if self._verdict is not None:
            leave_reason(self._job.folders, self._verdict, self._err)
        if self._attendance is not None:
            self._attendance.leave()
            self._attendance.finish()
        for folder in (self._job.folders.model, self._job.folders.output_data):
            try:
                sweep(folder)
            except OSError as error:
                self._err.say(f"what was left unfinished in {folder} could not be removed: {error}")
        return code

    def _all_ranks(self) -> list[int]:
        per_host = self._job.settings.ranks_per_host
        first = self._job.cluster.index * per_host
        return list(range(first, first + per_host))
