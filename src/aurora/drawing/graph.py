"""What there is to draw: nodes with their ports and sizes, arcs between them, and the frames around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from aurora.drawing.lettering import text_width
from aurora.drawing.summary import FAMILIES, IN_PORTS, summarise
from aurora.model.box import OUT, Box
from aurora.model.network import Network
from aurora.model.qos import Graph, QoS

Shape = Literal["stream", "static", "box", "output"]

BOX_WIDTH = 196.0
HEAD_HEIGHT = 62.0
PORT_ROW = 18.0
PORT_STEP = 14.0
SPARK_WIDTH = 48.0
SPARK_HEIGHT = 24.0
CAPTION_SIZE = 9.5
TITLE_SIZE = 13.0


@dataclass(frozen=True)
class Node:
    """A stream, static data, a box or an output. Ports are given with their height above the node's top edge."""

    id: str
    shape: Shape
    title: str
    caption: str
    summary: str
    family: str
    width: float
    height: float
    ins: tuple[float, ...] = ()
    outs: dict[str, float] = field(default_factory=dict)
    in_labels: tuple[str, ...] = ()
    sparks: tuple[tuple[str, Graph], ...] = ()
    note: str = ""
    tint: str = ""

    @property
    def labelled(self) -> bool:
        """Whether its ports have names to show."""
        return len(self.outs) > 1 or bool(self.in_labels)


@dataclass(frozen=True)
class Arrow:
    """From a node's port to another node's input."""

    source: str
    port: str
    target: str
    place: int


@dataclass(frozen=True)
class Point:
    """A live connection point, on the arc that leaves a port."""

    name: str
    node: str
    port: str
    label: str
    note: str


@dataclass(frozen=True)
class Frame:
    """A superbox: its nodes, and the frames inside it."""

    name: str
    members: tuple[str, ...]
    frames: tuple[Frame, ...]
    note: str = ""


@dataclass(frozen=True)
class Picture:
    """Everything to draw. ``root`` is the frame around the whole network, which is not shown itself."""

    nodes: dict[str, Node]
    arrows: tuple[Arrow, ...]
    points: tuple[Point, ...]
    root: Frame


def picture(network: Network) -> Picture:
    """What to draw of a network. Arcs from what does not exist are left out, so an unfinished network can be seen."""
    nodes: dict[str, Node] = {}
    for name, stream in network.streams.items():
        summary = ", ".join(f"{column} {kind}" for column, kind in stream.schema.items())
        nodes[name] = _pill(name, "stream", name, "stream", summary, stream.description)
    for name, point in network.connection_points.items():
        if point.dangling and name not in nodes:
            caption = "static data" if point.file is None else f"static data from {point.file}"
            summary = ", ".join(f"{column} {kind}" for column, kind in (point.schema or {}).items())
            nodes[name] = _pill(name, "static", name, caption, summary, point.description)
    for name, box in network.boxes.items():
        nodes[name] = _box_node(box)
    for name, output in network.outputs.items():
        sparks = () if output.qos is None else _sparks(output.qos)
        nodes[f"output {name}"] = _output_node(name, sparks, output.description)
    arrows = [
        Arrow(found[0], found[1], name, place)
        for name, box in network.boxes.items()
        for place, source in enumerate(box.inputs)
        if (found := _port(nodes, source)) is not None
    ]
    for name, output in network.outputs.items():
        if (found := _port(nodes, output.source)) is not None:
            arrows.append(Arrow(*found, f"output {name}", 0))
    points = [
        Point(name, *found, f"{name}, {point.keep}" if point.keep else name, point.description)
        for name, point in network.connection_points.items()
        if point.on is not None and (found := _port(nodes, point.on)) is not None
    ]
    return Picture(nodes, tuple(arrows), tuple(points), _frames(network, nodes))


def _sparks(qos: QoS) -> tuple[tuple[str, Graph], ...]:
    sparks = [(label, graph) for label, graph in (("latency", qos.latency), ("loss", qos.loss)) if graph is not None]
    if qos.value is not None:
        sparks.append((f"value of {qos.value.on}", qos.value.graph))
    return tuple(sparks)


def _port(nodes: dict[str, Node], source: str) -> tuple[str, str] | None:
    name, dot, port = source.partition(".")
    node = nodes.get(name)
    if node is None or not node.outs or (dot and port not in node.outs):
        return None
    return name, port if dot else next(iter(node.outs))


def _pill(id: str, shape: Shape, title: str, caption: str, summary: str, note: str) -> Node:
    width = min(200.0, max(110.0, text_width(title, TITLE_SIZE) + 56, text_width(summary, 10, mono=True) + 34))
    return Node(id, shape, title, caption, summary, shape, width, 56.0, outs={OUT: 28.0}, note=note)


def _output_node(name: str, sparks: tuple[tuple[str, Graph], ...], note: str) -> Node:
    width = max(130.0, min(220.0, text_width(name, TITLE_SIZE) + 56), 36 + (SPARK_WIDTH + 8) * len(sparks))
    height = 44.0 + (SPARK_HEIGHT + 22 if sparks else 0)
    return Node(
        f"output {name}",
        "output",
        name,
        "output",
        "",
        "output",
        width,
        height,
        (height / 2,),
        sparks=sparks,
        note=note,
    )


def _box_node(box: Box) -> Node:
    out_names = box.output_ports()
    in_labels = IN_PORTS.get(box.kind, ())
    in_labels = in_labels if len(in_labels) == len(box.inputs) else ()
    rows = max(len(out_names) if len(out_names) > 1 else 0, len(in_labels))
    height = max(HEAD_HEIGHT + (rows * PORT_ROW + 6 if rows else 0), PORT_STEP * (len(box.inputs) + 1))

    def places(count: int, labelled: bool) -> list[float]:
        if labelled:
            return [HEAD_HEIGHT + PORT_ROW * (row + 0.5) for row in range(count)]
        middle, step = HEAD_HEIGHT / 2 if count == 1 else height / 2, min(PORT_STEP, height / (count + 1))
        return [middle + (place - (count - 1) / 2) * step for place in range(count)]

    outs = dict(zip(out_names, places(len(out_names), len(out_names) > 1), strict=True))
    return Node(
        box.name,
        "box",
        box.name,
        box.kind,
        summarise(box),
        FAMILIES.get(box.kind, "other"),
        BOX_WIDTH,
        height,
        tuple(places(len(box.inputs), bool(in_labels))),
        outs,
        in_labels,
        note=box.description,
    )


def _frames(network: Network, nodes: dict[str, Node]) -> Frame:
    """The tree of superboxes. What two superboxes claim belongs to the first; superboxes in a circle are left out."""
    taken: set[str] = set()

    def frame(name: str) -> Frame:
        taken.add(name)
        superbox = network.superboxes[name]
        mine = [member for member in superbox.boxes if member not in taken]
        taken.update(member for member in mine if member in network.boxes)
        inner = tuple(frame(member) for member in mine if member in network.superboxes and member not in taken)
        members = tuple(member for member in mine if member in network.boxes)
        return Frame(name, members, inner, superbox.description)

    held = {member for superbox in network.superboxes.values() for member in superbox.boxes}
    tops = tuple(frame(name) for name in network.superboxes if name not in held)
    kept = tuple(top for top in tops if _size(top))
    return Frame("", tuple(name for name in nodes if name not in taken), kept)


def _size(frame: Frame) -> int:
    return len(frame.members) + sum(_size(inner) for inner in frame.frames)


def all_frames(frame: Frame) -> Sequence[Frame]:
    """The frames inside a frame, outermost first."""
    return [found for inner in frame.frames for found in (inner, *all_frames(inner))]
