"""Which names elements and columns may have.

A name is written into ``box.port``, ``--input STREAM=FILE`` and SQL, so it may not contain what those use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from aurora.errors import Report, did_you_mean
from aurora.model.schema import HIDDEN_PREFIX

_ELEMENT = re.compile(r"[^\W\d][\w-]*")
_COLUMN = re.compile(r'[^\s."\x00-\x1f\x7f]+')


def shown(value: object) -> str:
    """The value as a message shows it: short, whatever a document holds.

    >>> shown("a"), len(shown([0] * 1000))
    ("'a'", 80)
    """
    try:
        text = repr(value)
    except ValueError:
        return "a number of too many digits"
    return text if len(text) <= 80 else f"{text[:77]}..."


def suggestion(word: object, choices: Iterable[str], otherwise: str) -> str:
    """The choice that the word is most like, as a way out; else what to do instead."""
    return (did_you_mean(word, choices) if isinstance(word, str) else "") or otherwise


def usable(name: object) -> bool:
    """Whether an element, an output or a port may have this name.

    >>> usable("feed-alarms"), usable("by exchange"), usable("a.b"), usable(7)
    (True, False, False, False)
    """
    return isinstance(name, str) and _ELEMENT.fullmatch(name) is not None


def check_name(name: object, report: Report) -> bool:
    """Reports a name that an element cannot have; True if it can."""
    if usable(name):
        return True
    if isinstance(name, str):
        report.add(
            "bad-name",
            f"{shown(name)} cannot be a name",
            "begin with a letter or _, go on with letters, digits, _ and -; no dots and no spaces",
        )
    else:
        report.add("bad-name", f"{shown(name)} is not text", "give a name; quote it if it looks like a number")
    return False


def check_column(name: object, report: Report) -> bool:
    """Reports a name that a column cannot have; True if it can."""
    if not isinstance(name, str):
        report.add("bad-name", f"{shown(name)} is not text", "give a name; quote it if it looks like a number")
    elif name.startswith(HIDDEN_PREFIX):
        report.add(
            "reserved-name",
            f"column {name!r} starts with {HIDDEN_PREFIX}, which marks the engine's own columns",
            f"rename the column to {name.lstrip('_') or 'something'!r}",
        )
    elif not _COLUMN.fullmatch(name):
        report.add("bad-name", f"{shown(name)} cannot be a column's name", "use a name without dots, spaces and quotes")
    else:
        return True
    return False
