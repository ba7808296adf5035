"""Conditions that were carried upstream drop exactly the outputs that they were to drop."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.expressions import Interval
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.shedding.backward import Pushed, push_back
from aurora.shedding.places import Places
from aurora.shedding.regions import Region
from aurora.testing import run_rows
from tests.unit.shedding.test_regions import holds, intervals

Document = dict[str, Any]


def document(boxes: dict[str, Document], outputs: dict[str, str], **streams: dict[str, str]) -> Document:
    return {
        "aurora": 1,
        "network": "n",
        "streams": {name: {"schema": schema} for name, schema in streams.items()},
        "boxes": boxes,
        "outputs": {name: {"from": arc} for name, arc in outputs.items()},
    }


def pushed(made: Document, column: str, *parts: Interval) -> tuple[Pushed, ...]:
    return push_back(Places(typecheck(Network.from_document(made))), "out", column, parts)


def with_drops(made: Document, drops: tuple[Pushed, ...]) -> Document:
    """The document with a drop box at every place."""
    made = copy.deepcopy(made)
    for number, drop in enumerate(drops):
        arc, name = str(drop.place.arc), f"shed{number}"
        for box, entry in made["boxes"].items():
            if not box.startswith("shed") and (drop.place.reader is None or drop.place.reader.box == box):
                if isinstance(entry["in"], list):
                    entry["in"] = [name if source == arc else source for source in entry["in"]]
                elif entry["in"] == arc:
                    entry["in"] = name
        for entry in made["outputs"].values():
            if drop.place.reader is None and entry["from"] == arc:
                entry["from"] = name
        made["boxes"][name] = {"kind": "drop", "in": arc, "where": drop.condition}
    return made


LINEAR = ["2 * x + 1", "-x", "x / 3.0", "1 - x", "0.1 * x", "x * -7", "x - 2.5", "(x + 3) * 2", "x"]
OTHER = ["x * x", "abs(x)", "5 / x", "0 * x", "x + y"]
WHERE = ["x > 1", "x between -2 and 3", "x <= 2 or y > 0", "y > 0", "x >= 0.5 and y > -1"]


@st.composite
def documents(draw: st.DrawFn) -> tuple[Document, str]:
    """A chain of boxes behind one stream or a union of two; and the name that the column has at its end."""
    kinds = {name: draw(st.sampled_from(["int", "double"])) for name in ("s", "t")}
    boxes: dict[str, Document] = {}
    column, last = "x", "s"
    if draw(st.booleans()):
        boxes["both"] = {"kind": "union", "in": ["s", "t"]}
        last = "both"
    grouped = False
    for number in range(draw(st.integers(0, 5))):
        name = f"b{number}"
        what = draw(st.sampled_from(["where", "linear", "linear", "rename", "group_by", "drop", "windows", "other"]))
        entry: Document = {"in": last}
        if what == "where":
            entry |= {"kind": "filter", "where": draw(st.sampled_from(WHERE)).replace("x", column)}
        elif what in ("linear", "other"):
            text = draw(st.sampled_from(LINEAR if what == "linear" else OTHER)).replace("x", column)
            form = draw(st.sampled_from(["extend", "compute"]))
            entry |= {"kind": "map", form: {column: text} | ({"y": "y"} if form == "compute" else {})}
        elif what == "rename":
            renamed = "z" if column == "x" else "x"
            entry |= {"kind": "map", "rename": {column: renamed}}
            column = renamed
        elif what == "group_by":
            entry |= {"kind": "group_by", "columns": [column]}
        elif what == "drop":
            entry |= {"kind": "drop", "rate": 0.3, "seed": number}
        elif grouped:
            continue
        else:
            grouped = True
            entry |= {
                "kind": "tumble",
                "group_by": [column],
                "window": {"size": "2 tuples"},
                "compute": {"y": "sum(y)"},
            }
        boxes[name] = entry
        last = name
    streams = {name: {"x": kind, "y": "double"} for name, kind in kinds.items() if name == "s" or "both" in boxes}
    return document(boxes, {"out": last}, **streams), column


def rows(draw: st.DrawFn, kind: str) -> list[dict[str, Any]]:
    few = st.integers(-4, 4)
    exact = few | st.sampled_from([2**63 - 1, -(2**63), 2**62])
    rough = few.map(float) | st.integers(-40, 40).map(lambda n: n / 10) | st.sampled_from([math.nan, math.inf, 1e308])
    values = st.none() | (exact if kind == "int" else rough)
    found = draw(st.lists(st.tuples(values, st.integers(-3, 3)), min_size=1, max_size=25))
    return [{"x": x, "y": float(y)} for x, y in found]


@settings(deadline=None, max_examples=120)
@given(documents(), st.lists(intervals(), min_size=1, max_size=2), st.data())
def test_exactly_the_outputs_in_the_intervals_go(
    made: tuple[Document, str], parts: list[Interval], data: st.DataObject
) -> None:
    network, column = made
    typed = typecheck(Network.from_document(network))
    arc = typed.arcs[typed.outputs["out"]]
    inputs = {name: data.draw(st.composite(rows)(entry["schema"]["x"])) for name, entry in network["streams"].items()}
    drops = pushed(network, column, *parts)
    before = run_rows(network, inputs).outputs["out"]
    after = run_rows(with_drops(network, drops), inputs).outputs["out"]
    region = Region.of(parts, arc.schema[column])
    at = before.columns.index(column)
    stays = [row for row in before.rows() if row[at] is None or not holds(region, row[at])]
    assert repr(after.rows()) == repr(stays)
    assert drops


def test_a_condition_goes_through_linear_maps_renames_and_filters_to_the_input() -> None:
    made = document(
        {
            "warm": {"kind": "filter", "in": "s", "where": "c > 5"},
            "fahrenheit": {"kind": "map", "in": "warm", "compute": {"f": "c * 2 + 30"}},
            "named": {"kind": "map", "in": "fahrenheit", "rename": {"f": "degrees"}},
        },
        {"out": "named"},
        s={"c": "int"},
    )
    (found,) = pushed(made, "degrees", Interval(hi=50, hi_open=True))
    assert (str(found.place), found.column, found.region) == ("s", "c", Region(((6, 9),)))
    assert found.condition == '"c" >= 6 and "c" <= 9'
    assert found.stopped_by is None
    assert found.why == "s is an input"


def test_a_group_column_goes_through_an_aggregate_and_others_do_not() -> None:
    window = {
        "kind": "tumble",
        "in": "s",
        "group_by": ["k"],
        "window": {"size": "2 tuples"},
        "compute": {"n": "sum(x)"},
    }
    made = document({"pairs": window}, {"out": "pairs"}, s={"k": "int", "x": "int"})
    (by_group,) = pushed(made, "k", Interval(3, 4))
    assert (str(by_group.place), by_group.region) == ("s", Region(((3, 4),)))
    (by_sum,) = pushed(made, "n", Interval(3, 4))
    assert (str(by_sum.place), by_sum.stopped_by) == ("pairs", "pairs")
    assert "not a group column" in by_sum.why
    assert [str(place) for place in by_sum.by_trial] == ["s"]


def test_windows_that_close_by_the_whole_streams_progress_are_not_passed() -> None:
    window = {
        "kind": "tumble", "in": "s", "group_by": ["k"], "order_by": "x", "slack": 3,
        "window": {"size": 10}, "compute": {"n": "count(*)"},
    }  # fmt: skip
    (found,) = pushed(document({"w": window}, {"out": "w"}, s={"k": "int", "x": "int"}), "k", Interval(3, 4))
    assert found.stopped_by == "w"
    assert "progress" in found.why


def test_a_condition_stops_at_a_split() -> None:
    made = document(
        {
            "first": {"kind": "map", "in": "s", "extend": {"x": "x + 1"}},
            "mine": {"kind": "map", "in": "first", "extend": {"x": "x + 1"}},
            "theirs": {"kind": "map", "in": "first", "extend": {"x": "x + 1"}},
        },
        {"out": "mine", "other": "theirs"},
        s={"x": "int"},
    )
    (found,) = pushed(made, "x", Interval(10, 12))
    assert (str(found.place), found.region) == ("first before mine", Region(((9, 11),)))
    assert found.by_trial == ()
    assert found.why == "first is split here"


def test_behind_a_box_that_cannot_be_inverted_it_is_told_where_a_trial_could_get() -> None:
    made = document(
        {
            "square": {"kind": "map", "in": "s", "extend": {"x": "x * x"}},
            "shifted": {"kind": "map", "in": "square", "extend": {"x": "x + 1"}},
        },
        {"out": "shifted"},
        s={"x": "int"},
    )
    (found,) = pushed(made, "x", Interval(10, 12))
    assert (str(found.place), found.stopped_by) == ("square", "square")
    assert found.why == "square computes it as x * x, which is not a*x + b"
    assert [str(place) for place in found.by_trial] == ["s"]


def test_nothing_can_be_dropped_where_the_outputs_arc_serves_others() -> None:
    made = document(
        {
            "a": {"kind": "map", "in": "s", "extend": {"x": "x + 1"}},
            "b": {"kind": "map", "in": "a", "extend": {"x": "x + 1"}},
        },
        {"out": "a", "other": "b"},
        s={"x": "int"},
    )
    assert pushed(made, "x", Interval(1, 2)) == ()


@pytest.mark.parametrize("route", ["low", "rest"])
def test_a_route_is_passed_if_the_others_lead_nowhere(route: str) -> None:
    made = document(
        {"level": {"kind": "filter", "in": "s", "routes": {"low": "x < 5"}, "else": "rest"}},
        {"out": f"level.{route}"},
        s={"x": "int"},
    )
    (found,) = pushed(made, "x", Interval(3, 9))
    assert str(found.place) == "s"
    assert found.region == Region(((3, 4 if route == "low" else 9),))
