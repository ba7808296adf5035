"""The scheduled flow: queues between boxes, an execution queue, and workers that run what the scheduler picks.

There is one scheduler. Whichever worker finds the execution queue empty asks it for the next superboxes; so no thread
waits for another to decide. Box calls run outside the lock, one box by one worker at a time.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from aurora.engine.branched import Branched
from aurora.engine.flow import (
    FIFO,
    AtOnce,
    Flow,
    FlowMaker,
    Given,
    Parts,
    Recorder,
    note_cost,
    note_shed,
    run_whole,
    thinned_readers,
)
from aurora.engine.metrics import Statistics
from aurora.engine.queued_boxes import Load, QueuedBoxes
from aurora.engine.room import Room
from aurora.engine.samples import Sample
from aurora.model.train import ORDER, Progress, Train
from aurora.model.typed import Consumer, Producer
from aurora.processors.plan import Execution, FileRows
from aurora.processors.sieve import NO_DROPS, Drops, Sieving, Tally
from aurora.scheduler.branches import branches
from aurora.scheduler.plan import WHOLE_QUEUE, Call, Superbox, Why
from aurora.scheduler.policies import make_policy
from aurora.scheduler.priorities import Priorities
from aurora.scheduler.settings import SchedulerSettings
from aurora.scheduler.standing import Standing
from aurora.scheduler.state import Snapshot, Topology
from aurora.scheduler.train_rules import TrainRule
from aurora.storage.manager import StorageManager

_WORD_US = 10_000
"""A box that waits for time, and gets no tuples, hears of the clock about so often while others are busy."""

_WAIT_S = 0.05
_GLANCE_S = 0.002
_REMEMBERED = 100
_SETTLED = 50_000
"""So many tuples a box takes at a time, at most, when it is to come to an end."""
_LONGEST = 100_000
"""A call takes no more tuples than this, unless the person who chose trains said so: then they no longer fit a core's
caches, and longer trains save nothing."""
_SHARE_US = 50_000
"""How often memory is shared out anew among queues, while some of them are on disk."""
_CALL_S = 30e-6
"""What a call is thought to cost outside the box before any is measured."""
_LEARNT = 0.005
"""How much each call counts in the mean of that."""
_UTILITIES_US = 100_000
"""How often a policy that asks for it hears how well the outputs do."""


class Scheduled:
    """Runs boxes as a policy says. ``workers`` threads do so beside whoever calls ``step``."""

    queues = True
    waits = True
    pace = None

    def __init__(self, parts: Parts, storage: StorageManager, settings: SchedulerSettings, *, workers: int = 0) -> None:
        assert parts.measured is not None
        typed = parts.typed
        self.processor = parts.processor
        self._parts = parts
        self._typed = typed
        self._delivery = parts.delivery
        self._measured = parts.measured
        self._storage = storage
        self._wall = parts.wall
        self._longest = _LONGEST if settings.train is None else WHOLE_QUEUE
        self._boxes = QueuedBoxes(typed, storage, parts.position, parts.clock)
        self._topology = topology = Topology.of(typed)
        self._numbers = {name: number for number, name in enumerate(typed.order)}
        self._policy = make_policy(settings, topology)
        self._planned = np.zeros(len(typed.order), np.bool_)
        self._spilled = False
        self._priorities = Priorities(topology)
        self._shared_us = 0
        self._pinned: set[int] = set()
        self._utilities_us = 0
        self._snapshot = Snapshot(
            0,
            self._boxes.ready,
            self._boxes.arrival_us,
            self._measured.cost_s,
            self._measured.overhead_s,
            self._measured.selectivity,
            self._boxes.tuple_bytes,
            np.ones(len(typed.order)),
            self._planned,
            _CALL_S,
        )
        self._drops = NO_DROPS
        self._sieving = Sieving(typed)
        self._sieved_upto = -1
        self._entries: deque[Superbox] = deque()
        self._chosen: deque[Superbox] = deque(maxlen=_REMEMBERED)
        self._running: list[int] = []
        """The threads that run superboxes."""
        self._mode: Literal["free", "held", "stopped"] = "free"
        self.recorder: Recorder | None = None
        self._worker_s = self._storage_s = 0.0
        self._told_us = parts.clock
        self._outputs: dict[Producer, list[str]] = {}
        for name, producer in typed.outputs.items():
            self._outputs.setdefault(producer, []).append(name)
        self._lock = parts.delivery.lock
        self._changed = threading.Condition(self._lock)
        self._error: BaseException | None = None
        self._closed = self._halted = False
        self._workers = [threading.Thread(target=self._work, daemon=True) for _ in range(workers)]
        for worker in self._workers:
            worker.start()

    # The flow

    def put(self, trains: Given, progress: Progress) -> None:
        opened = {p: train.open() if isinstance(train, FileRows) else train for p, train in trains.items()}
        taps = bool(self._delivery.taps)
        with self._lock:
            if self._drops.sieves:
                opened = self._sifted(opened)
            self._boxes.enter(opened, progress)
            if self._drops.sieves:
                self._note_dropped()
            # Who looks on may want to stop before anybody takes the tuples.
            holds = taps and self._mode == "free"
            if holds:
                self._mode = "held"
            elif self._workers:
                self._changed.notify_all()
        if taps:
            self._delivery.show(opened)
        if holds and not self.stopped:
            self.go_on()
        for producer, train in opened.items():
            for name in self._outputs.get(producer, ()):
                self._delivery.deliver(name, train)

    def bare(self, streams: Collection[str]) -> Collection[str]:
        # Which tuples are dropped goes by their numbers, and what waits long may well be.
        if self._drops.sieves:
            return ()
        return [name for name in streams if self._boxes.is_empty(Producer(name))]

    def step(self, box: str | None = None, most: int | None = None) -> bool:
        while True:
            with self._lock:
                self._raise()
                entry = self._next() if box is None else self._asked_for(box)
                if entry is None and self._running:
                    # What another worker makes may have to be run here, and tuples may come in meanwhile.
                    self._changed.wait(_GLANCE_S)
                    return True
            if entry is None:
                return False
            ran = self._run(entry, most, planned=box is None)
            if ran or box is not None or most is None:
                return ran or box is None

    @property
    def stopped(self) -> bool:
        return self._mode == "stopped"

    def hold(self) -> None:
        mine = threading.get_ident()
        with self._lock:
            self._mode = "held"
            while any(thread != mine for thread in self._running):
                self._changed.wait(_WAIT_S)

    def stop(self) -> None:
        with self._lock:
            self._mode = "stopped"

    def go_on(self, *, alone: bool = False) -> None:
        with self._lock:
            self._mode = "held" if alone else "free"
            self._changed.notify_all()

    def drain(self) -> None:
        while self.step():
            pass

    def pass_time(self, progress: Progress) -> None:
        run_whole(self._parts, self.processor, {}, progress, self._drops, self.recorder)

    def reading(self) -> Statistics:
        with self._lock:
            memory, disk = self._storage.used_memory, self._storage.used_disk
            queues = self._boxes.queues()
            return self._measured.read(self._wall.now_us(), queues, memory_bytes=memory, disk_bytes=disk)

    def sample(self) -> Sample:
        with self._lock:
            memory, disk = self._storage.used_memory, self._storage.used_disk
            queues = self._boxes.queues()
            return self._measured.sample(self._wall.now_us(), queues, memory_bytes=memory, disk_bytes=disk)

    def decisions(self) -> list[str]:
        with self._lock:
            chosen = list(self._chosen)
        return [entry.why.sentence() for entry in chosen]

    def standing(self) -> Standing:
        with self._lock:
            self._boxes.refresh()
            state = self._snapshot.copy(self._wall.now_us())
            queues, called_us = self._boxes.queues(), self._measured.last_called_us()
            queued = np.zeros(len(state.ready), np.int64)
            numbers = self._numbers
            for reader, waiting in queues.items():
                queued[numbers[reader.box]] += waiting.tuples
            held = np.flatnonzero((queued > 0) & (state.ready == 0)).tolist()
            lagging = {box: str(arc) for box in held if (arc := self._boxes.lagging(box)) is not None}
            chosen, sieves = list(self._chosen), self._drops.sieves
        thinned = thinned_readers(self._typed, sieves)
        said = {call.box: entry.why for entry in chosen for call in entry.calls}
        return Standing(self._policy.name, self._topology, state, queued, called_us, lagging, said, thinned)

    def drop(self, drops: Drops) -> None:
        with self._lock:
            self._drops = drops
            self._sieving = self._sieving.renewed(drops.sieves)
            self._sieved_upto = self._boxes.entered
            self._boxes.sieve(self._sieving)
            self._note_dropped()

    def _note_dropped(self) -> None:
        """Counts what was dropped on the way into queues."""
        tally = self._boxes.take_tally()
        note_shed(self._parts, tally, tally.seconds)

    def _sifted(self, trains: dict[Producer, Train]) -> dict[Producer, Train]:
        """What is dropped on entry never waits in a queue."""
        tally = Tally()
        left = {arc: self._sieving.on(arc, train, tally) for arc, train in trains.items()}
        note_shed(self._parts, tally, tally.seconds)
        return {arc: train for arc, train in left.items() if len(train)}

    def waiting(self) -> dict[Consumer, int]:
        with self._lock:
            return self._boxes.waiting()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._changed.notify_all()
        for worker in self._workers:
            worker.join()
        self._storage.close()

    # The network changes

    def settle(self, boxes: Collection[str], seconds: float) -> bool:
        """Runs these boxes, for about so long, on what has entered; whether they have taken all of it.

        With a box all those must be named that it reads from, and nothing may enter for them.
        """
        until_s = time.perf_counter() + seconds
        numbers = [number for number, name in enumerate(self._typed.order) if name in boxes]
        for box in numbers:
            # No more than it can do in that time, as far as is known.
            most = max(1, min(_SETTLED, int(seconds / max(float(self._measured.cost_s[box]), 1e-9))))
            while self._call(Call(box, most), None, {}):
                if time.perf_counter() > until_s:
                    return False
        with self._lock:
            self._raise()
            done = all(map(self._boxes.is_done, numbers))
            if not done and self._workers:
                self._changed.wait(_GLANCE_S)
            return done

    def undone(self, boxes: Collection[str]) -> list[str]:
        with self._lock:
            return [name for name in boxes if not self._boxes.is_done(self._numbers[name])]

    def halt(self) -> None:
        """Comes back when nothing runs, and nothing will: the flow is taken over by another."""
        with self._lock:
            self._closed = self._halted = True
            self._changed.notify_all()
        for worker in self._workers:
            worker.join()
        self._raise()

    def take_over(self, old: Flow, kept: Mapping[str, str]) -> None:
        """What waits in a flow that was halted goes on here, for the boxes in ``kept``: by new names the old ones."""
        assert isinstance(old, Scheduled)
        with self._lock:
            self._boxes.take_over(old._boxes, kept)
            self._told_us = old._told_us
            self._chosen.extend(old._chosen)
            self._snapshot.call_s = old._snapshot.call_s
            self._changed.notify_all()
        old._storage.close()

    # Which

    def _next(self, *, worker: bool = False) -> Superbox | None:
        if self._halted or self._mode == "stopped" or (worker and self._mode == "held"):
            return None
        if not self._entries:
            began = time.perf_counter()
            self._plan()
            self._measured.note_overhead("scheduler", time.perf_counter() - began)
        if not self._entries:
            return None
        self._running.append(threading.get_ident())
        entry = self._entries.popleft()
        self._chosen.append(entry)
        return entry

    def _asked_for(self, box: str) -> Superbox | None:
        """A box that the scheduler did not choose."""
        if self._mode == "stopped":
            return None
        number = self._numbers[box]
        self._running.append(threading.get_ident())
        told = partial(Why, self._policy.name, box, "", int(self._boxes.ready[number]), "was asked for")
        return Superbox((Call(number, WHOLE_QUEUE),), told)

    def _plan(self) -> None:
        self._boxes.refresh()
        now_us = self._wall.now_us()
        if self._boxes.clock_us - self._told_us >= _WORD_US:
            self._told_us = self._boxes.clock_us
            self._add([self._word(box) for box in self._boxes.behind(_WORD_US)])
        if self._boxes.ready.any():
            self._tell(now_us)
            self._add(self._policy.plan(self._snapshot))
        if not self._entries:
            self._add([self._word(box) for box in self._boxes.behind()])

    def _word(self, box: int) -> Superbox:
        """A call that brings a box word of the time, and what tuples there are."""
        name = self._typed.order[box]
        ready = int(self._boxes.ready[box])
        told = partial(Why, self._policy.name, name, "", ready, "waits for time, which has passed")
        return Superbox((Call(box, WHOLE_QUEUE),), told)

    def _add(self, superboxes: Sequence[Superbox]) -> None:
        for superbox in superboxes:
            for call in superbox.calls:
                self._planned[call.box] = True
                if self._spilled:
                    self._storage.pin(self._typed.order[call.box])
                    self._pinned.add(call.box)
        self._entries.extend(superboxes)

    def _tell(self, now_us: int) -> None:
        """Brings what the policy sees up to date. The arrays in the snapshot are those that others keep."""
        self._snapshot.now_us = now_us
        spilled = self._storage.used_disk > 0
        if spilled or self._spilled:
            self._spilled = spilled
            self._share_memory(now_us)
        if self._policy.wants_changes:
            self._policy.changed(self._boxes.touched, self._snapshot)
        self._boxes.touched.clear()
        if self._policy.wants_utilities and now_us - self._utilities_us >= _UTILITIES_US:
            self._utilities_us = now_us
            utilities = {name: self._measured.qos.live(name, now_us).overall for name in self._typed.outputs}
            self._policy.note_utilities({name: utility for name, utility in utilities.items() if utility is not None})

    def _share_memory(self, now_us: int) -> None:
        """Tells the storage manager which queues matter, and the policy which of them are in memory."""
        if now_us - self._shared_us >= _SHARE_US:
            self._shared_us = now_us
            waiting = np.flatnonzero(self._boxes.ready)
            self._priorities.refresh(self._snapshot)
            ranks = np.zeros(len(self._planned))
            ranks[self._priorities.order(waiting, self._snapshot)] = np.arange(len(waiting), 0, -1)
            self._storage.set_priorities(ranks)
        self._snapshot.resident[:] = self._storage.table.residencies()

    # How

    def _run(self, entry: Superbox, most: int | None = None, *, planned: bool = True) -> bool:
        """Runs the calls of a superbox or, with ``most``, the first one that has something to take; whether one had."""
        try:
            return self._run_calls(entry.calls) if most is None else self._run_one(entry.calls, most)
        finally:
            with self._lock:
                # Of all calls together, since notes cost something too.
                self._measured.note_overhead("worker", self._worker_s)
                self._measured.note_overhead("storage", self._storage_s)
                self._worker_s = self._storage_s = 0.0
                self._running.remove(threading.get_ident())
                for call in entry.calls:
                    # One that was asked for may be planned besides.
                    if planned:
                        self._planned[call.box] = False
                    if planned and call.box in self._pinned:
                        self._pinned.discard(call.box)
                        self._storage.unpin(self._typed.order[call.box])
                    self._boxes.touched.add(call.box)
                if self._workers:
                    self._changed.notify_all()

    def _run_calls(self, calls: Sequence[Call]) -> bool:
        ran = False
        last = {call.box: place for place, call in enumerate(calls)}
        following: dict[int, Load | None] = dict.fromkeys(last)
        for place, call in enumerate(calls):
            if self.stopped:
                with self._lock:
                    for box, load in following.items():
                        if load is not None:
                            self._boxes.give_back(box, load)
                break
            load = following[call.box]
            following[call.box] = None
            if last[call.box] == place:
                del following[call.box]
            ran = self._call(call, load, following) or ran
        return ran

    def _run_one(self, calls: Sequence[Call], most: int) -> bool:
        return any(self._call(Call(call.box, min(call.most, most)), None, {}) for call in calls)

    def _call(self, call: Call, load: Load | None, following: dict[int, Load | None]) -> bool:
        """Runs a box; False if there is nothing for it."""
        began = time.perf_counter()
        if load is None:
            with self._lock:
                load = self._boxes.begin(call.box, min(call.most, self._longest))
            if load is None:
                return False
        place = self._boxes.places[call.box]
        taken = time.perf_counter()
        drops = self._drops
        execution = Execution((place.name,), load.trains, load.progress)
        if drops:
            sifted = not any(self._waited(train) for train in load.trains.values())
            execution = replace(execution, sieves=drops.sieves, rules=drops.rules, sifted=sifted)
        recorder = self.recorder
        if recorder is not None:
            recorder.before(place.name)
        (result,) = self.processor.run([execution])
        made = [(port, result.trains[port]) for port in place.ports if port in result.trains]
        if recorder is not None:
            recorder.after(place.name, load.trains, dict(made), result.costs[place.name])
        if self._delivery.taps:
            self._delivery.show(dict(made))
        # The box stays busy until its answers have been delivered, so that these keep their order.
        for producer, train in made:
            for name in self._outputs.get(producer, ()):
                self._delivery.deliver(name, train)
        self._delivery.reject(result.rejected)
        delivered = time.perf_counter()
        with self._lock:
            self._boxes.end(call.box, load.progress, made, following)
            cost = result.costs[place.name]
            note_cost(self._parts, call.box, result)
            if drops:
                note_shed(self._parts, result.shed, result.sieve_s)
                self._note_dropped()
            ended = time.perf_counter()
            self._worker_s += delivered - taken - cost.cost_s - result.sieve_s
            self._storage_s += taken - began + ended - delivered
            if len(load.trains) == 1:
                # Where trains are joined a call costs more, but saves others.
                self._snapshot.call_s += _LEARNT * (
                    ended - began - cost.cost_s - result.sieve_s - self._snapshot.call_s
                )
        return True

    def _waited(self, train: Train) -> bool:
        """Whether tuples of a train were there before the present sieves were; they are sifted as they are taken."""
        return train.arrival_us is not None or int(train.frame.item(0, ORDER)) >> 1 <= self._sieved_upto

    # Workers

    def _work(self) -> None:
        while True:
            with self._lock:
                while (entry := self._next(worker=True)) is None and not self._closed:
                    self._changed.wait(_WAIT_S)
            if entry is None:
                return
            try:
                self._run(entry)
            except BaseException as error:
                with self._lock:
                    self._error = error
                    self._changed.notify_all()
                return

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error


def make_flow(
    processor: str, scheduler: str | SchedulerSettings | None, workers: int, room: Room, train: int | None = None
) -> FlowMaker:
    """The flow that suits a processor. Where a step costs as much as on Spark, whole branches of the network are
    superboxes; if there is only one, or with ``fifo``, all boxes run on every train.

    ``train`` is the most tuples that a call may take, where the settings do not say.
    """
    if scheduler == FIFO and processor != "local":
        return AtOnce
    if isinstance(scheduler, SchedulerSettings):
        settings = scheduler
    else:
        settings = SchedulerSettings() if scheduler is None else SchedulerSettings(policy=scheduler)
    if train is not None and settings.train is None and settings.policy != "tuple_at_a_time":
        settings = replace(settings, train=TrainRule(tuples=train))
    if processor != "local":
        return partial(_in_steps, settings=settings, room=room)
    return lambda parts: Scheduled(parts, room.storage(parts.typed), settings, workers=workers - 1)


def _in_steps(parts: Parts, settings: SchedulerSettings, room: Room) -> Flow:
    if len(branches(parts.typed)) < 2:
        return AtOnce(parts)
    flow = Branched(parts, settings)
    room.watch(lambda: flow.bytes)
    return flow
