"""Profiles from what a run counted: each port's share follows from what stands behind it."""

from __future__ import annotations

from typing import Any

import pytest

import aurora as au
from aurora.errors import InputError
from aurora.model.typed import TypedNetwork
from aurora.shedding.measured import measured


def box(tuples_in: float, tuples_out: float, cost_s: float = 1.0, calls: int = 1) -> dict[str, Any]:
    return {"tuples_in": tuples_in, "tuples_out": tuples_out, "calls": calls, "cost_s": cost_s, "late": 0}


def routed(*, delivered: bool = True) -> TypedNetwork:
    net = au.Network("n")
    split = net.stream("s", x="int").filter("split", routes={"low": "x < 1", "mid": "x < 2"}, otherwise="high")
    net.output("low", split["low"].filter("behind", "x > 0"))
    net.output("both", split["mid"].union("both", split["high"]))
    if delivered:
        net.output("mid", split["mid"])
    return au.typecheck(net)


BOXES = {"split": box(1000, 900, 0.5), "behind": box(100, 50), "both": box(800, 800)}


def test_ports_follow_from_boxes_and_outputs() -> None:
    statistics = {"boxes": BOXES, "outputs": {"mid": {"tuples": 300}}}
    found = measured(routed(), statistics)
    assert found.boxes["split"].cost_s == pytest.approx(5e-4)
    assert found.boxes["split"].selectivity == pytest.approx({"low": 0.1, "mid": 0.3, "high": 0.5})
    assert found.boxes["behind"].selectivity == pytest.approx({"out": 0.5})
    assert found.notes == ()


def test_what_cannot_be_known_is_divided_and_said() -> None:
    found = measured(routed(delivered=False), {"boxes": BOXES})
    assert found.boxes["split"].selectivity == pytest.approx({"low": 0.1, "mid": 0.4, "high": 0.4})
    assert [note for note in found.notes if "split" in note]


def test_a_box_that_no_tuple_reached_has_no_profile() -> None:
    boxes = BOXES | {"behind": box(0, 0), "split": box(1000, 800)}
    found = measured(routed(), {"boxes": boxes, "outputs": {"mid": {"tuples": 300}}})
    assert "behind" not in found.boxes
    assert found.boxes["split"].selectivity["low"] == 0


def test_short_trains_are_said_to_be_dear() -> None:
    boxes = {name: entry | {"calls": 100} for name, entry in BOXES.items()}
    notes = measured(routed(), {"boxes": boxes, "outputs": {"mid": {"tuples": 300}}}).notes
    assert ["6 tuples in a call" in note for note in notes] == [True]


@pytest.mark.parametrize(
    ("statistics", "message"),
    [
        ({}, r"x\.json has no boxes"),
        ([], r"x\.json has no boxes"),
        ({"boxes": {"split": BOXES["split"]}}, r"x\.json has no costs of behind, both; it has those of split"),
        ({"boxes": BOXES | {"both": 3}}, "box both is 3"),
        ({"boxes": BOXES | {"both": {"tuples_in": 1, "tuples_out": 1}}}, "cost_s of box both is missing"),
        ({"boxes": BOXES | {"both": box(-1, 1)}}, "tuples_in of box both is -1"),
        ({"boxes": BOXES | {"both": box(1, float("nan"))}}, "tuples_out of box both is nan"),
        ({"boxes": BOXES, "outputs": {"mid": {"tuples": "many"}}}, "tuples of output mid is 'many'"),
    ],
)
def test_statistics_that_cannot_be_used(statistics: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        measured(routed(), statistics, origin="x.json")


def test_static_data_is_not_taken_and_an_arc_read_twice_counts_twice() -> None:
    net = au.Network("n")
    split = net.stream("s", x="int").filter("split", routes={"low": "x < 1", "mid": "x < 2"}, otherwise="high")
    names = net.connection_point("names", schema={"x": "int", "name": "string"}, file="names.csv")
    net.output("named", split["low"].join("named", names, on="left.x = right.x"))
    net.output("double", split["mid"].union("double", split["mid"]))
    boxes = {"split": box(1000, 900), "named": box(100, 70), "double": box(600, 600)}
    found = measured(au.typecheck(net), {"boxes": boxes})
    assert found.boxes["split"].selectivity == pytest.approx({"low": 0.1, "mid": 0.3, "high": 0.5})
    assert found.notes == ()


def test_an_arc_that_is_known_and_read_twice_leaves_the_rest_to_the_other() -> None:
    net = au.Network("n")
    split = net.stream("s", x="int").filter("split", routes={"low": "x < 1", "mid": "x < 2"}, otherwise="high")
    net.output("mid", split["mid"])
    net.output("most", split["mid"].union("most", split["mid"], split["high"]))
    boxes = {"split": box(1000, 900), "most": box(1100, 1100)}
    found = measured(au.typecheck(net), {"boxes": boxes, "outputs": {"mid": {"tuples": 300}}})
    assert found.boxes["split"].selectivity == pytest.approx({"low": 0.1, "mid": 0.3, "high": 0.5})
