"""The operator's own functions and aggregates, called by boxes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

from aurora.errors import UserCodeError
from aurora.expressions import register_aggregate, register_function, unregister
from aurora.testing import run_rows


class Product:
    """One value at a time. Multiplying strings together by place shows the order in which they come."""

    def init(self) -> list[Any]:
        return []

    def incr(self, state: list[Any], *values: Any) -> list[Any]:
        return [*state, values[0]]

    def final(self, state: list[Any]) -> str:
        return "".join(state)


class Vectorised(Product):
    """A whole window at once; the slow way would give something else."""

    def apply(self, values: pl.Series) -> str:
        return f"{len(values)}:" + "".join(values)


class Raising(Product):
    def final(self, state: list[Any]) -> str:
        raise ValueError("no end")


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    register_aggregate("chained", Product, "string")
    register_aggregate("chained_fast", Vectorised, "string", "string")
    register_aggregate("unending", Raising, "string")
    register_function("plus", lambda a, b: a + b, ["int", "int"], "int")
    register_function("failing", lambda a: 1 / 0, ["int"], "int")
    register_function("too_short", lambda a: a.head(1), ["int"], "int")
    yield
    for name in ("chained", "chained_fast", "unending", "plus", "failing", "too_short"):
        unregister(name)


ROWS = [{"t": 3, "g": "a", "x": 1}, {"t": 1, "g": None, "x": 2}, {"t": 4, "g": "b", "x": 3}, {"t": 2, "g": "c", "x": 4}]


def rows_of(box: str, train: int | None = None, snapshot_at: int | None = None) -> list[tuple[Any, ...]]:
    document = (
        f"{{aurora: 1, network: n, streams: {{s: {{schema: {{t: int, g: string, x: int}}}}}}, boxes: {{b: {box}}},"
        " outputs: {out: {from: b}}}"
    )
    return run_rows(document, {"s": ROWS}, train=train, snapshot_at=snapshot_at).rows("out")


@pytest.mark.parametrize("train", [1, 2, None])
def test_aggregates_in_windows_of_tuples(train: int | None) -> None:
    box = "{kind: tumble, in: s, window: {size: 4 tuples}, compute: {v: chained(g), f: chained_fast(g)}}"
    assert rows_of(box, train) == [("abc", "3:abc")]


@pytest.mark.parametrize("train", [1, 2, None])
def test_aggregates_follow_the_order_of_the_box(train: int | None) -> None:
    """By time slack tuples are folded as they come, and put in order only at the end."""
    box = (
        "{kind: aggregate, in: s, order_by: t, slack: 9, window: {size: 10},"
        " compute: {v: chained(g), w: chained(g) filter (where x < 4), n: chained(g) filter (where x > 9)}}"
    )
    assert rows_of(box, train) == [(0, "cab", "ab", None)]


@pytest.mark.parametrize("train", [1, 2, None])
def test_aggregates_over_a_groups_whole_life(train: int | None) -> None:
    box = "{kind: latch, in: s, compute: {v: upper(chained(g)), n: count(*)}}"
    assert rows_of(box, train) == [("A", 1), ("A", 2), ("AB", 3), ("ABC", 4)]
    assert rows_of(box, 1, snapshot_at=2) == [("A", 1), ("A", 2), ("AB", 3), ("ABC", 4)]


def test_what_an_aggregate_raises_names_the_box() -> None:
    box = "{kind: tumble, in: s, window: {size: 2 tuples}, compute: {v: unending(g)}}"
    with pytest.raises(UserCodeError, match=r"^in box b: the aggregate unending raised ValueError: no end"):
        rows_of(box)


@pytest.mark.parametrize("train", [1, 3, None])
def test_functions_in_map_and_filter(train: int | None) -> None:
    assert rows_of("{kind: map, in: s, compute: {v: 'plus(x, t) * 10'}}", train) == [(40,), (30,), (70,), (60,)]
    assert rows_of("{kind: filter, in: s, where: 'plus(x, t) > 5'}", train) == [(4, "b", 3), (2, "c", 4)]
    box = "{kind: tumble, in: s, window: {size: 2 tuples}, compute: {v: 'max(plus(x, 1))', w: 'plus(max(x), 1)'}}"
    assert rows_of(box, train) == [(3, 3), (5, 5)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("failing(x)", "the function failing raised ZeroDivisionError: division by zero"),
        ("too_short(x)", "the function too_short gave 1 values, not a Series of 4 values"),
    ],
)
def test_what_a_function_does_wrong_names_the_box(call: str, message: str) -> None:
    with pytest.raises(UserCodeError, match=f"^in box b: {message}"):
        rows_of(f"{{kind: map, in: s, compute: {{v: {call}}}}}")
