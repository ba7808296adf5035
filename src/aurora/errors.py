"""Every error that Aurora raises, and the problems that errors carry.

AuroraError
├── NetworkError       a network document or model that is not valid; carries all its problems
├── ExpressionError    an expression that does not parse or type; carries its problems
├── InputError         a file or option that cannot be used
├── StateError         stored state that is harmed, in use, or does not fit what it should be restored into
├── UserCodeError      an operator's function, aggregate or box that raised
└── SparkLostError     the Spark session ended in the middle of a run
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Severity = Literal["error", "warning"]
Span = tuple[int, int]
"""Characters of a text, from the first up to but not including the second."""


@dataclass(frozen=True)
class Place:
    """Where in a document something stands. A network built in Python has no file and no line."""

    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        if self.file is None:
            return "" if self.line is None else f"line {self.line}"
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: what, where, what was found, what would be legal, and the way out.

    ``span`` is the part of the text at ``path`` that is meant, where that is an expression and the part is known.
    """

    id: str
    found: str
    way_out: str
    element: str = ""
    path: tuple[str | int, ...] = ()
    place: Place = Place()
    choices: tuple[str, ...] = ()
    severity: Severity = "error"
    span: Span | None = None

    def __str__(self) -> str:
        where = " ".join(part for part in (str(self.place), self.element) if part)
        head = f"{self.severity} {self.id}" + (f" at {where}" if where else "")
        lines = [f"{head}: {self.found}"]
        if self.choices:
            lines.append(f"  choices: {', '.join(self.choices)}")
        lines.append(f"  way out: {self.way_out}")
        return "\n".join(lines)


@dataclass
class Report:
    """Collects problems of one document. ``at`` gives a view that notes everything under a path."""

    element: str = ""
    path: tuple[str | int, ...] = ()
    problems: list[Problem] = field(default_factory=list)

    def at(self, *path: str | int, element: str | None = None) -> Report:
        return Report(self.element if element is None else element, self.path + path, self.problems)

    def add(
        self,
        id: str,
        found: str,
        way_out: str,
        *,
        choices: Iterable[str] = (),
        severity: Severity = "error",
        span: Span | None = None,
    ) -> None:
        self.problems.append(
            Problem(id, found, way_out, self.element, self.path, Place(), tuple(choices), severity, span)
        )

    def take(self, problems: Iterable[Problem]) -> None:
        """Adopt problems found elsewhere (by an expression, say) as problems of this place."""
        self.problems.extend(replace(p, element=self.element, path=self.path + p.path) for p in problems)

    @property
    def errors(self) -> list[Problem]:
        return [p for p in self.problems if p.severity == "error"]


class AuroraError(Exception):
    """Base of everything Aurora raises on purpose."""


class _ProblemsError(AuroraError):
    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(p) for p in self.problems))


class NetworkError(_ProblemsError):
    """The network is not valid; ``problems`` lists everything that is wrong with it."""


class ExpressionError(_ProblemsError):
    """The expression does not parse, or does not type over its columns."""


class InputError(AuroraError):
    """A file or an option cannot be used as given."""


class StateError(AuroraError):
    """Stored state is harmed, in use, or does not fit what it should be restored into."""


class StorageError(AuroraError):
    """The storage manager could not write or read its files; what was in memory still is."""


class UserCodeError(AuroraError):
    """Code that the operator registered raised; the message names the box and the code."""


class SparkLostError(AuroraError):
    """The Spark session ended in the middle of a run."""


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """A closing hint for ``way_out`` texts: ``"did you mean 'price'?"``, or an empty string.

    >>> did_you_mean("pirce", ["price", "ticker"])
    "did you mean 'price'?"
    """
    close = difflib.get_close_matches(word, list(choices), n=1)
    return f"did you mean {close[0]!r}?" if close else ""
