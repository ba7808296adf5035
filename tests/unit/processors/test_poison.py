"""A tuple on which the operator's code fails is rejected, and the run goes on as if it had never come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl
import pytest

from aurora.errors import UserCodeError
from aurora.expressions.functions import BY_NAME
from aurora.expressions.functions.declaration import Function, signature
from aurora.expressions.registry import register_function, unregister
from aurora.testing import run_rows


def _odd_one_out(values: pl.Series) -> pl.Series:
    if (values == 13).any():
        raise ValueError("13 brings bad luck")
    return values * 10


def _not_together(values: pl.Series) -> pl.Series:
    if len(values) > 1:
        raise ValueError("too many")
    return values


@pytest.fixture(autouse=True)
def functions() -> Iterator[None]:
    register_function("tenfold", _odd_one_out, ["int"], "int")
    register_function("alone", _not_together, ["int"], "int")
    yield
    unregister("tenfold")
    unregister("alone")


NETWORK = """
aurora: 1
network: poison
streams: {s: {schema: {k: string, t: int, x: int}}}
boxes:
  big: {kind: map, in: s, extend: {x: tenfold(x)}}
  sums:
    kind: aggregate
    in: s
    group_by: k
    order_by: t
    slack: 5
    window: {size: 10}
    compute: {total: sum(tenfold(x))}
outputs: {big: {from: big}, sums: {from: sums}}
"""
ROWS = [{"k": "ab"[n % 2], "t": n, "x": 13 if n in (3, 17) else n} for n in range(40)]


@pytest.mark.parametrize("parts", [None, 2])
@pytest.mark.parametrize("train", [1, 7, None])
def test_the_run_goes_on_without_the_tuple(train: int | None, parts: int | None) -> None:
    rows = [row for row in ROWS if row["t"] != 13]
    fine = [row for row in rows if row["x"] != 13]
    found = run_rows(NETWORK, {"s": rows}, train=train, parts=parts)
    expected = run_rows(NETWORK, {"s": fine})
    assert found.rows("big") == expected.rows("big")
    assert found.rows("sums") == expected.rows("sums")
    assert found.statistics.boxes["big"].rejected == 2
    assert found.statistics.boxes["sums"].rejected == 2


def test_where_no_tuple_is_to_blame_the_run_stops_and_says_what_it_had() -> None:
    network = NETWORK.replace("tenfold(x)}}", "alone(x)}}", 1)
    with pytest.raises(UserCodeError, match=r"in box big: .*too many.*first tuples it was given.*\"x\": 0"):
        run_rows(network, {"s": [row for row in ROWS if row["x"] != 13]}, train=7)


def _panicking(values: Sequence[pl.Series]) -> pl.Series:
    if (values[0] == 13).any():
        raise pl.exceptions.PanicException("index out of bounds")
    return values[0]


@pytest.fixture
def fragile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A built-in function with a mistake in it, as one in Polars would be."""
    formula = signature("(x: int) -> int", lambda x: pl.map_batches([x], _panicking, return_dtype=pl.Int64()))
    monkeypatch.setitem(BY_NAME, "fragile", Function("fragile", (formula,), "test", "", "", None))


@pytest.mark.usefixtures("fragile")
@pytest.mark.parametrize("parts", [None, 2])
@pytest.mark.parametrize("train", [1, 7, None])
@pytest.mark.parametrize(
    "box", ["kind: map, in: s, extend: {x: fragile(x)}", "kind: filter, in: s, where: fragile(x) >= 0"]
)
def test_a_panic_in_an_expression_costs_the_tuple_not_the_network(
    box: str, train: int | None, parts: int | None
) -> None:
    network = f"""
aurora: 1
network: panic
streams: {{s: {{schema: {{k: string, t: int, x: int}}}}}}
boxes: {{b: {{{box}}}}}
outputs: {{o: {{from: b}}}}
"""
    found = run_rows(network, {"s": ROWS}, train=train, parts=parts)
    assert found.rows("o") == [tuple(row.values()) for row in ROWS if row["x"] != 13]
    assert found.statistics.boxes["b"].rejected == sum(row["x"] == 13 for row in ROWS)
