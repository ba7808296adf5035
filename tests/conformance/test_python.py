"""python: a box that the operator wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from aurora import NetworkError, UserCodeError, python_box
from aurora.model.box import ANYWHERE, KINDS, TOGETHER, Partitioning
from aurora.model.schema import ArcType, Schema
from aurora.testing import run_rows
from conformance.cases import Case, at, check_engine, check_restored, one

S = {"s": {"x": "int"}}


@python_box("conformance_total", outputs={"out": {"total": "int"}})
class Total:
    def open(self, schemas: Any, start: int = 0) -> None:
        self.total = start

    def process(self, port: int, train: pl.DataFrame) -> pl.DataFrame:
        totals = train["x"].cum_sum() + self.total
        self.total = totals[-1]
        return pl.DataFrame({"total": totals})

    def snapshot(self) -> pl.DataFrame:
        return pl.DataFrame({"total": [self.total]})

    def restore(self, state: pl.DataFrame) -> None:
        self.total = state["total"][0]


@python_box("conformance_parity", outputs={"even": {"x": "int"}, "odd": {"x": "int"}}, partition_by=None)
class Parity:
    """Even numbers go out once, odd ones twice on another port."""

    def process(self, port: int, train: pl.DataFrame) -> Mapping[str, pl.DataFrame]:
        rows = [(n, x) for n, x in enumerate(train["x"])]
        even = [(n, x) for n, x in rows if x % 2 == 0]
        odd = [(n, x) for n, x in rows if x % 2 == 1 for _ in range(2)]
        return {
            port: pl.DataFrame(answer, schema={"__source": pl.Int64, "x": pl.Int64}, orient="row")
            for port, answer in (("even", even), ("odd", odd))
        }


@python_box("conformance_account", outputs={"out": {"sum": "int"}}, partition_by=["g"])
class Account:
    """What each key has so far; different keys need not meet."""

    def open(self, schemas: Any) -> None:
        self.sums: dict[str | None, int] = {}

    def process(self, port: int, train: pl.DataFrame) -> pl.DataFrame:
        answer = []
        for g, x in train.select("g", "x").rows():
            self.sums[g] = self.sums.get(g, 0) + x
            answer.append(self.sums[g])
        return pl.DataFrame({"sum": answer}, schema={"sum": pl.Int64})

    def snapshot(self) -> pl.DataFrame:
        schema = {"g": pl.String, "sum": pl.Int64}
        return pl.DataFrame({"g": list(self.sums), "sum": list(self.sums.values())}, schema=schema)

    def restore(self, state: pl.DataFrame) -> None:
        self.sums = dict(state.rows())


@python_box("conformance_sides", outputs={"out": {"side": "string", "x": "int"}})
class Sides:
    def process(self, port: int, train: pl.DataFrame) -> pl.DataFrame:
        return train.select(pl.lit("lr"[port]).alias("side"), "x")


@python_box("conformance_metronome", outputs={"out": {"second": "int", "seen": "int"}}, tick="10s")
class Metronome:
    """Says at every ten seconds how many tuples there have been."""

    def open(self, schemas: Any) -> None:
        self.seen = 0

    def process(self, port: int, train: pl.DataFrame) -> pl.DataFrame:
        self.seen += train.height
        return pl.DataFrame(schema={"__source": pl.Int64, "second": pl.Int64, "seen": pl.Int64})

    def on_time(self, now: int) -> pl.DataFrame:
        return pl.DataFrame({"second": [now // 1_000_000 % 60], "seen": [self.seen]})

    def snapshot(self) -> pl.DataFrame:
        return pl.DataFrame({"seen": [self.seen]})

    def restore(self, state: pl.DataFrame) -> None:
        self.seen = state["seen"][0]


@python_box("conformance_dialogue", outputs={"out": {"said": "string"}}, tick="10s")
class Dialogue:
    """Answers each tuple with what came last on the other port, and says so at every tick: state that ports share."""

    def open(self, schemas: Any) -> None:
        self.last = [0] * len(schemas)

    def process(self, port: int, train: pl.DataFrame) -> pl.DataFrame:
        self.last[port] = train["x"][-1]
        others = [last for place, last in enumerate(self.last) if place != port]
        return pl.DataFrame({"said": [f"{x} after {others}" for x in train["x"]]})

    def on_time(self, now: int) -> pl.DataFrame:
        return pl.DataFrame({"said": [f"{now // 1_000_000 % 60}: {self.last}"]})

    def snapshot(self) -> pl.DataFrame:
        return pl.DataFrame({"last": self.last})

    def restore(self, state: pl.DataFrame) -> None:
        self.last = state["last"].to_list()


@python_box("conformance_sorter", outputs={"out": {"x": "int"}})
class Sorter:
    """Answers the rows of a train from the last to the first, and every second row not at all."""

    def process(self, port: int, train: pl.DataFrame) -> pl.DataFrame:
        return train.select("x").with_row_index("__source").filter(pl.col("x") % 2 == 0).reverse()


@python_box("conformance_silent", outputs={"out": {"x": "int"}, "other": {"x": "int"}}, tick="1s")
class Silent:
    """Has nothing to say on one port, and nothing at all at ticks; its times come as int, declared as they are."""

    def process(self, port: int, train: pl.DataFrame) -> Mapping[str, pl.DataFrame]:
        return {"other": train.select("x")}

    def on_time(self, now: int) -> None:
        return None


CASES = [
    Case(
        "state goes on from train to train",
        S,
        "b: {kind: python, in: s, class: conformance_total, parameters: {start: 10}}",
        one((0, 1), (1, 2), (2, 3), (3, 4)),
        {"b": [(11,), (13,), (16,), (20,)]},
        columns={"b": ["total"]},
    ),
    Case(
        "several ports and several answers to a tuple",
        S,
        "b: {kind: python, in: s, class: conformance_parity}",
        one((0, 1), (1, 2), (2, 3), (3, 4)),
        {"b.even": [(2,), (4,)], "b.odd": [(1,), (1,), (3,), (3,)]},
    ),
    Case(
        "answers stand where the tuple stands that made them",
        S,
        "{p: {kind: python, in: s, class: conformance_parity}, m: {kind: map, in: s, compute: {x: x * 10}},"
        " b: {kind: union, in: [p.odd, m]}}",
        one((0, 1), (1, 2), (2, 3)),
        {"b": [(1,), (1,), (10,), (20,), (3,), (3,), (30,)]},
    ),
    Case(
        "answers to tuples with one number stand as these do",
        S,
        # All three leave the bsort at the end.
        "{o: {kind: bsort, in: s, order_by: x, slack: 3 tuples}, b: {kind: python, in: o, class: conformance_sorter}}",
        one((0, 4), (1, 2), (2, 6)),
        {"b": [(2,), (4,), (6,)]},
        at_end="flush",
    ),
    Case(
        "a state for each key",
        {"s": {"g": "string", "x": "int"}},
        "b: {kind: python, in: s, class: conformance_account}",
        one((0, "a", 1), (1, "b", 2), (2, "c", 3), (3, "b", 4), (4, "a", 5), (5, None, 6), (6, None, 7), (7, "c", 8)),
        {"b": [(1,), (2,), (3,), (6,), (6,), (6,), (13,), (11,)]},
    ),
    Case(
        "two inputs come in the order of arrival",
        {"l": {"x": "int"}, "r": {"x": "int"}},
        "b: {kind: python, in: [l, r], class: conformance_sides}",
        {"l": [(0, 1), (3, 4)], "r": [(1, 2), (2, 3)]},
        {"b": [("l", 1), ("r", 2), ("r", 3), ("l", 4)]},
    ),
    Case(
        "time passes before the tuple that moves the clock",
        S,
        "b: {kind: python, in: s, class: conformance_metronome}",
        one((1, 0), (5, 0), (20, 0), (31, 0)),
        {"b": [(10, 2), (20, 2), (30, 3)]},
    ),
    Case(
        "several inputs and ticks in one order",
        {"l": {"x": "int"}, "r": {"x": "int"}},
        "b: {kind: python, in: [l, r], class: conformance_dialogue}",
        {"l": [(0, 1), (3, 2), (25, 3)], "r": [(2, 7), (3, 8), (10, 9), (25, 6)]},
        {
            "b": [
                ("1 after [0]",),
                ("7 after [1]",),
                ("2 after [7]",),
                ("8 after [2]",),
                ("10: [2, 8]",),
                ("9 after [2]",),
                ("20: [2, 9]",),
                ("3 after [9]",),
                ("6 after [3]",),
            ]
        },
    ),
    Case(
        "answers come in the order of the tuples behind them",
        S,
        "b: {kind: python, in: s, class: conformance_sorter}",
        one((0, 2), (1, 3), (2, 6), (3, 4)),
        {"b": [(2,), (6,), (4,)]},
    ),
    Case(
        "no answer is an answer",
        S,
        "b: {kind: python, in: s, class: conformance_silent}",
        one((0, 2), (1, 3)),
        {"b": [], "b.other": [(2,), (3,)]},
    ),
    Case(
        "time begins with the first clock there is",
        S,
        "{a: {kind: filter, in: s, where: x > 0}, b: {kind: python, in: a, class: conformance_metronome}}",
        one((8, 0), (11, 1), (21, 1)),
        {"b": [(10, 0), (20, 1)]},
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_a_snapshot_carries_the_state_over(case: Case) -> None:
    check_restored(case, 1)


def run_alone(code: str, rows: list[tuple[Any, ...]], **parameters: Any) -> list[tuple[Any, ...]]:
    """What a class that is registered under this name answers, as the one box of a network."""
    document = Case("", S, f"b: {{kind: python, in: s, class: {code}}}", {}, {"b": []}).document()
    document["boxes"]["b"]["parameters"] = parameters
    rows_in = [{"at": None if t is None else at(t), "x": x} for t, x in rows]
    return run_rows(document, {"s": rows_in}, clock="at", train=2, at_end="hold").rows("of_b")


def test_ticks_wait_for_a_clock_that_begins_with_null() -> None:
    """The clock stands at the beginning of all time until a value comes; ticking from there would never end."""
    assert run_alone("conformance_metronome", [(None, 0), (None, 0), (8, 0), (11, 0)]) == [(10, 3)]


def broken(name: str, **methods: Any) -> None:
    """Registers a class with these methods beside a process that passes everything on."""
    body = {"process": lambda self, port, train: train.select("x"), **methods}
    python_box(name, outputs={"out": {"x": "int"}}, tick="1s" if "on_time" in methods else None)(type(name, (), body))


def raising(*_: Any, **__: Any) -> Any:
    raise ValueError("no such thing")  # the line that the errors name


@pytest.mark.parametrize("method", ["__init__", "open", "process", "on_time"])
def test_what_the_code_raises_is_named(method: str) -> None:
    """Box, class, method, the error, and the line in the operator's own file."""
    broken("conformance_broken", **{method: raising})
    with pytest.raises(UserCodeError) as raised:
        run_alone("conformance_broken", [(0, 1), (5, 2)])
    message = str(raised.value)
    assert message.startswith(f"in box b: conformance_broken.{method} raised ValueError: no such thing (at ")
    assert f"{__file__}:{raising.__code__.co_firstlineno + 1}" in message
    assert "the line that the errors name" in message


@pytest.mark.parametrize("method", ["snapshot", "restore"])
def test_what_a_snapshot_raises_is_named(method: str) -> None:
    whole = {"snapshot": lambda self: pl.DataFrame({"n": [1]}), "restore": lambda self, state: None}
    broken("conformance_broken", **{**whole, method: raising})
    document = Case("", S, "b: {kind: python, in: s, class: conformance_broken}", {}, {"b": []}).document()
    with pytest.raises(UserCodeError, match=rf"^in box b: conformance_broken.{method} raised ValueError"):
        run_rows(document, {"s": [{"at": at(0), "x": 1}]}, clock="at", snapshot_at=1)


def test_the_line_is_the_operators_even_where_a_library_raises() -> None:
    def process(self: Any, port: int, train: pl.DataFrame) -> pl.DataFrame:
        return train.select("nothing")

    broken("conformance_broken", process=process)
    with pytest.raises(UserCodeError) as raised:
        run_alone("conformance_broken", [(0, 1)])
    assert f"{__file__}:{process.__code__.co_firstlineno + 1}" in str(raised.value)


WRONG_ANSWERS = {
    "port": (lambda train: {"nowhere": train}, "answered on the port 'nowhere'; its output ports are out"),
    "columns": (lambda train: train.rename({"x": "y"}), r"without the declared columns \['x'\]"),
    "type": (lambda train: pl.DataFrame({"x": ["a"] * train.height}), "columns that do not fit"),
    "no frame": (lambda train: [1, 2], "answered with list"),
    "too few rows": (lambda train: train.head(1), "answered 2 rows with 1; answer one for one"),
    "too many rows": (lambda train: pl.concat([train, train]), "answered 2 rows with 4"),
    "source beyond": (lambda train: train.select("x", __source=pl.lit(2)), "its rows are 0 to 1"),
    "source below": (lambda train: train.select("x", __source=pl.lit(-1)), "its rows are 0 to 1"),
    "source null": (lambda train: train.select("x", __source=pl.lit(None, pl.Int64)), "its rows are 0 to 1"),
    "source no number": (lambda train: train.select("x", __source=pl.lit("0")), "its rows are 0 to 1"),
}


@pytest.mark.parametrize("wrong", WRONG_ANSWERS)
def test_a_wrong_answer_is_named(wrong: str) -> None:
    answer, message = WRONG_ANSWERS[wrong]
    broken("conformance_broken", process=lambda self, port, train: answer(train))
    with pytest.raises(UserCodeError, match=f"^in box b: conformance_broken.*{message}"):
        run_alone("conformance_broken", [(0, 1), (1, 2)])


def test_parameters_reach_open() -> None:
    assert run_alone("conformance_total", [(0, 1)], start=41) == [(42,)]
    with pytest.raises(UserCodeError, match="unexpected keyword argument 'begin'"):
        run_alone("conformance_total", [(0, 1)], begin=41)


def test_answers_are_cast_to_what_was_declared() -> None:
    broken("conformance_small", process=lambda self, port, train: train.select(pl.col("x").cast(pl.Int8)))
    assert run_alone("conformance_small", [(0, 1), (1, None)]) == [(1,), (None,)]


def test_columns_that_were_not_declared_are_left_out() -> None:
    broken("conformance_more", process=lambda self, port, train: train.select(pl.lit("y").alias("y"), "x"))
    broken("conformance_tick", on_time=lambda self, now: pl.DataFrame({"__source": [0], "x": [9]}))
    assert run_alone("conformance_more", [(0, 1)]) == [(1,)]
    assert run_alone("conformance_tick", [(0, 1), (1, 2)]) == [(1,), (9,), (2,)]


def test_an_unknown_class_is_a_problem_of_the_network() -> None:
    with pytest.raises(NetworkError) as raised:
        run_alone("conformance_totl", [])
    assert [problem.id for problem in raised.value.problems] == ["unknown-class"]
    assert "conformance_total" in raised.value.problems[0].way_out


@pytest.mark.parametrize(
    ("partition_by", "expected"), [(None, ANYWHERE), ((), TOGETHER), (("x",), Partitioning.by(("x",)))]
)
def test_how_it_may_be_split(partition_by: Any, expected: Partitioning) -> None:
    python_box("conformance_split", outputs={"out": {"x": "int"}}, partition_by=partition_by)(Sorter)
    box = KINDS["python"].model_validate({"name": "b", "in": "s", "class": "conformance_split"})
    assert box.partitioning([ArcType(Schema.of(x="int"))]) == expected
