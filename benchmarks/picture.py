"""Bar charts as SVG text, for benchmark results; nothing is needed to look at them but a browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

BAR, GAP, LEFT, WIDTH, TOP, FOOT = 18, 8, 200, 460, 54, 34
GOOD, BAD, INK, GOAL = "#3b7a57", "#b5482f", "#222222", "#1f4e9c"


@dataclass(frozen=True)
class Bar:
    """One measured value and the goal it stands against."""

    label: str
    value: float
    goal: float
    passed: bool


def bar_chart(title: str, note: str, bars: Sequence[Bar], *, unit: str = "") -> str:
    """Horizontal bars from zero, each with a line at its goal."""
    longest = max([bar.value for bar in bars] + [bar.goal for bar in bars]) or 1.0
    height = TOP + len(bars) * (BAR + GAP) + FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 110}" height="{height}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="12" y="22" font-size="15" font-weight="bold">{escape(title)}</text>',
        f'<text x="12" y="40" fill="#555555">{escape(note)}</text>',
    ]
    for number, bar in enumerate(bars):
        y = TOP + number * (BAR + GAP)
        length = WIDTH * bar.value / longest
        goal_x = LEFT + WIDTH * bar.goal / longest
        parts += [
            f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(bar.label)}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" fill="{GOOD if bar.passed else BAD}"/>',
            f'<path d="M{goal_x:.1f} {y - 3}V{y + BAR + 3}" stroke="{GOAL}" stroke-width="2"/>',
            f'<text x="{LEFT + max(length, goal_x - LEFT) + 6:.1f}" y="{y + 13}">{bar.value:.2f}{escape(unit)}</text>',
        ]
    foot = height - 12
    parts += [
        f'<path d="M{LEFT} {foot - 12}V{foot + 2}" stroke="{GOAL}" stroke-width="2"/>',
        f'<text x="{LEFT + 8}" y="{foot}">goal</text>',
        f'<rect x="{LEFT + 60}" y="{foot - 11}" width="12" height="12" fill="{GOOD}"/>',
        f'<text x="{LEFT + 78}" y="{foot}">reached</text>',
        f'<rect x="{LEFT + 140}" y="{foot - 11}" width="12" height="12" fill="{BAD}"/>',
        f'<text x="{LEFT + 158}" y="{foot}">not reached</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"
