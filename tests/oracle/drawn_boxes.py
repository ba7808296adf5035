"""Random boxes: every kind, with legal parameters, put on a network that grows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from oracle.drawn_expressions import Columns, aggregate_call, condition, value
from oracle.network import Simulation
from oracle.strategies import CLOCK, TYPES, VALUES, Example, Growth, rows

Draw = st.DrawFn
Order = tuple[str, str]


@st.composite
def box(draw: Draw, growth: Growth) -> None:
    """Adds one box of a random kind; where it does not fit, one that always does."""
    kind = draw(st.sampled_from(KINDS))
    arc = draw(st.sampled_from(list(growth.columns)[::-1]))
    if not kind(draw, growth, growth.new("b"), arc):
        draw(st.sampled_from([a_map, a_drop, a_filter]))(draw, growth, growth.new("b"), arc)


def toss(draw: Draw) -> bool:
    return draw(st.booleans())


def a_filter(draw: Draw, growth: Growth, name: str, arc: str) -> bool:
    columns = growth.columns[arc]
    declared: dict[str, Any] = {"kind": "filter", "in": arc}
    if toss(draw):
        declared["where"] = f"not {draw(condition(columns))}" if toss(draw) else draw(condition(columns))
    else:
        declared["routes"] = {"p": draw(condition(columns)), "q": draw(condition(columns))}
        if toss(draw):
            declared["else"] = "rest"
    growth.add(name, declared, columns.tame, usable=set(columns.types))
    return True


def a_map(draw: Draw, growth: Growth, name: str, arc: str) -> bool:
    columns = growth.columns[arc]
    tame = set(columns.tame)
    declared: dict[str, Any] = {"kind": "map", "in": arc}
    fresh: dict[str, str] = {}
    for _ in range(draw(st.integers(1, 3))):
        column = growth.new("c")
        if draw(st.integers(0, 3)) == 0:
            copied = draw(st.sampled_from([*columns.types, "arrival_time()"]))
            fresh[column] = copied
            tame |= {column} if copied in columns.tame else set()
        else:
            fresh[column] = draw(value(columns, draw(st.sampled_from(["int", "double", "string", "bool"]))))
    if toss(draw):
        growth.add(name, {**declared, "compute": fresh}, tame)
        return True
    declared["extend"] = fresh
    if columns.types and toss(draw):
        declared["drop"] = [draw(st.sampled_from(list(columns.types)))]
    if columns.types and toss(draw):
        old = draw(st.sampled_from(list(columns.types)))
        if old not in declared.get("drop", []):
            new = growth.new("r")
            declared["rename"] = {old: new}
            tame |= {new} if old in tame else set()
    usable = set(columns.types) | set(fresh) | set(declared.get("rename", {}).values())
    growth.add(name, declared, tame, usable=usable)
    return True


def a_union(draw: Draw, growth: Growth, name: str, arc: str) -> bool:
    arcs = growth.simulation.arcs
    fitting = [a for a in growth.columns if arcs[a].schema == arcs[arc].schema]
    chosen = draw(st.lists(st.sampled_from(fitting), min_size=2, max_size=3))
    parts = [growth.columns[a] for a in chosen]
    tame = set.intersection(*(part.tame for part in parts))
    usable = set.intersection(*(set(part.types) for part in parts))
    growth.add(name, {"kind": "union", "in": chosen}, tame, usable=usable)
    return True


def grouping(draw: Draw, columns: Columns, *without: str) -> list[str]:
    """Columns to group by, mostly one with few values."""
    good = [c for c in columns.of("string", "bool", "int") if c not in without]
    return draw(st.lists(st.sampled_from(good), max_size=2, unique=True)) if good else []


def order(draw: Draw, columns: Columns, *, narrow: bool) -> str | None:
    """A column to order by; a narrow one has few enough values for windows over them."""
    good = columns.of("timestamp") + (columns.tame_of if narrow else columns.of)("int", "double", "duration")
    return draw(st.sampled_from(good)) if good else None


def amount(draw: Draw, kind: str, low: int, high: int) -> str | int | float:
    """A size, slack or distance on an order column of this type."""
    n = draw(st.integers(low, high))
    if kind in ("timestamp", "duration"):
        return f"{n * 500}ms"
    return n / 4 if kind == "double" else n


def slack(draw: Draw, kind: str) -> dict[str, Any]:
    form = draw(st.integers(0, 2))
    if form == 0:
        return {}
    return {"slack": f"{draw(st.integers(0, 3))} tuples" if form == 1 else amount(draw, kind, 0, 12)}


def a_bsort(draw: Draw, growth: Growth, name: str, arc: str) -> bool:
    columns = growth.columns[arc]
    by = order(draw, columns, narrow=False)
    if by is None:
        return False
    declared = {"kind": "bsort", "in": arc, "order_by": by, "slack": "0 tuples", **slack(draw, columns.types[by])}
    add_grouping(draw, declared, columns)
    growth.add(name, declared, columns.tame, usable=set(columns.types))
    return True


def add_grouping(draw: Draw, declared: dict[str, Any], columns: Columns, *without: str) -> None:
    """States a grouping, or leaves the box to inherit one."""
    if names := grouping(draw, columns, *without):
        declared["group_by"] = names if toss(draw) or len(names) > 1 else names[0]


def an_aggregate(draw: Draw, growth: Growth, name: str, arc: str) -> bool:
    kind = draw(st.sampled_from(["aggregate", "tumble", "slide", "latch"]))
    columns = growth.columns[arc]
    if not columns.types:
        return False
    by_value = kind != "latch" and toss(draw)
    by = order(draw, columns, narrow=by_value)
    if not by_value and toss(draw):
        by = None
    inherited = growth.simulation.arcs[arc].grouping
    if by_value and (by is None or by in inherited):
        return False
    declared: dict[str, Any] = {"kind": kind, "in": arc}
    if by is not None:
        declared |= {"order_by": by, **slack(draw, columns.types[by])}
        if toss(draw):
            declared["late"] = True
    add_grouping(draw, declared, columns, by or "")
    if kind == "latch":
        declared |= {"every": f"{draw(st.integers(1, 3))} tuples"} if toss(draw) else {}
    else:
        declared["window"] = window(draw, kind, columns.types[by] if by_value and by else None)
    compute, tame, fuzzy = computed(draw, growth, columns, timeouts=kind != "latch")
    declared["compute"] = compute
    known = set(declared.get("group_by", inherited)) | ({by} if by_value and by else set()) | set(compute)
    growth.add(name, declared, columns.tame | tame, usable=(known | set(columns.types)) - fuzzy)
    return True


TUPLES = st.integers(1, 4) | st.sampled_from([5, 6, 8, 12, 13, 30, 64])
"""Sizes of tuple windows: narrow ones, and such as share factors or are wide."""


def window(draw: Draw, kind: str, axis: str | None) -> dict[str, Any]:
    drawn: dict[str, Any] = {}
    if axis is None:
        drawn["size"] = f"{draw(TUPLES)} tuples"
        if kind == "aggregate" or (kind == "slide" and toss(draw)):
            drawn["advance"] = f"{draw(TUPLES)} tuples"
    else:
        drawn["size"] = amount(draw, axis, 1, 24)
        if kind == "slide" or (kind == "aggregate" and toss(draw)):
            drawn["advance"] = amount(draw, axis, 3, 20)
        if toss(draw):
            drawn["align"] = draw(st.sampled_from(["origin", "first"]))
        if toss(draw):
            drawn["emit_empty"] = True
    if toss(draw):
        drawn["timeout"] = f"{draw(st.integers(1, 30)) * 500}ms"
    return drawn


def computed(
    draw: Draw, growth: Growth, columns: Columns, *, timeouts: bool
) -> tuple[dict[str, str], set[str], set[str]]:
    """Some aggregates by name, and which of them are tame and which are fuzzy."""
    compute, tame, fuzzy = {}, set(), set()
    for _ in range(draw(st.integers(1, 4))):
        column = growth.new("c")
        compute[column], mark = draw(aggregate_call(columns, timeouts=timeouts))
        tame |= {column} if mark == "tame" else set()
        fuzzy |= {column} if mark == "fuzzy" else set()
    return compute, tame, fuzzy


def a_group_by(draw: Draw, growth: Growth, name: str, arc: str) -> bool:
    columns = growth.columns[arc]
    names = grouping(draw, columns)
    if not names:
        return False
    growth.add(name, {"kind": "group_by", "in": arc, "columns": names}, columns.tame, usable=set(columns.types))
    return True


def a_join(draw: Draw, growth: Growth, name: str, arc: str) -> bool:
    other = draw(st.sampled_from(list(growth.columns)))
    left, right = growth.columns[arc], growth.columns[other]
    by = order(draw, left, narrow=True)
    if by is None or growth.kinds.count("join") > 0:
        return False
    same = [c for c in right.of(left.types[by]) if c in right.tame or right.types[c] == "timestamp"]
    if not same:
        return False
    axis = left.types[by]
    declared: dict[str, Any] = {
        "kind": "join",
        "in": [arc, other],
        "left_order_by": by,
        "right_order_by": draw(st.sampled_from(same)),
        "within": amount(draw, axis, 0, 8),
        **slack(draw, axis),
    }
    if toss(draw):
        declared["right_slack"] = amount(draw, axis, 0, 12)
    if toss(draw):
        declared["late"] = True
    both = Columns(
        {f"left.{c}": k for c, k in left.types.items()} | {f"right.{c}": k for c, k in right.types.items()},
        {f"left.{c}" for c in left.tame} | {f"right.{c}" for c in right.tame},
    )
    shared = [c for c in left.of("string", "int", "bool") if right.types.get(c) == left.types[c]]
    if shared and toss(draw):
        column = draw(st.sampled_from(shared))
        declared["on"] = f"left.{column} = right.{column}"
        if toss(draw):
            declared["on"] += f" and {draw(condition(both, 1))}"
    elif toss(draw):
        declared["on"] = draw(condition(both, 1))
    sides = {"late_left": left, "late_right": right}
    prefixed = {f"{side}_{c}" for side in ("left", "right") for c in (*left.types, *right.types)}
    if growth_has(growth, arc, other, prefixed) or toss(draw):
        chosen = draw(st.lists(st.sampled_from(list(both.types)), min_size=1, max_size=4))
        declared["compute"] = {growth.new("c"): text for text in chosen}
        tame = {c for c, text in declared["compute"].items() if text in both.tame}
        growth.add(name, declared, tame, through=sides)
    else:
        usable = set(left.types) ^ set(right.types)
        growth.add(name, declared, left.tame | right.tame, usable=usable, through=sides)
    return True


def growth_has(growth: Growth, left: str, right: str, names: set[str]) -> bool:
    """Whether one of these names is taken, or a column that is not to be computed with would come through."""
    schemas = [growth.simulation.arcs[arc].schema for arc in (left, right)]
    hidden = any(
        set(schema) - set(growth.columns[arc].types) for schema, arc in zip(schemas, (left, right), strict=True)
    )
    return hidden or any(names & set(schema) for schema in schemas)


def a_resample(draw: Draw, growth: Growth, name: str, arc: str) -> bool:
    pace = draw(st.sampled_from(list(growth.columns)))
    columns, paces = growth.columns[arc], growth.columns[pace]
    by = order(draw, columns, narrow=True)
    if by is None or growth.kinds.count("resample") > 0:
        return False
    axis = columns.types[by]
    good = [c for c in paces.of(axis) if c in paces.tame or axis == "timestamp"]
    inherited = growth.simulation.arcs[arc].grouping
    good = [c for c in good if c not in inherited]
    if not good:
        return False
    pace_by = draw(st.sampled_from(good))
    declared: dict[str, Any] = {
        "kind": "resample",
        "in": [pace, arc],
        "order_by": by if pace_by == by and toss(draw) else [pace_by, by],
        "within": amount(draw, axis, 0, 8),
        **slack(draw, axis),
    }
    if toss(draw):
        declared["late"] = True
    add_grouping(draw, declared, columns, pace_by, by)
    numbers = columns.tame_of("int", "double")
    if numbers and draw(st.integers(0, 3)) == 0:
        declared["interpolate"] = "linear"
        declared["compute"] = {growth.new("c"): draw(st.sampled_from(numbers))}
        tame, fuzzy = set[str](), set(declared["compute"])
    else:
        declared["compute"], tame, fuzzy = computed(draw, growth, columns, timeouts=False)
    known = set(declared.get("group_by", inherited)) | {pace_by} | set(declared["compute"])
    sides = {"late_pace": paces, "late_data": columns}
    growth.add(name, declared, tame | {pace_by}, usable=known - fuzzy, through=sides)
    return True


def a_drop(draw: Draw, growth: Growth, name: str, arc: str) -> bool:
    columns = growth.columns[arc]
    how: dict[str, Any] = {"where": draw(condition(columns))}
    if toss(draw):
        how = {"rate": draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])), "seed": draw(st.integers(0, 5))}
    growth.add(name, {"kind": "drop", "in": arc, **how}, columns.tame, usable=set(columns.types))
    return True


KINDS: list[Callable[[Draw, Growth, str, str], bool]] = [
    a_filter,
    a_map,
    a_union,
    a_bsort,
    an_aggregate,
    an_aggregate,
    an_aggregate,
    a_group_by,
    a_join,
    a_resample,
    a_drop,
]
"""What a box may be; windows come up most often because most can go wrong there."""


@st.composite
def count_slack(draw: Draw) -> Example:
    """A windowed box with count slack, and beside it the same without slack behind a bsort."""
    columns = Columns({CLOCK: "timestamp", **TYPES}, {"i", "d", "u"})
    document: dict[str, Any] = {
        "aurora": 1,
        "network": "identity",
        "streams": {"s": {"schema": dict(columns.types)}},
        "boxes": {},
        "outputs": {},
    }
    growth = Growth(document, Simulation(document), {"s": columns})
    by = draw(st.sampled_from(["i", "d", "t", "u", CLOCK]))
    declared: dict[str, Any] = {"kind": draw(st.sampled_from(["aggregate", "tumble", "latch"])), "order_by": by}
    if declared["kind"] != "latch":
        declared["window"] = window(draw, declared["kind"], columns.types[by] if toss(draw) else None)
    add_grouping(draw, declared, columns, by)
    declared["compute"], _, _ = computed(draw, growth, columns, timeouts=declared["kind"] != "latch")
    size = {"slack": f"{draw(st.integers(0, 4))} tuples"}
    grouped = {"group_by": declared["group_by"]} if "group_by" in declared else {}
    growth.add("box", {**declared, "in": "s", **size}, set())
    growth.add("sorted", {"kind": "bsort", "in": "s", "order_by": by, **size, **grouped}, set())
    growth.add("plain", {**declared, "in": "sorted"}, set())
    return Example(document, {"s": draw(rows(list(TYPES), VALUES))}, growth.fuzzy)
