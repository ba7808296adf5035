"""Line charts and stacked bars as SVG text; nothing is needed to look at them but a browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, isfinite, log10

from benchmarks.picture import INK

COLOURS = ("#1f4e9c", "#b5482f", "#3b7a57", "#8a5a9c", "#b08a1e", "#5a6470")
MARKS = ("circle", "square", "diamond", "triangle")
FAINT, GREY = "#e3e3e3", "#555555"
WIDTH, HEIGHT, LEFT, TOP, RIGHT = 460, 270, 74, 62, 190
Line = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Axis:
    """One axis: what it shows, and whether its steps are factors."""

    label: str
    log: bool = False
    zero: bool = True

    def bounds(self, values: Sequence[float]) -> tuple[float, float]:
        found = [value for value in values if isfinite(value) and (value > 0 or not self.log)]
        low, high = min(found, default=0.1), max(found, default=1.0)
        if self.log:
            return 10 ** floor(log10(low) + 1e-9), 10 ** ceil(log10(high) - 1e-9) if high > low else low * 10
        low = min(low, 0.0) if self.zero else low
        step = _step(high - low)
        return floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step or step

    def ticks(self, low: float, high: float) -> list[float]:
        if self.log:
            return [10.0**power for power in range(round(log10(low)), round(log10(high)) + 1)]
        step = _step(high - low)
        return [low + number * step for number in range(round((high - low) / step) + 1)]

    def share(self, value: float, low: float, high: float) -> float:
        if self.log:
            return log10(max(value, low) / low) / log10(high / low)
        return (value - low) / (high - low)


def _step(span: float) -> float:
    """A round number of which about five make up the span."""
    if span <= 0:
        return 1.0
    rough = span / 5
    power = 10 ** floor(log10(rough))
    return float(next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999))


def line_chart(
    title: str, note: str, x: Axis, y: Axis, lines: Mapping[str, Line], levels: Mapping[str, float] | None = None
) -> str:
    """Lines with a mark at every point; ``levels`` are drawn across, dashed, as things to compare with."""
    across = levels or {}
    x_low, x_high = x.bounds([at for line in lines.values() for at, _ in line])
    y_low, y_high = y.bounds([*(value for line in lines.values() for _, value in line), *across.values()])

    def place(at: float, value: float) -> tuple[float, float]:
        return LEFT + WIDTH * x.share(at, x_low, x_high), TOP + HEIGHT * (1 - y.share(value, y_low, y_high))

    parts = _frame(title, note, x.label, y.label)
    for tick in x.ticks(x_low, x_high):
        at, _ = place(tick, y_low)
        parts += [
            f'<path d="M{at:.1f} {TOP}V{TOP + HEIGHT}" stroke="{FAINT}"/>',
            f'<text x="{at:.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle" fill="{GREY}">{_number(tick)}</text>',
        ]
    parts += _height_ticks(y, y_low, y_high)
    for number, (name, level) in enumerate(across.items(), start=len(lines)):
        _, height = place(x_low, level)
        colour = COLOURS[number % len(COLOURS)]
        parts.append(f'<path d="M{LEFT} {height:.1f}h{WIDTH}" stroke="{colour}" stroke-dasharray="6 4" fill="none"/>')
        parts += _legend(number, name, colour, "dash")
    for number, (name, line) in enumerate(lines.items()):
        colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
        points = [place(at, value) for at, value in line if isfinite(value)]
        path = " ".join(f"{across_:.1f},{height:.1f}" for across_, height in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if len(points) <= 40:
            parts += [_mark(mark, across_, height, colour) for across_, height in points]
        parts += _legend(number, name, colour, mark if len(points) <= 40 else "line")
    return "\n".join([*parts, "</svg>"]) + "\n"


def stacked_bars(
    title: str, note: str, y: Axis, bars: Mapping[str, Mapping[str, float]], tops: Mapping[str, str]
) -> str:
    """A bar for each name, of parts that stand on each other; ``tops`` is written above it."""
    names = list(dict.fromkeys(part for bar in bars.values() for part in bar))
    y_low, y_high = y.bounds([sum(bar.values()) for bar in bars.values()] + [0.0])
    parts = _frame(title, note, "", y.label)
    parts += _height_ticks(y, y_low, y_high)
    room = WIDTH / max(len(bars), 1)
    for number, (label, bar) in enumerate(bars.items()):
        left = LEFT + room * (number + 0.25)
        bottom = 0.0
        for part, value in bar.items():
            top = TOP + HEIGHT * (1 - y.share(bottom + value, y_low, y_high))
            tall = HEIGHT * (y.share(bottom + value, y_low, y_high) - y.share(bottom, y_low, y_high))
            colour = COLOURS[names.index(part) % len(COLOURS)]
            parts.append(
                f'<rect x="{left:.1f}" y="{top:.1f}" width="{room / 2:.1f}" height="{tall:.1f}" fill="{colour}"/>'
            )
            bottom += value
        above = TOP + HEIGHT * (1 - y.share(bottom, y_low, y_high)) - 6
        middle = left + room / 4
        parts += [
            f'<text x="{middle:.1f}" y="{above:.1f}" text-anchor="middle">{escape(tops.get(label, ""))}</text>',
            f'<text x="{middle:.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{escape(label)}</text>',
        ]
    for number, name in enumerate(names):
        parts += _legend(number, name, COLOURS[number % len(COLOURS)], "square")
    return "\n".join([*parts, "</svg>"]) + "\n"


def _frame(title: str, note: str, x_label: str, y_label: str) -> list[str]:
    middle = TOP + HEIGHT / 2
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + RIGHT}" height="{TOP + HEIGHT + 48}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="12" y="22" font-size="15" font-weight="bold">{escape(title)}</text>',
        f'<text x="12" y="40" fill="{GREY}">{escape(note)}</text>',
        f'<path d="M{LEFT} {TOP}V{TOP + HEIGHT}H{LEFT + WIDTH}" stroke="{INK}" fill="none"/>',
        f'<text x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 36}" text-anchor="middle">{escape(x_label)}</text>',
        f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">{escape(y_label)}</text>',
    ]


def _height_ticks(y: Axis, low: float, high: float) -> list[str]:
    parts = []
    for tick in y.ticks(low, high):
        at = TOP + HEIGHT * (1 - y.share(tick, low, high))
        parts += [
            f'<path d="M{LEFT} {at:.1f}h{WIDTH}" stroke="{FAINT}"/>',
            f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end" fill="{GREY}">{_number(tick)}</text>',
        ]
    return parts


def _legend(number: int, name: str, colour: str, mark: str) -> list[str]:
    x, y = LEFT + WIDTH + 16, TOP + 12 + 20 * number
    dash = ' stroke-dasharray="6 4"' if mark == "dash" else ""
    line = f'<path d="M{x} {y - 4}h22" stroke="{colour}" stroke-width="2"{dash}/>'
    shown = [] if mark in ("dash", "line") else [_mark(mark, x + 11, y - 4, colour)]
    return [line, *shown, f'<text x="{x + 28}" y="{y}">{escape(name)}</text>']


def _mark(mark: str, x: float, y: float, colour: str) -> str:
    if mark == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    if mark == "square":
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'
    shape = "0,-5 5,0 0,5 -5,0" if mark == "diamond" else "0,-5 5,4 -5,4"
    return f'<polygon points="{shape}" transform="translate({x:.1f} {y:.1f})" fill="{colour}"/>'


def _number(value: float) -> str:
    """
    >>> _number(0.30000000000000004), _number(1000.0), _number(0.001), _number(2e6)
    ('0.3', '1,000', '0.001', '2 M')
    """
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{round(value, 9):,.10g}"
