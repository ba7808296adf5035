"""YAML, JSON and the builder give the same network; texts are read by YAML 1.2's rules, and hostile ones refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from aurora.errors import NetworkError
from aurora.model import Network, QoS, check, load, loads
from aurora.model.document import json_text, tree, yaml_text
from aurora.model.document.tree import MalformedError, build
from aurora.model.window import tuples

TEXT = """\
aurora: 1
network: feed-alarms
description: Which feed is late?
tags: [demo, feeds]
manual: |
  # Feeds

  Two of them.
streams:
  ticks:
    schema: {ticker: string, feed: string, exchange: string, price: double, time: timestamp}
boxes:
  late:
    kind: count
    in: ticks
    window: {size: 2 tuples, advance: 1 tuple, timeout: 5s}
    group_by: [ticker]
    compute: {n: count(*)}
    late: true
    description: counts
    tags: [hot]
  by_exchange:
    kind: split
    in: late.late
    routes: {nyse: exchange = 'NYSE', nasdaq: exchange = 'NASDAQ'}
    else: other
  prices:
    kind: lookup
    in: [by_exchange.other, names]
outputs:
  nyse_alarms:
    from: by_exchange.nyse
    qos:
      latency: [[0s, 1], [2s, 1], [5s, 0]]
      loss: [[100, 1], [50, 0]]
      value: {on: price, graph: [[0, 0.1], [90, 0.1], [100, 1]]}
  counts:
    from: late
    manual: |
      Counts.
      Per ticker.
  named:
    from: prices
superboxes:
  detect:
    boxes: [late, by_exchange]
    description: finds late tickers
  all:
    boxes: [detect, prices]
connection_points:
  recent:
    on: ticks
    keep: 2h
    key: ticker
  last:
    on: by_exchange.nasdaq
    keep: 100 tuples
    key: [ticker, feed]
  names:
    schema: {symbol: string, name: string}
    file: names.csv
"""


def _built() -> Network:
    net = Network(
        "feed-alarms", description="Which feed is late?", tags=["demo", "feeds"], manual="# Feeds\n\nTwo of them.\n"
    )
    ticks = net.stream("ticks", ticker="string", feed="string", exchange="string", price="double", time="timestamp")
    late = net.box(
        "count",
        "late",
        ticks,
        group_by="ticker",
        window=tuples(2, advance=1, timeout="5s"),
        compute={"n": "count(*)"},
        late=True,
        description="counts",
        tags=["hot"],
    )
    routes = {"nyse": "exchange = 'NYSE'", "nasdaq": "exchange = 'NASDAQ'"}
    split = net.box("split", "by_exchange", late["late"], routes=routes, else_="other")
    names = net.connection_point("names", schema={"symbol": "string", "name": "string"}, file="names.csv")
    prices = net.box("lookup", "prices", [split["other"], names])
    qos = QoS(
        latency=[("0s", 1), ("2s", 1), ("5s", 0)],
        loss=[(100, 1), (50, 0)],
        value={"on": "price", "graph": [(0, 0.1), (90, 0.1), (100, 1)]},
    )
    net.output("nyse_alarms", split["nyse"], qos=qos)
    net.output("counts", late, manual="Counts.\nPer ticker.\n")
    net.output("named", prices)
    detect = net.superbox("detect", [late, "by_exchange"], description="finds late tickers")
    net.superbox("all", [detect, prices])
    net.connection_points.pop("names")
    net.connection_point("recent", on=ticks, keep="2h", key="ticker")
    net.connection_point("last", on=split["nasdaq"], keep="100 tuples", key=["ticker", "feed"])
    net.connection_point("names", schema={"symbol": "string", "name": "string"}, file="names.csv")
    return net


def test_text_and_builder_give_the_same_network() -> None:
    assert loads(TEXT) == _built()
    assert check(loads(TEXT)) == []


def test_yaml_is_written_for_people() -> None:
    assert loads(TEXT).to_yaml() == TEXT


def test_every_form_reads_back_equal(tmp_path: Path) -> None:
    net = loads(TEXT)
    assert loads(net.to_json(), format="json") == net
    assert Network.from_document(net.to_document()) == net
    assert Network.from_document(json.loads(net.to_json())) == net
    for name, text in (("net.yaml", net.to_yaml()), ("net.yml", net.to_yaml()), ("net.JSON", net.to_json())):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert load(tmp_path / name) == net
        assert load(str(tmp_path / name)) == net


def test_a_byte_order_mark_and_windows_lines_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "net.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert load(path) == loads(TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "nyse: exchange = 'NYSE', nasdaq: exchange = 'NASDAQ'",
            "nasdaq: exchange = 'NASDAQ', nyse: exchange = 'NYSE'",
        ),
        ("tags: [hot]", "tags: [cold]"),
        ("keep: 2h", "keep: 3h"),
        ("[5s, 0]", "[6s, 0]"),
        ("ticker: string, feed: string", "feed: string, ticker: string"),
        ("Per ticker.", "Per tick."),
    ],
)
def test_networks_that_differ_are_not_equal(old: str, new: str) -> None:
    assert loads(TEXT) != loads(TEXT.replace(old, new))


def test_the_order_of_elements_counts() -> None:
    first, second = Network("n"), Network("n")
    for net, names in ((first, "ab"), (second, "ba")):
        for name in names:
            net.stream(name, x="int")
    assert first != second
    assert first != "n"


def test_an_alias_stands_for_what_its_anchor_holds() -> None:
    text = "{aurora: 1, network: n, streams: {a: {schema: &s {x: int}}, b: {schema: *s}}}"
    net = loads(text)
    assert net.streams["a"].schema == net.streams["b"].schema


def test_problems_inside_an_alias_are_placed_where_it_is_used() -> None:
    text = "aurora: 1\nnetwork: n\nstreams:\n  a: {schema: &s\n    {x: itn}}\n  b:\n    schema: *s\n"
    with pytest.raises(NetworkError) as caught:
        loads(text)
    assert [(p.element, p.place.line) for p in caught.value.problems] == [("stream a", 5), ("stream b", 5)]


def test_sections_may_be_empty() -> None:
    assert loads("aurora: 1\nnetwork: n\nstreams:\nboxes:\n") == Network("n")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ("0x1F", "0x1F"),
        ("010", 10),
        ("1_000", "1_000"),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-7", -7),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1e999", "1e999"),
        ("9" * 5000, "9" * 5000),
        ("'5'", "5"),
        ("TRUE", True),
        ("Null", None),
        ("", None),
    ],
)
def test_plain_scalars_follow_yaml_1_2(text: str, value: Any) -> None:
    assert build(yaml_text.events(f"a: {text}")).data == {"a": value}
    assert yaml_text.resolve(text.strip("'")) == value or text == "'5'"


@pytest.mark.parametrize("loader", [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)])
@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("a: \x07", "malformed-document"),
        ("a: [1, 2", "malformed-document"),
        ("a: 'b", "malformed-document"),
        ("a: *b", "malformed-document"),
        ("a: &a [*a]", "malformed-document"),
        ("a: !!binary aaaa", "malformed-document"),
        ("a: !local b", "malformed-document"),
        ("--- a\n--- b", "malformed-document"),
        ("[" * 100_000, "too-deep"),
        ("\n".join(f"{'  ' * n}a:" for n in range(200)), "too-deep"),
        (
            "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10))]),
            "too-many-aliases",
        ),
    ],
)
def test_both_readers_refuse_what_is_no_document(
    text: str, id: str, loader: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_text, "_LOADER", loader)
    monkeypatch.setattr(tree, "MAX_NODES", 50_000)
    with pytest.raises(MalformedError) as caught:
        build(yaml_text.events(text))
    assert caught.value.problem.id == id


def test_a_document_of_too_many_parts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_NODES", 100)
    for events in (yaml_text.events, json_text.events):
        with pytest.raises(MalformedError) as caught:
            build(events(json.dumps(list(range(200)))))
        assert caught.value.problem.id == "document-too-big"


@pytest.mark.parametrize("loader", [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)])
def test_both_readers_see_the_same(loader: type, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = build(yaml_text.events(TEXT))
    monkeypatch.setattr(yaml_text, "_LOADER", loader)
    found = build(yaml_text.events(TEXT))
    assert (found.data, found.lines) == (expected.data, expected.lines)


def test_json_has_lines_and_double_keys_too(tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    path.write_text('{"aurora": 1,\n "network": "n",\n "streams": {\n  "s": {"schema": {"x": "itn"}},\n  "s": {}\n }}')
    errors = [problem for problem in check(path) if problem.severity == "error"]
    assert [(p.id, p.element, p.place.line) for p in errors] == [
        ("unknown-type", "stream s", 4),
        ("duplicate-name", "stream s", 5),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("{", 1),
        ('{"a"', 1),
        ('{"a" 1}', 1),
        ('{"a":\n}', 2),
        ('{"a": 1,\n}', 2),
        ("[1,\n]", 2),
        ("[1 2]", 1),
        ("[1}", 1),
        ("{a: 1}", 1),
        ('{1: "a"}', 1),
        ("{} {}", 1),
        ('\n["a\nb"]', 2),
        ('["a', 1),
        ('["\\x"]', 1),
        ('["\\ud800"]', 1),
        ("[NaN]", 1),
        ("[1e999]", 1),
        ("[01]", 1),
        ("[" + "9" * 5000 + "]", 1),
        ("nul", 1),
    ],
)
def test_malformed_json_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(NetworkError) as caught:
        loads(text, format="json")
    (problem,) = caught.value.problems
    assert (problem.id, problem.place.line) == ("malformed-document", line)


@pytest.mark.parametrize(
    "data", [{}, [], {"a": [1, -2.5, 1e-7, True, False, None, "", 'é😀\n\t\\"']}, [[[]], {"": {"b": {}}}], 7, "x"]
)
def test_json_is_read_as_the_standard_library_reads_it(data: Any) -> None:
    for text in (json.dumps(data), json.dumps(data, indent=3), json.dumps(data, ensure_ascii=False)):
        assert build(json_text.events(text)).data == data


def test_half_a_surrogate_pair_in_yaml_is_refused() -> None:
    with pytest.raises(NetworkError) as caught:
        loads("aurora: 1\nnetwork: n\ndescription: \ud800\n")
    assert [problem.id for problem in caught.value.problems] == ["malformed-document"]


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {1: 2},
        {"aurora": 1, "network": "n", "boxes": {("a", "b"): {}}},
        {"aurora": 1, "network": "n", "streams": {"s": {"schema": {("a",): object()}}}},
        {"aurora": 1, "network": "n", "streams": {"s": {"schema": {"a": 10**5000}}}},
    ],
)
def test_a_python_document_of_the_wrong_shape_is_refused(document: Any) -> None:
    with pytest.raises(NetworkError):
        Network.from_document(document)
