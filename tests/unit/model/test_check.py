"""Every problem that the check finds: its id, the element, the line; and that one mistake is reported once."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora.errors import NetworkError, Problem
from aurora.model import Network, check, load, typecheck

GOOD = """\
aurora: 1
network: demo
streams:
  ticks:
    schema: {ticker: string, price: double}
boxes:
  narrow:
    kind: keep
    in: ticks
    columns: [price]
outputs:
  prices:
    from: narrow
"""


def _check(text: str, tmp_path: Path) -> list[Problem]:
    path = tmp_path / "network.yaml"
    path.write_text(text, encoding="utf-8")
    problems = check(path)
    assert all(problem.place.file == str(path) for problem in problems)
    assert all(problem.found and problem.way_out for problem in problems)
    return problems


def test_a_good_network_has_no_problems(tmp_path: Path) -> None:
    assert _check(GOOD, tmp_path) == []


def _edited(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, old
    return GOOD.replace(old, new)


CASES = {
    "unknown kind": (_edited("kind: keep", "kind: kep"), "unknown-kind", "box narrow", 8),
    "no kind": (_edited("    kind: keep\n", ""), "missing-parameter", "box narrow", 7),
    "kind that is no name": (_edited("kind: keep", "kind: [keep]"), "unknown-kind", "box narrow", 8),
    "unknown input": (_edited("in: ticks", "in: tiks"), "unknown-arc", "box narrow", 9),
    "port of a stream": (_edited("in: ticks", "in: ticks.out"), "unknown-port", "box narrow", 9),
    "port of a box": (_edited("from: narrow", "from: narrow.late"), "unknown-port", "output prices", 13),
    "input that is no name": (_edited("in: ticks", "in: 5"), "bad-value", "box narrow", 9),
    "input in a mapping": (_edited("in: ticks", "in: {a: b}"), "bad-value", "box narrow", 9),
    "no input": (_edited("    in: ticks\n", ""), "missing-parameter", "box narrow", 7),
    "too many inputs": (_edited("in: ticks", "in: [ticks, ticks]"), "wrong-input-count", "box narrow", 9),
    "empty list of inputs": (_edited("in: ticks", "in: []"), "wrong-input-count", "box narrow", 9),
    "box that reads itself": (_edited("in: ticks", "in: narrow"), "cycle", "box narrow", 9),
    "missing parameter": (_edited("    columns: [price]\n", ""), "missing-parameter", "box narrow", 7),
    "unknown parameter": (_edited("columns:", "colums: []\n    columns:"), "unknown-parameter", "box narrow", 10),
    "a parameter's name in Python": (
        _edited("in: ticks", "in: ticks\n    inputs: ticks"),
        "unknown-parameter",
        "box narrow",
        10,
    ),
    "name as a parameter": (_edited("in: ticks", "in: ticks\n    name: other"), "unknown-parameter", "box narrow", 10),
    "number as a parameter": (_edited("in: ticks", "in: ticks\n    7: other"), "unknown-parameter", "box narrow", 10),
    "bad value": (_edited("columns: [price]", "columns: [price]\n    mode: sloppy"), "bad-value", "box narrow", 11),
    "value of the wrong shape": (_edited("columns: [price]", "columns: {a: 1}"), "bad-value", "box narrow", 10),
    "list item of the wrong shape": (_edited("[price]", "\n    - price\n    - 3"), "bad-value", "box narrow", 12),
    "what derive finds": (_edited("[price]", "\n    - price\n    - prise"), "unknown-column", "box narrow", 12),
    "tags that are no list": (_edited("kind: keep", "kind: keep\n    tags: 5"), "bad-value", "box narrow", 9),
    "box that is a list": (_edited("columns: [price]\n", "columns: [price]\n  b: [1]\n"), "not-a-mapping", "box b", 11),
    "box that is empty": (_edited("columns: [price]\n", "columns: [price]\n  b:\n"), "missing-parameter", "box b", 11),
    "unknown type": (_edited("price: double", "price: dubble"), "unknown-type", "stream ticks", 5),
    "type that is no name": (_edited("price: double", "price: [double]"), "unknown-type", "stream ticks", 5),
    "type too deep": (_edited("double", "list<" * 900 + "int" + ">" * 900), "unknown-type", "stream ticks", 5),
    "empty schema": (_edited("{ticker: string, price: double}", "{}"), "empty-schema", "stream ticks", 5),
    "schema that is a list": (_edited("{ticker: string, price: double}", "[a]"), "not-a-mapping", "stream ticks", 5),
    "no schema": (_edited("    schema: {ticker: string, price: double}\n", ""), "missing-parameter", "stream ticks", 4),
    "hidden column": (_edited("ticker:", "__order:"), "reserved-name", "stream ticks", 5),
    "column with a dot": (_edited("ticker:", "a.b:"), "bad-name", "stream ticks", 5),
    "column with a space": (_edited("ticker:", "a b:"), "bad-name", "stream ticks", 5),
    "column that is a number": (_edited("ticker:", "7:"), "bad-name", "stream ticks", 5),
    "unknown parameter of a stream": (
        _edited("    schema:", "    rate: 5\n    schema:"),
        "unknown-parameter",
        "stream ticks",
        5,
    ),
    "name with a dot": (_edited("prices:", "a.b:"), "bad-name", "output a.b", 12),
    "name with a space": (_edited("prices:", "a b:"), "bad-name", "output a b", 12),
    "name that is a number": (_edited("prices:", "7:"), "bad-name", "output 7", 12),
    "network's name with a space": (_edited("demo", "de mo"), "bad-name", "network", 2),
    "network's name is a list": (_edited("demo", "[a]"), "bad-name", "network", 2),
    "network without a name": (_edited("network: demo\n", ""), "missing-parameter", "network", 1),
    "description that is a list": (_edited("streams:", "description: []\nstreams:"), "bad-value", "network", 3),
    "output of nothing": (_edited("    from: narrow\n", ""), "missing-parameter", "output prices", 12),
    "output of something unknown": (_edited("from: narrow", "from: narow"), "unknown-arc", "output prices", 13),
    "output of a list": (_edited("from: narrow", "from: [narrow]"), "bad-value", "output prices", 13),
    "bad QoS graph": (
        _edited("from: narrow", "from: narrow\n    qos:\n      latency:\n      - [0s, 1]\n      - [1s, 2]"),
        "bad-qos-graph",
        "output prices",
        17,
    ),
    "QoS that is a list": (_edited("from: narrow", "from: narrow\n    qos: [1]"), "not-a-mapping", "output prices", 14),
    "value of an unknown column": (
        _edited(
            "from: narrow", "from: narrow\n    qos:\n      value:\n        on: prize\n        graph: [[0, 0], [1, 1]]"
        ),
        "unknown-column",
        "output prices",
        16,
    ),
    "value of text": (
        _edited("from: narrow", "from: ticks\n    qos: {value: {on: ticker, graph: [[0, 0], [1, 1]]}}"),
        "not-numeric",
        "output prices",
        14,
    ),
    "stream and box of one name": (
        _edited("narrow:\n", "ticks:\n").replace("from: narrow", "from: ticks"),
        "duplicate-name",
        "box ticks",
        7,
    ),
    "box written twice": (
        _edited("outputs:", "  narrow: {kind: keep, in: ticks, columns: price}\noutputs:"),
        "duplicate-name",
        "box narrow",
        11,
    ),
    "parameter written twice": (_edited("in: ticks", "in: ticks\n    in: ticks"), "duplicate-name", "box narrow", 10),
    "section written twice": (_edited("outputs:", "streams:\noutputs:"), "duplicate-name", "network", 11),
    "unknown section": (_edited("outputs:", "output:"), "unknown-section", "network", 11),
    "section that is a list": (
        _edited("streams:\n  ticks:\n    schema: {ticker: string, price: double}", "streams: [ticks]"),
        "not-a-mapping",
        "network",
        3,
    ),
    "no version": (_edited("aurora: 1\n", ""), "missing-version", "network", 1),
    "unknown version": (_edited("aurora: 1", "aurora: 2"), "unknown-version", "network", 1),
    "version that is true": (_edited("aurora: 1", "aurora: true"), "unknown-version", "network", 1),
    "list": ("- a\n- b\n", "not-a-mapping", "network", 1),
    "empty text": ("", "not-a-mapping", "network", None),
    "comment only": ("# nothing\n", "not-a-mapping", "network", None),
    "malformed": (_edited("kind: keep", "kind: 'keep"), "malformed-document", "network", None),
    "malformed with a line": (_edited("in: ticks", "in: ticks: a"), "malformed-document", "network", 9),
    "tab": (_edited("    in: ticks", "\tin: ticks"), "malformed-document", "network", 9),
    "tag": (_edited("kind: keep", "kind: !!python/name:os.system keep"), "malformed-document", "network", 8),
    "two documents": (GOOD + "---\naurora: 1\n", "malformed-document", "network", 14),
    "mapping as a key": (_edited("kind: keep", "{a: b}: keep"), "malformed-document", "network", 8),
    "alias without an anchor": (_edited("in: ticks", "in: *ticks"), "malformed-document", "network", 9),
    "alias of itself": (_edited("columns: [price]", "columns: &a [*a]"), "malformed-document", "network", 10),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_reported_once_with_its_place(case: str, tmp_path: Path) -> None:
    text, id, element, line = CASES[case]
    errors = [problem for problem in _check(text, tmp_path) if problem.severity == "error"]
    assert [(problem.id, problem.element) for problem in errors] == [(id, element)]
    assert line is None or errors[0].place.line == line


REST = """\
  split:
    kind: split
    in: ticks
    routes: {high: price > 1, low: price > 0}
    else: rest
"""
WITH_REST = _edited("outputs:", f"{REST}outputs:\n  all: {{from: split.low}}")


@pytest.mark.parametrize(
    ("section", "id", "element", "line"),
    [
        ("superboxes: {g: {boxes: [narow]}}", "unknown-box", "superbox g", 20),
        ("superboxes: {g: {}}", "missing-parameter", "superbox g", 20),
        ("superboxes: {g: {boxes: 3}}", "bad-value", "superbox g", 20),
        ("superboxes: {g: {boxes: []}}", "bad-value", "superbox g", 20),
        ("superboxes: {narrow: {boxes: [split]}}", "duplicate-name", "superbox narrow", 20),
        (
            "superboxes:\n  g: {boxes: [narrow]}\n  h:\n    boxes: [split, narrow]",
            "in-two-superboxes",
            "superbox h",
            23,
        ),
        ("superboxes: {g: {boxes: [narrow, narrow]}}", "in-two-superboxes", "superbox g", 20),
        ("superboxes:\n  g: {boxes: [narrow, h]}\n  h: {boxes: [g]}", "superbox-cycle", "superbox g", 21),
        ("superboxes: {g: {boxes: g}}", "superbox-cycle", "superbox g", 20),
        ("connection_points:\n  c:\n    on: tiks\n    keep: 2h", "unknown-arc", "connection point c", 22),
        ("connection_points: {c: {on: split.hi, keep: 2h}}", "unknown-port", "connection point c", 20),
        (
            "connection_points:\n  c:\n    on: ticks\n    key: [ticker, feed]",
            "unknown-column",
            "connection point c",
            23,
        ),
        ("connection_points: {c: {keep: 2h}}", "missing-parameter", "connection point c", 20),
        ("connection_points: {c: {on: ticks, keep: 2}}", "bad-value", "connection point c", 20),
        ("connection_points: {c: {on: ticks, keep: soon}}", "bad-value", "connection point c", 20),
        ("connection_points: {c: {on: ticks, keep: 0s}}", "not-positive", "connection point c", 20),
        ("connection_points: {c: {on: ticks, keep: 0 tuples}}", "not-positive", "connection point c", 20),
        ("connection_points: {c: {on: ticks, schema: {a: int}}}", "conflicting-parameters", "connection point c", 20),
        ("connection_points: {c: {on: ticks, file: a.csv}}", "conflicting-parameters", "connection point c", 20),
        ("connection_points: {c: {schema: {a: int}, keep: 2h}}", "conflicting-parameters", "connection point c", 20),
        ("connection_points: {c: {schema: {a: inte}}}", "unknown-type", "connection point c", 20),
        ("connection_points: {c: {schema: {a: int}, key: b}}", "unknown-column", "connection point c", 20),
        ("connection_points: {ticks: {on: narrow}}", "duplicate-name", "connection point ticks", 20),
    ],
)
def test_superboxes_and_connection_points(section: str, id: str, element: str, line: int, tmp_path: Path) -> None:
    problems = _check(f"{WITH_REST}{section}\n", tmp_path)
    assert [(problem.id, problem.element, problem.place.line) for problem in problems] == [(id, element, line)]


@pytest.mark.parametrize(
    ("box", "id"),
    [
        ("{kind: keep, in: static, columns: a}", "static-input"),
        ("{kind: lookup, in: [ticks, live]}", "live-connection-point"),
        ("{kind: lookup, in: [ticks, static]}", None),
    ],
)
def test_what_may_read_a_connection_point(box: str, id: str | None, tmp_path: Path) -> None:
    text = _edited("outputs:", f"  b: {box}\noutputs:\n  o: {{from: b}}")
    text += "connection_points:\n  static: {schema: {a: int}, file: a.csv}\n  live: {on: ticks, keep: 10 tuples}\n"
    problems = _check(text, tmp_path)
    assert [(problem.id, problem.place.line) for problem in problems] == ([] if id is None else [(id, 11)])


def test_an_output_of_static_data_is_refused(tmp_path: Path) -> None:
    text = _edited("from: narrow", "from: narrow\n  s: {from: static}")
    problems = _check(f"{text}connection_points: {{static: {{schema: {{a: int}}}}}}\n", tmp_path)
    assert [(problem.id, problem.element) for problem in problems] == [("static-input", "output s")]


def test_a_port_needs_a_usable_name(tmp_path: Path) -> None:
    problems = _check(_edited("outputs:", "  s: {kind: split, in: ticks, routes: {a.b: x}}\noutputs:"), tmp_path)
    assert ("bad-name", "box s") in [(problem.id, problem.element) for problem in problems]


@pytest.mark.parametrize(
    ("text", "id", "element", "line"),
    [
        (_edited("outputs:\n  prices:\n    from: narrow\n", ""), "no-outputs", "network", 1),
        (_edited("from: narrow", "from: ticks"), "unused-box", "box narrow", 7),
        (_edited("boxes:", "  more: {schema: {a: int}}\nboxes:"), "unused-stream", "stream more", 6),
    ],
)
def test_what_leads_nowhere_is_a_warning(text: str, id: str, element: str, line: int, tmp_path: Path) -> None:
    problems = _check(text, tmp_path)
    assert (id, element, line) in [(p.id, p.element, p.place.line) for p in problems]
    assert {problem.severity for problem in problems} == {"warning"}
    typecheck(load(tmp_path / "network.yaml"))


def test_a_connection_point_uses_the_arc_it_stands_on(tmp_path: Path) -> None:
    text = _edited("from: narrow", "from: ticks") + "connection_points: {view: {on: narrow, keep: 1h}}\n"
    assert _check(text, tmp_path) == []


def test_what_a_wrong_element_reads_is_not_called_unused(tmp_path: Path) -> None:
    problems = _check(_edited("kind: keep", "kind: kep"), tmp_path)
    assert [problem.id for problem in problems] == ["unknown-kind"]


def test_the_boxes_of_a_cycle_are_named_in_the_direction_of_flow(tmp_path: Path) -> None:
    boxes = "  a: {kind: merge, in: [ticks, c]}\n  b: {kind: merge, in: [a, a]}\n  c: {kind: merge, in: [b, b]}\n"
    problems = _check(_edited("outputs:", f"{boxes}outputs:"), tmp_path)
    assert [(p.id, p.element, p.place.line) for p in problems] == [("cycle", "box a", 11)]
    assert "a -> b -> c -> a" in problems[0].found


def test_all_mistakes_are_reported_errors_first_and_by_line(tmp_path: Path) -> None:
    text = """\
aurora: 1
network: demo
streams:
  ticks: {schema: {ticker: strng, price: dubble}}
  quotes: {schema: {bid: double}}
  lonely: {schema: {bid: double}}
boxes:
  a: {kind: keep, in: ticks, columns: [nonsense]}
  b: {kind: keep, in: quots, columns: [bid]}
  c: {kind: keep, in: quotes, colums: [bid]}
  d: {kind: keep, in: a, columns: [other]}
  e: {kind: keep, in: quotes, columns: [bid, ask]}
outputs:
  d: {from: d}
  e: {from: e.late, qos: {latency: [[0s, 1], [1s, 2]]}}
"""
    found = [(problem.severity, problem.id, problem.element, problem.place.line) for problem in _check(text, tmp_path)]
    assert found == [
        ("error", "unknown-type", "stream ticks", 4),
        ("error", "unknown-type", "stream ticks", 4),
        ("error", "unknown-arc", "box b", 9),
        ("error", "unknown-parameter", "box c", 10),
        ("error", "missing-parameter", "box c", 10),
        ("error", "unknown-column", "box e", 12),
        ("error", "bad-qos-graph", "output e", 15),
        ("warning", "unused-stream", "stream lonely", 6),
        ("warning", "unused-box", "box b", 9),
    ]


def test_hints_name_the_nearest_choice(tmp_path: Path) -> None:
    for case, hint, choice in (
        ("unknown kind", "did you mean 'keep'?", "keep"),
        ("unknown input", "did you mean 'ticks'?", "ticks"),
        ("unknown parameter", "did you mean 'columns'?", "columns"),
        ("unknown type", "did you mean 'double'?", "double"),
        ("unknown section", "did you mean 'outputs'?", "outputs"),
        ("bad value", "use one of the choices", "loose"),
    ):
        (problem,) = [p for p in _check(CASES[case][0], tmp_path) if p.severity == "error"]
        assert hint in problem.way_out
        assert choice in problem.choices


def test_nested_parameters_have_their_own_choices(tmp_path: Path) -> None:
    text = _edited(
        "outputs:", "  n:\n    kind: count\n    in: ticks\n    window:\n      sise: 3 tuples\noutputs:\n  n: {from: n}"
    )
    problems = _check(text, tmp_path)
    assert [(p.id, p.place.line) for p in problems] == [("missing-parameter", 14), ("unknown-parameter", 15)]
    assert problems[1].choices == ("size", "advance", "timeout", "align", "emit_empty")
    assert problems[1].way_out == "did you mean 'size'?"


def test_both_lines_of_a_double_name_are_told(tmp_path: Path) -> None:
    for case, lines in (("box written twice", (7, 11)), ("stream and box of one name", (4, None))):
        (problem,) = [p for p in _check(CASES[case][0], tmp_path) if p.severity == "error"]
        assert all(f"line {line}" in problem.found for line in lines if line)


def test_load_raises_all_errors(tmp_path: Path) -> None:
    path = tmp_path / "network.yaml"
    path.write_text(_edited("kind: keep", "kind: kep").replace("from: narrow", "from: narow"))
    with pytest.raises(NetworkError) as caught:
        load(path)
    assert [problem.id for problem in caught.value.problems] == ["unknown-kind", "unknown-arc"]


def test_typecheck_raises_all_errors_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "network.yaml"
    path.write_text(_edited("in: ticks", "in: tiks").replace("from: narrow", "from: narow"))
    with pytest.raises(NetworkError) as caught:
        typecheck(load(path))
    assert [(p.id, p.place.line) for p in caught.value.problems] == [("unknown-arc", 9), ("unknown-arc", 13)]


def test_an_unreadable_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"aurora: 1\nnetwork: caf\xe9\n")
    (tmp_path / "big.yaml").write_text("#" * 4_000_001)
    for name, id, line in (
        ("missing.yaml", "unreadable-file", None),
        ("latin.yaml", "malformed-document", 2),
        ("big.yaml", "document-too-big", None),
        (".", "unreadable-file", None),
    ):
        (problem,) = check(tmp_path / name)
        assert (problem.id, problem.place.file, problem.place.line) == (id, str(tmp_path / name), line)
        with pytest.raises(NetworkError):
            load(tmp_path / name)


def test_a_network_built_in_python_has_problems_without_places() -> None:
    net = Network("demo")
    net.stream("ticks", price="double")
    net.box("keep", "narrow", "tiks", columns="price")
    problems = check(net)
    assert [p.id for p in problems] == ["unknown-arc", "no-outputs", "unused-stream", "unused-box"]
    assert str(problems[0].place) == ""
