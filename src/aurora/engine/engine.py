"""The engine as a Python program uses it: tuples are enqueued, and answers dequeued.

This one does one thing after the other. Nothing runs until somebody asks for answers; then the boxes run until all that
was enqueued has been taken.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from aurora.clock import Clock, WallClock
from aurora.connectors.block_log import BlockLogSink
from aurora.connectors.block_rows import BlockRows
from aurora.connectors.frames import Table, table_frame
from aurora.connectors.source import LiveSink, Sink, SinkPosition
from aurora.engine.enqueued import Enqueued
from aurora.engine.recovery import Committed
from aurora.engine.run import Run, rejected_by
from aurora.engine.statistics import RunStatistics
from aurora.engine.workplace import DEFAULT_MASTER, ProcessorName, Workplace, identity
from aurora.errors import InputError, StateError, did_you_mean
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.schema import Schema
from aurora.model.typed import TypedNetwork
from aurora.processors.poison import REJECTED, runs_user_code

if TYPE_CHECKING:
    from aurora.connectors.spark_feed import Feed


_UNPUBLISHED = -1
"""In a commit, the position of an output that no log has been kept of."""


class Engine:
    """Runs a network over what a program enqueues.

    >>> net = Network("example")
    >>> ticks = net.stream("ticks", ticker="string", price="double")
    >>> _ = net.output("dear", ticks.filter("above", "price > 50"))
    >>> with Engine(net, processor="local") as engine:
    ...     engine.enqueue("ticks", [{"ticker": "IBM", "price": 40.0}, {"ticker": "MSF", "price": 60.0}])
    ...     for train in engine.dequeue("dear"):
    ...         print(train.rows())
    [('MSF', 60.0)]

    Tuples are taken in the order in which they were enqueued. A tuple's time is that of the wall clock when it was, or
    with ``clock`` the running maximum of that column. ``statics`` has the tables of dangling connection points.

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
        state: str | Path | None = None,
        statics: Mapping[str, Table] | None = None,
        train: int | None = None,
        ui: bool = False,
        wall: Clock | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        if processor not in ("spark", "local"):
            raise InputError(f'there is no processor {processor!r}; use "spark" or "local"')
        self._network = network
        self._typed = typecheck(network)
        self._clock = clock
        self._train = train
        self._wall = wall or WallClock()
        self._statics = self._static_tables(statics or {})
        self._state = None if state is None else str(state)
        self._workplace = Workplace(processor, master=master, state=self._state, ui=ui, say=say or _tell)
        self._schemas = self._output_schemas()
        self._outputs = {name: _Waiting() for name in self._schemas}
        self._sinks: dict[str, Sink] = {**self._outputs}
        self._queue: Enqueued | None = None
        self._running: Run | None = None
        self._committed: Committed | None = None
        self._feeds: dict[str, Feed] = {}
        self._stack = ExitStack()
        self._stage: Literal["new", "running", "failed", "stopped"] = "new"
        self._why = ""
        self._ended = False

    # Its life

    def start(self) -> None:
        """Starts what the boxes run on; ``with`` does it."""
        if self._stage != "new":
            raise StateError("the engine has been started before; make another one")
        self._stack.callback(self._workplace.close)
        try:
            options = {"clock": self._clock, "live": True}
            recovery = self._workplace.recovery(identity(self._network, options))
            known = None if recovery is None else recovery.peek()
            processor = self._workplace.processor(self._typed, self._statics, known)
            self._stack.callback(processor.close)
            resumed = None if recovery is None else recovery.resume(processor)
            schemas = {name: self._typed.arcs[name].schema for name in self._network.streams}
            at = {} if resumed is None else {"clock": resumed.position.clock}
            self._queue = Enqueued(schemas, self._wall, self._clock, **at)
            self._committed = resumed
            self._ended = resumed is not None and resumed.stage != "running"
            self._running = Run(
                self._typed,
                self._queue,
                self._sinks,
                statics=self._statics,
                train=self._train,
                clock=self._clock,
                wall=self._wall,
                processor=processor,
                recovery=recovery,
                resumed=resumed,
            )
            self._stage = "running"
        except BaseException as error:
            self._stage, self._why = "stopped", f"it did not start: {error}"
            self._stack.close()
            raise

    def shutdown(self, *, drain: bool = True) -> None:
        """Takes what is enqueued unless told not to, commits, and stops everything.

        What came out can still be dequeued. Open windows are left open; ``flush`` closes them.
        """
        if self._running is None or self._stage == "stopped":
            return
        try:
            if self._stage == "running":
                if drain:
                    self._run_all()
                self._running.commit("flushed" if self._ended else "running")
        finally:
            self._queued.clear()
            for feed in self._feeds.values():
                feed.stop()
            for sink in self._sinks.values():
                sink.close()
            if self._stage == "running":
                self._why = "it has been shut down"
            self._stage = "stopped"
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
        """Adds tuples to an input. They wait until somebody asks for answers."""
        self._check_stream(stream)
        self._check_open()
        try:
            frame = table_frame(table, self._typed.arcs[stream].schema)
        except InputError as error:
            raise InputError(f"cannot enqueue to {stream}: {error}") from error
        self._queued.put(stream, frame)

    def dequeue(self, output: str) -> Iterator[pl.DataFrame]:
        """What has come out on an output, and what comes of everything that was enqueued; then it stops.

        A train is shown as a frame of the output's columns. What comes out on other outputs waits there. The output
        ``BOX.rejected`` has the tuples on which the operator's code failed in a box.
        """
        waiting = self._check_output(output)
        return self._dequeued(waiting)

    def _dequeued(self, waiting: _Waiting) -> Iterator[pl.DataFrame]:
        yield from waiting
        if self._stage != "running":
            return
        while self.step():
            yield from waiting
        yield from waiting

    def step(self) -> bool:
        """Runs the boxes on one train. If nothing is enqueued it lets time pass, so that timeouts fire; then False."""
        running = self._check_started()
        with self._failing():
            if next(running.epochs(), None) is not None:
                return True
            running.tick()
        return False

    def flush(self) -> None:
        """Ends the input: takes what is enqueued, closes open windows, and empties sort buffers."""
        running = self._check_started()
        self._run_all()
        with self._failing():
            running.flush()
        self._ended = True

    def publish(self, output: str, address: str | Path) -> None:
        """Writes an output to a log of Arrow blocks from now on, for Spark and others to read; it is dequeued no more.

        A log that is there already is continued.
        """
        waiting = self._check_output(output)
        self._check_started()
        schema = self._schemas[output]
        known = _UNPUBLISHED if self._committed is None else self._committed.outputs.get(output, _UNPUBLISHED)
        sink = BlockLogSink(str(address), schema, resume=None if known == _UNPUBLISHED else known)
        self._stack.callback(sink.close)
        for train in waiting:
            sink.write(train)
        self._sinks[output] = sink
        del self._outputs[output]

    def feed(self, stream: str, frame: Any, *, checkpoint: str | Path | None = None) -> Feed:
        """Lets a streaming DataFrame of ``session`` feed an input; its handle takes what there is when it is told to.

        ``checkpoint`` is where Spark notes how far it has read. Without it the engine's ``state`` has a place for it,
        and without that it is forgotten at shutdown.
        """
        self._check_stream(stream)
        running = self._check_open()
        self._workplace.session  # noqa: B018  (it says what is wrong where there is none)
        from aurora.connectors.spark_feed import Feed

        if stream in self._feeds:
            raise InputError(f"{stream} is fed already; one DataFrame feeds a stream: union them, or use two streams")
        if checkpoint is None and self._state is not None:
            checkpoint = f"{self._state.rstrip('/')}/feeds/{stream}"
        taker = _Taker(self, running, stream)
        place = None if checkpoint is None else str(checkpoint)
        self._feeds[stream] = Feed(stream, frame, self._typed.arcs[stream].schema, taker, place)
        return self._feeds[stream]

    # What it knows

    @property
    def session(self) -> Any:
        """The SparkSession on which the boxes run."""
        return self._workplace.session

    def stats(self) -> RunStatistics:
        """What every input, box and output has done so far."""
        if self._running is None:
            raise StateError("the engine has not been started; use it in a with statement, or call start()")
        return self._running.statistics

    def typecheck(self) -> TypedNetwork:
        """The network with the type of every arc."""
        return self._typed

    def describe(self) -> dict[str, Any]:
        """The network's document, and how many tuples wait at each stream and output."""
        queued = {name: 0 if self._queue is None else self._queue.waiting(name) for name in self._network.streams}
        waiting = {name: len(output) for name, output in self._outputs.items()}
        return {"network": self._network.to_document(), "queued": queued, "waiting": waiting}

    # Inside

    @property
    def _queued(self) -> Enqueued:
        assert self._queue is not None
        return self._queue

    def _run_all(self) -> None:
        while self.step():
            pass

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """What goes wrong while boxes run leaves them in the middle of something; nothing is run after it."""
        try:
            yield
        except BaseException as error:
            self._stage, self._why = "failed", f"it failed: {error}"
            raise

    def _check_started(self) -> Run:
        if self._why:
            raise StateError(f"the engine runs no more: {self._why}; make another one")
        if self._running is None:
            raise StateError("the engine has not been started; use it in a with statement, or call start()")
        return self._running

    def _check_open(self) -> Run:
        running = self._check_started()
        if self._ended:
            raise StateError("the input has ended with a flush; make another engine, with another state folder if any")
        return running

    def _check_stream(self, name: str) -> None:
        if name not in self._network.streams:
            raise InputError(_unknown("stream", name, list(self._network.streams)))

    def _check_output(self, name: str) -> _Waiting:
        if name not in self._schemas:
            raise InputError(_unknown("output", name, list(self._schemas)))
        if name not in self._outputs:
            raise InputError(f"the output {name} is published, and its tuples go to the log; read them there")
        return self._outputs[name]

    def _output_schemas(self) -> dict[str, Schema]:
        schemas = {name: self._typed.arcs[producer].schema for name, producer in self._typed.outputs.items()}
        users = [name for name, box in self._network.boxes.items() if runs_user_code(box)]
        return schemas | {rejected_by(name): REJECTED for name in users}

    def _static_tables(self, tables: Mapping[str, Table]) -> dict[str, pl.DataFrame]:
        points = [name for name, point in self._network.connection_points.items() if point.dangling]
        for name in tables:
            if name not in points:
                raise InputError(_unknown("static connection point", name, points))
        return {name: table_frame(table, self._typed.arcs[name].schema) for name, table in tables.items()}


class _Waiting(LiveSink):
    """What came out on an output and waits for somebody to dequeue it. Whoever goes through it takes it."""

    def __init__(self) -> None:
        self._frames: deque[pl.DataFrame] = deque()

    def write(self, frame: pl.DataFrame) -> None:
        self._frames.append(frame)

    def position(self, *, durable: bool = False) -> SinkPosition:
        return _UNPUBLISHED

    def __iter__(self) -> Iterator[pl.DataFrame]:
        while self._frames:
            yield self._frames.popleft()

    def __len__(self) -> int:
        return sum(frame.height for frame in self._frames)


class _Taker:
    """Takes the batches of a feed into an engine. Where there is state, a batch is run and committed at once."""

    def __init__(self, engine: Engine, running: Run, stream: str) -> None:
        self._engine = engine
        self._running = running
        self._stream = stream
        self._blocks = engine._workplace.blocks

    def taken(self, query: str) -> int:
        return self._running.last_batch(self._stream, query)

    def folders(self) -> tuple[str, ...]:
        return self._blocks.folders()

    def take(self, query: str, batch: int, rows: BlockRows | None) -> None:
        with self._running.batch(self._stream, query, batch):
            if rows is not None:
                blocks = rows.blocks
                self._blocks.note(blocks)
                self._engine._queued.put_rows(self._stream, rows, len(rows), lambda: self._blocks.release(blocks))
            if self._engine._state is not None:
                self._engine._run_all()


def _tell(line: str) -> None:
    if sys.stderr.isatty():
        print(line, file=sys.stderr)


def _unknown(what: str, name: str, legal: list[str]) -> str:
    hint = did_you_mean(name, legal)
    return f"the network has no {what} {name!r}; it has {', '.join(legal) or 'none'}" + (f"; {hint}" if hint else "")
