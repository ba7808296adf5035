"""The picture as SVG that stands alone, for light and dark pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from aurora.drawing.graph import (
    CAPTION_SIZE,
    HEAD_HEIGHT,
    SPARK_HEIGHT,
    SPARK_WIDTH,
    TITLE_SIZE,
    Frame,
    Node,
    Picture,
    Point,
    all_frames,
    picture,
)
from aurora.drawing.heat import LEGEND_HEIGHT, heat_rules, heated, legend, legend_width
from aurora.drawing.icons import ICONS
from aurora.drawing.layout import Layout, Rect, Route, layout
from aurora.drawing.lettering import fitted, text_width
from aurora.drawing.style import INK, style_sheet
from aurora.model.network import Network
from aurora.model.qos import Graph
from aurora.shedding.load import LoadAnalysis

_MARGIN = 32.0
_LEAST_WIDTH = 420.0


def draw(network: Network, load: LoadAnalysis | None = None) -> str:
    """The network as an SVG document. The same network always gives the same text.

    With a ``load`` its boxes are coloured by it.
    """
    shown = picture(network)
    placed = layout(shown)
    width = max(_LEAST_WIDTH, placed.width + 2 * _MARGIN)
    style, key = style_sheet(), 0.0
    if load is not None:
        # Nothing but colours and captions changes, so the boxes stand where they stand in the plain picture.
        shown = heated(shown, load)
        width = max(width, legend_width() + 2 * _MARGIN)
        style, key = style + heat_rules(*INK), LEGEND_HEIGHT
    head = _head(network, width)
    top = 2 * _MARGIN + 20 * len(head)
    height = top + placed.height + key + _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}" '
        f'viewBox="0 0 {_n(width)} {_n(height)}" role="img" aria-label={quoteattr("network " + network.name)}>',
        f"<title>{_text(network.name)}</title>",
        f"<style>{style}</style>",
        f'<rect class="page" width="{_n(width)}" height="{_n(height)}"/>',
        *head,
        f'<g transform="translate({_n(_MARGIN)} {_n(top)})">',
        *(line for frame in all_frames(shown.root) for line in _frame(frame, placed.frames[frame.name])),
        *_arcs(placed.routes),
        *(line for name, node in shown.nodes.items() for line in _node(node, placed.nodes[name])),
        *_points(shown, placed),
        "</g>",
        *(() if load is None else legend(load, _MARGIN, top + placed.height + 20)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _text(value: str) -> str:
    """XML text; characters that XML cannot hold are left out."""
    return escape("".join(letter for letter in value if letter in "\t\n" or " " <= letter not in "\ufffe\uffff"))


def _head(network: Network, width: float) -> list[str]:
    room = width - 2 * _MARGIN
    lines = [
        f'<text class="network" x="{_n(_MARGIN)}" y="{_n(_MARGIN + 14)}">{_text(fitted(network.name, room, 20))}</text>'
    ]
    for line in _wrapped(network.description, room, 12.5)[:4]:
        y = _MARGIN + 16 + 20 * len(lines)
        lines.append(f'<text class="description" x="{_n(_MARGIN)}" y="{_n(y)}">{_text(line)}</text>')
    return lines


def _wrapped(text: str, width: float, size: float) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(fitted(word, width, size))
    return lines


def _frame(frame: Frame, rect: Rect) -> Iterator[str]:
    title = fitted(frame.name, rect.width - 28, 12)
    yield f"<g data-superbox={quoteattr(frame.name)}><title>{_hover(f'superbox {frame.name}', frame.note)}</title>"
    yield f'<rect class="frame" {_box(rect)} rx="14"/>'
    yield f'<text class="frame-title" x="{_n(rect.x + 14)}" y="{_n(rect.y + 21)}">{_text(title)}</text></g>'


def _hover(*lines: str) -> str:
    return _text("\n".join(line for line in lines if line))


def _box(rect: Rect) -> str:
    return f'x="{_n(rect.x)}" y="{_n(rect.y)}" width="{_n(rect.width)}" height="{_n(rect.height)}"'


def _arcs(routes: Sequence[Route]) -> Iterator[str]:
    for route in routes:
        (x, y), rest = route.points[0], route.points[1:]
        path = [f"M{_n(x)} {_n(y)}"]
        *between, (end_x, end_y) = rest
        if route.head:
            end_x -= 6
        for to_x, to_y in [*between, (end_x, end_y)]:
            if to_y == y:
                path.append(f"H{_n(to_x)}")
            else:
                bend = max(abs(to_x - x) / 2, 24.0 if to_x <= x else 0.0)
                path.append(f"C{_n(x + bend)} {_n(y)} {_n(to_x - bend)} {_n(to_y)} {_n(to_x)} {_n(to_y)}")
            x, y = to_x, to_y
        names = [f"{a.source}.{a.port} → {a.target}" for a in route.arrows]
        yield f'<path class="arc" d="{" ".join(path)}"><title>{_hover(*names)}</title></path>'
        if route.head:
            yield f'<path class="head" d="M{_n(x + 6)} {_n(y)}l-8 -4v8z"/>'


def _node(node: Node, rect: Rect) -> Iterator[str]:
    kind = {"stream": "stream", "static": "connection-point", "box": "box", "output": "output"}[node.shape]
    hover = _hover(f"{node.caption} {node.title}", node.summary, node.note)
    round_ = 8.0 if node.shape == "box" else min(24.0, rect.height / 2)
    card = f"card {node.tint}".rstrip() if node.shape == "box" else f"card line-{node.family}"
    warm = ' class="heated"' if node.tint else ""
    yield f"<g{warm} data-{kind}={quoteattr(node.title)}><title>{hover}</title>"
    yield f'<rect class="{card}" {_box(rect)} rx="{_n(round_)}"/>'
    if node.shape == "box":
        bar = (
            f"M{_n(rect.x + 8)} {_n(rect.y)}h-1a7 7 0 0 0-7 7v{_n(rect.height - 14)}a7 7 0 0 0 7 7h1"
            f"a4 4 0 0 1-4-4v-{_n(rect.height - 8)}a4 4 0 0 1 4-4z"
        )
        yield f'<path class="fill-{node.family}" d="{bar}"/>'
    yield from _lettering(node, rect)
    yield from _ports(node, rect)
    for place, (label, graph) in enumerate(node.sparks):
        yield from _spark(label, graph, rect.x + 20 + place * (SPARK_WIDTH + 8), rect.y + 42)
    yield "</g>"


def _lettering(node: Node, rect: Rect) -> Iterator[str]:
    inset = 14.0 if node.shape == "box" else 18.0
    left = rect.x + inset
    room = rect.width - inset - 12
    icon = ICONS.get(node.family, ICONS["other"])
    yield f'<g class="icon line-{node.family}" transform="translate({_n(left)} {_n(rect.y + 10)})">{icon}</g>'
    title = fitted(node.title, room - 22, TITLE_SIZE)
    caption = fitted(node.caption, room - 22, CAPTION_SIZE)
    yield f'<text class="title" x="{_n(left + 22)}" y="{_n(rect.y + 18)}">{_text(title)}</text>'
    yield f'<text class="caption" x="{_n(left + 22)}" y="{_n(rect.y + 31)}">{_text(caption)}</text>'
    if node.summary:
        summary = fitted(node.summary, room, 10, mono=True)
        y = rect.y + (50 if node.shape == "box" else 46)
        yield f'<text class="summary" x="{_n(left)}" y="{_n(y)}">{_text(summary)}</text>'


def _ports(node: Node, rect: Rect) -> Iterator[str]:
    if node.shape == "box" and node.labelled:
        y = rect.y + HEAD_HEIGHT - 2
        yield f'<path class="rule" d="M{_n(rect.x + 12)} {_n(y)}H{_n(rect.x + rect.width - 8)}"/>'
    half = rect.width / 2 - 18
    for label, height in zip(node.in_labels, node.ins, strict=False):
        shown = _text(fitted(label, half, 10))
        yield f'<text class="port" x="{_n(rect.x + 14)}" y="{_n(rect.y + height + 3.5)}">{shown}</text>'
    for port, height in node.outs.items():
        x, y = rect.x + rect.width, rect.y + height
        if len(node.outs) > 1:
            room = half if node.in_labels else rect.width - 28
            shown = _text(fitted(port, room, 10))
            yield f'<text class="port" x="{_n(x - 10)}" y="{_n(y + 3.5)}" text-anchor="end">{shown}</text>'
        yield f'<circle class="pin" cx="{_n(x)}" cy="{_n(y)}" r="3"/>'


def _spark(label: str, graph: Graph, x: float, y: float) -> Iterator[str]:
    """A graph from its first point to its last; loss runs from all tuples delivered on the left to fewer."""
    points = graph.points[::-1] if label == "loss" else graph.points
    first, last = points[0][0], points[-1][0]
    span = last - first or 1.0
    run = 0.85 if label == "latency" else 1.0
    corners = [
        (x + (at - first) / span * SPARK_WIDTH * run, y + (1 - utility) * (SPARK_HEIGHT - 3) + 1.5)
        for at, utility in points
    ]
    corners.append((x + SPARK_WIDTH, corners[-1][1]))
    line = " ".join(f"{_n(px)},{_n(py)}" for px, py in corners)
    named = ", ".join(f"{at:g}: {utility:g}" for at, utility in points)
    yield f"<g><title>{_hover(f'utility by {label}', named)}</title>"
    yield f'<path class="axis" d="M{_n(x)} {_n(y)}v{_n(SPARK_HEIGHT)}h{_n(SPARK_WIDTH)}"/>'
    yield f'<polyline class="spark" points="{line}"/>'
    caption = fitted(label.split()[0], SPARK_WIDTH + 6, CAPTION_SIZE)
    yield f'<text class="caption" x="{_n(x)}" y="{_n(y + SPARK_HEIGHT + 11)}">{_text(caption)}</text></g>'


def _points(shown: Picture, placed: Layout) -> Iterator[str]:
    """Connection points stand on the straight start of their arc, one behind the other where there are several."""
    taken: dict[tuple[str, str], float] = {}
    for point in shown.points:
        rect = placed.nodes[point.node]
        start = taken.get((point.node, point.port), rect.x + rect.width + 10)
        taken[point.node, point.port] = start + text_width(point.label, 10) + 12
        yield from _point(point, start, rect.y + shown.nodes[point.node].outs[point.port])


def _point(point: Point, x: float, y: float) -> Iterator[str]:
    yield f"<g data-connection-point={quoteattr(point.name)}>"
    yield f"<title>{_hover(f'connection point {point.label}', point.note)}</title>"
    yield f'<path class="arc" d="M{_n(x - 10)} {_n(y)}h14"/><circle class="point" cx="{_n(x + 4)}" cy="{_n(y)}" r="5"/>'
    yield f'<text class="point-label" x="{_n(x - 2)}" y="{_n(y - 9)}">{_text(fitted(point.label, 160, 10))}</text></g>'
