"""What the leader decides: who is here, how far to go, why it failed, when to leave. No sockets, no clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bandstand.errors import BandstandError
from bandstand.training.meet.bereft import Bereft, Loss
from bandstand.training.meet.collectives import Call, Collectives
from bandstand.training.meet.wire import Message

SETTLE = 1.0
"""Seconds after a first failure in which an earlier or more telling one may still come in, unless all ranks
have ended."""
LINGER = 5.0
"""Seconds after a verdict in which hosts that are late can still come and hear it."""
STOP_LINGER = 3.0
"""The same after a stop that came before all hosts had joined; shorter than hosts wait for their peers."""
REMIND = 30.0
"""Seconds between two lines about who is missing."""

Member = str | int
"""A host by its name, or a rank by its number."""
Sends = list[tuple[Member, Message]]


class RefusedError(BandstandError):
    """Somebody who has the key, but no place here."""


@dataclass(frozen=True)
class Failure:
    """Why a host or one of its ranks failed.

    Args:
        at: When it began, in seconds of the leader's monotonic clock.
        secondary: Whether it looks like the consequence of somebody else's failure.
        reason: For a person.
        host: Where.
    """

    at: float
    secondary: bool
    reason: str
    host: str


class Meeting:
    """The state of one job's rendezvous. Every method returns what has to be sent to whom.

    Args:
        hosts: All hosts, the leader first.
        ranks_per_host: How many ranks each of them starts.
        start_timeout: Seconds in which all hosts must have joined.
        now: Seconds of the leader's monotonic clock, as for all methods.
        say: Takes lines for people.
        ports: Ports of the leader, which all hosts are told when they begin.
    """

    def __init__(
        self,
        hosts: Sequence[str],
        ranks_per_host: int,
        start_timeout: float,
        now: float,
        say: Callable[[str], None],
        ports: Sequence[int] = (),
    ) -> None:
        self._hosts = tuple(hosts)
        self._ranks_per_host = ranks_per_host
        self._start_timeout = start_timeout
        self._start_by = now + start_timeout
        self._remind_at = now + REMIND
        self._say = say
        self._ports = list(ports)
        self._joined: list[str] = []
        self._ended: set[str] = set()
        self._ranks: set[int] = set()
        self._accounted: set[int] = set()
        self._begun = False
        self._granted = (0, 0)
        self._stop_after: tuple[int, int] | None = None
        self._failures: list[Failure] = []
        self._judge_at: float | None = None
        self._verdict: Message | None = None
        self._linger_until = now
        self._has_ended = False
        self._collectives = Collectives(len(self._hosts) * ranks_per_host, self._name)
        self._bereft = Bereft(len(self._hosts) * ranks_per_host, self._name)

    def join(self, message: Message, now: float) -> tuple[Member, Sends]:
        """Somebody who has the key says who it is.

        Returns:
            The member, and what to send.

        Raises:
            RefusedError: If there is no place for it.
        """
        if "rank" in message:
            return self._join_rank(message["rank"])
        host = message.get("host")
        if host not in self._hosts:
            raise RefusedError(f"{host!r} is none of the hosts: {', '.join(self._hosts)}")
        if host in self._joined:
            raise RefusedError(f"{host} has joined already")
        self._joined.append(host)
        if self._verdict:
            return host, [(host, self._verdict)]
        fault = self._disagreement(host, message)
        if fault:
            return host, self._fail(Failure(now, False, fault, host), (), now)
        self._say_joined()
        if self._stop_after is not None:
            return host, [(host, {"kind": "stop"})]
        if self._are_all_here:
            self._begun = True
            return host, self._to_hosts({"kind": "begin", "ports": self._ports})
        return host, []

    def receive(self, member: Member, message: Message, now: float) -> Sends:
        """A member's message."""
        kind = message["kind"]
        if isinstance(member, int):
            if self._verdict:
                return [(member, {"kind": "failed", "value": self._verdict["reason"]})]
            return self._enter(member, message, now) if kind == "enter" else self._call(member, message, now)
        if self._verdict:
            return []
        if kind == "stop":
            return self._stop(now)
        if kind == "left":
            self._accounted.add(message["rank"])
            stopped = self._stop_after is not None
            return [*self._collectives.leave(message["rank"], stopped=stopped), *self._judge(now)]
        if kind == "failed":
            failure = Failure(now - message["age"], message["secondary"], message["reason"], member)
            return self._fail(failure, message["ranks"], now)
        if kind == "ended":
            self._ended.add(member)
            return self._leave(now)
        return []

    def lose(self, member: Member, now: float) -> Sends:
        """A member's connection has ended."""
        if isinstance(member, int):  # why it ended is its agent's to say
            self._ranks.discard(member)
            return []
        if self._verdict or self._has_ended or member in self._ended:
            return []
        reason = f"{member} was lost: the connection to it ended without a word."
        first = self._hosts.index(member) * self._ranks_per_host
        return self._fail(
            Failure(now, False, reason, member), range(first, first + self._ranks_per_host), now
        )

    def tick(self, now: float) -> Sends:
        """Time has passed."""
        if self._verdict:
            return []
        if self._judge_at is not None:
            return self._judge(now)
        if self._bereft.judge_at is not None and now >= self._bereft.judge_at:
            rank, reason = self._bereft.blame()
            return self._fail(Failure(now, False, reason, self._host_of(rank)), (), now)
        missing = [host for host in self._hosts if host not in self._joined]
        if self._stop_after is None and missing and now >= self._start_by:
            return self._fail(Failure(now, False, self._absence(missing), missing[0]), (), now)
        if now >= self._remind_at:
            self._remind_at = now + REMIND
            stall = self._collectives.stalled(now, REMIND)
            if stall:
                self._say(stall)
            elif self._stop_after is None and missing:
                self._say_joined()
        return self._leave(now)

    def wake_at(self) -> float:
        """When `tick` is needed next, if nothing else happens before."""
        if self._verdict:
            return self._linger_until
        if self._judge_at is not None:
            return self._judge_at
        if self._begun:
            return min(self._remind_at, self._bereft.judge_at or self._remind_at)
        if self._stop_after is None:
            return min(self._start_by, self._remind_at)
        return min(self._linger_until, self._remind_at) if self._all_ended else self._remind_at

    def is_over(self, now: float) -> bool:
        """Whether everybody has been told the end, or nobody else will come to hear it."""
        if self._verdict:
            return self._are_all_here or now >= self._linger_until
        return self._has_ended

    @property
    def _are_all_here(self) -> bool:
        return len(self._joined) == len(self._hosts)

    @property
    def _all_ended(self) -> bool:
        return bool(self._joined) and self._ended.issuperset(self._joined)

    def _leave(self, now: float) -> Sends:
        """Let all hosts go once they have ended; after a stop before the begin, late ones may still come."""
        waits = not self._are_all_here and (self._stop_after is None or now < self._linger_until)
        if self._has_ended or waits or not self._all_ended:
            return []
        self._has_ended = True
        return self._to_hosts({"kind": "end"})

    def _join_rank(self, rank: Any) -> tuple[Member, Sends]:
        if not isinstance(rank, int) or not 0 <= rank < len(self._hosts) * self._ranks_per_host:
            raise RefusedError(f"there is no rank {rank!r}")
        if rank in self._ranks:
            raise RefusedError(f"rank {rank} is here already")
        self._ranks.add(rank)
        return rank, []

    def _enter(self, rank: int, message: Message, now: float) -> Sends:
        step: tuple[int, int] = tuple(message["step"])
        sends = self._stop(now) if message["stop"] else []
        go = self._stop_after is None or step <= self._stop_after
        if go:
            self._granted = max(self._granted, step)
        sends.append((rank, {"kind": "entered", "value": go, "granted": self._granted}))
        return sends

    def _call(self, rank: int, message: Message, now: float) -> Sends:
        if message["operation"] == "reason":
            loss = Loss(str(message["value"]), int(message["step"][1]), now)
            return self._await_reason(rank, loss)
        call = Call(message["operation"], message["root"], tuple(message["step"]), message["value"], now)
        if not self._collectives.waiting:
            self._remind_at = now + REMIND
        return list(self._collectives.call(rank, call))

    def _await_reason(self, rank: int, loss: Loss) -> Sends:
        """A rank has lost others in a collective of its framework; if all have, each knows as much as any."""
        self._bereft.add(rank, loss)
        if not self._bereft.are_all:
            return []
        sends: Sends = [(rank, {"kind": "result", "value": None}) for rank in self._bereft.ranks]
        self._bereft.clear()
        return sends

    def _stop(self, now: float) -> Sends:
        if self._stop_after is not None:
            return []
        self._stop_after = self._granted
        if not self._begun:
            self._linger_until = now + STOP_LINGER
        return [*self._to_hosts({"kind": "stop"}), *self._leave(now)]

    def _fail(self, failure: Failure, ranks: Sequence[int], now: float) -> Sends:
        self._failures.append(failure)
        self._accounted.update(ranks)
        if self._judge_at is None:
            self._judge_at = now + SETTLE if self._begun else now
        return self._judge(now)

    def _judge(self, now: float) -> Sends:
        everybody = len(self._accounted) == len(self._hosts) * self._ranks_per_host
        if self._judge_at is None or (now < self._judge_at and not everybody):
            return []
        first = min(self._failures, key=lambda failure: (failure.secondary, failure.at))
        self._verdict = {"kind": "failed", "reason": first.reason, "host": first.host}
        self._linger_until = now if now >= self._start_by else now + LINGER
        waiting = [(rank, {"kind": "failed", "value": first.reason}) for rank in self._bereft.ranks]
        return [*self._collectives.fail(first.reason), *waiting, *self._to_hosts(self._verdict)]

    def _to_hosts(self, message: Message) -> Sends:
        return [(host, message) for host in self._joined]

    def _disagreement(self, host: str, message: Message) -> str | None:
        if message.get("hosts") != list(self._hosts):
            theirs, ours = message.get("hosts"), list(self._hosts)
            return f"{host} knows the hosts {theirs}, {self._hosts[0]} knows {ours}."
        if message.get("ranks_per_host") != self._ranks_per_host:
            return (
                f"BANDSTAND_RANKS_PER_HOST is {message.get('ranks_per_host')} on {host} and "
                f"{self._ranks_per_host} on {self._hosts[0]}; it must be the same on all hosts."
            )
        return None

    def _absence(self, missing: Sequence[str]) -> str:
        return (
            f"{', '.join(missing)} did not join within {self._start_timeout:g} s; "
            f"{', '.join(host for host in self._hosts if host in self._joined)} did. See the log of each "
            f"missing host; hosts must reach {self._hosts[0]} over TCP (BANDSTAND_PORT), and a slow start "
            "needs a greater BANDSTAND_START_TIMEOUT."
        )

    def _say_joined(self) -> None:
        if len(self._hosts) == 1:
            return
        missing = [host for host in self._hosts if host not in self._joined]
        waiting = f"; waiting for {', '.join(missing)}" if missing else ""
        self._say(f"{len(self._joined)} of {len(self._hosts)} hosts joined{waiting}.")

    def _name(self, rank: int) -> str:
        return f"rank {rank} on {self._host_of(rank)}"

    def _host_of(self, rank: int) -> str:
        return self._hosts[rank // self._ranks_per_host]
