"""The model together with the real boxes: the builder's methods, the design's example, and damaged documents."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aurora.boxes
from aurora.errors import NetworkError
from aurora.model import Arc, Network, QoS, check, loads, typecheck
from aurora.model.box import KINDS
from aurora.model.check import check_draft
from aurora.model.declare import parameters
from aurora.model.document.reading import read_document
from aurora.model.schema import Schema
from aurora.model.window import tuples
from tests.unit.model.networks import damaged, parts

REAL = dict(KINDS)


@pytest.fixture(autouse=True, scope="module")
def sample_kinds() -> None:
    """Instead of the sample boxes of the other tests."""
    assert aurora.boxes


TEXT = """\
aurora: 1
network: everything
streams:
  ticks:
    schema: {ticker: string, feed: string, price: double, volume: int, time: timestamp}
  quotes:
    schema: {ticker: string, bid: double, time: timestamp}
boxes:
  late:
    kind: aggregate
    in: ticks
    group_by: [ticker]
    window: {size: 2 tuples, advance: 1 tuple, timeout: 5s}
    compute: {feed: last(feed), price: last(price), alarm: timed_out()}
  hot: {kind: filter, in: late, where: alarm}
  routed:
    kind: filter
    in: ticks
    routes: {cheap: price < 10, dear: price > 100}
    else: fair
  worth: {kind: map, in: routed.cheap, extend: {worth: price * volume}, drop: [feed], rename: {ticker: symbol}}
  both: {kind: union, in: [routed.dear, routed.fair]}
  sorted: {kind: bsort, in: both, order_by: time, slack: 3 tuples}
  minutes:
    kind: tumble
    in: sorted
    group_by: [ticker]
    order_by: time
    slack: 200ms
    late: true
    window: {size: 60s}
    compute: {n: count(*), high: max(price)}
  moving: {kind: slide, in: ticks, window: {size: 3 tuples}, compute: {mean: avg(price)}}
  ever: {kind: latch, in: ticks, group_by: [ticker], every: 2 tuples, compute: {top: max(price)}}
  keyed: {kind: group_by, in: ticks, columns: [ticker]}
  pairs:
    kind: join
    in: [ticks, quotes]
    on: left.ticker = right.ticker
    within: 50ms
    left_order_by: time
    right_order_by: time
  named: {kind: join, in: [quotes, names], on: left.ticker = right.symbol}
  paced:
    kind: resample
    in: [quotes, ticks]
    order_by: time
    within: 1s
    group_by: [ticker]
    compute: {mean: avg(price)}
  some: {kind: drop, in: ticks, rate: 0.5, seed: 3}
outputs:
  hot: {from: hot, qos: {latency: [[0s, 1], [2s, 1], [5s, 0]], value: {on: price, graph: [[0, 0], [9, 1]]}}}
  worth: {from: worth}
  minutes: {from: minutes}
  late: {from: minutes.late}
  moving: {from: moving}
  ever: {from: ever}
  keyed: {from: keyed}
  pairs: {from: pairs}
  named: {from: named}
  paced: {from: paced}
  some: {from: some}
superboxes:
  detect: {boxes: [late, hot]}
connection_points:
  recent: {on: ticks, keep: 2h, key: ticker}
  names: {schema: {symbol: string, name: string}, file: names.csv}
"""


def test_a_network_of_all_boxes_is_typed_and_reads_back_equal() -> None:
    net = loads(TEXT)
    assert check(net) == []
    typed = typecheck(net)
    assert typed.arcs["worth"].schema["worth"] == Schema.of(x="double")["x"]
    assert loads(net.to_yaml()) == net
    assert loads(net.to_json(), format="json") == net
    assert {box.kind for box in net.boxes.values()} | {"python", "spark"} == set(REAL)


@pytest.mark.parametrize("kind", sorted(REAL))
def test_the_builder_has_every_parameter_of_every_kind(kind: str) -> None:
    renamed = {
        "where": "where",
        "otherwise": "else",
        "right": "in",
        "data": "in",
        "others": "in",
        "registered": "class",
    }
    names = {renamed.get(name, name) for name in inspect.signature(getattr(Arc, kind)).parameters}
    notes = {"tags", "description", "manual"} if "notes" in names else set[str]()
    wanted = set(parameters(REAL[kind])) - {"in"}
    assert wanted <= names | notes


def test_the_example_of_the_design() -> None:
    net = Network("feed-alarms")
    ticks = net.stream("ticks", ticker="string", feed="string", price="double", time="timestamp")
    window = tuples(2, advance=1, timeout="5s")
    late = ticks.aggregate("late", group_by="ticker", window=window, alarm="timed_out()")
    qos = QoS(latency=[("0s", 1), ("2s", 1), ("5s", 0)])
    net.output("alarms", late.filter("hot", "alarm"), qos=qos)
    assert check(net) == []
    assert typecheck(net).arcs["hot"].schema == Schema.of(ticker="string", alarm="bool")
    assert net == loads(
        """
        aurora: 1
        network: feed-alarms
        streams: {ticks: {schema: {ticker: string, feed: string, price: double, time: timestamp}}}
        boxes:
          late:
            kind: aggregate
            in: ticks
            group_by: [ticker]
            window: {size: 2 tuples, advance: 1 tuple, timeout: 5s}
            compute: {alarm: timed_out()}
          hot: {kind: filter, in: late, where: alarm}
        outputs: {alarms: {from: hot, qos: {latency: [[0s, 1], [2s, 1], [5s, 0]]}}}
        """
    )


def test_every_method_builds_what_the_text_says() -> None:
    net = Network("everything")
    columns = {"ticker": "string", "feed": "string", "price": "double", "volume": "int", "time": "timestamp"}
    ticks = net.stream("ticks", schema=columns)
    quotes = net.stream("quotes", ticker="string", bid="double", time="timestamp")
    late = ticks.aggregate(
        "late",
        group_by="ticker",
        window=tuples(2, advance=1, timeout="5s"),
        feed="last(feed)",
        price="last(price)",
        alarm="timed_out()",
    )
    hot = late.filter("hot", "alarm")
    routed = ticks.filter("routed", routes={"cheap": "price < 10", "dear": "price > 100"}, otherwise="fair")
    extend = {"worth": "price * volume"}
    worth = routed["cheap"].map("worth", extend=extend, drop="feed", rename={"ticker": "symbol"})
    both = routed["dear"].union("both", routed["fair"])
    minutes = both.bsort("sorted", order_by="time", slack="3 tuples").tumble(
        "minutes",
        group_by="ticker",
        order_by="time",
        slack="200ms",
        late=True,
        window={"size": "60s"},
        compute={"n": "count(*)"},
        high="max(price)",
    )
    moving = ticks.slide("moving", window=tuples(3), mean="avg(price)")
    ever = ticks.latch("ever", group_by="ticker", every=2, top="max(price)")
    keyed = ticks.group_by("keyed", "ticker")
    same = "left.ticker = right.ticker"
    pairs = ticks.join("pairs", quotes, on=same, within="50ms", left_order_by="time", right_order_by="time")
    named = quotes.join("named", "names", on="left.ticker = right.symbol")
    paced = quotes.resample("paced", ticks, order_by="time", within="1s", group_by="ticker", mean="avg(price)")
    some = ticks.drop("some", rate=0.5, seed=3)
    qos = QoS(latency=[("0s", 1), ("2s", 1), ("5s", 0)], value={"on": "price", "graph": [(0, 0), (9, 1)]})
    net.output("hot", hot, qos=qos)
    outputs = {"worth": worth, "minutes": minutes, "late": minutes["late"], "moving": moving, "ever": ever}
    outputs |= {"keyed": keyed, "pairs": pairs, "named": named, "paced": paced, "some": some}
    for name, arc in outputs.items():
        net.output(name, arc)
    net.superbox("detect", [late, hot])
    net.connection_point("recent", on=ticks, keep="2h", key="ticker")
    net.connection_point("names", schema={"symbol": "string", "name": "string"}, file="names.csv")
    assert net == loads(TEXT)


@st.composite
def _damaged(draw: st.DrawFn) -> object:
    document: object = loads(TEXT).to_document()
    pieces = parts(document)
    for _ in range(draw(st.integers(1, 3))):
        document = damaged(draw, document, pieces)
    return document


@settings(max_examples=60)
@given(_damaged())
def test_a_damaged_network_of_real_boxes_never_fails_otherwise(document: object) -> None:
    draft = read_document(document)
    problems = check_draft(draft)
    assert str(NetworkError(problems)).count("way out") >= len(problems)
    assert loads(draft.network.to_yaml()) == draft.network
