"""How networks are cut into segments: what runs together, how it is spread, and what goes from one to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.scheduler.segments import Segment, Split, segments

SCHEMA = {"k": "string", "j": "string", "t": "int", "x": "double"}
NAMES = {"names": {"schema": {"k": "string", "name": "string"}}}


def network(boxes: dict[str, Any], outputs: Sequence[str], streams: Sequence[str] = ("s",), **more: Any) -> Network:
    return Network.from_document(
        {
            "aurora": 1,
            "network": "cut",
            "streams": {name: {"schema": SCHEMA} for name in streams},
            "boxes": boxes,
            "outputs": {f"of_{n}": {"from": arc} for n, arc in enumerate(outputs)},
            **more,
        }
    )


def found(cut: Network, parts: int = 2) -> list[Segment]:
    return list(segments(typecheck(cut), parts))


def written(segment: Segment) -> tuple[Any, ...]:
    """A segment in short: boxes, spread, level, reads, writes, splits."""
    return (
        " ".join(segment.boxes),
        segment.spread,
        segment.level,
        {str(arc): form for arc, form in segment.reads.items()},
        [str(arc) for arc in segment.writes],
        {str(arc): forms for arc, forms in segment.splits.items()},
    )


def latch(source: str, *keys: str, **compute: str) -> dict[str, Any]:
    return {"kind": "latch", "in": source, "group_by": list(keys), "compute": compute or {"n": "count(*)"}}


def join(left: str, right: str, condition: str) -> dict[str, Any]:
    order = {"left_order_by": "t", "right_order_by": "t", "within": 3, "slack": 1}
    return {"kind": "join", "in": [left, right], "on": condition, **order}


POSITIVE = {"kind": "filter", "in": "s", "where": "x > 0"}
BY_K, BY_J = Split(("k",)), Split(("j",))
BY_K_T, BY_J_T = Split(("k",), ("t",)), Split(("j",), ("t",))

CUTS: dict[str, tuple[Network, list[tuple[Any, ...]]]] = {
    "boxes that take tuples anywhere run on slices of the stream": (
        network({"f": POSITIVE, "m": {"kind": "map", "in": "f", "extend": {"y": "x"}}}, ["m"]),
        [("f m", "slices", 0, {"s": None}, ["m"], {})],
    ),
    "a keyed box starts a segment, which tuplewise boxes behind it join": (
        network({"f": POSITIVE, "l": latch("f", "k"), "m": {"kind": "map", "in": "l", "extend": {"y": "n"}}}, ["m"]),
        [
            ("f", "slices", 0, {"s": None}, [], {"f": (BY_K,)}),
            ("l m", "keys", 1, {"f": BY_K}, ["m"], {}),
        ],
    ),
    "boxes with the same keys share parts, which are told of the progress that any of them needs": (
        network(
            {
                "l": latch("s", "k"),
                "w": {
                    "kind": "tumble",
                    "in": "s",
                    "group_by": "k",
                    "order_by": "t",
                    "slack": 5,
                    "window": {"size": 10},
                    "compute": {"n": "count(*)"},
                },
                "o": latch("s", "j"),
            },
            ["l", "w", "o"],
        ),
        [
            ("", "slices", 0, {"s": None}, [], {"s": (BY_K_T, BY_J)}),
            ("l w", "keys", 1, {"s": BY_K_T}, ["l", "w"], {}),
            ("o", "keys", 1, {"s": BY_J}, ["o"], {}),
        ],
    ),
    "where the keys change midway, parts are put together and split anew": (
        network({"l": latch("s", "k", j="last(j)"), "o": latch("l", "j")}, ["o"]),
        [
            ("", "slices", 0, {"s": None}, [], {"s": (BY_K,)}),
            ("l", "keys", 1, {"s": BY_K}, ["l"], {}),
            ("", "one", 2, {"l": None}, [], {"l": (BY_J,)}),
            ("o", "keys", 3, {"l": BY_J}, ["o"], {}),
        ],
    ),
    "an inherited grouping is a key": (
        network(
            {
                "g": {"kind": "group_by", "in": "s", "columns": ["k"]},
                "l": {"kind": "latch", "in": "g", "compute": {"n": "count(*)"}},
            },
            ["l"],
        ),
        [
            ("g", "slices", 0, {"s": None}, [], {"g": (BY_K,)}),
            ("l", "keys", 1, {"g": BY_K}, ["l"], {}),
        ],
    ),
    "a join has its sides split alike": (
        network({"p": join("s", "r", "left.k = right.j")}, ["p"], ["s", "r"]),
        [
            ("", "slices", 0, {"s": None}, [], {"s": (BY_K_T,)}),
            ("", "slices", 0, {"r": None}, [], {"r": (BY_J_T,)}),
            ("p", "keys", 1, {"s": BY_K_T, "r": BY_J_T}, ["p"], {}),
        ],
    ),
    "a stream joined with itself is split once": (
        network({"p": join("s", "s", "left.k = right.k")}, ["p"]),
        [
            ("", "slices", 0, {"s": None}, [], {"s": (BY_K_T,)}),
            ("p", "keys", 1, {"s": BY_K_T}, ["p"], {}),
        ],
    ),
    "unless by two columns, which no part can have together": (
        network({"p": join("s", "s", "left.k = right.j")}, ["p"]),
        [("p", "one", 0, {"s": None}, ["p"], {})],
    ),
    "a join with static data runs on slices": (
        network(
            {"p": {"kind": "join", "in": ["s", "names"], "on": "left.k = right.k"}}, ["p"], connection_points=NAMES
        ),
        [("p", "slices", 0, {"s": None}, ["p"], {})],
    ),
    "but behind parts in one place, for it keeps no ranks": (
        network(
            {"l": latch("s", "k"), "p": {"kind": "join", "in": ["l", "names"], "on": "left.k = right.k"}},
            ["p"],
            connection_points=NAMES,
        ),
        [
            ("", "slices", 0, {"s": None}, [], {"s": (BY_K,)}),
            ("l", "keys", 1, {"s": BY_K}, ["l"], {}),
            ("p", "one", 2, {"l": None}, ["p"], {}),
        ],
    ),
    "one place reads a stream itself, and what others make when they are done": (
        network(
            {
                "f": POSITIVE,
                "u": {"kind": "union", "in": ["f", "s"]},
                "m": {"kind": "map", "in": "u", "extend": {"y": "x"}},
            },
            ["m"],
        ),
        [
            ("f", "slices", 0, {"s": None}, ["f"], {}),
            ("u m", "one", 1, {"f": None, "s": None}, ["m"], {}),
        ],
    ),
    "what must see everything runs together, at the level of what it waits for": (
        network(
            {
                "a": latch("s", "k"),
                "m": {"kind": "map", "in": "a", "compute": {"n": "n"}},
                "b": latch("s"),
                "u": {"kind": "union", "in": ["m", "b"]},
                "z": latch("u"),
            },
            ["u", "z"],
        ),
        [
            ("", "slices", 0, {"s": None}, [], {"s": (BY_K,)}),
            ("b", "one", 0, {"s": None}, ["b"], {}),
            ("a m", "keys", 1, {"s": BY_K}, ["m"], {}),
            ("u z", "one", 2, {"m": None, "b": None}, ["u", "z"], {}),
        ],
    ),
    "an output straight from a stream": (
        network({"f": POSITIVE}, ["s", "f", "r"], ["s", "r"]),
        [
            ("f", "slices", 0, {"s": None}, ["s", "f"], {}),
            ("", "slices", 0, {"r": None}, ["r"], {}),
        ],
    ),
}


@pytest.mark.parametrize("name", CUTS)
def test_cut(name: str) -> None:
    cut, expected = CUTS[name]
    assert [written(segment) for segment in found(cut)] == expected


@pytest.mark.parametrize("name", CUTS)
def test_every_box_has_one_place_and_whatever_is_read_was_made_before(name: str) -> None:
    cut = CUTS[name][0]
    typed = typecheck(cut)
    made = found(cut)
    assert sorted(box for segment in made for box in segment.boxes) == sorted(typed.order)
    level_of = {box: segment.level for segment in made for box in segment.boxes}
    for segment in made:
        for arc, form in segment.reads.items():
            assert arc.name in cut.streams or level_of[arc.name] < segment.level
            makers = [other for other in made if other.level < segment.level]
            if form is not None:
                assert any(form in other.splits.get(arc, ()) for other in makers)
            elif arc.name not in cut.streams:
                assert any(arc in other.writes for other in makers)
    for producer in typed.outputs.values():
        assert any(producer in segment.writes for segment in made)


@pytest.mark.parametrize("name", CUTS)
def test_with_one_part_everything_runs_in_one_place(name: str) -> None:
    made = found(CUTS[name][0], parts=1)
    assert {(segment.spread, segment.level) for segment in made} == {("one", 0)}
    assert not any(segment.splits for segment in made)
