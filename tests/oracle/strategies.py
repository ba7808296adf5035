"""Random networks that typecheck, and random streams for them.

A network is grown box by box; the oracle derives what each arc carries. Every port becomes an output, so a
difference shows at the first box that makes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from oracle.drawn_expressions import Columns
from oracle.network import Simulation
from oracle.values import EPOCH

Draw = st.DrawFn

BASE = EPOCH + timedelta(days=19_000)
CLOCK = "at"
TYPES = {"i": "int", "d": "double", "g": "string", "h": "int", "b": "bool", "t": "timestamp", "u": "duration"}
"""The columns that a stream may have beside the clock: two groups (g and h), a flag, and four to order by."""


@dataclass
class Growth:
    """A document under construction, with what may be done with the columns of each arc."""

    document: dict[str, Any]
    simulation: Simulation
    columns: dict[str, Columns]
    kinds: list[str] = field(default_factory=list)
    fuzzy: dict[str, set[str]] = field(default_factory=dict)
    counter: int = 0

    def new(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    def add(
        self,
        name: str,
        box: dict[str, Any],
        tame: set[str],
        *,
        usable: set[str] | None = None,
        through: dict[str, Columns] | None = None,
    ) -> None:
        """Adds the box. ``tame`` columns may be summed exactly; only ``usable`` ones may be computed with.

        ``through`` names the ports that pass tuples of an input on, with what may be done with its columns.
        """
        self.document["boxes"][name] = box
        self.simulation.add(name, box)
        self.kinds.append(box["kind"])
        ports = self.simulation.boxes[name].ports
        for number, (port, arc) in enumerate(ports.items()):
            arc_name = name if number == 0 else f"{name}.{port}"
            scalars = {c: kind for c, kind in arc.schema.items() if not kind.startswith("list")}
            known = Columns({c: k for c, k in scalars.items() if usable is None or c in usable}, tame)
            self.columns[arc_name] = (through or {}).get(port, known)
            output = f"of_{name}_{port}"
            self.document["outputs"][output] = {"from": arc_name}
            self.fuzzy[output] = set(scalars) - set(self.columns[arc_name].types)


@dataclass(frozen=True)
class Example:
    """A network and its input, and of each output the columns in which rounding may show."""

    document: dict[str, Any]
    inputs: dict[str, list[dict[str, Any]]]
    fuzzy: dict[str, set[str]]

    @property
    def length(self) -> int:
        return sum(len(rows) for rows in self.inputs.values())


def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly a value, sometimes NULL."""
    return st.integers(0, 7).flatmap(lambda n: st.none() if n == 7 else values)


SMALL = st.integers(-3, 40)
DYADIC = st.integers(-40, 400).map(lambda n: n / 4)
WIDE = st.one_of(SMALL, st.sampled_from([2**63 - 1, -(2**63), 2**62, -(2**62), 2**53 + 1, 10**18]))

Values = dict[str, st.SearchStrategy[Any]]

VALUES: Values = {
    "i": SMALL,
    "d": DYADIC,
    "g": st.sampled_from(["a", "b", "c", ""]),
    "h": WIDE,
    "b": st.booleans(),
    "t": st.integers(-4, 80).map(lambda n: BASE + timedelta(milliseconds=500 * n)),
    "u": st.integers(-4, 60).map(lambda n: timedelta(milliseconds=500 * n)),
}


HUGE = [1.7976931348623157e308, -1.7976931348623157e308, 5e-324, 2.0**53 + 2, 0.1, -1e-300]

EXTREME: Values = {**VALUES, "i": WIDE, "d": st.one_of(DYADIC, st.sampled_from(HUGE))}
"""Limits of ints and doubles; nothing that rounds may be summed over these."""

AWKWARD: Values = {**VALUES, "d": st.floats()}
"""Any double: NaN, infinities, and sums that depend on their order."""


@st.composite
def rows(draw: Draw, columns: list[str], values: Values) -> list[dict[str, Any]]:
    """Rows whose clock mostly rises, with ties and steps back; order columns are drawn freely or rise with it."""
    rising = draw(st.booleans())
    step = st.integers(0, 9) | st.sampled_from([0, 1, 1, 2, -4])
    drawn = st.tuples(step, st.fixed_dictionaries({name: optional(values[name]) for name in columns}))
    now, table = 0, []
    for n, (moved, row) in enumerate(draw(st.lists(drawn, min_size=draw(st.sampled_from([0, 8, 16])), max_size=24))):
        now += moved
        if rising:
            row |= {name: drift(row[name], n) for name in ("i", "t", "u", "d") if name in columns}
        table.append({CLOCK: BASE + timedelta(milliseconds=500 * now), **row})
    return table


def drift(value: Any, n: int) -> Any:
    """Pulls a value towards a line that rises with n, so that less of it is out of order."""
    if value is None or n % 5 == 4:
        return value
    if isinstance(value, timedelta):
        return timedelta(seconds=n) + value / 10 // timedelta(milliseconds=500) * timedelta(milliseconds=500)
    if isinstance(value, int | float):
        return value // 10 + n
    return BASE + timedelta(seconds=n + (value - BASE) // timedelta(seconds=10))


@st.composite
def examples(draw: Draw, values: Values = VALUES, *, tame: bool = True, most: int = 6, times: int = 1) -> Example:
    """A network of 1 to ``most`` boxes over 1 to 3 streams, and rows for each stream.

    ``tame`` says that the doubles drawn are such that sums of them are exact. With ``times`` the rows come again and
    again, later each time: streams long enough for wide windows and large trains, yet quickly drawn.
    """
    from oracle.drawn_boxes import box

    columns = draw(st.lists(st.sampled_from(list(TYPES)), min_size=3, max_size=7, unique=True))
    schema = {CLOCK: "timestamp"} | {name: TYPES[name] for name in columns}
    names = [f"s{n}" for n in range(draw(st.integers(1, 3)))]
    document: dict[str, Any] = {
        "aurora": 1,
        "network": "random",
        "streams": {name: {"schema": dict(schema)} for name in names},
        "boxes": {},
        "outputs": {},
    }
    exact = {"i", "d", "u"} if tame else {"u"}
    growth = Growth(document, Simulation(document), {name: Columns(dict(schema), exact) for name in names})
    for _ in range(draw(st.integers(1, most))):
        draw(box(growth))
    return Example(document, {name: again(draw(rows(columns, values)), times) for name in names}, growth.fuzzy)


def again(table: list[dict[str, Any]], times: int) -> list[dict[str, Any]]:
    return [{name: later(name, row[name], n) for name in row} for n in range(times) for row in table]


def later(name: str, value: Any, n: int) -> Any:
    """The value in the n-th repetition; order columns go on rising slowly."""
    if value is None or name not in (CLOCK, "t", "u", "i", "d"):
        return value
    if isinstance(value, int | float):
        return value + 8 * n if abs(value) < 10**6 else value
    return value + timedelta(seconds=20 * n)
