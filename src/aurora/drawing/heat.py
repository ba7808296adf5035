"""The load of a network laid over its picture: boxes coloured by how busy they keep a core, and what the colours mean.

The colours are those of shares of one core, not of the busiest box: a picture in which nothing is red is one in which
nothing is wrong, and two pictures can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aurora.drawing.graph import Node, Picture
from aurora.drawing.lettering import text_width
from aurora.model.typed import Producer
from aurora.shedding.load import LoadAnalysis

_STEPS = (
    (0.01, "below 1% of a core"),
    (0.05, "1% to 5%"),
    (0.2, "5% to 20%"),
    (0.5, "20% to 50%"),
    (1.0, "50% to 100%"),
)
_BEYOND = "more than a core"
_LIGHT = ("#eef5ea", "#d9ecc6", "#fcf1b8", "#fdd996", "#fab487", "#f28f80")
_DARK = ("#1d2a25", "#25402b", "#474220", "#5c4519", "#74401c", "#8a2f28")
LEGEND_HEIGHT = 58.0


def level(load: float) -> int:
    """Which colour a load has.

    >>> [level(load) for load in (0.0, 0.01, 0.3, 1.0, 1.01)]
    [0, 1, 3, 4, 5]
    """
    if load > _STEPS[-1][0]:
        return len(_STEPS)
    return min(sum(load >= most for most, _ in _STEPS), len(_STEPS) - 1)


def heated(shown: Picture, found: LoadAnalysis) -> Picture:
    """The picture with rates and loads in captions, and a tint for every box."""
    delivered = {arrow.target: found.arcs.get(Producer(arrow.source, arrow.port)) for arrow in shown.arrows}

    def node(node: Node) -> Node:
        if node.shape == "box" and node.id in found.boxes:
            box = found.boxes[node.id]
            tint = f"heat-{level(box.load)}" + (" hottest" if node.id == found.bottleneck else "")
            caption = f"{node.caption} · {percent(box.load)} · {per_second(box.rate_per_s)}"
            note = f"{box.cost_s * 1e6:.3g} µs per tuple, at most {per_second(box.most_per_s)} on one core"
            return replace(node, caption=caption, tint=tint, note="\n".join(filter(None, (node.note, note))))
        arc = found.arcs.get(Producer(node.id)) if node.shape == "stream" else delivered.get(node.id)
        if arc is None or node.shape not in ("stream", "output"):
            return node
        work = f"a tuple makes {arc.coefficient_s * 1e6:.3g} µs of work" if node.shape == "stream" else ""
        rate = per_second(arc.rate_per_s)
        caption = f"{node.caption} · {rate}" if node.shape == "stream" else rate
        return replace(node, caption=caption, note="\n".join(filter(None, (node.note, work))))

    return replace(shown, nodes={name: node(each) for name, each in shown.nodes.items()})


def percent(load: float) -> str:
    """
    >>> percent(0.1234), percent(1.5), percent(0.00004), percent(0.0)
    ('12.3%', '150%', '0.004%', '0%')
    """
    return f"{load * 100:.3g}%" if load < 10 else f"{load * 100:,.0f}%"


def per_second(rate: float) -> str:
    """
    >>> per_second(5000), per_second(1_234_567), per_second(0.25), per_second(999.6)
    ('5k/s', '1.23M/s', '0.25/s', '1k/s')
    """
    for most, factor, unit in ((999.5, 1.0, ""), (999.5e3, 1e3, "k"), (999.5e6, 1e6, "M")):
        if rate < most:
            return f"{rate / factor:.3g}{unit}/s"
    return f"{rate / 1e9:.3g}G/s"


def verdict(found: LoadAnalysis) -> str:
    """Whether it fits, in a line."""
    need = f"needs {found.min_cap:.3g} cores; {found.cores:g} with headroom {found.headroom:g} give {found.usable:.3g}"
    return f"{need}: {'fits' if found.fits else 'does not fit'}"


def legend(found: LoadAnalysis, x: float, y: float) -> Iterator[str]:
    yield f'<g class="legend" transform="translate({x:.1f} {y:.1f})">'
    yield f'<text class="description" x="0" y="12">{verdict(found)}</text>'
    at = 0.0
    for step, words in enumerate([*(words for _, words in _STEPS), _BEYOND]):
        yield f'<rect class="card heat-{step}" x="{at:.1f}" y="26" width="18" height="14" rx="3"/>'
        yield f'<text class="port" x="{at + 24:.1f}" y="37">{words}</text>'
        at += 24 + text_width(words, 10) + 16
    yield "</g>"


def legend_width() -> float:
    return sum(40 + text_width(words, 10) for words in [*(words for _, words in _STEPS), _BEYOND])


def heat_rules(ink_light: str, ink_dark: str) -> str:
    """Text on a coloured box is in full ink, so that it can be read on every colour."""
    light, dark = (list(_rules(colours, ink)) for colours, ink in ((_LIGHT, ink_light), (_DARK, ink_dark)))
    inner = "\n".join(f"  {rule}" for rule in dark)
    return "\n".join([*light, "@media (prefers-color-scheme: dark) {", inner, "}", ""])


def _rules(colours: tuple[str, ...], ink: str) -> Iterator[str]:
    for step, colour in enumerate(colours):
        yield f".heat-{step} {{ fill: {colour}; }}"
    yield f".heated .caption, .heated .summary, .heated .port {{ fill: {ink}; }}"
    yield f".hottest {{ stroke: {ink}; stroke-width: 2.5; }}"
