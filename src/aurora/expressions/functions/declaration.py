"""How a function is declared: names, signatures, meaning, and an example that a test executes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from aurora.expressions.nodes import Build, Node, Value, Way

Choose = Callable[[tuple[Node, ...]], Way]
Check = Callable[[tuple[Value, ...]], str | None]

_PARAMETER = re.compile(r"(?P<open>\[)?(?P<name>\w+)(?P<many>\.\.\.)?: (?P<type>[\w<>]+)(?P<constant>!)?\]?")


_SHOWN = {"word": "'keyword'", "text": "any"}


@dataclass(frozen=True)
class Parameter:
    """``type`` is a type's name, ``T`` for whatever the other T arguments share, ``any``, ``list<T>``, ``text``, a
    value of any type as the text that a cast makes of it, or ``word``, a bare or quoted keyword such as the unit of
    ``date_trunc``."""

    name: str
    type: str
    constant: bool = False
    optional: bool = False
    many: bool = False

    def __str__(self) -> str:
        kind = _SHOWN.get(self.type) or ("constant " if self.constant else "") + self.type
        text = f"{self.name}{'...' if self.many else ''} {kind}"
        return f"[{text}]" if self.optional else text


@dataclass(frozen=True)
class Signature:
    """One way to call a function. ``choose`` may look at the typed arguments, to leave out checks that are not
    needed; ``check`` says what is wrong with the constants, or gives None. ``subject`` is the argument that the formula
    applies the others to (``Call.subject``)."""

    parameters: tuple[Parameter, ...]
    returns: str
    choose: Choose
    check: Check | None = None
    range: tuple[int, int] | Callable[[tuple[Node, ...]], tuple[int, int]] | None = None
    subject: int = 0

    def accepts(self, count: int) -> bool:
        least = sum(not p.optional for p in self.parameters)
        many = bool(self.parameters) and self.parameters[-1].many
        return least <= count and (many or count <= len(self.parameters))

    def parameter(self, index: int) -> Parameter:
        return self.parameters[min(index, len(self.parameters) - 1)]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))}) -> {self.returns}"


def signature(
    text: str,
    build: Build | None = None,
    *,
    fallible: bool = False,
    reuses: bool = False,
    strict: bool = True,
    choose: Choose | None = None,
    check: Check | None = None,
    range: tuple[int, int] | Callable[[tuple[Node, ...]], tuple[int, int]] | None = None,
    subject: int = 0,
) -> Signature:
    """Reads ``(text: string, pattern: string!, [group: int!]) -> string``; ``!`` marks what must be a constant.

    The formula is taken to be NULL where an argument is and nowhere else, unless ``strict`` is False.

    >>> str(signature("(unit: word!, t: timestamp) -> int", lambda unit, t: t))
    "(unit 'keyword', t timestamp) -> int"
    """
    inside, returns = text[1:].split(") -> ")
    parameters = []
    for part in filter(None, inside.split(", ")):
        match = _PARAMETER.fullmatch(part)
        assert match, part
        flags = (match["constant"] is not None, match["open"] is not None, match["many"] is not None)
        parameters.append(Parameter(match["name"], match["type"], *flags))
    if choose is None:
        assert build is not None
        way = Way(build, fallible, reuses, strict)

        def choose(arguments: tuple[Node, ...]) -> Way:
            return way

    return Signature(tuple(parameters), returns, choose, check, range, subject)


@dataclass(frozen=True)
class Function:
    """An entry of the table. ``sign`` is how an operator is written, ``a + b``; empty for a plain function."""

    name: str
    signatures: tuple[Signature, ...]
    group: str
    meaning: str
    example: str
    value: object
    aliases: tuple[str, ...] = ()
    sign: str = ""
