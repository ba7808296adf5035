"""A small sign for each family of boxes, drawn in a square of 16 by 16."""

from __future__ import annotations

ICONS = {
    "filter": '<path d="M2 3h12l-4.6 5.4V13l-2.8 1.6V8.4z"/>',
    "map": '<path d="M2 8h8M7 4.5 10.5 8 7 11.5"/><circle cx="13" cy="8" r="1.6"/>',
    "union": '<path d="M2 3.5c4 0 4 4.5 7 4.5M2 12.5c4 0 4-4.5 7-4.5M9 8h5M11.5 5.5 14 8l-2.5 2.5"/>',
    "order": '<path d="M2 3.5h12M2 8h8.5M2 12.5h5"/>',
    "window": '<path d="M5 2.5H2.5v11H5M11 2.5h2.5v11H11M6 8h4"/>',
    "join": '<circle cx="6" cy="8" r="4"/><circle cx="10" cy="8" r="4"/>',
    "table": '<path d="M2.5 3h11v10h-11zM2.5 6.5h11M6.5 6.5V13"/>',
    "python": '<path d="M5.5 4 2 8l3.5 4M10.5 4 14 8l-3.5 4"/>',
    "other": '<rect x="3" y="3" width="10" height="10" rx="2"/>',
    "stream": '<path d="M1.5 5.5c2-2.4 4-2.4 6.5 0s4.5 2.4 6.5 0M1.5 10.5c2-2.4 4-2.4 6.5 0s4.5 2.4 6.5 0"/>',
    "static": '<ellipse cx="8" cy="4" rx="5.5" ry="2.2"/><path d="M2.5 4v8c0 1.2 2.5 2.2 5.5 2.2s5.5-1 5.5-2.2V4"/>',
    "output": '<path d="M3 8h8M8 4.5 11.5 8 8 11.5M14 3v10"/>',
}
