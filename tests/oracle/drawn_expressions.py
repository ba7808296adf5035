"""Random expressions that type over given columns."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

Draw = st.DrawFn


@dataclass(frozen=True)
class Columns:
    """Columns that expressions may use. Sums and means over ``tame`` ones are the same in every order."""

    types: dict[str, str]
    tame: set[str]

    def of(self, *kinds: str) -> list[str]:
        return [name for name, kind in self.types.items() if kind in kinds]

    def tame_of(self, *kinds: str) -> list[str]:
        return [name for name in self.of(*kinds) if name in self.tame]


CONSTANTS = {
    "int": ["0", "1", "2", "7", "-3", "9223372036854775807", "nullif(1, 1)"],
    "double": ["0.5", "2.0", "-1.25", "0.0"],
    "string": ["'a'", "'b'", "''"],
    "bool": ["true", "false"],
}


@st.composite
def value(draw: Draw, columns: Columns, kind: str, depth: int = 2) -> str:
    """The text of an expression of this type (an int where a double may stand is no harm)."""
    leaves = [*columns.of(kind), *CONSTANTS.get(kind, [])]
    if depth == 0 or draw(st.booleans()):
        return (
            draw(st.sampled_from(columns.of(kind) or leaves)) if draw(st.booleans()) else draw(st.sampled_from(leaves))
        )
    below = depth - 1
    if draw(st.integers(0, 4)) == 0:
        test, yes, no = (
            draw(condition(columns, below)),
            draw(value(columns, kind, below)),
            draw(value(columns, kind, 0)),
        )
        return draw(
            st.sampled_from([f"(case when {test} then {yes} else {no} end)", f"coalesce({yes}, {no})", f"({yes})"])
        )
    if kind == "int":
        left, right = draw(value(columns, "int", below)), draw(value(columns, "int", below))
        form = draw(
            st.sampled_from(["({} + {})", "({} - {})", "({} * {})", "({} // {})", "({} % {})", "abs({})", "-{}"])
        )
        return str(form.format(left, right)) if form != "-{}" else f"(- {left})"
    if kind == "double":
        left, right = draw(value(columns, "double", below)), draw(value(columns, "int", below))
        form = draw(
            st.sampled_from(["({} + {})", "({} - {})", "({} * {})", "({} / {})", "abs({})", "floor({})", "ceil({})"])
        )
        return str(form.format(left, right))
    if kind == "string":
        left, right = draw(value(columns, "string", below)), draw(value(columns, "string", 0))
        return str(draw(st.sampled_from(["upper({})", "lower({})", "({} || {})"])).format(left, right))
    if kind == "bool":
        return draw(condition(columns, below))
    return draw(st.sampled_from(leaves))


@st.composite
def condition(draw: Draw, columns: Columns, depth: int = 2) -> str:
    """The text of a condition."""
    form = draw(st.integers(0, 9 if depth > 0 else 6))
    if form == 7:
        return f"(not {draw(condition(columns, depth - 1))})"
    if form > 7:
        word = "and" if form == 8 else "or"
        return f"({draw(condition(columns, depth - 1))} {word} {draw(condition(columns, depth - 1))})"
    kinds = [kind for kind in ("int", "double", "string") if columns.of(kind)]
    if not kinds:
        return draw(st.sampled_from([*columns.of("bool"), *(f"({n} is null)" for n in columns.types), "(1 = 1)"]))
    kind = draw(st.sampled_from(kinds))
    left, right = draw(value(columns, kind, min(depth, 1))), draw(value(columns, kind, 0))
    if form == 0:
        return f"({left} is {draw(st.sampled_from(['', 'not ']))}null)"
    if form == 1:
        return f"({left} in ({right}, {draw(value(columns, kind, 0))}))"
    if form == 2:
        return f"({left} between {right} and {draw(value(columns, kind, 0))})"
    if form == 3 and kind == "string":
        return f"({left} like {draw(st.sampled_from(['a', '%', '_', 'a%', '%b_']).map(repr))})"
    if form == 4 and columns.of("bool"):
        return draw(st.sampled_from(columns.of("bool")))
    return f"({left} {draw(st.sampled_from(['=', '<>', '<', '<=', '>', '>=']))} {right})"


@st.composite
def aggregate_call(draw: Draw, columns: Columns, *, timeouts: bool = True) -> tuple[str, str]:
    """The text of an expression of aggregates, and what it is good for: 'tame', 'exact' or 'fuzzy'.

    A fuzzy one may differ in its last bits from one correct engine to another.
    """
    where = f" filter (where {draw(condition(columns, 1))})" if draw(st.integers(0, 3)) == 0 else ""
    choices: list[tuple[str, str]] = [("count(*){w}", "tame")]
    if timeouts:
        choices.append(("timed_out()", "exact"))
    for name in columns.types:
        choices += [(f"count({name}){{w}}", "tame"), (f"count(distinct {name}){{w}}", "tame")]
        choices += [(f"{f}({name}){{w}}", "exact") for f in ("first", "last", "collect", "any_value")]
    for name in columns.of("int", "double", "timestamp", "duration", "string"):
        mark = "tame" if name in columns.tame else "exact"
        choices += [(f"{f}({name}){{w}}", mark) for f in ("min", "max")]
    for name in columns.of("int", "double", "timestamp", "duration"):
        choices.append((f"delta({name}){{w}}", "exact"))
    for name in columns.of("int") + columns.tame_of("double", "duration"):
        choices.append((f"sum({name}){{w}}", "exact"))
    for name in columns.tame_of("int", "double"):
        choices += [(f"{f}({name}){{w}}", "fuzzy") for f in ("avg", "stddev", "variance", "median")]
        choices += [(f"quantile({name}, {q}){{w}}", "fuzzy") for q in (0, 0.25, 0.9, 1)]
        choices.append((f"(max({name}){{w}} - min({name}){{w}})", "exact"))
    for name in columns.of("bool"):
        choices += [(f"{f}({name}){{w}}", "exact") for f in ("bool_and", "bool_or")]
    text, mark = draw(st.sampled_from(choices))
    return text.replace("{w}", where), mark
