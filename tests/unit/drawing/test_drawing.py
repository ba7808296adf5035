"""The picture of a network: everything is there, nothing overlaps, the same network gives the same picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aurora.boxes  # noqa: F401  (puts the kinds of box on their list)
from aurora.drawing import draw
from aurora.drawing.graph import Frame, all_frames, picture
from aurora.drawing.layout import Rect, layout
from aurora.drawing.lettering import ELLIPSIS, fitted, text_width
from aurora.drawing.summary import FAMILIES
from aurora.model import Network, QoS
from aurora.model.box import KINDS

SVG = "{http://www.w3.org/2000/svg}"


def example() -> Network:
    net = Network("feed-alarms", description="Which <feed> & exchange is late? " * 20)
    ticks = net.stream("ticks", ticker="string", price="double", time="timestamp")
    late = ticks.aggregate("late", group_by="ticker", window={"size": "2 tuples", "timeout": "5s"}, n="count(*)")
    hot = late.filter("hot", "n > 1")
    routed = hot.filter("route", routes={"a": "ticker = 'A'", "b": "ticker < 'B' and ticker > 'AAAAAAAAAAAAAAA'"})
    names = net.connection_point("names", schema={"ticker": "string", "name": "string"}, file="names.csv")
    named = routed["a"].join("named", names, on="left.ticker = right.ticker")
    net.output("alarms", named, qos=QoS(latency=[("0s", 1), ("5s", 0)], loss=[(100, 1), (50, 0)]))
    net.output("rest", routed["b"], qos=QoS(value={"on": "n", "graph": [[0, 0], [9, 1]]}))
    net.superbox("detect", ["late", "hot"], description="finds late tickers")
    net.superbox("all", ["detect", "route"])
    net.connection_point("recent", on="ticks", keep="2h", key="ticker")
    return net


def test_everything_is_in_the_picture() -> None:
    root = ET.fromstring(draw(example()))
    found = {(key, value) for element in root.iter() for key, value in element.attrib.items() if key[:5] == "data-"}
    assert found == {
        ("data-stream", "ticks"),
        ("data-connection-point", "names"),
        ("data-connection-point", "recent"),
        *(("data-box", name) for name in ("late", "hot", "route", "named")),
        ("data-output", "alarms"),
        ("data-output", "rest"),
        ("data-superbox", "detect"),
        ("data-superbox", "all"),
    }
    texts = ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]
    assert {"feed-alarms", "ticks", "late", "aggregate", "a", "b", "left", "right", "recent, 2h"} <= set(texts)
    titles = "\n".join("".join(element.itertext()) for element in root.iter(f"{SVG}title"))
    assert "b: ticker < 'B' and ticker > 'AAAAAAAAAAAAAAA'" in titles
    assert "finds late tickers" in titles
    assert len(list(root.iter(f"{SVG}polyline"))) == 3


def test_the_same_network_gives_the_same_picture() -> None:
    assert draw(example()) == draw(example())


def test_light_and_dark() -> None:
    assert "prefers-color-scheme: dark" in draw(example())


def test_an_empty_network() -> None:
    ET.fromstring(draw(Network("empty")))


def test_an_unfinished_network_can_be_seen() -> None:
    net = Network("loose")
    net.box("filter", "a", "b", where="x > 1")
    net.box("filter", "b", "a", where="x > 1")
    net.box("filter", "c", "nothing.here", where="x > 1")
    net.superbox("s", ["a", "missing", "t"])
    net.superbox("t", ["s", "b"])
    assert draw(net).count("data-box") == 3


def test_every_kind_has_a_family() -> None:
    assert set(KINDS) <= set(FAMILIES)


@pytest.mark.parametrize("mono", [False, True])
@given(text=st.text(max_size=40), width=st.floats(20, 200))
def test_text_is_cut_to_its_room(text: str, width: float, mono: bool) -> None:
    cut = fitted(text, width, 10, mono=mono)
    assert text_width(cut, 10, mono=mono) <= width
    assert cut == " ".join(text.split()) or cut.endswith(ELLIPSIS)


@st.composite
def networks(draw_: st.DrawFn) -> Network:
    net = Network("random")
    arcs = [net.stream(f"s{n}", x="int") for n in range(draw_(st.integers(1, 3)))]
    count = draw_(st.integers(0, 14))
    for n in range(count):
        source = draw_(st.sampled_from(arcs))
        match draw_(st.sampled_from(["filter", "routes", "union", "join", "late"])):
            case "filter":
                arcs.append(source.filter(f"b{n}", "x > 1"))
            case "routes":
                box = source.filter(f"b{n}", routes={f"p{k}": f"x = {k}" for k in range(draw_(st.integers(1, 5)))})
                arcs += [box, *(box[port] for port in net.boxes[f"b{n}"].output_ports())]
            case "union":
                arcs.append(source.union(f"b{n}", *draw_(st.lists(st.sampled_from(arcs), max_size=8))))
            case "join":
                arcs.append(source.join(f"b{n}", draw_(st.sampled_from(arcs)), on="left.x = right.x"))
            case _:
                box = source.bsort(f"b{n}", order_by="x", slack="2 tuples")
                arcs.append(box)
                net.connection_point(f"c{n}", on=box, keep="2h")
    for n in range(draw_(st.integers(0, 4))):
        qos = draw_(st.none() | st.just(QoS(latency=[("0s", 1), ("1s", 0)])))
        net.output(f"o{n}", draw_(st.sampled_from(arcs)), qos=qos)
    free = list(net.boxes)
    for n in range(draw_(st.integers(0, 4))):
        if free:
            members = draw_(st.lists(st.sampled_from(free), min_size=1, max_size=5, unique=True))
            net.superbox(f"group{n}", members)
            free = [name for name in free if name not in members] + [f"group{n}"]
    return net


def overlap(a: Rect, b: Rect) -> bool:
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


def inside(a: Rect, b: Rect) -> bool:
    return (
        a.x >= b.x - 0.2
        and a.x + a.width <= b.x + b.width + 0.2
        and a.y >= b.y
        and a.y + a.height <= b.y + b.height + 0.2
    )


def held(frame: Frame) -> set[str]:
    return set(frame.members).union(*(held(inner) for inner in frame.frames))


@given(net=networks())
def test_nothing_overlaps(net: Network) -> None:
    shown = picture(net)
    placed = layout(shown)
    for a, b in combinations(placed.nodes.values(), 2):
        assert not overlap(a, b)
    for frame in all_frames(shown.root):
        for name, rect in placed.nodes.items():
            if name in held(frame):
                assert inside(rect, placed.frames[frame.name])
            else:
                assert not overlap(rect, placed.frames[frame.name])


@given(net=networks())
def test_every_arc_reaches_its_port(net: Network) -> None:
    """Along its stretches an arc runs from the port it leaves to the input it enters, without a gap."""
    shown = picture(net)
    placed = layout(shown)
    for arrow in shown.arrows:
        stretches = [route for route in placed.routes if arrow in route.arrows]
        starts = {route.points[0] for route in stretches}
        ends = {route.points[-1] for route in stretches}
        source, target = placed.nodes[arrow.source], placed.nodes[arrow.target]
        first = (source.x + source.width, source.y + shown.nodes[arrow.source].outs[arrow.port])
        last = (target.x, target.y + shown.nodes[arrow.target].ins[arrow.place])
        near = {(round(x), round(y)) for x, y in starts ^ ends}
        assert all(any(abs(x - nx) + abs(y - ny) <= 2 for nx, ny in near) for x, y in (first, last))
    ET.fromstring(draw(net))
