"""The flow where boxes run in steps: a scheduler chooses among the network's branches.

A step costs as much as thousands of calls of a box, so what is chosen are not boxes but whole branches, as many for one
step as fit into the time that the most impatient output can spare. When there is little to do that is all of them.
When there is much, branches whose answers are urgent run at once on what has come, and others when it is their turn,
on what has come since. Branches have nothing to do with each other, so answers do not depend on it.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from aurora.engine.box_costs import BoxCosts
from aurora.engine.epoch_log import EpochLog
from aurora.engine.flow import AtOnce, Flow, Given, Parts, note_shed, run_together, thinned_readers, work_of
from aurora.engine.live_statistics import Queued
from aurora.engine.pace import LONG_S, USUAL_STEP_S
from aurora.model.train import Progress, Train
from aurora.model.typed import Consumer, Producer, TypedNetwork
from aurora.processors.plan import Execution, FileRows, Result
from aurora.processors.sieve import Drops, Sieving, Tally
from aurora.scheduler.branches import branches, topology_of_branches
from aurora.scheduler.plan import Call, Superbox
from aurora.scheduler.policies import make_policy
from aurora.scheduler.priorities import Priorities
from aurora.scheduler.settings import SchedulerSettings
from aurora.scheduler.standing import Standing
from aurora.scheduler.state import Snapshot, Topology
from aurora.scheduler.train_rules import WHOLE

_PATIENCE = 0.1
"""A step takes no longer than this share of the tightest good zone of any output, as long as little waits."""

_LONG = 0.5
"""However much waits, it takes no longer than this share of it: what comes meanwhile has to wait for another step."""

_LEAST_SHARE = 0.25
"""A branch that gets less than this of a step's time waits for the next one."""

_OVERHEADS = 4.0
"""A step may take so many times what it costs to have one at all, however impatient an output is."""

_WORD_US = 250_000
"""A branch that waits for time, and gets no tuples, hears of the clock about so often while others are busy."""

_REMEMBERED = 100


@dataclass(frozen=True)
class _Branch:
    """Its boxes, the streams they read, and who of them reads each; ``timed`` if one of them waits for time."""

    boxes: tuple[str, ...]
    readers: Mapping[Producer, tuple[Consumer, ...]]
    timed: bool


@dataclass(frozen=True)
class _Running:
    """A step on its way: when it began, how long it should take, and how many tuples each reader got."""

    began_s: float
    expected_s: float
    tuples: Mapping[Consumer, int]


class Branched(AtOnce):
    """Runs branches as a policy says."""

    waits = True

    def __init__(self, parts: Parts, settings: SchedulerSettings) -> None:
        super().__init__(parts)
        typed = parts.typed
        found = branches(typed)
        self._branches = [_branch(typed, boxes) for boxes in found]
        self._home = {box: number for number, boxes in enumerate(found) for box in boxes}
        topology = topology_of_branches(typed, found)
        self._policy = make_policy(_suited(settings), topology)
        self._good_s = Priorities(topology).tightest_good_zone_s
        self._long_s = min(max(_LONG * self._good_s, USUAL_STEP_S), LONG_S)
        if self.pace is not None:
            self.pace.long_s = self._long_s
        self._log = EpochLog()
        self._entered = Progress.standing(parts.position, parts.clock)
        self._upto = [parts.position] * len(found)
        self._log_lock = threading.Lock()
        self._costs = BoxCosts(len(found), overhead_s=USUAL_STEP_S, began_us=parts.wall.now_us())
        self._state = replace(
            Snapshot.empty(len(found)),
            cost_s=self._costs.cost_s,
            overhead_s=self._costs.overhead_s,
            selectivity=self._costs.selectivity,
        )
        self._chosen: deque[Superbox] = deque(maxlen=_REMEMBERED)
        self._step_now: _Running | None = None
        self._sieving = Sieving(typed)

    @property
    def bytes(self) -> int:
        """What waits here takes so much memory."""
        return self._log.bytes

    # The flow

    def put(self, trains: Given, progress: Progress) -> None:
        if any(isinstance(train, FileRows) for train in trains.values()):
            # Their files may be gone when this is over, so whatever stops the flow, they run now.
            self._pass(trains, progress)
            return
        here = {arc: train for arc, train in trains.items() if isinstance(train, Train)}
        if self._parts.delivery.taps:
            self._parts.delivery.show(here)
        with self._log_lock:
            self._log.put(here, progress)
            self._entered = progress
        self._deliver(here)

    def _deliver(self, trains: Mapping[Producer, Train]) -> None:
        """Streams that are outputs by themselves."""
        typed = self._parts.typed
        for name, arc in typed.outputs.items():
            if arc in trains:
                tally = Tally()
                left = self._sieving.on(arc, trains[arc], tally)
                if tally and not typed.consumers(arc):
                    with self._parts.delivery.lock:
                        note_shed(self._parts, tally, tally.seconds)
                self._parts.delivery.deliver(name, left)

    def bare(self, streams: Collection[str]) -> Collection[str]:
        # Branches take what has come up to a number.
        return ()

    def step(self, box: str | None = None, most: int | None = None) -> bool:
        if self.stopped:
            return False
        upto = self._everything() if self.recorder is not None else self._choose()
        if upto:
            self._run(upto)
        return bool(upto)

    def drain(self) -> None:
        while not self.stopped and (upto := self._everything()):
            self._run(upto)

    def pass_time(self, progress: Progress) -> None:
        self._pass({}, progress)

    def _pass(self, trains: Given, progress: Progress) -> None:
        """Runs all boxes on these trains, behind what waits."""
        if upto := self._everything():
            self._run(upto)
        with self._log_lock:
            self._entered = progress
            self._upto = [progress.seq] * len(self._upto)
            self._log.forget(progress.seq)
        super().put(trains, progress)

    def decisions(self) -> list[str]:
        return [entry.why.sentence() for entry in list(self._chosen)]

    def standing(self) -> Standing | None:
        """As boxes see it: for those that read streams wait the tuples that their branch has not taken."""
        measured, typed = self._parts.measured, self._parts.typed
        if measured is None:
            return None
        waiting, running = self._queues(), self._step_now
        with self._parts.delivery.lock:
            called_us = measured.last_called_us()
            state = replace(
                Snapshot.empty(len(typed.order)),
                now_us=self._parts.wall.now_us(),
                cost_s=measured.cost_s.copy(),
                overhead_s=measured.overhead_s.copy(),
                selectivity=measured.selectivity.copy(),
            )
        place = {box: number for number, box in enumerate(typed.order)}
        for reader, queued in waiting.items():
            state.ready[place[reader.box]] += queued.tuples
            state.arrival_us[place[reader.box]] = queued.oldest_us
        for reader in () if running is None else running.tuples:
            state.running[[place[box] for box in self._branches[self._home[reader.box]].boxes]] = True
        said = {
            place[box]: entry.why
            for entry in list(self._chosen)
            for call in entry.calls
            for box in self._branches[call.box].boxes
        }
        topology = Topology.of(typed)
        thinned = thinned_readers(typed, self._drops.sieves)
        return Standing(self._policy.name, topology, state, state.ready.copy(), called_us, {}, said, thinned)

    def _queues(self) -> dict[Consumer, Queued]:
        """What no step has taken yet, by who is to read it."""
        found: dict[Consumer, Queued] = {}
        with self._log_lock:
            for branch, upto in zip(self._branches, self._upto, strict=True):
                for arc, readers in branch.readers.items():
                    queued = self._log.queued(arc, upto)
                    if queued.tuples:
                        found |= dict.fromkeys(readers, queued)
        return found

    def drop(self, drops: Drops) -> None:
        super().drop(drops)
        self._sieving = self._sieving.renewed(drops.sieves)

    def waiting(self) -> dict[Consumer, int]:
        found: dict[Consumer, int] = {}
        running = self._step_now
        if running is not None:
            passed = (time.perf_counter() - running.began_s) / max(running.expected_s, 1e-9)
            found = {reader: int(max(0.0, 1 - passed) * count) for reader, count in running.tuples.items()}
        for reader, queued in self._queues().items():
            found[reader] = found.get(reader, 0) + queued.tuples
        return {reader: count for reader, count in found.items() if count}

    # The network changes

    def settle(self, boxes: Collection[str], seconds: float) -> bool:
        self.drain()
        return not self.undone(boxes)

    def undone(self, boxes: Collection[str]) -> list[str]:
        behind = self._everything()
        return [box for box in boxes if self._home[box] in behind]

    def halt(self) -> None:
        self.drain()

    def take_over(self, old: Flow, kept: Mapping[str, str]) -> None:
        super().take_over(old, kept)
        if isinstance(old, Branched):
            self._chosen.extend(old._chosen)

    # Which

    def _everything(self) -> dict[int, int]:
        """All branches that are behind, with the number of the last tuple that has entered."""
        last = self._entered.seq
        return {
            number: last
            for number, branch in enumerate(self._branches)
            if self._upto[number] < last and (branch.timed or self._ready(number)[0])
        }

    def _ready(self, number: int) -> tuple[int, float]:
        """How many tuples wait for a branch, and the sum of their arrival times."""
        found = [self._log.waiting(arc, self._upto[number]) for arc in self._branches[number].readers]
        return sum(count for count, _ in found), math.fsum(arrivals_us for _, arrivals_us in found)

    def _choose(self) -> dict[int, int]:
        """By branch up to which number it runs next; nothing if there is nothing to run."""
        began_s = time.perf_counter()
        self._look()
        chosen: dict[int, int] = {}
        left_s = self._step_s()
        least_s = _LEAST_SHARE * left_s
        for entry in self._ranked():
            for call in entry.calls:
                takes_s = self._add(call, left_s, least_s, chosen)
                if takes_s is not None:
                    left_s -= takes_s
                    self._chosen.append(entry)
        chosen |= self._words(chosen)
        if self._parts.measured is not None:
            with self._parts.delivery.lock:
                self._parts.measured.note_overhead("scheduler", time.perf_counter() - began_s)
        return chosen

    def _step_s(self) -> float:
        """So long the next step may take, so that whatever is most urgent then does not come too late.

        The more waits, the longer: what steps cost by themselves takes the less of the time.
        """
        state = self._state
        backlog_s = float(state.ready @ state.cost_s)
        usual_s = max(_PATIENCE * self._good_s, _OVERHEADS * float(state.overhead_s.max()))
        return max(usual_s, min(backlog_s / 2, self._long_s))

    def _ranked(self) -> Iterator[Superbox]:
        """Everything that could run, what should run first first."""
        state, policy = self._state, self._policy
        try:
            while state.free().any():
                if policy.wants_changes:
                    policy.changed(range(len(self._branches)), state)
                plan = policy.plan(state)
                yield from plan
                planned = [call.box for entry in plan for call in entry.calls]
                if not planned:
                    break
                state.running[planned] = True
        finally:
            state.running[:] = False

    def _add(self, call: Call, left_s: float, least_s: float, chosen: dict[int, int]) -> float | None:
        """Puts a branch on the next step if it fits, with as many tuples as do; how long it will take then.

        One is always put.
        """
        number = call.box
        ready = int(self._state.ready[number])
        each_s = max(float(self._state.cost_s[number]), 1e-12)
        tuples = min(ready, call.most)
        if tuples * each_s > left_s:
            tuples = int(max(left_s, 0.0) / each_s)
            if chosen and tuples * each_s < least_s:
                return None
            tuples = max(tuples, 1)
        if not ready:
            return None
        chosen[number] = self._entered.seq
        if tuples < ready:
            chosen[number] = self._log.number_at(self._branches[number].readers, self._upto[number], tuples)
        return tuples * each_s

    def _look(self) -> None:
        """Brings what the policy sees up to date."""
        self._costs.catch_up()
        state = self._state
        state.now_us = self._parts.wall.now_us()
        for number in range(len(self._branches)):
            count, arrivals_us = self._ready(number)
            state.ready[number] = count
            if count:
                state.arrival_us[number] = arrivals_us / count

    def _words(self, chosen: Mapping[int, int]) -> dict[int, int]:
        """Branches that wait for time alone, and have not heard of it for long; or at all, if nothing else is to do."""
        last = self._entered
        found = {}
        for number, branch in enumerate(self._branches):
            upto = self._upto[number]
            if branch.timed and upto < last.seq and number not in chosen and not self._state.ready[number]:
                _, word = self._log.between((), upto, last.seq, clocks=True)
                if not chosen or last.clock - int(word.clocks[0]) >= _WORD_US:
                    found[number] = last.seq
        return found

    # How

    def _run(self, upto: Mapping[int, int]) -> None:
        groups: dict[tuple[int, int], list[int]] = {}
        for number, last in sorted(upto.items()):
            groups.setdefault((self._upto[number], last), []).append(number)
        plan = [self._execution(numbers, *between) for between, numbers in groups.items()]
        tuples = {
            number: {arc: len(one.trains[arc]) for arc in self._branches[number].readers if arc in one.trains}
            for one, numbers in zip(plan, groups.values(), strict=True)
            for number in numbers
        }
        with self._log_lock:
            for number, last in upto.items():
                self._upto[number] = last
            self._log.forget(min(self._upto, default=self._entered.seq))
            self._step_now = self._expected(tuples)
        began_s = time.perf_counter()
        if self.pace is not None:
            self.pace.begin()
        results = run_together(self._parts, self.processor, plan, self.recorder, streams=False)
        if self.pace is not None:
            self.pace.end(math.fsum(map(work_of, results)), self._parts.wall.now_us())
        took_s = time.perf_counter() - began_s
        self._step_now = None
        self._note(took_s, tuples, list(zip(groups.values(), results, strict=True)))

    def _execution(self, numbers: Sequence[int], after: int, upto: int) -> Execution:
        """Branches that have come equally far are run as one."""
        some = [self._branches[number] for number in numbers]
        arcs = {arc for branch in some for arc in branch.readers}
        trains, progress = self._log.between(arcs, after, upto, clocks=any(branch.timed for branch in some))
        inside = {box for branch in some for box in branch.boxes}
        boxes = tuple(box for box in self._parts.typed.order if box in inside)
        return Execution(boxes, trains, progress, self._drops.sieves, self._drops.rules)

    def _expected(self, tuples: Mapping[int, Mapping[Producer, int]]) -> _Running:
        costs_s = self._costs.cost_s
        expected_s = math.fsum(float(costs_s[number]) * sum(taken.values()) for number, taken in tuples.items())
        counts = {
            reader: count
            for number, taken in tuples.items()
            for arc, count in taken.items()
            for reader in self._branches[number].readers[arc]
        }
        return _Running(time.perf_counter(), expected_s, counts)

    def _note(
        self,
        took_s: float,
        tuples: Mapping[int, Mapping[Producer, int]],
        done: Sequence[tuple[Sequence[int], Result]],
    ) -> None:
        """Notes what each branch cost: its share of the step, by the work of its boxes."""
        work_s = {
            number: math.fsum(result.costs[box].cost_s for box in self._branches[number].boxes)
            for numbers, result in done
            for number in numbers
        }
        all_s = math.fsum(work_s.values())
        now_us = self._parts.wall.now_us()
        for number, taken in tuples.items():
            count = sum(taken.values())
            if count and all_s > 0:
                self._costs.note(number, count, count, took_s * work_s[number] / all_s, now_us)


def _branch(typed: TypedNetwork, boxes: tuple[str, ...]) -> _Branch:
    readers: dict[Producer, list[Consumer]] = {}
    for box in boxes:
        for port, arc in enumerate(typed.inputs[box]):
            if arc.name in typed.network.streams:
                readers.setdefault(arc, []).append(Consumer(box, port))
    timed = any(typed.network.boxes[box].keeps_time() for box in boxes)
    return _Branch(boxes, {arc: tuple(some) for arc, some in readers.items()}, timed)


def _suited(settings: SchedulerSettings) -> SchedulerSettings:
    """Where trains are left to the policy, it is the time for a step that limits them."""
    if settings.train is None and settings.policy != "tuple_at_a_time":
        return replace(settings, train=WHOLE)
    return settings
