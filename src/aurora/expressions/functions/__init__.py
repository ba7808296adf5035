"""The table of functions and operators, one module for each subject.

Every entry is declared once, with its signatures, meaning and an example; the analysis resolves calls against it
and the reference page is generated from it.
"""

from __future__ import annotations

from aurora.expressions.functions import arithmetic, bits, calendar, comparison, lists, mathematics, text
from aurora.expressions.functions.declaration import Function

TABLES = (arithmetic, bits, comparison, mathematics, text, calendar, lists)

ALL: tuple[Function, ...] = tuple(entry for table in TABLES for entry in table.FUNCTIONS)

BY_NAME: dict[str, Function] = {name: entry for entry in ALL for name in (entry.name, *entry.aliases)}
"""Functions and operators by lower-case name; operators are named by their sign, with its number of operands."""
