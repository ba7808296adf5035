"""Random networks of sample boxes, and random damage to documents."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from aurora.model import Arc, Network
from aurora.model.naming import usable
from tests.unit.model.test_qos import qos

_TYPES = st.sampled_from(["bool", "int", "double", "string", "timestamp", "duration", "binary", "list<int>"])
_WORDS = [
    "on",
    "yes",
    "no",
    "null",
    "true",
    "False",
    "y",
    "_x",
    "a-b",
    "é",
    "名",
    "E5",
    "in",
    "kind",
    "name",
    "out",
    "e1",
]
_NAMES = st.one_of(st.sampled_from(_WORDS), st.text("abAB_1-é", min_size=1, max_size=4).filter(usable))
_COLUMNS = st.one_of(
    st.sampled_from(["1", "2s", "~", "%", "#x", "-", "a:", "'", "{b}", "*c", "&d", "!e", "|", ">", "@", "`", "0x1"]),
    _NAMES.filter(lambda name: not name.startswith("__")),
)
_TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(["# Title\n\n* a\n* b\n", "a: b", "'", "on", "12", " x", "x \ny\n", "\n", "\r\n", "a\n\n", "{a}"]),
    st.text(st.sampled_from("ab \n#:-'\"{}[],&*!|>%@`"), max_size=12),
)
_NOTES = st.fixed_dictionaries(
    {}, optional={"tags": st.lists(_TEXT, max_size=2), "description": _TEXT, "manual": _TEXT}
)
_QUANTITIES = st.sampled_from(["2 tuples", "1 tuple", "60s", "1500ms", 5, 0.25, "90m"])


_SOURCES: list[tuple[str, dict[str, Any]]] = [
    ("tcp", {"format": "json", "listen": "127.0.0.1:9000"}),
    ("tcp", {"format": "csv", "options": {"header": False}, "connect": "[::1]:9000", "retry": {"first": "2s"}}),
    ("mqtt", {"format": "json", "broker": "broker", "topics": ["a/#"], "username": "u", "password_env": "MQTT_KEY"}),
    ("kafka", {"format": "json", "brokers": ["a", "b:9093"], "topic": "t"}),
    ("generator", {"rate": 10, "bursts": {"every": "10s", "last": "1s", "rate": 100}, "seed": 7}),
    ("postgres", {"url": "postgresql://u@h/db", "query": "select 1", "cursor": "1", "start": 0}),
]
_SINKS: list[tuple[str, dict[str, Any]]] = [
    ("file", {"path": "out.parquet", "rotate": {"size": "64MB", "age": "1h"}}),
    ("webhook", {"format": "json", "url": "https://host/x", "headers_env": {"Authorization": "HOOK"}, "queue": 5}),
    ("unix", {"format": "json", "listen": "out.sock", "when_full": "block"}),
]


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """A network whose names all exist; its boxes' schemas need not fit."""
    net = Network(draw(_NAMES), **draw(_NOTES))
    names = iter(draw(st.lists(_NAMES, min_size=18, max_size=18, unique=True)))
    arcs: list[Arc] = []
    for _ in range(draw(st.integers(1, 2))):
        schema = draw(st.dictionaries(_COLUMNS, _TYPES, min_size=1, max_size=4))
        arcs.append(net.stream(next(names), schema=schema, **draw(_NOTES)))
    if draw(st.booleans()):
        schema = draw(st.dictionaries(_COLUMNS, _TYPES, min_size=1, max_size=3))
        file = draw(st.one_of(st.none(), _TEXT))
        arcs.append(net.connection_point(next(names), schema=schema, file=file, **draw(_NOTES)))
    for _ in range(draw(st.integers(0, 4))):
        arcs += _box(draw, net, next(names), arcs)
    if draw(st.booleans()):
        keep = draw(st.sampled_from([None, "2h", "100 tuples", "1500us"]))
        key = draw(st.lists(_COLUMNS, max_size=2))
        net.connection_point(next(names), on=draw(st.sampled_from(arcs)), keep=keep, key=key, **draw(_NOTES))
    for _ in range(draw(st.integers(0, 2))):
        net.output(next(names), draw(st.sampled_from(arcs)), qos=draw(st.one_of(st.none(), qos())), **draw(_NOTES))
    if net.boxes:
        group = net.superbox(next(names), draw(st.lists(st.sampled_from(list(net.boxes)), min_size=1)), **draw(_NOTES))
        if draw(st.booleans()):
            net.superbox(next(names), [group])
    for kind, given in draw(st.lists(st.sampled_from(_SOURCES), max_size=2)):
        net.source(kind, next(names), draw(st.sampled_from(list(net.streams))), **given, **draw(_NOTES))
    for kind, given in draw(st.lists(st.sampled_from(_SINKS), max_size=2)) if net.outputs else []:
        net.sink(kind, next(names), draw(st.sampled_from(list(net.outputs))), **given, **draw(_NOTES))
    return net


def _box(draw: st.DrawFn, net: Network, name: str, arcs: list[Arc]) -> list[Arc]:
    """Adds a box of some kind; its arcs, one for each port."""
    kind = draw(st.sampled_from(["keep", "split", "merge", "count", "lookup"]))
    count = {"merge": draw(st.integers(2, 3)), "lookup": 2}.get(kind, 1)
    inputs = [draw(st.sampled_from(arcs)) for _ in range(count)]
    given: dict[str, Any] = draw(_NOTES)
    if kind == "keep":
        given["columns"] = draw(st.lists(_COLUMNS, min_size=1, max_size=3))
        given["mode"] = draw(st.sampled_from(["strict", "loose"]))
    elif kind == "split":
        given["routes"] = draw(st.dictionaries(_NAMES, _TEXT, min_size=1, max_size=3))
        if draw(st.booleans()):
            given["else"] = "else-port"
    elif kind == "count":
        given["window"] = {"size": draw(_QUANTITIES), "timeout": draw(st.sampled_from([None, "5s", "1us"]))}
        given["compute"] = draw(st.dictionaries(_COLUMNS, _TEXT, max_size=3))
        given["every"] = draw(st.integers(1, 3))
    arc = net.box(kind, name, inputs, **given)
    return [arc[port] for port in net.boxes[name].output_ports()] if draw(st.booleans()) else [arc]


_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**19),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=4),
    st.sampled_from(
        ["ticks", "keep", "5s", "1 tuple", "late.out", "a.b.c", ".", "", "__x", "list<int>", "9" * 50 + "s"]
    ),
)
_PIECES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_SCALARS, inner, max_size=3), max_leaves=4
)


def damaged(draw: st.DrawFn, node: Any, pieces: list[Any]) -> Any:
    """The data with one part deleted, replaced, repeated under another name, or moved, somewhere in it."""
    if not isinstance(node, dict | list) or not node or draw(st.integers(0, 5)) == 0:
        return draw(st.one_of(_PIECES, st.sampled_from(pieces)))
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    key = draw(st.sampled_from(keys))
    action = draw(st.sampled_from(["deeper", "deeper", "deeper", "delete", "rename", "repeat"]))
    items: list[tuple[Any, Any]] = [(k, node[k]) for k in keys]
    at = keys.index(key)
    if action == "deeper":
        items[at] = (key, damaged(draw, node[key], pieces))
    elif action == "delete":
        del items[at]
    elif action == "rename":
        items[at] = (draw(_SCALARS), node[key])
    else:
        items.append((draw(_SCALARS), node[key]))
    return dict(items) if isinstance(node, dict) else [item for _, item in items]


def parts(node: Any) -> list[Any]:
    """All parts of the data, itself included."""
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    return [node, *(part for item in inner for part in parts(item))]
