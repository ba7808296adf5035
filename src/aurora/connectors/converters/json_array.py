"""JSON objects in arrays, or one behind the other, rewritten as one value per line.

The bytes are looked at as whole arrays of codes: which are inside strings, and how deep in brackets each stands. A
value ends where its bracket closes at the top, or at a comma or the closing bracket of an array at the top.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]

_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_QUOTE, _COMMA, _NEWLINE, _SPACE, _OPEN_LIST, _OPEN, _CLOSE_LIST, _CLOSE = b'",\n [{]}'
_CONTROL = 0x1F
"""Stands for a newline inside a string; JSON allows neither."""

_STRUCTURAL = np.zeros(256, np.bool_)
_STRUCTURAL[[_COMMA, _OPEN_LIST, _OPEN, _CLOSE_LIST, _CLOSE]] = True
_DEEPER = np.zeros(256, np.int64)
_DEEPER[[_OPEN_LIST, _OPEN]] = 1
_DEEPER[[_CLOSE_LIST, _CLOSE]] = -1

SURPLUS_BRACKET = "a bracket is closed that was never opened; write whole arrays or objects, or one object per line"


class ValueScanner:
    """Remembers over pieces of bytes whether it is inside a string, and how deep in brackets.

    >>> ValueScanner().rewritten(b'[{"a": 1}, {"a": [2,\\n3]}]')
    (b' {"a": 1}\\n {"a": [2, 3]}\\n', '')
    """

    def __init__(self) -> None:
        self._escaped = False
        self._in_string = False
        self._depth = 0
        self._in_array = False

    def rewritten(self, data: bytes) -> tuple[bytes, str]:
        """Lines with a value each, the last perhaps incomplete, and why nothing behind them can be understood."""
        if not data:
            return b"", ""
        before = (self._escaped, self._in_string)
        codes = np.frombuffer(self._without_escapes(data), np.uint8)
        inside = self._inside(codes)
        places = np.flatnonzero(_STRUCTURAL[codes] & ~inside)
        kinds = codes[places]
        steps = _DEEPER[kinds]
        depths = self._depth + np.cumsum(steps)
        surplus = np.flatnonzero(depths < 0)
        if len(surplus):
            self._escaped, self._in_string = before
            return self.rewritten(data[: places[surplus[0]]])[0] + b"\n", SURPLUS_BRACKET

        opening = (steps == 1) & (depths == 1)
        in_array = np.concatenate([[self._in_array], kinds[opening] == _OPEN_LIST])[np.cumsum(opening)]
        closing = (steps == -1) & (depths == 0)
        out = np.frombuffer(data, np.uint8).copy()
        newlines = np.flatnonzero(out == _NEWLINE)
        out[newlines] = np.where(inside[newlines], _CONTROL, _SPACE)
        out[places[(opening & in_array) | ((kinds == _COMMA) & (depths == 0))]] = _SPACE
        ends = closing & in_array & (kinds == _CLOSE_LIST)
        out[places[ends | ((kinds == _COMMA) & (depths == 1) & in_array)]] = _NEWLINE
        if len(places):
            self._depth = int(depths[-1])
            self._in_array = bool(in_array[-1])
        behind = places[closing & ~ends] + 1
        return (np.insert(out, behind, _NEWLINE) if len(behind) else out).tobytes(), ""

    def _without_escapes(self, data: bytes) -> bytes:
        """The data with other characters in place of each backslash and what it escapes."""
        if not self._escaped and b"\\" not in data:
            return data
        text = _ESCAPED.sub(b"__", b"\\" + data if self._escaped else data)
        text = text[1:] if self._escaped else text
        self._escaped = text.endswith(b"\\")
        return text

    def _inside(self, codes: npt.NDArray[np.uint8]) -> Bools:
        """Which bytes are in strings. Only whether a count is odd matters, so it may wrap around."""
        quotes = np.cumsum(codes == _QUOTE, dtype=np.uint8)
        inside: Bools = ((quotes & 1) == 1) ^ self._in_string
        self._in_string = bool(inside[-1])
        return inside
