"""A network taken apart into rows, and rows put together into a document.

What is put together from untouched rows describes the network that was taken apart, to the last detail. Parameters
stand in the tables as JSON, so that SQLite's functions can look inside; rows are read as YAML, of which JSON is a
part, so that a person can write ``price > 7`` without quotes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aurora.catalog.triggers import OWNED, PART_TABLES
from aurora.errors import Problem, Report
from aurora.model.document import json_text, yaml_text
from aurora.model.document.tree import MalformedError, build
from aurora.model.network import Network
from aurora.model.places import ELEMENTS
from aurora.model.quantities import Duration

Rows = dict[str, list[tuple[Any, ...]]]

_LONGEST_DELAY_S = 1e9
_NOTES = ("description", "tags", "manual")
_ELEMENT = ("network", "position", "name", "description", "manual")
_PARAMETER = ("position", "name", "value")
_COLUMN = ("position", "name", "type")
COLUMNS: dict[str, tuple[str, ...]] = {
    "networks": ("name", "description", "manual"),
    "streams": _ELEMENT,
    "boxes": (*_ELEMENT, "kind"),
    "outputs": (*_ELEMENT, "source"),
    "superboxes": _ELEMENT,
    "connection_points": (*_ELEMENT, "source"),
    "sources": (*_ELEMENT, "kind", "stream"),
    "sinks": (*_ELEMENT, "kind", "output"),
    "stream_columns": ("network", "stream", *_COLUMN),
    "stream_parameters": ("network", "stream", *_PARAMETER),
    "arcs": ("network", "box", "position", "source"),
    "box_parameters": ("network", "box", *_PARAMETER),
    "output_parameters": ("network", "output", *_PARAMETER),
    "qos_graphs": ("network", "output", "graph", "on_column"),
    "qos_points": ("network", "output", "graph", "position", "x", "utility"),
    "superbox_boxes": ("network", "superbox", "position", "box"),
    "superbox_parameters": ("network", "superbox", *_PARAMETER),
    "connection_point_columns": ("network", "connection_point", *_COLUMN),
    "connection_point_parameters": ("network", "connection_point", *_PARAMETER),
    "source_parameters": ("network", "source", *_PARAMETER),
    "sink_parameters": ("network", "sink", *_PARAMETER),
    "tags": ("network", "section", "element", "position", "tag"),
}


# Apart


def take_apart(network: Network) -> Rows:
    document = network.to_document()
    rows: Rows = {table: [] for table in PART_TABLES}
    rows["networks"] = [(network.name, network.description, network.manual)]
    rows["tags"] = [(network.name, "network", network.name, n, tag) for n, tag in enumerate(network.tags)]
    for section in ELEMENTS:
        for position, (name, given) in enumerate(document.get(section, {}).items()):
            _take_element(rows, network.name, section, position, name, dict(given))
    return rows


def _take_element(rows: Rows, network: str, section: str, position: int, name: str, given: dict[str, Any]) -> None:
    one = OWNED[section][0]
    here = (network, name)
    element = (network, position, name, given.pop("description", ""), given.pop("manual", ""))
    rows["tags"] += [(network, section, name, n, tag) for n, tag in enumerate(given.pop("tags", []))]
    if section == "boxes":
        rows["boxes"].append((*element, given.pop("kind")))
        rows["arcs"] += [(*here, n, source) for n, source in enumerate(_listed(given.pop("in")))]
    elif section == "outputs":
        rows["outputs"].append((*element, given.pop("from")))
        if given.get("qos"):
            _take_qos(rows, here, given.pop("qos"))
    elif section == "connection_points":
        rows["connection_points"].append((*element, given.pop("on", None)))
    elif section in ("sources", "sinks"):
        stream = given.pop("into" if section == "sources" else "from")
        rows[section].append((*element, given.pop("kind"), stream))
    else:
        rows[section].append(element)
    if "schema" in given:
        columns = given.pop("schema").items()
        rows[f"{one}_columns"] += [(*here, n, column, kind) for n, (column, kind) in enumerate(columns)]
    if section == "superboxes":
        rows["superbox_boxes"] += [(*here, n, box) for n, box in enumerate(_listed(given.pop("boxes")))]
    rows[f"{one}_parameters"] += [
        (*here, n, key, json.dumps(value, ensure_ascii=False, allow_nan=False))
        for n, (key, value) in enumerate(given.items())
    ]


def _take_qos(rows: Rows, here: tuple[str, str], qos: Mapping[str, Any]) -> None:
    for graph, written in qos.items():
        points = written["graph"] if graph == "value" else written
        rows["qos_graphs"].append((*here, graph, written["on"] if graph == "value" else None))
        for n, (x, utility) in enumerate(points):
            seconds = Duration.parse(x).seconds if isinstance(x, str) else x
            rows["qos_points"].append((*here, graph, n, seconds, utility))


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def write_parts(sql: sqlite3.Connection, name: str, rows: Rows | None) -> None:
    """Puts the rows in place of all that the tables say of the network; without rows there is nothing of it then."""
    for table in PART_TABLES:
        key = "name" if table == "networks" else "network"
        sql.execute(f"DELETE FROM {table} WHERE {key} = ?", (name,))
        if rows is not None:
            columns = COLUMNS[table]
            marks = ", ".join("?" * len(columns))
            sql.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows[table])


# Together


@dataclass
class Assembled:
    """The document that the rows of a network make, and what is wrong with the rows themselves."""

    document: dict[str, Any]
    problems: list[Problem]
    empty: bool

    @property
    def text(self) -> str:
        return yaml_text.dump(self.document)


def read_parts(sql: sqlite3.Connection, name: str) -> dict[str, list[sqlite3.Row]]:
    rows = {}
    for table in PART_TABLES:
        columns = COLUMNS[table]
        key = "name" if table == "networks" else "network"
        order = "position IS NULL, position, rowid" if "position" in columns else "rowid"
        query = f"SELECT {', '.join(columns)} FROM {table} WHERE {key} = ? ORDER BY {order}"
        rows[table] = sql.execute(query, (name,)).fetchall()
    return rows


def put_together(name: str, rows: Mapping[str, Sequence[sqlite3.Row]]) -> Assembled:
    empty = not any(rows.values())
    report = Report("network")
    document: dict[str, Any] = {"aurora": 1, "network": name}
    if not rows["networks"] and not empty:
        report.add("stray-row", f"tables have rows of {name!r}, which is not in networks", "insert it, or delete them")
    for row in rows["networks"]:
        document |= {"description": row["description"], "manual": row["manual"]}
    document["tags"] = []
    for section in ELEMENTS:
        document[section] = {row["name"]: _element(section, row) for row in rows[section]}
        for table in OWNED[section][1]:
            _put_rows(section, table, rows[table], document[section], report)
    _put_tags(rows["tags"], document, report)
    for box in document["boxes"].values():
        box["in"] = box["in"][0] if len(box["in"]) == 1 else box["in"]
    return Assembled(_without_nothing(document), report.problems, empty)


def _element(section: str, row: sqlite3.Row) -> dict[str, Any]:
    begun: dict[str, Any] = {}
    if section == "streams":
        begun = {"schema": {}}
    elif section == "boxes":
        begun = {"kind": row["kind"], "in": []}
    elif section == "outputs":
        begun = {"from": row["source"]}
    elif section == "superboxes":
        begun = {"boxes": []}
    elif section == "sources":
        begun = {"kind": row["kind"], "into": row["stream"]}
    elif section == "sinks":
        begun = {"kind": row["kind"], "from": row["output"]}
    elif row["source"] is not None:
        begun = {"on": row["source"]}
    return begun | {"description": row["description"], "manual": row["manual"], "tags": []}


def _put_rows(section: str, table: str, rows: Sequence[sqlite3.Row], elements: dict[str, Any], report: Report) -> None:
    column = OWNED[section][0]
    for row in rows:
        element = elements.get(row[column])
        if element is None:
            _stray(table, section, row[column], report)
        elif table.endswith("_columns"):
            element.setdefault("schema", {})[row["name"]] = row["type"]
        elif table.endswith("_parameters"):
            here = report.at(section, row[column], row["name"], element=f"{ELEMENTS[section]} {row[column]}")
            element[row["name"]] = _value(row["value"], table, here)
        elif table == "arcs":
            element["in"].append(row["source"])
        elif table == "superbox_boxes":
            element["boxes"].append(row["box"])
        elif table == "qos_graphs":
            # An empty qos stands among the parameters; graphs take its place.
            element["qos"] = element.get("qos") or {}
            element["qos"][row["graph"]] = {"on": row["on_column"], "graph": []} if row["graph"] == "value" else []
        else:
            graph = (element.get("qos") or {}).get(row["graph"])
            if graph is None:
                _stray(table, "qos_graphs", f"{row[column]}, {row['graph']}", report)
            else:
                point = [_axis(row["x"], row["graph"]), _number(row["utility"])]
                (graph["graph"] if row["graph"] == "value" else graph).append(point)


def _axis(x: Any, graph: str) -> Any:
    """As documents write it: a delay has its unit. A program may have written anything; the check tells then."""
    if graph == "latency" and isinstance(x, int | float) and abs(x) < _LONGEST_DELAY_S:
        return str(Duration(round(x * 1e6)))
    return _number(x)


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _put_tags(rows: Sequence[sqlite3.Row], document: dict[str, Any], report: Report) -> None:
    for row in rows:
        if row["section"] == "network":
            document["tags"].append(row["tag"])
        elif row["element"] in document[row["section"]]:
            document[row["section"]][row["element"]]["tags"].append(row["tag"])
        else:
            _stray("tags", row["section"], row["element"], report)


def _stray(table: str, section: str, owner: str, report: Report) -> None:
    found = f"a row of {table} belongs to {owner!r}, which is not in {section}"
    report.add("stray-row", found, f"insert it into {section}, or delete the row")


def _value(written: Any, table: str, report: Report) -> Any:
    if isinstance(written, bytes):
        found = f"the value in {table} is bytes"
        report.add("malformed-document", found, "write text, as in a document")
        return None
    if not isinstance(written, str):
        return written
    try:
        return build(json_text.events(written)).data
    except (MalformedError, RecursionError):
        pass
    try:
        tree = build(yaml_text.events(written))
    except (MalformedError, RecursionError) as error:
        found = f"the value in {table} cannot be read: {error}"
        report.add("malformed-document", found, "write it as in a document; quote text that YAML would misread")
        return None
    report.take(tree.doubles)
    return tree.data


def _without_nothing(document: dict[str, Any]) -> dict[str, Any]:
    """Leaves out notes and sections that are empty."""
    sections = {key: value for key, value in document.items() if value or key not in (*ELEMENTS, *_NOTES)}
    for section in sections.keys() & ELEMENTS.keys():
        sections[section] = {
            name: {key: value for key, value in element.items() if value or key not in _NOTES}
            for name, element in sections[section].items()
        }
    return sections
