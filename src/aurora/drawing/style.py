"""The picture's style sheet: one set of rules, and colours for light and for dark pages.

Colours are written out rather than kept in CSS variables, which many programs that show SVG do not know.
"""

from __future__ import annotations

_LIGHT = {
    "page": "#fbfbf9",
    "ink": "#1d2433",
    "soft": "#5d6678",
    "line": "#8b94a6",
    "card": "#ffffff",
    "edge": "#d3d8e0",
    "frame": "#f0f2f6",
    "frame-edge": "#c3cad6",
    "filter": "#2563c9",
    "map": "#0f8a6d",
    "union": "#5d6678",
    "order": "#8a7415",
    "window": "#7c4dc4",
    "join": "#c2570c",
    "table": "#8a5a3b",
    "python": "#b83280",
    "other": "#5d6678",
    "stream": "#1f7a99",
    "static": "#1f7a99",
    "output": "#b3261e",
}
_DARK = {
    "page": "#14171d",
    "ink": "#e8ebf1",
    "soft": "#a3acbd",
    "line": "#7d8799",
    "card": "#1f242e",
    "edge": "#3a4250",
    "frame": "#191d25",
    "frame-edge": "#404959",
    "filter": "#7aa7f0",
    "map": "#4cc9a6",
    "union": "#a3acbd",
    "order": "#d3bd55",
    "window": "#b696ee",
    "join": "#f09a58",
    "table": "#c99a78",
    "python": "#ee83bd",
    "other": "#a3acbd",
    "stream": "#62bcd9",
    "static": "#62bcd9",
    "output": "#f28b82",
}
_FAMILIES = list(_LIGHT)[8:]
INK = (_LIGHT["ink"], _DARK["ink"])
"""Of text, on light and on dark pages."""

_FORMS = """\
text { font-family: Inter, "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; }
.network { font-size: 20px; font-weight: 600; }
.description { font-size: 12.5px; }
.title { font-size: 13px; font-weight: 600; }
.caption { font-size: 9.5px; }
.summary { font-size: 10px; font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.port, .point-label { font-size: 10px; }
.point-label { stroke-width: 3; paint-order: stroke; stroke-linejoin: round; }
.frame-title { font-size: 12px; font-weight: 600; }
.icon, .arc, .axis, .spark { fill: none; }
.icon { stroke-width: 1.5; stroke-linecap: round; stroke-linejoin: round; }
.arc, .spark { stroke-width: 1.5; stroke-linejoin: round; }
.pin { stroke-width: 1.25; }
"""


def style_sheet() -> str:
    dark = "\n".join(f"  {line}" for line in _colours(_DARK))
    return "\n".join(["", _FORMS + "\n".join(_colours(_LIGHT)), "@media (prefers-color-scheme: dark) {", dark, "}", ""])


def _colours(of: dict[str, str]) -> list[str]:
    rules = {
        "text, .point": f"fill: {of['ink']}",
        ".page": f"fill: {of['page']}",
        ".description, .caption, .summary, .port, .frame-title": f"fill: {of['soft']}",
        ".card": f"fill: {of['card']}; stroke: {of['edge']}",
        ".frame": f"fill: {of['frame']}; stroke: {of['frame-edge']}",
        ".arc": f"stroke: {of['line']}",
        ".head": f"fill: {of['line']}",
        ".pin": f"fill: {of['card']}; stroke: {of['line']}",
        ".rule, .axis": f"stroke: {of['edge']}",
        ".point-label": f"stroke: {of['page']}",
        ".spark": f"stroke: {of['output']}",
    }
    for family in _FAMILIES:
        rules[f".line-{family}"] = f"stroke: {of[family]}"
        rules[f".fill-{family}"] = f"fill: {of[family]}"
    return [f"{selector} {{ {rule}; }}" for selector, rule in rules.items()]
