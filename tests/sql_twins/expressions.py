"""Random typed expressions and their twins: a tree of rules, each with the text for Aurora and for DuckDB."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tests.sql_twins.rules import RULES_BY_KIND, Rule
from tests.sql_twins.values import present


@dataclass(frozen=True)
class Expression:
    """A rule applied to parts. Without parts it is a column or a literal."""

    rule: Rule
    parts: tuple[Expression, ...] = ()

    @property
    def aurora(self) -> str:
        """The text for Aurora."""
        return self.rule.aurora.format(*(part.aurora for part in self.parts))

    @property
    def sql(self) -> str:
        """The text for DuckDB."""
        return self.rule.sql.format(*(part.sql for part in self.parts))

    def simpler(self) -> Iterator[Expression]:
        """Expressions that say less: parts of this one alone, then this one with a part replaced by a part of that."""
        for part in self.parts:
            if part.rule.kind in LITERALS:
                yield part
        for place, part in enumerate(self.parts):
            for smaller in part.simpler():
                if smaller.rule.kind == part.rule.kind:
                    yield Expression(self.rule, (*self.parts[:place], smaller, *self.parts[place + 1 :]))


def _braced(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _leaf(kind: str, aurora: str, sql: str) -> Expression:
    return Expression(Rule(kind, (), _braced(aurora), _braced(sql)))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _int(number: int) -> tuple[str, str]:
    if number == -(2**63):  # its opposite, which the text would hold, is no int
        number += 1
    return f"({number})" if number < 0 else str(number), f"({number})::BIGINT"


def _double(number: float) -> tuple[str, str]:
    text = _quoted(repr(number))
    return f"cast({text} as double)" if number != number or abs(number) > 1e308 else f"({number!r})", f"{text}::DOUBLE"


def _timestamp(micros: int) -> tuple[str, str]:
    return f"timestamp_micros({_int(micros)[0]})", f"make_timestamp({micros}::BIGINT)"


LITERALS: Mapping[str, Callable[[random.Random], tuple[str, str]]] = {
    "bool": lambda chance: (chance.choice(("true", "false")),) * 2,
    "int": lambda chance: _int(present("int", chance)),
    "double": lambda chance: _double(present("double", chance)),
    "string": lambda chance: (_quoted(present("string", chance)),) * 2,
    "timestamp": lambda chance: _timestamp(present("timestamp", chance)),
    "duration": lambda chance: _duration(present("duration", chance)),
}


def _duration(micros: int) -> tuple[str, str]:
    return f"duration_micros({_int(micros)[0]})", f"({micros})::BIGINT"


def _choice(*texts: str) -> Callable[[random.Random], tuple[str, str]]:
    return lambda chance: (_quoted(chance.choice(texts)),) * 2


def _small(low: int, high: int) -> Callable[[random.Random], tuple[str, str]]:
    return lambda chance: _int(chance.randint(low, high))


CONSTANTS: Mapping[str, Callable[[random.Random], tuple[str, str]]] = {
    "pattern": _choice("a%", "%b", "_", "", "%", "%a%", "_b%", "a_", "%,%", "ñ%", "100%%"),
    "regex": _choice("a+", "^a", "b$", "[0-9]+", "(a|b)c?", "^$", "[^a]", "."),
    "separator": _choice(",", "a", " ", "ab"),
    "fill": _choice("x", "ab", "ñ", " "),
    "replacement": _choice("", "#", "<>"),
    "small": _small(-4, 8),
    "digits": _small(0, 3),
    "places": _small(0, 63),
}
"""What must be a constant in Aurora, or is more telling in a narrow range."""


def draw(kind: str, columns: Mapping[str, str], chance: random.Random, depth: int, *, top: bool = True) -> Expression:
    """A random expression of a kind over the columns."""
    if kind == "text_column":
        name = chance.choice([name for name, column in columns.items() if column == "string"])
        return _leaf(kind, name, name)
    if kind in CONSTANTS:
        return _leaf(kind, *CONSTANTS[kind](chance))
    if depth == 0 or chance.random() < 0.1:
        return _drawn_leaf(kind, columns, chance)
    rules = [rule for rule in RULES_BY_KIND[kind] if top or not rule.rounded]
    rule = chance.choice(rules)
    return Expression(rule, tuple(draw(part, columns, chance, depth - 1, top=False) for part in rule.parts))


def _drawn_leaf(kind: str, columns: Mapping[str, str], chance: random.Random) -> Expression:
    named = [name for name, column in columns.items() if column == kind]
    if named and chance.random() < 0.75:
        name = chance.choice(named)
        return _leaf(kind, name, name)
    return _leaf(kind, *LITERALS[kind](chance))
