"""A catalog as YAML: every version with who, when and why, layout and bookmarks. Statistics and the log stay behind.

What is imported into an empty catalog is exported as the same text again.
"""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aurora.catalog import history, picture
from aurora.catalog.checking import checked
from aurora.catalog.records import Bookmark, State, Version
from aurora.errors import InputError, NetworkError, Place, Problem
from aurora.model.document import yaml_text
from aurora.model.document.tree import MalformedError, build

FORM = 1
KEY = "aurora_catalog"


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _Problem(_Shape):
    id: str
    severity: Literal["error", "warning"]
    element: str = ""
    path: list[str | int] = []
    line: int | None = None
    found: str
    choices: list[str] = []
    way_out: str


class _Version(_Shape):
    number: Annotated[int, Field(ge=1, lt=2**63)]
    state: State
    author: str = ""
    at_us: Annotated[int, Field(ge=-(2**63), lt=2**63)]
    why: str = ""
    document: str = ""
    problems: list[_Problem] = []


class _Bookmark(_Shape):
    x: float
    y: float
    zoom: float
    note: str = ""
    author: str = ""
    at_us: int
    scope: str = ""


_Position = Annotated[list[float], Field(min_length=2, max_length=2)]


class _Network(_Shape):
    current: int | None = None
    versions: list[_Version] = []
    layout: dict[str, dict[str, _Position]] = {}
    bookmarks: dict[str, _Bookmark] = {}


class _Catalog(_Shape):
    aurora_catalog: int
    networks: dict[str, _Network] = {}


def export_yaml(sql: sqlite3.Connection) -> str:
    query = (
        "SELECT network FROM versions UNION SELECT network FROM layout UNION SELECT network FROM bookmarks ORDER BY 1"
    )
    names = [row[0] for row in sql.execute(query).fetchall()]
    return yaml_text.dump({KEY: FORM, "networks": {name: _network(sql, name) for name in names}})


def _network(sql: sqlite3.Connection, name: str) -> dict[str, Any]:
    now = history.current(sql, name)
    places: dict[str, dict[str, list[float]]] = {}
    for (section, element), position in picture.layout(sql, name).items():
        places.setdefault(section, {})[element] = list(position)
    marks = {mark.name: mark for mark in picture.bookmarks(sql, name)}
    plain = {
        "current": None if now is None else now.number,
        "versions": [_version(sql, version) for version in history.versions(sql, name)],
        "layout": places,
        "bookmarks": {
            name: _given({key: value for key, value in asdict(mark).items() if key not in ("network", "name")})
            for name, mark in marks.items()
        },
    }
    return {key: value for key, value in plain.items() if value}


def _version(sql: sqlite3.Connection, version: Version) -> dict[str, Any]:
    found = [
        _given(
            {
                "id": problem.id,
                "severity": problem.severity,
                "element": problem.element,
                "path": list(problem.path),
                "line": problem.place.line,
                "found": problem.found,
                "choices": list(problem.choices),
                "way_out": problem.way_out,
            }
        )
        for problem in history.problems(sql, version.id)
    ]
    fields = {
        "number": version.number,
        "state": version.state,
        "at_us": version.at_us,
        "author": version.author,
        "why": version.why,
        "problems": found,
        "document": version.document,
    }
    return _given(fields)


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    """Without what a reader assumes anyway. What must be there may be empty, as the text of a problem."""
    return {key: value for key, value in fields.items() if value not in ("", None, []) or key in ("found", "way_out")}


def read_yaml(text: str) -> _Catalog:
    try:
        tree = build(yaml_text.events(text))
        if tree.doubles:
            raise InputError(f"this is no export of a catalog: {tree.doubles[0].found}; export it again")
        read = _Catalog.model_validate(tree.data)
    except MalformedError as error:
        line = error.problem.place.line
        where = "" if line is None else f"line {line}: "
        raise InputError(f"this is no export of a catalog: {where}{error}; give a file that export wrote") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        said = f"{where}: {first['msg']}"
        raise InputError(f"this is no export of a catalog: {said}; give a file that export wrote") from error
    if read.aurora_catalog != FORM:
        raise InputError(f"form {read.aurora_catalog} of an export is unknown; this Aurora reads form {FORM}")
    return read


def import_yaml(sql: sqlite3.Connection, read: _Catalog, *, full_text: bool) -> list[str]:
    """All of it or nothing: a network that has versions here already would get a history that nobody wrote."""
    taken = [name for name in read.networks if history.versions(sql, name) or history.pending(sql, name)[0]]
    if taken:
        raise InputError(
            f"the catalog has {', '.join(taken)} already; import into a new catalog, or take the documents of single "
            f"networks from the export and import those as new versions"
        )
    for name, network in read.networks.items():
        _put_versions(sql, name, network, full_text=full_text)
        positions = {(section, e): (x, y) for section, placed in network.layout.items() for e, (x, y) in placed.items()}
        picture.set_layout(sql, name, positions)
        for title, mark in network.bookmarks.items():
            picture.set_bookmark(sql, Bookmark(name, title, **mark.model_dump()))
    return list(read.networks)


def _put_versions(sql: sqlite3.Connection, name: str, network: _Network, *, full_text: bool) -> None:
    ids = {}
    for version in network.versions:
        cursor = sql.execute(
            "INSERT INTO versions (network, number, state, document, author, at_us, why) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (name, version.number, version.state, version.document, version.author, version.at_us, version.why),
        )
        ids[version.number] = cursor.lastrowid
        problems = [
            Problem(
                p.id, p.found, p.way_out, p.element, tuple(p.path), Place(None, p.line), tuple(p.choices), p.severity
            )
            for p in version.problems
        ]
        history.write_problems(sql, cursor.lastrowid or 0, problems)
    if network.current is None:
        return
    chosen = {version.number: version for version in network.versions}.get(network.current)
    if chosen is None or chosen.state != "accepted":
        raise InputError(f"network {name}: version {network.current} cannot be current; name an accepted one")
    result = checked(chosen.document)
    if result.typed is None:
        raise NetworkError(result.errors)
    if result.typed.network.name != name:
        raise InputError(f"network {name}: its current document is of {result.typed.network.name!r}; correct the name")
    history.make_current(sql, ids[network.current] or 0, result.typed)
    history.show_parts(sql, name, result.typed.network, full_text=full_text)
    history.log(sql, name, "accepted", str(network.current), chosen.at_us)
