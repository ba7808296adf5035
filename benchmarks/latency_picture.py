"""Latencies as a picture: one panel per query, on a logarithmic axis, since the systems lie a thousandfold apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from benchmarks.picture import BAR, GAP, GOAL, GOOD, INK, LEFT, TOP, WIDTH

OTHERS, FAINT = "#8a8f98", "#dddddd"
PANEL_TITLE, AXIS, FOOT = 26, 22, 30


@dataclass(frozen=True)
class Span:
    """One system: half of its results come within p50, all but one in a hundred within p99."""

    label: str
    p50_ms: float
    p99_ms: float
    ours: bool


def latency_chart(title: str, note: str, panels: Mapping[str, Sequence[Span]]) -> str:
    """A bar to p99 for every system, with a mark at p50."""
    values = [value for spans in panels.values() for span in spans for value in (span.p50_ms, span.p99_ms)]
    low = floor(log10(max(min(values, default=0.1), 0.01) / 2))
    high = max(ceil(log10(max(values, default=1.0))), low + 1)

    def x(value_ms: float) -> float:
        share = (log10(max(value_ms, 10**low)) - low) / (high - low)
        return LEFT + WIDTH * share

    parts: list[str] = []
    y = TOP
    for heading, spans in panels.items():
        parts.append(f'<text x="12" y="{y + 14}" font-weight="bold">{escape(heading)}</text>')
        y += PANEL_TITLE
        bottom = y + len(spans) * (BAR + GAP)
        for power in range(low, high + 1):
            at = x(10**power)
            parts += [
                f'<path d="M{at:.1f} {y - 4}V{bottom}" stroke="{FAINT}"/>',
                f'<text x="{at:.1f}" y="{bottom + 13}" text-anchor="middle" fill="#555555">{10**power:g} ms</text>',
            ]
        for span in spans:
            left, middle, right = LEFT, x(span.p50_ms), x(span.p99_ms)
            fill = GOOD if span.ours else OTHERS
            figures = f"{milliseconds(span.p50_ms)} / {milliseconds(span.p99_ms)}"
            parts += [
                f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(span.label)}</text>',
                f'<rect x="{left}" y="{y}" width="{right - left:.1f}" height="{BAR}" fill="{fill}"/>',
                f'<path d="M{middle:.1f} {y - 2}V{y + BAR + 2}" stroke="{GOAL}" stroke-width="3"/>',
                f'<text x="{max(middle, right) + 6:.1f}" y="{y + 13}">{figures}</text>',
            ]
            y += BAR + GAP
        y += AXIS + GAP
    height = y + FOOT
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 130}" height="{height}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="12" y="22" font-size="15" font-weight="bold">{escape(title)}</text>',
        f'<text x="12" y="40" fill="#555555">{escape(note)}</text>',
    ]
    foot = height - 12
    legend = [
        f'<path d="M{LEFT} {foot - 12}V{foot + 2}" stroke="{GOAL}" stroke-width="3"/>',
        f'<text x="{LEFT + 8}" y="{foot}">p50</text>',
        f'<rect x="{LEFT + 60}" y="{foot - 11}" width="12" height="12" fill="{GOOD}"/>',
        f'<text x="{LEFT + 78}" y="{foot}">Aurora, up to p99</text>',
        f'<rect x="{LEFT + 200}" y="{foot - 11}" width="12" height="12" fill="{OTHERS}"/>',
        f'<text x="{LEFT + 218}" y="{foot}">others, up to p99</text>',
        "</svg>",
    ]
    return "\n".join([*head, *parts, *legend]) + "\n"


def milliseconds(value_ms: float) -> str:
    """
    >>> milliseconds(0.123), milliseconds(12.34), milliseconds(1234.5)
    ('0.12', '12.3', '1,234')
    """
    digits = 2 if abs(value_ms) < 10 else 1 if abs(value_ms) < 100 else 0
    return f"{value_ms:,.{digits}f}"
