"""Layered layout of one level of a picture, left to right: ranks, order within ranks, and heights.

The steps are those of Sugiyama and others. Arcs that pass ranks get a bend point in each, so that they run around
what stands there; barycentres put neighbours on one height, and a least-squares fit places them without overlap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_SWEEPS = 12


@dataclass(frozen=True)
class Item:
    """Something with a size and ports, whose heights count from its top.

    ``side`` puts it into the first rank (``left``) or the last (``right``). If all items of a side have a ``wish``,
    they stand in the order of their wishes.
    """

    id: str
    width: float
    height: float
    ins: Mapping[str, float] = field(default_factory=dict)
    outs: Mapping[str, float] = field(default_factory=dict)
    side: str = ""
    stub: float = 0.0
    wish: float | None = None


@dataclass(frozen=True)
class Link:
    """From a port of an item to a port of another."""

    source: str
    out: str
    target: str
    into: str


@dataclass(frozen=True)
class Spacing:
    rows: float = 26.0
    columns: float = 46.0
    bends: float = 14.0


@dataclass(frozen=True)
class Plan:
    """Where the items' top left corners are, the corner points of each link, and the size of it all."""

    places: dict[str, tuple[float, float]]
    routes: dict[Link, list[tuple[float, float]]]
    width: float
    height: float


class _Slot:
    """An item, or a bend point of a link, in its rank."""

    def __init__(self, id: str, height: float, *, bend: bool = False) -> None:
        self.id = id
        self.height = height
        self.bend = bend
        self.y = 0.0
        self.before: list[tuple[_Slot, float, float]] = []  # neighbour, its port's height, own port's height
        self.after: list[tuple[_Slot, float, float]] = []


def arrange(items: Sequence[Item], links: Sequence[Link], spacing: Spacing = Spacing()) -> Plan:  # noqa: B008
    """Places the items. The same items and links in the same order always give the same plan."""
    by_id = {item.id: item for item in items}
    ranks = _ranks(items, links)
    layers: list[list[_Slot]] = [[] for _ in range(max(ranks.values(), default=-1) + 1)]
    slots: dict[str, _Slot] = {}
    for item in items:
        slots[item.id] = _Slot(item.id, item.height)
        layers[ranks[item.id]].append(slots[item.id])
    chains: dict[Link, list[_Slot]] = {}
    for link in links:
        chain = [slots[link.source]]
        heights = [by_id[link.source].outs[link.out]]
        for rank in range(ranks[link.source] + 1, ranks[link.target]):
            bend = _Slot(f"{link.source}.{link.out} {link.target}.{link.into} {rank}", 0.0, bend=True)
            layers[rank].append(bend)
            chain.append(bend)
            heights.append(0.0)
        chain.append(slots[link.target])
        heights.append(by_id[link.target].ins[link.into])
        chains[link] = chain
        for place in range(len(chain) - 1):
            left, right = chain[place], chain[place + 1]
            left.after.append((right, heights[place + 1], heights[place]))
            right.before.append((left, heights[place], heights[place + 1]))
    wishes = {item.id: item.wish for item in items if item.side and item.wish is not None}
    layers = _ordered(layers, wishes)
    _set_heights(layers, spacing)
    return _plan(layers, by_id, ranks, chains, spacing)


def _ranks(items: Sequence[Item], links: Sequence[Link]) -> dict[str, int]:
    """The longest way from a start, links that close a circle not counting; starts stand close to what follows."""
    after: dict[str, list[str]] = {item.id: [] for item in items}
    for link in links:
        if link.source != link.target:
            after[link.source].append(link.target)
    done: dict[str, None] = {}
    forward: list[tuple[str, str]] = []
    for start in after:
        open_: dict[str, None] = {}
        stack: list[tuple[str, int]] = [(start, 0)]
        while stack:
            node, place = stack.pop()
            if place == 0:
                if node in done:
                    continue
                open_[node] = None
            if place < len(after[node]):
                stack.append((node, place + 1))
                target = after[node][place]
                if target not in open_:
                    forward.append((node, target))
                    stack.append((target, 0))
            else:
                open_.pop(node, None)
                done[node] = None
    order = list(reversed(done))
    first = 1 if any(item.side == "left" for item in items) else 0
    ranks = {item.id: 0 if item.side == "left" else first for item in items}
    into: dict[str, list[str]] = {name: [] for name in ranks}
    out_of: dict[str, list[str]] = {name: [] for name in ranks}
    for source, target in forward:
        into[target].append(source)
        out_of[source].append(target)
    for name in order:
        for source in into[name]:
            ranks[name] = max(ranks[name], ranks[source] + 1)
    for item in items:
        if not into[item.id] and out_of[item.id] and not item.side:
            ranks[item.id] = max(first, min(ranks[target] for target in out_of[item.id]) - 1)
    last = max((ranks[item.id] for item in items if item.side != "right"), default=-1) + 1
    ranks |= {item.id: last for item in items if item.side == "right"}
    return ranks


def _ordered(layers: list[list[_Slot]], wishes: Mapping[str, float]) -> list[list[_Slot]]:
    """Sorts each rank by its neighbours' mean place, sweeping to and fro, and keeps the order that crosses least."""
    fixed = [bool(layer) and all(slot.id in wishes for slot in layer) for layer in layers]
    for layer, settled in zip(layers, fixed, strict=True):
        if settled:
            layer.sort(key=lambda slot: wishes[slot.id])
    best = [list(layer) for layer in layers]
    fewest = _crossings(best)
    current = [list(layer) for layer in layers]
    for sweep in range(2 * _SWEEPS):
        forth = sweep % 2 == 0
        for layer, settled in list(zip(current, fixed, strict=True))[:: 1 if forth else -1]:
            if settled:
                continue
            places = {slot: place for side in current for place, slot in enumerate(side)}
            means: dict[_Slot, float] = {}
            for place, slot in enumerate(layer):
                near = slot.before if forth else slot.after
                heights = [places[other] + port / (other.height + 1) for other, port, _ in near]
                means[slot] = sum(heights) / len(heights) if heights else float(place)
            layer.sort(key=means.__getitem__)
        if (crossings := _crossings(current)) < fewest:
            best, fewest = [list(layer) for layer in current], crossings
        if fewest == 0:
            break
    return best


def _crossings(layers: list[list[_Slot]]) -> int:
    total = 0
    for left, right in pairwise(layers):
        place = {slot: index for index, slot in enumerate(right)}
        ends: list[tuple[float, float]] = []
        for slot in left:
            spread = sorted((mine, place[other], port) for other, port, mine in slot.after if other in place)
            ends += [(there, port) for _, there, port in spread]
        total += sum(1 for index, end in enumerate(ends) for other in ends[index + 1 :] if other < end)
    return total


def _set_heights(layers: list[list[_Slot]], spacing: Spacing) -> None:
    for layer in layers:
        y = 0.0
        for slot, gap in zip(layer, _gaps(layer, spacing), strict=True):
            y += gap
            slot.y = y
            y += slot.height
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted: list[float] = []
            weights: list[float] = []
            for slot in layer:
                near = slot.before if sweep % 2 == 0 else slot.after
                near = near or (slot.after if sweep % 2 == 0 else slot.before)
                if sweep >= _SWEEPS - 2:
                    near = slot.before + slot.after
                heights = [other.y + port - mine for other, port, mine in near]
                wanted.append(sum(heights) / len(heights) if heights else slot.y)
                weights.append((4.0 if slot.bend else 1.0) * max(1, len(heights)))
            gaps = _gaps(layer, spacing)
            for slot, y in zip(layer, _without_overlap(wanted, weights, [s.height for s in layer], gaps), strict=True):
                slot.y = y


def _gaps(layer: Sequence[_Slot], spacing: Spacing) -> list[float]:
    """The least distance of each slot from the one above it."""
    pairs = zip([None, *layer], layer, strict=False)
    return [0.0 if up is None else spacing.bends if up.bend or slot.bend else spacing.rows for up, slot in pairs]


def _without_overlap(
    wanted: Sequence[float], weights: Sequence[float], heights: Sequence[float], gaps: Sequence[float]
) -> list[float]:
    """The heights nearest to those wanted (weighted least squares) that keep the order and the gaps."""
    offset = 0.0
    offsets: list[float] = []
    for place, gap in enumerate(gaps):
        offset += gap + (heights[place - 1] if place else 0.0)
        offsets.append(offset)
    blocks: list[tuple[float, float, int]] = []  # mean, weight, how many
    for want, weight, shift in zip(wanted, weights, offsets, strict=True):
        mean, total, count = want - shift, weight, 1
        while blocks and blocks[-1][0] > mean:
            above, above_weight, above_count = blocks.pop()
            mean = (mean * total + above * above_weight) / (total + above_weight)
            total += above_weight
            count += above_count
        blocks.append((mean, total, count))
    base = [mean for mean, _, count in blocks for _ in range(count)]
    return [round(y + shift, 1) for y, shift in zip(base, offsets, strict=True)]


def _plan(
    layers: list[list[_Slot]],
    items: Mapping[str, Item],
    ranks: Mapping[str, int],
    chains: Mapping[Link, list[_Slot]],
    spacing: Spacing,
) -> Plan:
    lefts: list[float] = []
    rights: list[float] = []
    x = 0.0
    for rank, layer in enumerate(layers):
        mine = [items[slot.id] for slot in layer if not slot.bend]
        lefts.append(x)
        x += max((item.width for item in mine), default=0.0)
        rights.append(x)
        climb = max((abs(o.y + p - s.y - m) for s in layer for o, p, m in s.after), default=0.0)
        plain = all(item.side for item in mine) or (
            rank + 1 < len(layers) and all(not s.bend and items[s.id].side for s in layers[rank + 1])
        )
        column = spacing.columns * (0.6 if plain else 1.0)
        x += column + min(climb * 0.22, 70.0) + max((item.stub for item in mine), default=0.0)
    top = min((slot.y for layer in layers for slot in layer), default=0.0)
    for layer in layers:
        for slot in layer:
            slot.y -= top
    places: dict[str, tuple[float, float]] = {}
    for rank, layer in enumerate(layers):
        for slot in layer:
            if not slot.bend:
                places[slot.id] = (lefts[rank], slot.y)
    routes: dict[Link, list[tuple[float, float]]] = {}
    for link, chain in chains.items():
        source, target = items[link.source], items[link.target]
        start = (places[link.source][0] + source.width, places[link.source][1] + source.outs[link.out])
        end = (places[link.target][0], places[link.target][1] + target.ins[link.into])
        route = [start, (rights[ranks[link.source]] + source.stub, start[1])]
        for step, slot in enumerate(chain[1:-1], start=ranks[link.source] + 1):
            route += [(lefts[step], slot.y), (rights[step], slot.y)]
        routes[link] = [*route, end]
    height = max((slot.y + slot.height for layer in layers for slot in layer), default=0.0)
    return Plan(places, routes, rights[-1] if rights else 0.0, height)
