"""A tuning job's decisions: events in, decisions out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Literal

from bandstand.errors import InputError
from bandstand.study.criteria import Progress
from bandstand.study.decisions import Answer, Finish, Start, Stop, StopKind, StopReason
from bandstand.study.events import Ended, Event, Halted, Known, Reported, Started
from bandstand.study.finish import FIRST_ATTEMPTS, all_ended, ended_early
from bandstand.study.median import MedianRule
from bandstand.study.model import Observation, modelled_settings
from bandstand.study.settings import Grid, random_settings
from bandstand.study.spec import Space, StudySpec
from bandstand.study.strategies import Hyperband, RunToEnd, Strategy
from bandstand.study.summary import Summary, summarize
from bandstand.study.trial import Trial
from bandstand.study.turns import next_space


def _strategy(spec: StudySpec, space: Space) -> Strategy:
    if spec.hyperband:
        return Hyperband(spec, space)
    return MedianRule(spec) if spec.early_stopping else RunToEnd()


class Study:
    """The state of a study, which is nothing but the events told so far.

    A study is brought back after a restart by telling a new one the recorded events again.

    Args:
        spec: The study's terms.
    """

    def __init__(self, spec: StudySpec) -> None:
        self.spec = spec
        self._strategies = {space.name: _strategy(spec, space) for space in spec.spaces}
        self._grid = (
            Grid(spec.seed, (each.ranges for each in spec.spaces)) if spec.strategy == "Grid" else None
        )
        self._trials: dict[int, Trial] = {}
        self._running: set[int] = set()
        self._lowest_waiting = 1
        self._known: list[Observation] = []
        self._drawn: dict[int, Start] = {}
        self._begun: Counter[str] = Counter()
        self._tried: Counter[str] = Counter()
        self._successful: set[str] = set()
        self._progress = Progress(spec)
        self._met = ""
        self._ending: StopKind | None = None
        self._finish: Finish | None = None

    def ask(self) -> tuple[Start, ...]:
        """The training jobs to start now: as many as there are free places, lowest numbers first.

        Asking changes nothing; a `Start` is asked for again until its `Started` is told.
        """
        if self._ending is not None or self._finish is not None:
            return ()
        free = max(0, self.spec.parallel - len(self._running))
        numbers = range(self._lowest_waiting, self.spec.jobs + 1)
        waiting = (number for number in numbers if number not in self._trials)
        starts: list[Start] = []
        for number in islice(waiting, free):
            starts.append(self._start(number, starts))
        return tuple(starts)

    def tell(self, event: Event) -> tuple[Answer, ...]:
        """Take in what happened and decide at once, from what is known now.

        Args:
            event: What happened. Reports of trials that were stopped or have ended change no decision.

        Returns:
            Stops, at most one per trial in a study's life, then the `Finish`, once, when nothing runs.

        Raises:
            InputError: The event cannot follow those told before.
        """
        stops: tuple[Stop, ...]
        match event:
            case Known():
                stops = self._learn(event)
            case Started():
                stops = self._started(event)
            case Reported(number, value):
                stops = self._reported(self._trial(number, event), value)
            case Ended():
                stops = self._ended(self._trial(event.trial, event), event)
            case Halted(cause):
                stops = self._end_all(cause)
        return (*stops, *self._finished_now())

    @property
    def running(self) -> tuple[int, ...]:
        """Numbers of the trials that have started and not ended."""
        return tuple(sorted(self._running))

    @property
    def finished(self) -> Finish | None:
        """The `Finish`, once it has been decided."""
        return self._finish

    def best(self) -> tuple[int, float] | None:
        """(trial, objective) of the best ended trial; None while there is none.

        Final objectives are compared, as AMT compares them; of equals the earlier trial is the best. Failed
        trials, and objectives that are not finite, are never the best.
        """
        sign = -1.0 if self.spec.maximize else 1.0
        ranked = [
            (sign * trial.objective, trial.number, trial.objective)
            for trial in self._trials.values()
            if trial.succeeded and trial.objective is not None
        ]
        if not ranked:
            return None
        _, number, objective = min(ranked)
        return number, objective

    def reports(self, trial: int) -> int:
        """How many objective reports of a trial have been told; 0 for one that has not started."""
        return self._trials[trial].reports if trial in self._trials else 0

    def stop_reason(self, trial: int) -> StopReason | None:
        """Why a trial was told to stop; None where it was not."""
        return self._trials[trial].stop if trial in self._trials else None

    def bracket(self, trial: int) -> int | None:
        """The bracket of a trial; None where the strategy has none.

        That of a trial which has not started is known where there is one definition.
        """
        if trial in self._trials:
            return self._trials[trial].bracket
        first, *others = self._strategies.values()
        return None if others else first.bracket(trial)

    def rungs(self, trial: int) -> tuple[int, ...]:
        """The resource levels at which a trial is compared: those of its bracket, for its definition."""
        bracket = self.bracket(trial)
        name = self._trials[trial].definition if trial in self._trials else self.spec.spaces[0].name
        return () if bracket is None else self._strategies[name].rungs(bracket)

    def summary(self, asked: Mapping[int, int]) -> Summary:
        """What was run and what was saved.

        Args:
            asked: Iterations that each trial's settings asked for, where they are known.
        """
        return summarize(self._trials.values(), asked, self.spec.max_resource_of)

    def _start(self, number: int, before: Sequence[Start]) -> Start:
        """What is asked for of a trial that starts after those which are asked for `before` it."""
        if number not in self._drawn:
            self._drawn[number] = self._draw(number, before)
        return self._drawn[number]

    def _draw(self, number: int, before: Sequence[Start]) -> Start:
        if self._grid is not None:
            at, settings = self._grid.settings(number)
            return Start(number, settings, self.spec.spaces[at].name)
        known: list[Observation] = []
        if self.spec.adaptive:
            known += [*self._known, *(trial.observation() for trial in self._trials.values())]
            known += [Observation(start.settings, "running", definition=start.definition) for start in before]
        space = next_space(self.spec, number, known, self._given_up())
        if self.spec.modelled:
            settings = modelled_settings(self.spec, space, number, known)
        else:
            settings = random_settings(self.spec.seed, number, space.ranges)
        return Start(number, settings, space.name)

    def _given_up(self) -> frozenset[str]:
        """Definitions of whose training jobs the first ones have ended, none with success."""
        tried = {name for name, ended in self._tried.items() if ended >= FIRST_ATTEMPTS}
        return frozenset(tried - self._successful)

    def _trial(self, number: int, event: Event) -> Trial:
        if number not in self._trials:
            raise InputError(
                f"The record does not fit this study: found {event}, but training job {number} was never "
                "started. Events have to be told in the order in which they happened."
            )
        return self._trials[number]

    def _learn(self, event: Known) -> tuple[Stop, ...]:
        space = self.spec.spaces[0]
        names = [each.name for each in space.ranges]
        if self._trials or [name for name, _ in event.settings] != names:
            raise InputError(
                f"The record does not fit this study: found {event}; what is known has to be told before the "
                f"first start, with values of {', '.join(names)}."
            )
        state: Literal["cut", "ended"] = "cut" if event.cut else "ended"
        self._known.append(Observation(event.settings, state, event.objective, event.reports, space.name))
        self._drawn.clear()
        return ()

    def _started(self, event: Started) -> tuple[Stop, ...]:
        number = event.trial
        if number in self._trials or not 1 <= number <= self.spec.jobs:
            raise InputError(
                f"The record does not fit this study: found that training job {number} started, but each of "
                f"1 to {self.spec.jobs} starts once. Tell only starts that were asked for."
            )
        in_turn = number == self._lowest_waiting
        asked = self._drawn.pop(number, None)
        names = [space.name for space in self.spec.spaces]
        definition, settings = event.definition or (names[0] if len(names) == 1 else None), event.settings
        if definition is None or (settings is None and self.spec.modelled):
            asked = asked or self._draw(number, ())
            definition = asked.definition if definition is None else definition
            settings = settings or asked.settings
        if definition not in names:
            raise InputError(
                f"The record does not fit this study: found {event}, whose definition is none of "
                f"{', '.join(names) or 'the one without a name'}."
            )
        if not in_turn or asked != Start(number, settings or (), definition):
            self._drawn.clear()  # what was drawn for others took it that this one starts first, so
        self._begun[definition] += 1
        # Of one definition a trial's bracket is known before it starts, and is the same whoever starts first.
        place = number if len(names) == 1 else self._begun[definition]
        bracket = self._strategies[definition].bracket(place)
        self._trials[number] = Trial(number, settings=settings, definition=definition, bracket=bracket)
        self._running.add(number)
        while self._lowest_waiting in self._trials:
            self._lowest_waiting += 1
        return () if self._ending is None else self._end_all(self._ending)

    def _reported(self, trial: Trial, value: float) -> tuple[Stop, ...]:
        trial.reports += 1
        trial.latest = value
        if trial.stop is not None or not trial.running:
            return ()
        strategy = self._strategies[trial.definition]
        reason = strategy.judge(trial.number, trial.bracket, trial.reports, value)
        return () if reason is None else (self._stop(trial, reason),)

    def _ended(self, trial: Trial, event: Ended) -> tuple[Stop, ...]:
        if not trial.running:
            raise InputError(
                f"The record does not fit this study: found {event}, but training job {trial.number} had "
                f"ended as {trial.outcome!r}. Each training job ends once."
            )
        trial.outcome = event.outcome
        trial.objective = trial.latest if event.objective is None else event.objective
        self._running.remove(trial.number)
        self._drawn.clear()
        self._tried[trial.definition] += 1
        if trial.succeeded:
            self._successful.add(trial.definition)
        if self._ending is None and len(self._given_up()) == len(self.spec.spaces):
            return self._end_all("failures")
        met = self._progress.ended(trial)
        if self._ending is None and met is not None:
            self._met = met.words
            return self._end_all(met.kind)
        return ()

    def _end_all(self, kind: StopKind) -> tuple[Stop, ...]:
        if self._ending is None and self._finish is None:
            self._ending = kind
        running = (self._trials[number] for number in self.running)
        return tuple(self._stop(trial, StopReason(kind)) for trial in running if trial.stop is None)

    def _stop(self, trial: Trial, reason: StopReason) -> Stop:
        trial.stop = reason
        return Stop(trial.number, reason)

    def _finished_now(self) -> tuple[Finish, ...]:
        if self._finish is not None or self._running:
            return ()
        if self._ending is not None:
            attempts = FIRST_ATTEMPTS * len(self.spec.spaces)
            self._finish = ended_early(self._ending, self._trials.values(), self._met, attempts)
        elif len(self._trials) == self.spec.jobs:
            self._finish = all_ended(self._trials.values())
        return () if self._finish is None else (self._finish,)
