"""Builds plain data from a stream of events, with the line of every part, and guards against hostile documents.

YAML and JSON give the same events, so both get the same lines, the same limits and the same report of double keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from aurora.errors import Place, Problem
from aurora.model.places import Path, Places, element_at

MAX_DEPTH = 50
MAX_NODES = 500_000
"""Counted after aliases are followed, so that a few nested aliases cannot stand for billions of nodes."""


@dataclass(frozen=True)
class Event:
    """One piece of a document. ``anchor`` names what a later ``alias`` event repeats."""

    kind: Literal["scalar", "mapping", "list", "end", "alias"]
    line: int
    value: Any = None
    anchor: str | None = None


class MalformedError(Exception):
    """The text is not YAML or JSON, or asks for too much; nothing of it can be used."""

    def __init__(self, id: str, found: str, way_out: str, line: int | None = None) -> None:
        super().__init__(found)
        self.problem = Problem(id, found, way_out, "network", place=Place(None, line))


@dataclass
class Tree:
    """The data, the lines of its parts, and keys that are written twice."""

    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    doubles: list[Problem] = field(default_factory=list)

    def places(self, file: str | None) -> Places:
        return Places(file, self.lines)


@dataclass
class _Open:
    """A mapping or list whose end has not come yet. ``key`` waits for its value."""

    node: _Node
    key: Any = None
    has_key: bool = False


@dataclass
class _Node:
    """A part of the document before aliases are followed; ``items`` are (key or index, line, part)."""

    kind: str
    line: int
    value: Any = None
    items: list[tuple[Any, int, _Node]] = field(default_factory=list)
    closed: bool = True


def build(events: Iterable[Event]) -> Tree:
    """The tree of the events; raises MalformedError when there is too much of it."""
    root = _compose(events)
    tree = Tree()
    if root is not None:
        tree.lines[()] = root.line
        tree.data = _expand(root, (), tree, [0])
    return tree


def _compose(events: Iterable[Event]) -> _Node | None:
    root: _Node | None = None
    anchors: dict[str, _Node] = {}
    stack: list[_Open] = []
    for count, event in enumerate(events):
        if count > MAX_NODES:
            raise _too_big(event.line)
        if event.kind == "end":
            stack.pop().node.closed = True
            continue
        if event.kind == "alias":
            node = _aliased(event, anchors)
        else:
            node = _Node(event.kind, event.line, event.value, closed=event.kind == "scalar")
            if event.anchor is not None:
                anchors[event.anchor] = node
        if stack:
            _put(stack[-1], node, event.line)
        else:
            root = node
        if event.kind in ("mapping", "list"):
            if len(stack) >= MAX_DEPTH:
                raise MalformedError("too-deep", f"more than {MAX_DEPTH} levels of nesting", "nest less", event.line)
            stack.append(_Open(node))
    return root


def _aliased(event: Event, anchors: dict[str, _Node]) -> _Node:
    node = anchors.get(event.value)
    if node is None:
        raise MalformedError(
            "malformed-document", f"the alias *{event.value} has no anchor", f"put &{event.value} before it", event.line
        )
    if not node.closed:
        raise MalformedError(
            "malformed-document", f"the alias *{event.value} stands inside what it repeats", "write it out", event.line
        )
    return node


def _put(holder: _Open, node: _Node, line: int) -> None:
    if holder.node.kind == "list":
        holder.node.items.append((len(holder.node.items), line, node))
    elif holder.has_key:
        key_line, key = holder.key
        holder.node.items.append((key, key_line, node))
        holder.has_key = False
    elif node.kind != "scalar":
        raise MalformedError("malformed-document", "a key is a list or a mapping", "write a name", line)
    else:
        holder.key, holder.has_key = (line, node.value), True


def _expand(node: _Node, path: Path, tree: Tree, spent: list[int]) -> Any:
    """The plain data of a part. Aliases are repeated here, so this is where they are counted."""
    spent[0] += 1
    if spent[0] > MAX_NODES:
        found = f"with what its aliases repeat, the document has more than {MAX_NODES:,} parts"
        raise MalformedError("too-many-aliases", found, "write fewer aliases of aliases", node.line)
    if len(path) > MAX_DEPTH:
        raise MalformedError("too-deep", f"more than {MAX_DEPTH} levels of nesting", "nest less", node.line)
    if node.kind == "scalar":
        return node.value
    if node.kind == "list":
        for index, line, _ in node.items:
            tree.lines[(*path, index)] = line
        return [_expand(item, (*path, index), tree, spent) for index, _, item in node.items]
    data: dict[Any, Any] = {}
    for key, line, item in node.items:
        here = (*path, key)
        if key in data:
            tree.doubles.append(_double(here, tree.lines[here], line))
            continue
        tree.lines[here] = line
        data[key] = _expand(item, here, tree, spent)
    return data


def _double(path: Path, first: int, second: int) -> Problem:
    return Problem(
        "duplicate-name",
        f"{path[-1]!r} is written on line {first} and again on line {second}",
        "rename or remove one of them",
        element_at(path),
        path,
        Place(None, second),
    )


def _too_big(line: int) -> MalformedError:
    return MalformedError(
        "document-too-big",
        f"the document has more than {MAX_NODES:,} parts",
        "give a network document, not data; or split the network",
        line,
    )
