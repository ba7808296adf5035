"""Sources and sinks in documents: what is legal, what is written back, and every problem they can have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import aurora  # noqa: F401  (formats and expressions are checked by what stands above the model)
from aurora.errors import NetworkError, Problem
from aurora.model import Network, check, loads
from aurora.model.addresses import HostPort, parse_size
from aurora.model.check import check_draft
from aurora.model.connectors import SINKS, SOURCES
from aurora.model.declare import parameters
from aurora.model.document.reading import read_document

BASE: dict[str, Any] = {
    "aurora": 1,
    "network": "demo",
    "streams": {"ticks": {"schema": {"ticker": "string", "price": "double", "n": "int", "time": "timestamp"}}},
    "outputs": {"all": {"from": "ticks"}},
}
SOURCE_EXAMPLES: dict[str, dict[str, Any]] = {
    "file": {"path": "ticks.jsonl", "tail": True, "format": "json"},
    "tcp": {"listen": "127.0.0.1:9000", "format": "json"},
    "unix": {"connect": "ticks.sock", "format": "csv", "options": {"header": False}},
    "http": {"format": "json", "max_bytes": "1MB"},
    "mqtt": {"broker": "host", "topics": "a/+", "format": "json", "username": "u", "password_env": "KEY"},
    "kafka": {"brokers": ["a:1", "b"], "topic": "t", "format": "json", "group": "g"},
    "postgres": {"url": "postgresql://u@h:5432/db", "query": "select * from t", "cursor": "n"},
    "generator": {
        "rate": 10,
        "columns": {"price": {"walk": [100, 0.5]}, "ticker": {"choice": {"A": 2, "B": 1}}, "n": "n", "time": "time"},
    },
    "replay": {"path": "ticks.parquet", "time": "time", "speed": 10},
}
SINK_EXAMPLES: dict[str, dict[str, Any]] = {
    "file": {"path": "out.parquet", "rotate": {"size": "64MB", "age": "1h"}},
    "tcp": {"connect": "host:9000", "format": "json"},
    "unix": {"listen": "out.sock", "format": "json"},
    "webhook": {"url": "https://host/hook", "format": "json", "headers_env": {"Authorization": "HOOK_KEY"}},
    "mqtt": {"broker": "host:1884", "topic": "out", "format": "json"},
    "kafka": {"brokers": "a:1", "topic": "t", "format": "json", "key": "ticker"},
    "postgres": {"url": "postgresql://u@h/db", "table": "public.out"},
}


def _document(section: str, kind: str, given: dict[str, Any]) -> dict[str, Any]:
    stream = {"into": "ticks"} if section == "sources" else {"from": "all"}
    return {**BASE, section: {"it": {"kind": kind, **stream, **given}}}


def _problems(section: str, kind: str, given: dict[str, Any]) -> list[Problem]:
    return check_draft(read_document(_document(section, kind, given)))


EXAMPLES = [("sources", kind, given) for kind, given in SOURCE_EXAMPLES.items()]
EXAMPLES += [("sinks", kind, given) for kind, given in SINK_EXAMPLES.items()]


def test_every_kind_has_an_example_and_says_what_it_is_for() -> None:
    assert SOURCES.keys() == SOURCE_EXAMPLES.keys()
    assert SINKS.keys() == SINK_EXAMPLES.keys()
    assert all(declaration.__doc__ for declaration in [*SOURCES.values(), *SINKS.values()])


@pytest.mark.parametrize(
    ("section", "kind", "given"), EXAMPLES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_it_is_legal_and_reads_back_equal(section: str, kind: str, given: dict[str, Any]) -> None:
    assert _problems(section, kind, given) == []
    net = Network.from_document(_document(section, kind, given))
    assert loads(net.to_yaml()) == net
    assert loads(net.to_json(), format="json") == net
    written = net.to_document()[section]["it"]
    assert list(written)[:2] == ["kind", "into" if section == "sources" else "from"]


def test_python_declares_the_same() -> None:
    net = Network("demo")
    ticks = net.stream("ticks", ticker="string", price="double", n="int", time="timestamp")
    out = net.output("all", ticks)
    net.source("tcp", "it", ticks, **SOURCE_EXAMPLES["tcp"])
    net.sink("kafka", "it", out, **SINK_EXAMPLES["kafka"])
    document = _document("sources", "tcp", SOURCE_EXAMPLES["tcp"])
    document |= {"sinks": _document("sinks", "kafka", SINK_EXAMPLES["kafka"])["sinks"]}
    assert net == Network.from_document(document)
    with pytest.raises(NetworkError, match="duplicate-name"):
        net.source("http", "it", ticks, format="json")
    with pytest.raises(NetworkError, match="unknown-kind"):
        net.sink("kafak", "other", out)


WRONG: list[tuple[str, str, dict[str, Any], str, str]] = [
    ("sources", "tpc", {}, "unknown-kind", "did you mean 'tcp'?"),
    ("sources", "tcp", {"into": "tiks", "format": "json", "listen": "127.0.0.1:1"}, "unknown-stream", "ticks"),
    ("sinks", "tcp", {"from": "al", "format": "json", "connect": "h:1"}, "unknown-output", "all"),
    ("sources", "tcp", {"format": "jsn", "listen": "127.0.0.1:1"}, "unknown-format", "json"),
    ("sources", "tcp", {"listen": "127.0.0.1:1"}, "missing-parameter", "format"),
    ("sources", "tcp", {"format": "csv", "options": {"hedaer": 1}, "listen": "127.0.0.1:1"}, "bad-options", "header"),
    ("sources", "tcp", {"format": "json", "listen": "9000"}, "bad-value", "host:port"),
    ("sources", "tcp", {"format": "json", "listen": "localhost:99999"}, "bad-value", "65535"),
    ("sources", "tcp", {"format": "json"}, "conflicting-parameters", "listen"),
    (
        "sources",
        "tcp",
        {"format": "json", "listen": "127.0.0.1:1", "connect": "a:1"},
        "conflicting-parameters",
        "connect",
    ),
    ("sources", "tcp", {"format": "json", "listen": "0.0.0.0:9000"}, "exposed-address", "exposed: true"),
    ("sources", "tcp", {"format": "json", "listen": "127.0.0.1:1", "lisen": 1}, "unknown-parameter", "listen"),
    (
        "sources",
        "tcp",
        {"format": "json", "listen": "127.0.0.1:1", "retry": {"first": "0s"}},
        "bad-value",
        "first wait",
    ),
    ("sources", "file", {"path": "a.csv", "tail": True}, "missing-parameter", "format"),
    ("sources", "file", {"path": "a.csv", "start": "end"}, "conflicting-parameters", "tail"),
    (
        "sources",
        "mqtt",
        {"broker": "h", "topics": "a", "format": "json", "password_env": "K"},
        "missing-parameter",
        "user",
    ),
    (
        "sources",
        "postgres",
        {"url": "postgresql://u:secret@h/db", "notify": "c", "format": "json"},
        "bad-value",
        "_env",
    ),
    (
        "sources",
        "postgres",
        {"url": "postgresql://h/db?password=x", "notify": "c", "format": "json"},
        "bad-value",
        "_env",
    ),
    ("sources", "postgres", {"url": "postgresql://h/db"}, "conflicting-parameters", "one of them"),
    ("sources", "postgres", {"url": "postgresql://h/db", "query": "select 1"}, "missing-parameter", "cursor"),
    (
        "sources",
        "postgres",
        {"url": "postgresql://h/db", "query": "select 1", "cursor": "m"},
        "unknown-column",
        "choices",
    ),
    ("sources", "generator", {"rate": 0}, "bad-value", "greater than 0"),
    ("sources", "generator", {"rate": 1, "columns": {"prize": "1.0"}}, "unknown-column", "price"),
    ("sources", "generator", {"rate": 1, "columns": {"price": "n +"}}, "syntax-error", ""),
    ("sources", "generator", {"rate": 1, "columns": {"price": "upper('a')"}}, "type-mismatch", "double"),
    ("sources", "generator", {"rate": 1, "columns": {"price": {"unifrom": [1, 2]}}}, "bad-value", "uniform"),
    ("sources", "generator", {"rate": 1, "columns": {"ticker": {"uniform": [1, 2]}}}, "bad-value", "choice"),
    ("sources", "generator", {"rate": 1, "columns": {"price": {"uniform": [2, 1]}}}, "bad-value", "low"),
    ("sources", "generator", {"rate": 1, "columns": {"price": {"keys": [0, 9]}}}, "bad-value", "expression"),
    ("sources", "generator", {"rate": 1, "columns": {"ticker": {"keys": [0, 1e6]}}}, "bad-value", "456,976"),
    ("sources", "generator", {"rate": 1, "columns": {"ticker": {"keys": [-1, 5]}}}, "bad-value", "from 0"),
    ("sources", "generator", {"rate": 1, "where": "elapsed"}, "not-boolean", "condition"),
    ("sources", "generator", {"rate": 1, "where": "price > 1"}, "unknown-column", "columns"),
    ("sources", "generator", {"rate": 1, "bursts": {"every": "1s", "last": "2s", "rate": 5}}, "bad-value", "less long"),
    ("sources", "replay", {"path": "a.csv", "time": "ticker"}, "unknown-column", "price, n, time"),
    ("sinks", "webhook", {"url": "ftp://h/x", "format": "json"}, "bad-value", "https://"),
    (
        "sinks",
        "webhook",
        {"url": "https://h", "format": "json", "headers": {"authorization": "x"}},
        "bad-value",
        "_env",
    ),
    (
        "sinks",
        "webhook",
        {"url": "https://h", "format": "json", "headers_env": {"A": "s3cret!"}},
        "bad-value",
        "variable",
    ),
    ("sinks", "kafka", {"brokers": "h", "topic": "t", "format": "json", "key": "x"}, "unknown-column", "choices"),
    ("sinks", "mqtt", {"broker": "h", "topic": "a/#", "format": "json"}, "bad-value", "one topic"),
    ("sinks", "file", {"path": "a.parquet", "rotate": {}}, "missing-parameter", "size"),
    ("sinks", "file", {"path": "a.parquet", "rotate": {"size": "big"}}, "bad-value", "64MB"),
    ("sinks", "file", {"path": "a.parquet", "queue": 0}, "bad-value", "greater"),
]


@pytest.mark.parametrize(("section", "kind", "given", "id", "way_out"), WRONG)
def test_what_is_wrong_is_told(section: str, kind: str, given: dict[str, Any], id: str, way_out: str) -> None:
    problems = _problems(section, kind, given)
    assert [problem.id for problem in problems] == [id]
    assert problems[0].element == f"{section[:-1]} it"
    assert way_out in str(problems[0])
    assert "s3cret" not in str(problems[0])
    assert "secret@" not in str(problems[0])


def test_a_stream_that_could_not_be_read_is_no_second_mistake() -> None:
    document = _document("sources", "tcp", SOURCE_EXAMPLES["tcp"])
    document["streams"] = {"ticks": {"schema": {"price": "dubble"}}}
    assert [problem.id for problem in check_draft(read_document(document))] == ["unknown-type"]


def test_a_network_without_sources_says_nothing_of_them() -> None:
    net = Network.from_document(BASE)
    assert "sources" not in net.to_document()
    assert check(net) == []


@pytest.mark.parametrize("text", ["", ":1", "host:", "host:x", "a b:1", "::1:80", "host:70000", "h\n:1"])
def test_no_address(text: str) -> None:
    with pytest.raises(ValueError, match="host:port"):
        HostPort.parse(text)


def test_addresses_know_whether_others_reach_them() -> None:
    assert [HostPort.parse(text).loopback for text in ("127.0.0.1:1", "[::1]:1", "localhost:1")] == [True] * 3
    assert not any(HostPort.parse(text).loopback for text in ("0.0.0.0:1", "[::]:1", "10.0.0.1:1", "host:1"))


@pytest.mark.parametrize("size", [0, -1, True, "", "1XB", None, "0MB", 1.5])
def test_no_size(size: object) -> None:
    with pytest.raises(ValueError, match="no size"):
        parse_size(size)


def test_the_page_of_the_document_has_every_kind_and_parameter() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "document.md").read_text(encoding="utf-8")
    for section, kinds in (("sources", SOURCES), ("sinks", SINKS)):
        text = page.split(f"\n## {section}\n")[1].split("\n## ")[0]
        for kind, declaration in kinds.items():
            said = text.split(f"\n### {kind} {section.removesuffix('s')}\n")[1].split("\n### ")[0]
            own = set(parameters(declaration)) - {"tags", "description", "manual", "retry", "options", "format"}
            own -= {"into", "from", "queue", "when_full"}
            assert not [name for name in own if f"| `{name}` |" not in said], (section, kind)
