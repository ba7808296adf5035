"""The builder refuses what is wrong at once, and what it builds is typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from aurora.errors import NetworkError
from aurora.model import Network, QoS, TypedNetwork, resolve, typecheck
from aurora.model.schema import ArcType, Schema
from aurora.model.typed import Consumer, Producer


@pytest.fixture
def net() -> Network:
    net = Network("demo")
    net.stream("ticks", ticker="string", price="double")
    return net


@pytest.mark.parametrize(
    ("build", "id", "element"),
    [
        (lambda net: Network("de mo"), "bad-name", "network"),
        (lambda net: Network("demo", tags=5), "bad-value", "network"),
        (lambda net: net.stream("s"), "empty-schema", "stream s"),
        (lambda net: net.stream("s", x="itn"), "unknown-type", "stream s"),
        (lambda net: net.stream("s", __x="int"), "reserved-name", "stream s"),
        (lambda net: net.stream("a.b", x="int"), "bad-name", "stream a.b"),
        (lambda net: net.stream("ticks", x="int"), "duplicate-name", "stream ticks"),
        (lambda net: net.stream("s", x="int", tags=[1]), "bad-value", "stream s"),
        (lambda net: net.box("kep", "b", "ticks"), "unknown-kind", "box b"),
        (lambda net: net.box("keep", "b", "ticks"), "missing-parameter", "box b"),
        (lambda net: net.box("keep", "b", "ticks", colums="price"), "unknown-parameter", "box b"),
        (lambda net: net.box("keep", "b", "ticks", columns="price", inputs="x"), "unknown-parameter", "box b"),
        (lambda net: net.box("keep", "b", "ticks", columns=7), "bad-value", "box b"),
        (lambda net: net.box("keep", "ticks", "ticks", columns="price"), "duplicate-name", "box ticks"),
        (lambda net: net.box("keep", "b", Network("x").stream("s", a="int"), columns="a"), "foreign-arc", "arc s"),
        (lambda net: net.output("o", "ticks", qos={"latency": [[0, 1]]}), "bad-qos-graph", "output o"),
        (lambda net: net.output("o", "ticks", qos=5), "not-a-mapping", "output o"),
        (lambda net: net.output("o o", "ticks"), "bad-name", "output o o"),
        (lambda net: net.superbox("g", []), "bad-value", "superbox g"),
        (lambda net: net.connection_point("c"), "missing-parameter", "connection point c"),
        (lambda net: net.connection_point("c", on="ticks", keep=5), "bad-value", "connection point c"),
        (
            lambda net: net.connection_point("c", on="ticks", schema={"a": "int"}),
            "conflicting-parameters",
            "connection point c",
        ),
        (lambda net: net.connection_point("c", schema={"a": "itn"}), "unknown-type", "connection point c"),
        (lambda net: net.connection_point("ticks", on="ticks"), "duplicate-name", "connection point ticks"),
    ],
)
def test_a_wrong_parameter_is_refused_at_once(
    net: Network, build: Callable[[Any], object], id: str, element: str
) -> None:
    before = net.to_document()
    with pytest.raises(NetworkError) as caught:
        build(net)
    assert (caught.value.problems[0].id, caught.value.problems[0].element) == (id, element)
    assert net.to_document() == before


def test_a_schema_can_be_given_as_one(net: Network) -> None:
    net.stream("a", schema={"in": "int"}, x="double")
    net.stream("b", schema=Schema.of(y="int"))
    assert net.streams["a"].schema == Schema({**Schema.of(**{"in": "int"}), **Schema.of(x="double")})
    assert net.streams["b"].schema == Schema.of(y="int")


def test_words_of_python_are_written_with_an_underscore_or_by_field(net: Network) -> None:
    net.box("split", "a", "ticks", routes={"x": "y"}, else_="rest")
    net.box("split", "b", "ticks", routes={"x": "y"}, otherwise="rest")
    assert net.boxes["a"].output_ports() == net.boxes["b"].output_ports() == ("x", "rest")


def test_an_arc_is_not_a_sequence(net: Network) -> None:
    arc = net.box("split", "a", "ticks", routes={"x": "y"})
    assert (str(arc), str(arc["x"])) == ("a", "a.x")
    with pytest.raises(TypeError):
        list(arc)  # type: ignore[call-overload]


def _typed() -> TypedNetwork:
    net = Network("demo")
    ticks = net.stream("ticks", ticker="string", price="double")
    static = net.connection_point("names", schema={"name": "string"})
    net.box("merge", "both", ["narrow", "split.low", ticks])
    split = net.box("split", "split", ticks, routes={"high": "a", "low": "b"})
    net.box("keep", "narrow", split, columns="price")
    net.box("lookup", "named", [ticks, static])
    net.output("o", "both", qos=QoS(value={"on": "price", "graph": [(0, 0), (1, 1)]}))
    net.output("p", split["low"])
    net.output("q", "named")
    net.output("r", split["low"])
    return typecheck(net)


def test_every_arc_has_its_type() -> None:
    typed = _typed()
    ticks, prices = Schema.of(ticker="string", price="double"), Schema.of(price="double")
    assert dict(typed.arcs) == {
        "ticks": ArcType(ticks),
        "names": ArcType(Schema.of(name="string"), static=True),
        "split.high": ArcType(ticks),
        "split.low": ArcType(ticks),
        "narrow": ArcType(prices),
        "both": ArcType(prices),
        "named": ArcType(Schema({**ticks, **Schema.of(name="string")})),
    }
    assert typed.arcs["split"] == typed.arcs["split.high"] == typed.arcs[("split", "high")]
    assert typed.arcs["narrow.out"] is typed.arcs["narrow"]
    assert "split" in typed.arcs
    assert "split.middle" not in typed.arcs


def test_boxes_come_after_what_they_read_and_else_as_declared() -> None:
    assert _typed().order == ("split", "narrow", "both", "named")


def test_arcs_know_their_ends() -> None:
    typed = _typed()
    assert typed.inputs["both"] == (Producer("narrow", "out"), Producer("split", "low"), Producer("ticks", "out"))
    assert typed.input_types("narrow") == (typed.arcs["split.high"],)
    assert typed.outputs == {
        "o": ("both", "out"),
        "p": ("split", "low"),
        "q": ("named", "out"),
        "r": ("split", "low"),
    }
    assert typed.consumers("ticks") == (Consumer("split", 0), Consumer("both", 2), Consumer("named", 0))
    assert typed.consumers("split") == typed.consumers("split.high") == (("narrow", 0),)
    assert typed.consumers("both") == ()
    assert typed.delivered_to("split.low") == ("p", "r")


def test_resolve_names_the_first_port_of_a_box(net: Network) -> None:
    net.box("split", "split", "ticks", routes={"high": "a"}, else_="low")
    assert resolve(net, "split") == ("split", "high")
    assert resolve(net, "split.low") == ("split", "low")
    assert resolve(net, "ticks") == ("ticks", "out")
    for source in ("split.mid", "tocks", "ticks.out"):
        with pytest.raises(NetworkError):
            resolve(net, source)
