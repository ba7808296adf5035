"""The engine as a Python program uses it: tuples are enqueued, and answers dequeued, while boxes run.

A thread of the engine's own takes what is enqueued, lets the scheduler choose what runs, and lets time pass.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from aurora.clock import Clock, WallClock
from aurora.connectors.block_log import BlockLogSink
from aurora.connectors.frames import Table, table_frame
from aurora.engine import taps
from aurora.engine.changing import change, foresee
from aurora.engine.debugged import Debugged
from aurora.engine.enqueued import Enqueued
from aurora.engine.entities import entities
from aurora.engine.loop import Loop
from aurora.engine.metrics import Statistics
from aurora.engine.modified import Modified
from aurora.engine.modify import Plan, own_copy
from aurora.engine.naming import unknown
from aurora.engine.outlets import UNPUBLISHED, AsyncOutlet, Callback, Outlet
from aurora.engine.outputs import Outputs
from aurora.engine.recovery import Committed, Recovery
from aurora.engine.room import DEFAULT_DISK, DEFAULT_MEMORY, Room, WhenFull
from aurora.engine.run import Run
from aurora.engine.samples import Sample
from aurora.engine.scheduled import make_flow
from aurora.engine.shedder import ShedderMaker, make_shedder
from aurora.engine.taker import Taker
from aurora.engine.workplace import DEFAULT_MASTER, ProcessorName, Workplace, identity
from aurora.errors import InputError, StateError
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.typed import TypedNetwork
from aurora.processors.plan import Processor
from aurora.scheduler.settings import SchedulerSettings
from aurora.scheduler.standing import Explained, explain
from aurora.shedding.observation import Mode

if TYPE_CHECKING:
    from aurora.connectors.spark_feed import Feed

_FEW = 4_000
"""So few tuples may be run by the thread that enqueues them, if no other does; more would hold it up."""
_LOOK_S = 0.1
"""How often a quiet engine that drops tuples looks whether it still has to."""
_TICK_S = {"local": 0.02, "spark": 0.25}
"""How often boxes that wait for time hear of it on a quiet stream; on Spark it costs a step each time."""


Stage: TypeAlias = Literal["new", "running", "failed", "stopped"]


class Engine(Debugged):
    """Runs a network over what a program enqueues.

    >>> net = Network("example")
    >>> ticks = net.stream("ticks", ticker="string", price="double")
    >>> _ = net.output("dear", ticks.filter("above", "price > 50"))
    >>> with Engine(net, processor="local") as engine:
    ...     engine.enqueue("ticks", [{"ticker": "IBM", "price": 40.0}, {"ticker": "MSF", "price": 60.0}])
    ...     for train in engine.dequeue("dear"):
    ...         print(train.rows())
    [('MSF', 60.0)]

    Boxes run in a thread of the engine's own or, where few tuples are enqueued and nothing else runs, in the thread
    that enqueues them. Tuples are taken in the order in which they were enqueued. A tuple's time is that of the wall
    clock when it was, or with ``clock`` the running maximum of that column. ``statics`` has the tables of dangling
    connection points.

    ``scheduler`` names the policy that chooses which boxes run, and ``workers`` how many threads run them; answers
    depend on neither. ``headroom`` is the share of the workers' time that boxes should take for long; the rest is for
    what nobody foresaw. On Spark the policy chooses among branches of the network, boxes that hang together, since a
    step there is too dear for single boxes; with ``fifo`` all of them run on every train. Tuples that wait are kept in
    ``memory`` bytes, then in ``disk`` bytes of a temporary folder; ``when_full`` says, for all inputs or for each, what
    happens when both are full: ``enqueue`` blocks, it is rejected with an error, or its tuples are shed and counted. An
    engine that is ``paused`` runs nothing until ``step`` or ``resume``.

    ``shedding`` says what is dropped when more comes than can be processed, so that the answers that matter stay on
    time: ``random`` drops where the outputs' loss graphs say that it hurts least, ``semantic`` drops the values that
    matter least by their value graphs, ``auto`` does what loses less, ``uniform`` drops the same share of all inputs,
    and ``off`` drops nothing. Outputs without loss or value graph get every tuple, but with ``uniform``.
    ``describe()["drops"]`` says what is dropped just now, ``decisions()`` why, and ``stats().drops`` how much.

    ``state`` is the folder where the engine commits, about every second and at shutdown, what it has taken and the
    state of all boxes. An engine that is started with it again goes on from there: ``stats().inputs`` says how many
    tuples of each stream are in it. Answers that nobody had dequeued are lost with a process that dies; a published
    output is not. ``say`` gets a line for every stage of Spark's start; without it a person at a terminal sees them.
    """

    def __init__(
        self,
        network: Network,
        *,
        processor: ProcessorName = "spark",
        master: str = DEFAULT_MASTER,
        clock: str | None = None,
        scheduler: str | SchedulerSettings | None = None,
        workers: int = 1,
        headroom: float = 0.9,
        memory: str | int = DEFAULT_MEMORY,
        disk: str | int = DEFAULT_DISK,
        when_full: WhenFull | Mapping[str, WhenFull] = "block",
        shedding: Mode = "auto",
        state: str | Path | None = None,
        statics: Mapping[str, Table] | None = None,
        train: int | None = None,
        paused: bool = False,
        ui: bool = False,
        wall: Clock | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        if processor not in ("spark", "local"):
            raise InputError(f'there is no processor {processor!r}; use "spark" or "local"')
        if workers < 1:
            raise InputError(f"{workers} workers cannot run boxes; give 1 or more")
        if not 0 < headroom <= 1:
            raise InputError(f"headroom is {headroom}; give the share of the workers' time that boxes may take, 0 to 1")
        self._capacity = workers * headroom
        self._network = own_copy(network)
        self._typed = typecheck(self._network)
        self._clock = clock
        self._train = train
        self._wall = wall or WallClock()
        super().__init__(self._wall)
        self._statics = self._static_tables(statics or {})
        self._state = None if state is None else str(state)
        self._workplace = Workplace(processor, master=master, state=self._state, live=True, ui=ui, say=say or _tell)
        self._room = Room(memory, disk, when_full, list(network.streams))
        self._flow = make_flow(processor, scheduler, workers, self._room, train)
        self._shedding = (shedding, headroom)
        self._shedder = self._make_shedder()
        self._local = processor == "local"
        self._tick_s = _TICK_S[processor]
        self._paused = paused
        self._outputs = Outputs(self._typed)
        self._queue: Enqueued | None = None
        self._running: Run | None = None
        self._loop: Loop | None = None
        self._committed: Committed | None = None
        self._recovery: Recovery | None = None
        self._options = {"clock": clock, "live": True}
        self._changing = threading.RLock()
        """Held by whoever modifies the network, or shuts the engine down."""
        self._stopping = False
        self._unbarred = threading.Event()
        """While it is not set, streams may be barred that end or change."""
        self._unbarred.set()
        self._feeds: dict[str, Feed] = {}
        self._stack = ExitStack()
        self._stage: Stage = "new"
        self._why = ""
        self._ended = False

    # Its life

    def start(self) -> None:
        """Starts what the boxes run on; ``with`` does it."""
        if self._stage != "new":
            raise StateError("the engine has been started before; make another one")
        self._stack.callback(self._workplace.close)
        try:
            self._recovery = self._workplace.recovery(identity(self._network, self._options))
            known = None if self._recovery is None else self._recovery.peek()
            processor = self._workplace.processor(self._typed, self._statics, known)
            self._stack.callback(processor.close)
            resumed = None if self._recovery is None else self._recovery.resume(processor)
            schemas = {name: self._typed.arcs[name].schema for name in self._network.streams}
            self._queue = Enqueued(schemas, self._wall, self._clock)
            if resumed is not None:
                at = resumed.position
                self._queue = Enqueued(schemas, self._wall, self._clock, at.clock, at.read)
            self._committed = resumed
            self._ended = resumed is not None and resumed.stage != "running"
            self._running = self._make_run(self._typed, processor, resumed)
            if self._paused:
                self._running.flow.hold()
            self._stack.callback(lambda: None if self._running is None else self._running.close())
            self._stage = "running"
        except BaseException as error:
            self._stage, self._why = "stopped", f"it did not start: {error}"
            self._stack.close()
            raise
        self._loop = Loop(self._running, tick_s=self._next_tick_s, paused=self._paused)
        self._loop.start()

    def shutdown(self, *, drain: bool = True) -> None:
        """Takes what is enqueued unless told not to, commits, and stops everything.

        What came out can still be dequeued. Open windows are left open; ``flush`` closes them.
        """
        if self._running is None or self._loop is None:
            return
        self._stopping = True
        with self._unchanging():
            if self._stage != "stopped":
                self._shut_down(self._loop, self._running, drain=drain)

    def _shut_down(self, loop: Loop, running: Run, *, drain: bool) -> None:
        loop.stop()
        try:
            if self._stage == "running":
                with self._failing(), self._breakpoints.passed():
                    running.flow.go_on()
                    if drain:
                        running.drain()
                    running.commit()
        finally:
            self._queued.clear()
            for feed in self._feeds.values():
                feed.stop()
            self._outputs.close()
            if self._stage == "running":
                self._why = "it has been shut down"
            self._stage = "stopped"
            self._room.close()
            self._stack.close()

    def __enter__(self) -> Engine:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown(drain=kind is None)

    # Tuples in, answers out

    def enqueue(self, stream: str, table: Table) -> None:
        """Adds tuples to an input. Where there is no room for them, what was chosen as ``when_full`` happens."""
        while True:
            self._check_open()
            version = self._queued.version
            self._check_stream(stream)
            try:
                frame = table_frame(table, self._typed.arcs[stream].schema)
            except InputError as error:
                raise InputError(f"cannot enqueue to {stream}: {error}") from error
            self._queued.note_offer(stream, frame.height)
            running = self._check_open()
            running.look()
            if not self._room.admit(stream, frame, self._used, self._wait_for_room):
                running.shed(stream, frame.height)
                return
            if self._queued.put(stream, frame, version):
                break
            self._wait_for_change(stream)
        if self._local and frame.height <= _FEW:
            self._looping.bring(frame.height)
        else:
            self._looping.wake(table=self._local)

    def dequeue(self, output: str) -> Iterator[pl.DataFrame]:
        """What has come out on an output, and what comes of everything that was enqueued; then it stops.

        A train is shown as a frame of the output's columns. What comes out on other outputs waits there. The output
        ``BOX.rejected`` has the tuples on which the operator's code failed in a box.
        """
        return self._dequeued(self._outputs.outlet(output))

    def _dequeued(self, outlet: Outlet) -> Iterator[pl.DataFrame]:
        if self._stage == "running":
            # The boxes are told the time once more.
            self._looping.wake()
            while self._looping.wait():
                yield from outlet
            self._check_loop()
        yield from outlet

    def subscribe(self, output: str, callback: Callback, ended: Callable[[], None] | None = None) -> None:
        """Calls ``callback`` with every train of an output as it comes out, in the thread that ran the boxes.

        What waits comes first. A callback that fails is logged, and called no more. ``ended`` is called when nothing
        more will come: the engine is shut down, or the output was removed or has other columns.
        """
        outlet = self._outputs.outlet(output)
        with self._exclusive():
            outlet.subscribe(callback, ended)

    def unsubscribe(self, output: str, callback: Callback) -> None:
        """The callback is called no more. Without any, what comes out waits."""
        self._outputs.outlet(output).unsubscribe(callback)

    async def stream(self, output: str) -> AsyncIterator[pl.DataFrame]:
        """The trains of an output as they come out, until the engine is shut down."""
        outlet = self._outputs.outlet(output)
        handed = AsyncOutlet()
        with self._exclusive():
            outlet.subscribe(handed, handed.end)
        try:
            async for frame in handed.frames():
                yield frame
        finally:
            outlet.unsubscribe(handed)

    def drain(self) -> None:
        """Takes what is enqueued, and comes back when it has gone through all boxes; StateError at a break-point."""
        self._check_started()
        with self._unchanging(), self._exclusive() as running:
            running.drain()
        self._check_through()

    def commit(self) -> None:
        """With ``state``, makes this the point from which an engine that is started again goes on."""
        self._check_started()
        with self._unchanging(), self._exclusive() as running:
            running.commit()

    def enqueued(self, stream: str) -> int:
        """How many tuples of a stream have been enqueued, with those in the state from which this engine went on."""
        self._check_stream(stream)
        return self._queued.total(stream)

    def kept(self, stream: str) -> int:
        """How many of them are safe: without ``state`` all, with it those that are committed.

        Who brings tuples from where they can be had again need not remember those.
        """
        return self.enqueued(stream) if self._recovery is None else self._recovery.read.get(stream, 0)

    def flush(self) -> None:
        """Ends the input: takes what is enqueued, closes open windows, and empties sort buffers."""
        self._check_started()
        with self._unchanging(), self._exclusive() as running:
            running.drain()
            running.flush()
            self._ended = running.ended
        if not self._ended:
            self._check_through()

    def publish(self, output: str, address: str | Path) -> None:
        """Writes an output to a log of Arrow blocks from now on, for Spark and others to read; it is dequeued no more.

        A log that is there already is continued.
        """
        schema = self._outputs.published_schema(output)
        self._check_started()
        known = UNPUBLISHED if self._committed is None else self._committed.outputs.get(output, UNPUBLISHED)
        sink = BlockLogSink(str(address), schema, resume=None if known == UNPUBLISHED else known)
        self._stack.callback(sink.close)
        with self._exclusive():
            self._outputs.publish(output, sink)

    def feed(self, stream: str, frame: Any, *, checkpoint: str | Path | None = None) -> Feed:
        """Lets a streaming DataFrame of ``session`` feed an input; its handle takes what there is when it is told to.

        ``checkpoint`` is where Spark notes how far it has read. Without it the engine's ``state`` has a place for it,
        and without that it is forgotten at shutdown.
        """
        self._check_stream(stream)
        self._check_open()
        self._workplace.session  # noqa: B018  (it says what is wrong where there is none)
        from aurora.connectors.spark_feed import Feed

        if stream in self._feeds:
            raise InputError(f"{stream} is fed already; one DataFrame feeds a stream: union them, or use two streams")
        if checkpoint is None and self._state is not None:
            checkpoint = f"{self._state.rstrip('/')}/feeds/{stream}"
        place = None if checkpoint is None else str(checkpoint)
        self._feeds[stream] = Feed(stream, frame, self._typed.arcs[stream].schema, Taker(self, stream), place)
        return self._feeds[stream]

    def modify(self, network: Network, *, statics: Mapping[str, Table] | None = None) -> Modified:
        """Puts another network in the place of the one that runs, all of it or nothing; what changed by that.

        NetworkError with all reasons if it cannot be. Boxes that do the same on the same streams go on with their
        state; others start anew. What was enqueued before goes through the old network: boxes that end or change take
        it first, for which streams that bring them tuples are held. All else goes on. What waits at an output that is
        removed can still be dequeued. ``statics`` has tables for new dangling connection points, or new ones.

        With ``state`` the change is committed: an engine that is started again needs the new network.
        """
        self._check_open()
        if self._looping.runs_here:
            raise StateError("a callback cannot modify the network whose boxes wait for it; do it in another thread")
        with self._unchanging():
            self._check_open()
            return change(self, network, statics or {})

    def foresee(self, network: Network) -> Modified:
        """What ``modify`` would change, drain and hold, without doing it; NetworkError if it would refuse."""
        self._check_open()
        with self._unchanging():
            return foresee(self, network)

    # What it knows

    @property
    def session(self) -> Any:
        """The SparkSession on which the boxes run."""
        return self._workplace.session

    @property
    def failure(self) -> str:
        """Why it runs no more; empty while it does, and before it was started."""
        if self._why:
            return self._why
        error = None if self._loop is None else self._loop.error
        return "" if error is None else f"it failed: {error}"

    def stats(self) -> Statistics:
        """What every input, box, arc and output has done so far, and does lately."""
        if self._running is None:
            raise StateError("the engine has not been started; use it in a with statement, or call start()")
        return self._running.reading()

    def sample(self) -> Sample:
        """The part of the statistics that a history keeps, for much less work."""
        return self._check_started().sample()

    def scheduling(self) -> dict[str, Explained]:
        """Of every box why it runs or does not, just now; empty where all boxes run as one superbox."""
        standing = self._check_started().standing()
        return {} if standing is None else explain(standing, paused=self._looping.paused)

    def drops(self) -> list[dict[str, Any]]:
        """What the load shedder drops just now, as plain values."""
        return self._check_started().drops

    def decisions(self) -> list[str]:
        """Why the scheduler chose what ran lately, a sentence each, the latest last. On Spark it chooses among
        branches. Behind them is why the load shedder dropped what it did, the latest last."""
        return self._check_started().decisions()

    def typecheck(self) -> TypedNetwork:
        """The network with the type of every arc."""
        return self._typed

    def entities(self) -> list[dict[str, Any]]:
        """Every stream, box, output, superbox and so on, with kind, description, tags, and the columns of its arcs."""
        return entities(self._typed)

    def describe(self) -> dict[str, Any]:
        """The network's document, how many tuples wait at each stream and output, and what is dropped just now."""
        queued = {name: 0 if self._queue is None else self._queue.waiting(name) for name in self._network.streams}
        waiting = self._outputs.waiting()
        drops = [] if self._running is None else self._running.drops
        return {"network": self._network.to_document(), "queued": queued, "waiting": waiting, "drops": drops}

    # Inside

    def _make_shedder(self) -> ShedderMaker | None:
        mode, headroom = self._shedding
        return make_shedder(self._typed, mode, headroom, self._room.pressed, self._statics)

    def _make_run(self, typed: TypedNetwork, processor: Processor, resumed: Committed | None) -> Run:
        return Run(
            typed,
            self._queued,
            self._outputs.sinks,
            statics=self._statics,
            train=self._train,
            clock=self._clock,
            wall=self._wall,
            processor=processor,
            recovery=self._recovery,
            resumed=resumed,
            flow=self._flow,
            capacity=self._capacity,
            shedder=self._shedder,
        )

    def _go_on(self, typed: TypedNetwork, processor: Processor, old: Run, resumed: Committed, plan: Plan) -> None:
        """Another run takes over from one that was halted."""
        self._shedder = self._make_shedder()
        self._running = self._make_run(typed, processor, resumed)
        if self._looping.paused:
            self._running.flow.hold()
        self._running.take_over(old, plan.kept, plan.same_arcs())
        taps.follow(self._running)
        self._breakpoints.follow(self._running, plan.same_arcs())
        self._looping.follow(self._running)

    @property
    def _queued(self) -> Enqueued:
        assert self._queue is not None
        return self._queue

    @property
    def _looping(self) -> Loop:
        assert self._loop is not None
        return self._loop

    def _next_tick_s(self) -> float | None:
        """When to go on without tuples: to tell boxes the time, or to see whether there is still too much to do."""
        assert self._running is not None
        if self._running.waits_for_time and self._clock is None:
            return self._tick_s
        return max(self._tick_s, _LOOK_S) if self._running.sheds else None

    def _used(self) -> int:
        return self._queued.bytes + self._outputs.bytes

    def _wait_for_change(self, stream: str) -> None:
        """Waits while the stream ends or changes."""
        if self._looping.runs_here:
            raise StateError(f"the network is being modified, and {stream} with it; enqueue when that is done")
        while not self._unbarred.wait(0.1):
            self._check_open()

    def _wait_for_room(self) -> None:
        self._check_loop()
        self._check_open()
        if self._looping.paused:
            raise StateError("there is no room for more tuples, and the engine is paused; resume it")
        self._check_started().look()
        self._looping.wait_for_change(0.1)

    @contextmanager
    def _exclusive(self) -> Iterator[Run]:
        """Whoever is inside may run boxes, and nobody else does."""
        self._check_started()
        with self._looping.exclusive():
            running = self._check_started()
            with self._failing():
                yield running
        self._looping.wake()

    @contextmanager
    def _unchanging(self) -> Iterator[None]:
        """Whoever is inside need not fear that the network is modified, or else is a callback of one that waits."""
        mine = self._changing.acquire(blocking=not self._looping.runs_here)
        try:
            yield
        finally:
            if mine:
                self._changing.release()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """What goes wrong while boxes run leaves them in the middle of something; nothing is run after it."""
        try:
            yield
        except BaseException as error:
            self._stage, self._why = "failed", f"it failed: {error}"
            self._looping.halt()
            raise

    def _check_loop(self) -> None:
        """Tells whoever comes first what the engine's thread failed with."""
        error = None if self._loop is None else self._loop.error
        if error is not None and self._stage == "running":
            self._stage, self._why = "failed", f"it failed: {error}"
            raise error

    def _check_started(self) -> Run:
        if self._why:
            raise StateError(f"the engine runs no more: {self._why}; make another one")
        if self._running is None:
            raise StateError("the engine has not been started; use it in a with statement, or call start()")
        self._check_loop()
        return self._running

    def _check_open(self) -> Run:
        running = self._check_started()
        if self._ended:
            raise StateError("the input has ended with a flush; make another engine, with another state folder if any")
        return running

    def _check_stream(self, name: str) -> None:
        if name not in self._network.streams:
            raise InputError(unknown("stream", name, list(self._network.streams)))

    def _static_tables(self, tables: Mapping[str, Table]) -> dict[str, pl.DataFrame]:
        points = [name for name, point in self._network.connection_points.items() if point.dangling]
        for name in tables:
            if name not in points:
                raise InputError(unknown("static connection point", name, points))
        return {name: table_frame(table, self._typed.arcs[name].schema) for name, table in tables.items()}


def _tell(line: str) -> None:
    if sys.stderr.isatty():
        print(line, file=sys.stderr)
