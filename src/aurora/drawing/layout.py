"""Where everything goes: each frame is laid out on its own and then stands as one block in the frame around it.

An arc that enters or leaves a frame does so at a gate on the frame's left or right edge. So arcs keep clear of the
boxes of frames they only pass, and no frame ever covers what does not belong to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aurora.drawing.graph import Arrow, Frame, Picture
from aurora.drawing.layers import Item, Link, Plan, arrange
from aurora.drawing.lettering import text_width

PAD = 20.0
HEAD = 34.0
POINT_SIZE = 10.0


@dataclass(frozen=True)
class Rect:
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Route:
    """A stretch of an arc. ``arrows`` are those that run along it; it has a head if it ends at a node."""

    points: tuple[tuple[float, float], ...]
    arrows: tuple[Arrow, ...]
    head: bool


@dataclass(frozen=True)
class Layout:
    nodes: dict[str, Rect]
    frames: dict[str, Rect]
    routes: tuple[Route, ...]
    width: float
    height: float


@dataclass(frozen=True)
class _Block:
    """A frame that has been laid out: its item in the frame around it, its plan, and its arrows by link."""

    frame: Frame
    item: Item
    plan: Plan
    links: dict[Link, list[Arrow]]
    blocks: dict[str, _Block]


Wishes = Mapping[tuple[str, str], float]
"""At which height a gate would like to be: by frame, and by the id of the gate's item."""


def layout(picture: Picture) -> Layout:
    """Lays out twice: only once all is placed is it known in which order arcs would best pass a frame's gates."""
    first = _layout(picture, {})
    return _layout(picture, _wishes(picture, first)) if first.frames else first


def _wishes(picture: Picture, placed: Layout) -> Wishes:
    paths = _paths(picture.root)
    ends: dict[tuple[str, str], list[float]] = {}
    for arrow in picture.arrows:
        source, target = paths[arrow.source], paths[arrow.target]
        gate = f"{arrow.source}.{arrow.port}"
        leaves = placed.nodes[arrow.source].y + picture.nodes[arrow.source].outs[arrow.port]
        enters = placed.nodes[arrow.target].y + picture.nodes[arrow.target].ins[arrow.place]
        for frame in source:
            if frame not in target:
                ends.setdefault((frame, f"out {gate}"), []).append(enters)
        for frame in target:
            if frame not in source:
                ends.setdefault((frame, f"in {gate}"), []).append(leaves)
    return {gate: sum(heights) / len(heights) for gate, heights in ends.items()}


def _layout(picture: Picture, wishes: Wishes) -> Layout:
    block = _block(picture, picture.root, _paths(picture.root), wishes)
    nodes: dict[str, Rect] = {}
    frames: dict[str, Rect] = {}
    routes: list[Route] = []

    def put(block: _Block, x: float, y: float) -> None:
        for item, (left, top) in block.plan.places.items():
            if item in block.blocks:
                inner = block.blocks[item]
                frames[inner.frame.name] = Rect(x + left, y + top, inner.item.width, inner.item.height)
                put(inner, x + left, y + top + HEAD)
            elif item in picture.nodes:
                node = picture.nodes[item]
                nodes[item] = Rect(x + left, y + top, node.width, node.height)
        for link, arrows in block.links.items():
            points = tuple((round(px + x, 1), round(py + y, 1)) for px, py in block.plan.routes[link])
            routes.append(Route(points, tuple(arrows), link.target in picture.nodes))

    put(block, 0.0, 0.0)
    return Layout(nodes, frames, tuple(routes), block.plan.width, block.plan.height)


def _paths(frame: Frame, outer: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """For every node the frames it stands in, outermost first."""
    paths = dict.fromkeys(frame.members, outer)
    for inner in frame.frames:
        paths |= _paths(inner, (*outer, inner.name))
    return paths


def _block(
    picture: Picture,
    frame: Frame,
    paths: dict[str, tuple[str, ...]],
    wishes: Wishes,
    outer: tuple[str, ...] = (),
) -> _Block:
    here = outer if frame is picture.root else (*outer, frame.name)
    blocks = {f"frame {inner.name}": _block(picture, inner, paths, wishes, here) for inner in frame.frames}
    gates_in: dict[str, None] = {}
    gates_out: dict[str, None] = {}
    links: dict[Link, list[Arrow]] = {}
    for arrow in picture.arrows:
        source, target = paths[arrow.source], paths[arrow.target]
        inside, reached = source[: len(here)] == here, target[: len(here)] == here
        if not inside and not reached:
            continue
        gate = f"{arrow.source}.{arrow.port}"
        if inside and reached and len(source) > len(here) < len(target) and source[len(here)] == target[len(here)]:
            continue
        if inside:
            start, out = (arrow.source, arrow.port) if source == here else (f"frame {source[len(here)]}", gate)
        else:
            start, out = f"in {gate}", gate
            gates_in[gate] = None
        if reached:
            end, into = (arrow.target, str(arrow.place)) if target == here else (f"frame {target[len(here)]}", gate)
        else:
            end, into = f"out {gate}", gate
            gates_out[gate] = None
        links.setdefault(Link(start, out, end, into), []).append(arrow)
    stubs = {f"{point.node}.{point.port}": text_width(point.label, POINT_SIZE) + 12 for point in picture.points}
    items = [
        Item(f"in {gate}", 0.0, 0.0, outs={gate: 0.0}, side="left", wish=wishes.get((frame.name, f"in {gate}")))
        for gate in gates_in
    ]
    for name in frame.members:
        node = picture.nodes[name]
        stub = max((stubs.get(f"{name}.{port}", 0.0) for port in node.outs), default=0.0)
        ins = {str(place): y for place, y in enumerate(node.ins)}
        items.append(Item(name, node.width, node.height, ins, node.outs, stub=stub))
    items += [block.item for block in blocks.values()]
    items += [
        Item(f"out {gate}", 0.0, 0.0, ins={gate: 0.0}, side="right", wish=wishes.get((frame.name, f"out {gate}")))
        for gate in gates_out
    ]
    plan = arrange(items, list(links))
    return _framed(picture, frame, plan, links, blocks, list(gates_in), list(gates_out))


def _framed(
    picture: Picture,
    frame: Frame,
    plan: Plan,
    links: dict[Link, list[Arrow]],
    blocks: dict[str, _Block],
    gates_in: list[str],
    gates_out: list[str],
) -> _Block:
    """The frame around a plan. Where no gate stands on an edge, the frame keeps a distance from what is inside."""
    if frame is picture.root:
        return _Block(frame, Item("", plan.width, plan.height), plan, links, blocks)
    left = 0.0 if gates_in else PAD
    right = 0.0 if gates_out else PAD
    plan = Plan(
        {item: (x + left, y) for item, (x, y) in plan.places.items()},
        {link: [(x + left, y) for x, y in route] for link, route in plan.routes.items()},
        plan.width + left + right,
        plan.height,
    )
    item = Item(
        f"frame {frame.name}",
        plan.width,
        plan.height + HEAD + PAD,
        {gate: HEAD + plan.places[f"in {gate}"][1] for gate in gates_in},
        {gate: HEAD + plan.places[f"out {gate}"][1] for gate in gates_out},
    )
    return _Block(frame, item, plan, links, blocks)
