"""How wide text will be, told without a font: a little wider than common fonts make it, so that nothing overflows."""

from __future__ import annotations

ELLIPSIS = "…"

_NARROW = frozenset("iIjl.,:;'|! ()[]{}ft-r/\\\"`")
_WIDE = frozenset("mwMW@%&…—+=<>~")
_MONO_EM = 0.605


def text_width(text: str, size: float, *, mono: bool = False) -> float:
    """An upper estimate in pixels."""
    return size * sum(_em(letter, mono) for letter in text)


def _em(letter: str, mono: bool) -> float:
    if ord(letter) > 0x2E7F:
        return 1.15
    if mono:
        return _MONO_EM
    if letter in _NARROW:
        return 0.42
    if letter in _WIDE:
        return 0.98
    return 0.72 if letter.isupper() or ord(letter) > 0x24F else 0.64


def fitted(text: str, width: float, size: float, *, mono: bool = False) -> str:
    """The text, cut with an ellipsis where it would be wider than ``width``.

    >>> fitted("a rather long predicate", 60, 12)
    'a rathe…'
    """
    text = " ".join(text.split())
    if text_width(text, size, mono=mono) <= width:
        return text
    room = width - text_width(ELLIPSIS, size, mono=mono)
    kept = ""
    for letter in text:
        room -= size * _em(letter, mono)
        if room < 0:
            break
        kept += letter
    return kept.rstrip() + ELLIPSIS
