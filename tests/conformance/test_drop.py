"""drop: by a condition, or by lot from the seed and the tuple's number."""

from __future__ import annotations

from aurora.testing import run_rows
from conformance.cases import Case, at, check_engine, check_oracle, one

S = {"s": {"x": "int"}}
ROWS = one((0, 1), (1, None), (2, 3))

CASES = [
    Case(
        "a semantic drop keeps NULL",
        S,
        "b: {kind: drop, in: s, where: x < 3}",
        ROWS,
        {"b": [(at(1), None), (at(2), 3)]},
        columns={"b": ["at", "x"]},
    ),
    Case(
        "nothing matches",
        S,
        "b: {kind: drop, in: s, where: x > 5}",
        ROWS,
        {"b": [(at(0), 1), (at(1), None), (at(2), 3)]},
    ),
    Case(
        "rate 0 keeps everything",
        S,
        "b: {kind: drop, in: s, rate: 0.0}",
        ROWS,
        {"b": [(at(0), 1), (at(1), None), (at(2), 3)]},
    ),
    Case("rate 1 drops everything", S, "b: {kind: drop, in: s, rate: 1.0, seed: 7}", ROWS, {"b": []}),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_oracle(case: Case) -> None:
    check_oracle(case)


def lot(seed: int, rate: float, train: int | None, n: int = 1000) -> list[int]:
    """The numbers of the tuples that a drop box keeps."""
    document = Case("", S, f"b: {{kind: drop, in: s, rate: {rate}, seed: {seed}}}", {}, {"b": []}).document()
    rows = [{"at": at(i), "x": i} for i in range(n)]
    result = run_rows(document, {"s": rows}, clock="at", train=train, at_end="flush")
    return result.outputs["of_b"].get_column("x").to_list()


def test_the_seed_and_not_the_trains_decide() -> None:
    kept = lot(3, 0.2, None)
    assert all(lot(3, 0.2, train) == kept for train in (7, 100))
    assert lot(4, 0.2, None) != kept


def test_about_the_rate_is_dropped() -> None:
    assert abs(len(lot(2**40 + 1, 0.2, None)) - 800) < 50


def test_a_higher_rate_drops_more_of_the_same() -> None:
    assert set(lot(5, 0.6, None)) < set(lot(5, 0.3, None))
