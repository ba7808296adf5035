"""Tasks that stand by: one Spark job whose tasks take bundle after bundle from the driver, over a socket.

To start a job takes Spark some 15 ms, whatever it is to do. A task that stands by has its next bundle at once.
Spark still says where tasks run, keeps the machines apart, and starts a task again that died with its worker or
executor: it then comes back to its seat, and is given once more what it did not answer.

A task that stands by keeps a slot. So the tasks leave when somebody else wants to run jobs, and when there has been
nothing to do for a while.
"""

from __future__ import annotations

import hmac
import os
import secrets
import selectors
import shutil
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pyspark import SparkContext

from aurora.processors.spark.masters import ATTEMPTS

LENGTH = struct.Struct("!Q")
SEAT = struct.Struct("!I")
TOKEN_BYTES = 32

_LOOK_S = 0.1
"""How often the job is looked after, and how soon others get slots that they wait for."""
_IDLE_S = 10.0
"""So long tasks stand by without anything to do."""
_OTHERS_S = 3.0
"""So long after somebody else was seen to run jobs the tasks do not come back."""
_REACH_S = 5.0
"""A driver that cannot be reached in this time cannot be reached."""
_LEAVING_S = 2
"""Tasks that are told to leave have left by then."""

Address = tuple[str, int] | str
"""A host and a port, or the path of a Unix socket."""


class JobEndedError(Exception):
    """The job of the tasks that stand by has ended; the text says why."""


class StandingTasks:
    """The driver's side. ``take_seat`` makes the function of a task from an address, a token and nothing else.

    ``run`` is called by one thread at a time.
    """

    def __init__(
        self, context: SparkContext, seats: int, take_seat: Callable[[Address, bytes], Any], *, one_machine: bool
    ) -> None:
        self._context = context
        self._count = seats
        self._take_seat = take_seat
        self._token = secrets.token_bytes(TOKEN_BYTES)
        self._folder: str | None = None
        self._listener, self.address = self._listen(one_machine)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._newcomers: dict[socket.socket, bytearray] = {}
        self._seats: dict[int, socket.socket] = {}
        self._job: Any = None
        self._lock = threading.Lock()
        self.reached = False
        """Whether any task has ever come to its seat."""
        self._used_s = self._looked_s = 0.0
        self._others_s = float("-inf")
        self._closed = threading.Event()
        self._minder: threading.Thread | None = None
        java: Any = context._jvm
        self._seconds = java.java.util.concurrent.TimeUnit.SECONDS

    def _listen(self, one_machine: bool) -> tuple[socket.socket, Address]:
        if one_machine and hasattr(socket, "AF_UNIX"):
            self._folder = tempfile.mkdtemp(prefix="aurora-")
            path = os.path.join(self._folder, "seats")
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(path)
            listener.listen(self._count)
            return listener, path
        settings = self._context.getConf()
        host = str(settings.get("spark.driver.host", "127.0.0.1"))
        listener = socket.create_server((settings.get("spark.driver.bindAddress", host), 0), backlog=self._count)
        return listener, (host, listener.getsockname()[1])

    @property
    def wanted_elsewhere(self) -> bool:
        """Whether others have run jobs lately. To be asked when no other job of ours runs."""
        with self._lock:
            if time.monotonic() - self._looked_s > _LOOK_S:
                self._look()
            others = time.monotonic() - self._others_s < _OTHERS_S
            if others:
                self._leave()
            return others

    def run(self, bundles: Sequence[bytes], preferred: Sequence[int]) -> tuple[list[bytes], list[int]]:
        """The tasks' answers to the bundles, and who gave them. A bundle goes to the seat that it prefers, if taken."""
        with self._lock:
            self._used_s = time.monotonic()
            given = _Given(bundles, preferred)
            ended = 0
            while not given.all_answered:
                if self._job is None:
                    self._start()
                self._hand_out(given)
                events = self._selector.select(_LOOK_S)
                try:
                    if not events:
                        self._check()
                    for key, _ in events:
                        self._serve(key.fileobj, given)
                except JobEndedError:
                    # Other steps may have been what ended it; this one is tried as often as a task is.
                    ended += 1
                    if given.attempts >= ATTEMPTS or ended == ATTEMPTS or not self.reached:
                        raise
            self._used_s = time.monotonic()
            return given.answers, given.by

    def _hand_out(self, given: _Given) -> None:
        for number, seat in given.placed(self._seats):
            try:
                bundle = given.bundles[number]
                self._seats[seat].sendall(LENGTH.pack(len(bundle)) + bundle)
            except OSError:
                self._leave_seat(seat, given)

    def _serve(self, source: Any, given: _Given) -> None:
        if source is self._listener:
            newcomer, _ = self._listener.accept()
            self._newcomers[newcomer] = bytearray()
            self._selector.register(newcomer, selectors.EVENT_READ)
            return
        try:
            data = source.recv(1 << 20)
        except OSError:
            data = b""
        if source in self._newcomers:
            self._greet(source, data, given)
            return
        for seat, line in self._seats.items():
            if line is source:
                if data:
                    given.take(seat, data)
                else:
                    self._leave_seat(seat, given)
                return

    def _greet(self, newcomer: socket.socket, data: bytes, given: _Given) -> None:
        """Who knows the token gets a seat; anybody else is shown out."""
        said = self._newcomers[newcomer]
        said += data
        if data and len(said) < TOKEN_BYTES + SEAT.size:
            return
        del self._newcomers[newcomer]
        known = hmac.compare_digest(bytes(said[:TOKEN_BYTES]), self._token)
        if not known or len(said) != TOKEN_BYTES + SEAT.size:
            self._hang_up(newcomer)
            return
        (seat,) = SEAT.unpack(bytes(said[TOKEN_BYTES:]))
        if seat in self._seats:
            # Spark knew before us that whoever sat there is gone.
            self._leave_seat(seat, given)
        self._seats[seat] = newcomer
        self.reached = True

    def _leave_seat(self, seat: int, given: _Given) -> None:
        """A task has gone; Spark starts it again, or the job has ended."""
        self._hang_up(self._seats.pop(seat))
        given.lose(seat)

    def _hang_up(self, sock: socket.socket) -> None:
        self._selector.unregister(sock)
        sock.close()

    # The job

    def _start(self) -> None:
        take_seat = self._take_seat(self.address, self._token)
        self._context.setJobDescription("tasks that stand by for steps")
        seats = self._context.parallelize(range(self._count), self._count)
        self._job = seats.mapPartitionsWithIndex(take_seat)._jrdd.collectAsync()
        if self._minder is None:
            self._minder = threading.Thread(target=self._mind, name="aurora-standing-tasks", daemon=True)
            self._minder.start()

    def _check(self) -> None:
        """Raises if the job has ended, which it does not by itself."""
        if self._job.isDone():
            job, self._job = self._job, None
            self._dismiss()
            try:
                job.get()
            except Exception as error:
                raise JobEndedError(str(error)) from error
            raise JobEndedError("the tasks that stand by have ended")

    def _look(self) -> None:
        """Sees whether others run jobs."""
        self._looked_s = time.monotonic()
        active = self._context._jsc.sc().statusTracker().getActiveJobIds()
        ours = self._job is not None and not self._job.isDone()
        if len(active) > ours:
            self._others_s = self._looked_s

    def _mind(self) -> None:
        """Between steps: lets the tasks go when others want their slots, or when there has been nothing to do."""
        while not self._closed.wait(_LOOK_S):
            with self._lock:
                if self._job is None or time.monotonic() - self._used_s < _LOOK_S:
                    continue
                try:
                    self._look()
                except Exception:  # Java may be gone; who runs the next step finds out
                    continue
                if self._others_s == self._looked_s or time.monotonic() - self._used_s > _IDLE_S:
                    self._leave()

    def _leave(self) -> None:
        job, self._job = self._job, None
        if job is not None and len(self._seats) < self._count:
            # Some have not come yet, and would wait for us once they do.
            with suppress(Exception):
                job.cancel(True)
        self._dismiss()

    def _dismiss(self) -> None:
        """Tasks whose line is cut end."""
        for sock in [*self._seats.values(), *self._newcomers]:
            self._hang_up(sock)
        self._seats.clear()
        self._newcomers.clear()

    def close(self) -> None:
        self._closed.set()
        with self._lock:
            job = self._job
            self._leave()
            if job is not None:
                # Whoever comes next finds the slots free.
                with suppress(Exception):
                    job.get(_LEAVING_S, self._seconds)
            self._selector.unregister(self._listener)
            self._listener.close()
            self._selector.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


class _Given:
    """The bundles of a step on their way to seats and back."""

    def __init__(self, bundles: Sequence[bytes], preferred: Sequence[int]) -> None:
        self.bundles = bundles
        self.attempts = 0
        """How often a task went away with a bundle, at most."""
        self._preferred = preferred
        self._waiting = list(range(len(bundles)))
        self._at: dict[int, int] = {}
        self._lost = [0] * len(bundles)
        self._heard: dict[int, bytearray] = {}
        self._answers: dict[int, tuple[bytes, int]] = {}

    @property
    def all_answered(self) -> bool:
        return len(self._answers) == len(self.bundles)

    @property
    def answers(self) -> list[bytes]:
        return [self._answers[number][0] for number in range(len(self.bundles))]

    @property
    def by(self) -> list[int]:
        return [self._answers[number][1] for number in range(len(self.bundles))]

    def placed(self, seats: Mapping[int, socket.socket]) -> Iterator[tuple[int, int]]:
        """Bundles that can go to a seat now: the one they prefer or, where nobody sits there, any free one."""
        spoken_for = {self._preferred[number] for number in self._waiting}
        for number in list(self._waiting):
            seat = self._preferred[number]
            if seat not in seats:
                free = (seat for seat in seats if seat not in self._at and seat not in spoken_for)
                seat = next(free, -1)
            if seat in seats and seat not in self._at:
                self._waiting.remove(number)
                self._at[seat] = number
                self._heard[seat] = bytearray()
                yield number, seat

    def take(self, seat: int, data: bytes) -> None:
        """Part of an answer."""
        heard = self._heard[seat]
        heard += data
        if len(heard) >= LENGTH.size:
            (length,) = LENGTH.unpack(heard[: LENGTH.size])
            if len(heard) == LENGTH.size + length:
                self._answers[self._at.pop(seat)] = (bytes(heard[LENGTH.size :]), seat)

    def lose(self, seat: int) -> None:
        """A task has gone without an answer, if it owed one."""
        number = self._at.pop(seat, None)
        if number is not None:
            self._waiting.append(number)
            self._lost[number] += 1
            self.attempts = max(self._lost)


def bundles_for(address: Address, token: bytes, seat: int) -> Iterator[tuple[bytes, Callable[[bytes], None]]]:
    """A task's side: bundle after bundle, each with a function to answer with, until the driver cuts the line."""
    line = socket.socket(socket.AF_UNIX) if isinstance(address, str) else socket.create_connection(address, _REACH_S)
    with line:
        line.settimeout(None)
        if isinstance(address, str):
            line.connect(address)
        else:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line.sendall(token + SEAT.pack(seat))
        with line.makefile("rb") as reader:
            while len(head := reader.read(LENGTH.size)) == LENGTH.size:
                (length,) = LENGTH.unpack(head)
                bundle = reader.read(length)
                if len(bundle) < length:
                    return
                yield bundle, lambda answer: line.sendall(LENGTH.pack(len(answer)) + answer)
