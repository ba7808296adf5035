"""Order and slack: in which order a box takes its tuples, and which come too late.

Every class here is given trains in arc order and hands out rows in the order in which the box takes them. Such a row's
``__order`` and ``__clock`` are those of the tuple that let it go. What is out of order is set apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.boxes.axis import order_values
from aurora.boxes.groups import grown
from aurora.boxes.segments import Array, accumulate, sorting, stable_order, starts_of
from aurora.model.train import CLOCK, FLUSHED, ORDER, WHEN, Ints, Part, rows_at, rows_where

Bools = npt.NDArray[np.bool_]
_SERIAL = "__serial"
_BLOCK_ROWS = 64
"""Rows whose least and greatest values say whether a look at each of them is needed."""
_FEW_EDGES = 16
"""Up to so many borders between rows that stay and rows that go, whole runs of rows are taken."""
_FEW = 8
"""Beyond one block in so many, all rows are looked at: that is quicker than to pick them."""


@dataclass(frozen=True)
class Rows:
    """Rows in the order in which a box takes them, with the code of their group and their order value.

    ``place`` is the row of the train that let each go, where that is another one than itself.
    """

    frame: pl.DataFrame
    codes: Ints
    values: Array
    place: Ints | None = None

    def __len__(self) -> int:
        return self.frame.height

    @property
    def places(self) -> Ints:
        return np.arange(len(self)) if self.place is None else self.place

    def at(self, rows: Ints) -> Rows:
        return Rows(rows_at(self.frame, rows), self.codes[rows], self.values[rows], self.places[rows])

    def none(self) -> Rows:
        return Rows(self.frame.clear(), self.codes[:0], self.values[:0])

    def only(self, mask: Bools) -> Rows:
        if not len(mask):
            return self
        edges = np.flatnonzero(mask[1:] != mask[:-1]) + 1
        if not len(edges):
            return self if mask[0] else self.none()
        if len(edges) <= _FEW_EDGES:
            bounds = [0, *edges.tolist(), len(mask)]
            return self._runs([slice(a, b) for a, b in itertools.pairwise(bounds) if mask[a]])
        return Rows(rows_where(self.frame, mask), self.codes[mask], self.values[mask], self.places[mask])

    def _runs(self, runs: list[slice]) -> Rows:
        """A few runs of the rows, which is quicker than to pick them one by one."""
        if len(runs) == 1:
            (run,) = runs
            return Rows(self.frame[run], self.codes[run], self.values[run], self.places[run])
        return Rows(
            pl.concat([self.frame[run] for run in runs], rechunk=True),
            *(np.concatenate([array[run] for run in runs]) for array in (self.codes, self.values, self.places)),
        )

    def hidden(self, name: str) -> Ints:
        return self.frame.get_column(name).to_numpy()

    def released(self, order: Array, clock: Array, place: Ints) -> Rows:
        """The same rows, let go by other tuples."""
        hidden = [pl.Series(ORDER, order, pl.Int64), pl.Series(CLOCK, clock, pl.Int64)]
        if self.ranked:
            hidden.append(pl.Series(WHEN[0], place, pl.Int64))
        return Rows(self.frame.with_columns(hidden), self.codes, self.values, place)

    @property
    def ranked(self) -> bool:
        """Whether the rows are one part of a stream that is split; then ``place`` is a place on the arc."""
        return WHEN[0] in self.frame.columns

    def flushed(self, order: int, clock: int) -> Rows:
        """The same rows, let go at the end: one after the other, among those of all parts by value and place."""
        size = len(self)
        let_go = self.released(np.full(size, order), np.full(size, clock), np.arange(size))
        if not self.ranked:
            return let_go
        when = np.full(size, FLUSHED), sortable(self.values), self.hidden(WHEN[0])
        ranks = (pl.Series(name, rank, pl.Int64) for name, rank in zip(WHEN, when, strict=True))
        return Rows(let_go.frame.with_columns(ranks), self.codes, self.values, let_go.place)

    def to_frame(self) -> pl.DataFrame:
        return self.frame.with_columns(pl.Series("__code", self.codes), pl.Series("__value", self.values))

    @classmethod
    def from_frame(cls, frame: pl.DataFrame) -> Rows:
        codes, values = frame.get_column("__code").to_numpy(), frame.get_column("__value").to_numpy()
        return cls(frame.drop("__code", "__value"), codes, values)

    @classmethod
    def concat(cls, parts: list[Rows]) -> Rows:
        if len(parts) == 1:
            return parts[0]
        return cls(
            pl.concat([p.frame for p in parts], rechunk=True),
            np.concatenate([p.codes for p in parts]),
            np.concatenate([p.values for p in parts]),
        )


def sortable(values: Array) -> Ints:
    """Integers in the order of the values."""
    if values.dtype != np.float64:
        return values
    bits = (values + 0.0).view(np.int64)
    return np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)


def merged_places(one: Rows, other: Rows) -> tuple[tuple[Ints, Ints], Ints, Ints]:
    """The place of every row in the merged order of two streams, and the numbers and clocks at these places."""
    orders = one.hidden(ORDER), other.hidden(ORDER)
    order = np.concatenate(orders)
    clock = np.concatenate((one.hidden(CLOCK), other.hidden(CLOCK)))
    before = np.searchsorted(orders[1], orders[0], side="left")
    place = np.empty(len(order), np.int64)
    layout = np.empty(len(order), np.int64)
    if np.array_equal(before, np.searchsorted(orders[1], orders[0], side="right")):
        # No number is on both sides: a row's place is its own number plus that of the other side's rows before it.
        place[: len(one)] = np.arange(len(one)) + before
        place[len(one) :] = np.arange(len(other)) + np.searchsorted(orders[0], orders[1])
        layout[place] = np.arange(len(order))
    else:
        layout = sorting(order, clock)
        place[layout] = np.arange(len(order))
    return (place[: len(one)], place[len(one) :]), order[layout], clock[layout]


class Delivery(Protocol):
    """Takes rows as they come; gives those that the box may take now, and those that are out of order."""

    def push(self, rows: Rows) -> tuple[Rows, Rows]: ...

    def flush(self, order: int, clock: int) -> tuple[Rows, Rows] | None: ...

    def state(self) -> dict[str, pl.DataFrame]: ...

    def load(self, state: Mapping[str, pl.DataFrame]) -> None: ...


class AsTheyCome:
    """Order by arrival: nothing waits and nothing is late."""

    def push(self, rows: Rows) -> tuple[Rows, Rows]:
        return rows, rows.none()

    def flush(self, order: int, clock: int) -> tuple[Rows, Rows] | None:
        return None

    def state(self) -> dict[str, pl.DataFrame]:
        return {}

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        pass


class CountBuffer:
    """A buffer of n + 1 rows per group; each time it is full, the row with the smallest value leaves.

    A buffer of n + 1 does what n passes of bubble sort do: each pass holds the greatest value so far and lets the
    other one by. Passes are running maxima, so all groups go through them at once.
    """

    def __init__(self, slack: int) -> None:
        self._slack = slack
        self._held: Rows | None = None
        self._serial = 0

    def push(self, rows: Rows) -> Rows:
        if not self._slack or not len(rows):
            return rows
        places = rows.places
        rows = Rows(rows.frame.with_columns(self._serials(len(rows))), rows.codes, rows.values)
        idle, ahead = None, 0
        if self._held is not None:
            touched = np.isin(self._held.codes, rows.codes)
            idle = self._held.only(~touched) if not touched.all() else None
            ahead = int(np.count_nonzero(touched))
            rows = Rows.concat([self._held.only(touched), rows]) if ahead else rows
        by_value = np.argsort(rows.values, kind="stable")
        ranks = np.empty(len(rows), np.int64)
        ranks[by_value] = np.arange(len(rows))
        layout = stable_order(rows.codes)
        codes = rows.codes[layout]
        segments = np.cumsum(np.concatenate(([0], codes[1:] != codes[:-1])))
        keys = segments * len(rows) + ranks[layout]
        releaser = layout
        kept = []
        for _ in range(self._slack):
            if not len(keys):
                break
            highest = np.maximum.accumulate(keys)
            last = np.concatenate((keys[1:] // len(rows) != keys[:-1] // len(rows), [True]))
            kept.append(highest[last])
            stays = ~last[:-1]
            releaser = releaser[1:][stays]
            keys = np.minimum(keys[1:], highest[:-1])[stays]
        held = rows.at(np.sort(by_value[np.concatenate(kept) % len(rows)]))
        self._held = held if idle is None else Rows.concat([idle, held])
        in_order = np.argsort(releaser, kind="stable")
        releaser = releaser[in_order]
        order, clock = rows.hidden(ORDER)[releaser], rows.hidden(CLOCK)[releaser]
        leaving = _without_serial(rows.at(by_value[keys[in_order] % len(rows)]))
        return leaving.released(order, clock, places[releaser - ahead])

    def _serials(self, n: int) -> pl.Series:
        """Numbers rows as they come, so that what is flushed at once still knows who was first."""
        first, self._serial = self._serial, self._serial + n
        return pl.Series(_SERIAL, np.arange(first, self._serial))

    def flush(self, order: int, clock: int) -> Rows | None:
        """Everything that is held, by value and then as it came."""
        held, self._held = self._held, None
        if held is None or not len(held):
            return None
        came = held.hidden(WHEN[0] if held.ranked else _SERIAL)
        return _without_serial(held.at(sorting(held.values, came))).flushed(order, clock)

    def state(self) -> dict[str, pl.DataFrame]:
        held = pl.DataFrame() if self._held is None else self._held.to_frame()
        return {"buffer": held, "serial": pl.DataFrame({"next": [self._serial]})}

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        self._held = Rows.from_frame(state["buffer"]) if state["buffer"].width else None
        self._serial = int(state["serial"].item())


def _without_serial(rows: Rows) -> Rows:
    return Rows(rows.frame.drop(_SERIAL), rows.codes, rows.values)


class Highest:
    """The highest value that each group has delivered; what is below it is out of order."""

    def __init__(self, dtype: Any) -> None:
        self._nothing = -np.inf if dtype == np.float64 else np.iinfo(np.int64).min
        self.values: Array = np.empty(0, dtype)

    def late(self, codes: Ints, values: Array) -> Bools:
        """Which of the rows, in the order delivered, are below their group's highest so far; notes the new highest."""
        if not len(codes):
            return np.empty(0, bool)
        self.values = grown(self.values, int(codes.max()) + 1, self._nothing)
        layout = stable_order(codes)
        sorted_codes, sorted_values = codes[layout], values[layout]
        starts = starts_of(sorted_codes)
        groups = sorted_codes[starts]
        raised = sorted_values.copy()
        raised[starts] = np.maximum(raised[starts], self.values[groups])
        falls = raised[1:] < raised[:-1]
        falls[starts[1:] - 1] = False
        running = accumulate(np.maximum, raised, starts) if falls.any() else raised
        late = np.empty(len(codes), bool)
        late[layout] = sorted_values < running
        self.values[groups] = running[np.append(starts[1:], len(codes)) - 1]
        return late

    def state(self) -> pl.DataFrame:
        return pl.DataFrame({"highest": self.values})

    def load(self, state: pl.DataFrame) -> None:
        self.values = state.get_column("highest").to_numpy().copy()


class CountSlack:
    """Order by a column with count slack: a buffer per group, then what is below its group's highest is late."""

    def __init__(self, slack: int, dtype: Any) -> None:
        self._buffer = CountBuffer(slack)
        self.highest = Highest(dtype)

    def push(self, rows: Rows) -> tuple[Rows, Rows]:
        return self._split(self._buffer.push(rows))

    def _split(self, rows: Rows) -> tuple[Rows, Rows]:
        late = self.highest.late(rows.codes, rows.values)
        return rows.only(~late), rows.at(np.flatnonzero(late))

    def flush(self, order: int, clock: int) -> tuple[Rows, Rows] | None:
        released = self._buffer.flush(order, clock)
        return None if released is None else self._split(released)

    def state(self) -> dict[str, pl.DataFrame]:
        return {**self._buffer.state(), "highest": self.highest.state()}

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        self._buffer.load(state)
        self.highest.load(state["highest"])


class Gate:
    """Time slack, judged over the whole stream: progress is the highest value seen minus the slack."""

    def __init__(self, slack: float, dtype: Any) -> None:
        self._slack = slack
        self._dtype = dtype
        self._least = -np.inf if dtype == np.float64 else np.iinfo(np.int64).min
        self._highest: Any = self._least

    @property
    def highest(self) -> Any:
        """The highest value seen; the least there is where none was."""
        return self._highest

    @property
    def progress(self) -> Any:
        return self.minus_slack(np.array([self._highest], self._dtype))[0]

    def minus_slack(self, highest: Array) -> Array:
        """Rising values less the slack. Not below the least integer, where a plain difference would wrap around."""
        if self._dtype == np.float64 or not len(highest):
            return highest - self._slack
        if highest[0] >= self._least + self._slack:
            return highest - np.int64(self._slack)
        low = highest < self._least + self._slack
        return np.where(low, self._least, highest - np.where(low, 0, np.int64(self._slack)))

    def progress_at(self, values: Array) -> Array:
        """Progress just after each row; a row below it is late."""
        if not len(values):
            return values
        highest = np.maximum.accumulate(values)
        if self._highest > highest[0]:
            highest = np.maximum(highest, self._highest)
        self._highest = highest[-1]
        return self.minus_slack(highest)

    def passed(self, values: Array) -> Passage:
        """The same progress for who asks about few rows."""
        passage = Passage(self, values, self._highest)
        self._highest = passage.highest
        return passage

    def judged(self, part: Part, column: str) -> Judged:
        """The progress of a stream of which a part is given."""
        values, known = order_values(part.whole, column)
        order, clock = (part.whole.get_column(name).to_numpy() for name in (ORDER, CLOCK))
        places = np.arange(part.first, part.first + len(values))
        if not known.all():
            values, order, clock, places = values[known], order[known], clock[known], places[known]
        return Judged(self.passed(values), places, order, clock)

    def state(self) -> pl.DataFrame:
        return pl.DataFrame({"highest": np.array([self._highest], self._dtype)})

    def load(self, state: pl.DataFrame) -> None:
        self._highest = state.get_column("highest").to_numpy()[0]


@dataclass(frozen=True)
class Judged:
    """Progress over all rows of a stream's train: their places on the arc, numbers and clocks."""

    passage: Passage
    places: Ints
    order: Ints
    clock: Ints

    def rows_of(self, places: Ints) -> Ints:
        if len(self.places) and len(self.places) == self.places[-1] - self.places[0] + 1:
            rows: Ints = places - self.places[0]
            return rows
        return np.searchsorted(self.places, places)

    def late_at(self, places: Ints) -> Bools:
        """Which of the rows at these places are late."""
        late = np.zeros(len(self.places), bool)
        late[self.passage.late()] = True
        return late[self.rows_of(places)]


class Passage:
    """Progress over the rows of one train, worked out row by row only in the blocks of rows where it matters."""

    def __init__(self, gate: Gate, values: Array, highest: Any) -> None:
        self._gate = gate
        self._values = values
        starts = np.arange(0, len(values), _BLOCK_ROWS)
        self._lows = np.minimum.reduceat(values, starts) if len(values) else values
        highs = np.maximum.reduceat(values, starts) if len(values) else values
        running = np.maximum.accumulate(np.concatenate((np.array([highest], values.dtype), highs)))
        self._before = running[:-1]
        """The highest value seen before each block."""
        self._progress = gate.minus_slack(running)[1:]
        """Progress after each block."""
        self.highest = running[-1]

    def late(self) -> Ints:
        """The rows that are below progress."""
        blocks = np.flatnonzero(self._lows < self._progress)
        if not len(blocks):
            return blocks
        rows, values, progress = self._inside(blocks)
        found: Ints = rows[values < progress]
        return found

    def rows_reaching(self, ends: Array) -> Ints:
        """The first row at which progress reaches each value; the number of rows where it does not."""
        block = np.searchsorted(self._progress, ends, side="left")
        asked = np.zeros(len(self._progress) + 1, bool)
        asked[block] = True
        # Progress rises from block to block, so a search in those asked about finds the same row as one in all.
        rows, _, progress = self._inside(np.flatnonzero(asked[:-1]))
        found: Ints = np.append(rows, len(self._values))[np.searchsorted(progress, ends, side="left")]
        return found

    def _inside(self, blocks: Ints) -> tuple[Ints, Array, Array]:
        """The rows of some blocks, or of all, in order, with their values and with progress just after each."""
        if len(blocks) * _FEW > len(self._lows):
            return self._everywhere
        rows = blocks[:, None] * _BLOCK_ROWS + np.arange(_BLOCK_ROWS)
        # The last block may be short; its last row then stands for those that are not there.
        values = self._values[np.minimum(rows, len(self._values) - 1)]
        running = values.copy()
        running[:, 0] = np.maximum(running[:, 0], self._before[blocks])
        progress = self._gate.minus_slack(np.maximum.accumulate(running, axis=1).ravel())
        there = slice(0, int(np.count_nonzero(rows < len(self._values))))
        return rows.ravel()[there], values.ravel()[there], progress[there]

    @cached_property
    def _everywhere(self) -> tuple[Ints, Array, Array]:
        running = np.maximum(np.maximum.accumulate(self._values), self._before[0])
        return np.arange(len(self._values)), self._values, self._gate.minus_slack(running)


class TimeSlack:
    """Order by a column with time slack: rows leave in order when progress reaches them."""

    def __init__(self, slack: float, dtype: Any) -> None:
        self._gate = Gate(slack, dtype)
        self._held: Rows | None = None

    def push(self, rows: Rows) -> tuple[Rows, Rows]:
        progress = self._gate.progress_at(rows.values)
        late = rows.values < progress
        late_rows = rows.at(np.flatnonzero(late))
        own = np.flatnonzero(~late)
        waiting = rows.at(own)
        if self._held is not None:
            waiting = Rows.concat([self._held, waiting])
            own = np.concatenate((np.zeros(len(self._held), np.int64), own))
        releaser = np.maximum(np.searchsorted(progress, waiting.values, side="left"), own)
        leaves = releaser < len(rows)
        self._held = waiting.only(~leaves) if not leaves.all() else None
        going = np.flatnonzero(leaves)
        going = going[sorting(releaser[going], waiting.values[going])]
        order, clock = rows.hidden(ORDER)[releaser[going]], rows.hidden(CLOCK)[releaser[going]]
        return waiting.at(going).released(order, clock, rows.places[releaser[going]]), late_rows

    def flush(self, order: int, clock: int) -> tuple[Rows, Rows] | None:
        held, self._held = self._held, None
        if held is None:
            return None
        released = held.at(np.argsort(held.values, kind="stable")).flushed(order, clock)
        return released, released.none()

    def state(self) -> dict[str, pl.DataFrame]:
        return {"buffer": pl.DataFrame() if self._held is None else self._held.to_frame(), "gate": self._gate.state()}

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        self._held = Rows.from_frame(state["buffer"]) if state["buffer"].width else None
        self._gate.load(state["gate"])
