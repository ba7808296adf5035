"""Sources and sinks as a document declares them: what brings tuples to a stream, and what takes them from an output.

A kind is a frozen declaration with its parameters; ``source_kinds`` and ``sink_kinds`` have them. What does the work
stands far above, in ``aurora.connectors.live``: checking and storing a declaration touches no socket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field

from aurora.errors import Report
from aurora.model.addresses import Line
from aurora.model.element import Declaration, DurationField, Element
from aurora.model.forms import Holds
from aurora.model.naming import shown, suggestion
from aurora.model.quantities import Duration
from aurora.model.schema import Schema


class Retry(Declaration):
    """How long to wait before trying again: ``first``, then twice as long each time, never longer than ``most``."""

    first: DurationField = Duration(500_000)
    most: DurationField = Duration(30_000_000)


class Connector(Element):
    """What sources and sinks have in common. Subclasses set ``kind``, and say in their docstring what it is for."""

    kind: ClassVar[str]
    needs_format: ClassVar[bool] = True
    """Whether a format must be given; otherwise a file's extension may say it, or there are no bytes."""

    format: Annotated[Line, Holds("format")] | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    retry: Retry = Retry()

    def inspect(self, schema: Schema, report: Report) -> None:
        """Reports parameters that contradict each other or do not fit the schema."""


class Source(Connector):
    """Brings tuples to the stream that ``into`` names."""

    into: Annotated[str, Holds("stream")]


class Sink(Connector):
    """Takes the tuples of the output that ``from`` names.

    At most ``queue`` tuples wait while the other side is slow or away. ``when_full`` says what happens beyond that:
    ``shed`` leaves tuples out and counts them, ``block`` lets the engine wait.
    """

    output: Annotated[str, Holds("output")] = Field(alias="from")
    queue: int = Field(100_000, ge=1)
    when_full: Literal["shed", "block"] = "shed"


SOURCES: dict[str, type[Source]] = {}
SINKS: dict[str, type[Sink]] = {}
"""Every kind by name; ``source_kinds`` and ``sink_kinds`` fill them."""

S = TypeVar("S", bound=type[Source])
K = TypeVar("K", bound=type[Sink])


def source_kind(declaration: S) -> S:
    """Class decorator that puts a declaration on the list of kinds."""
    SOURCES[declaration.kind] = declaration
    return declaration


def sink_kind(declaration: K) -> K:
    """Class decorator that puts a declaration on the list of kinds."""
    SINKS[declaration.kind] = declaration
    return declaration


def source_declaration(kind: object, report: Report) -> type[Source] | None:
    """The declaration of a kind of source; an unknown kind goes to ``report``."""
    if isinstance(kind, str) and kind in SOURCES:
        return SOURCES[kind]
    _unknown_kind("source", kind, SOURCES, report)
    return None


def sink_declaration(kind: object, report: Report) -> type[Sink] | None:
    if isinstance(kind, str) and kind in SINKS:
        return SINKS[kind]
    _unknown_kind("sink", kind, SINKS, report)
    return None


def _unknown_kind(what: str, kind: object, kinds: Mapping[str, object], report: Report) -> None:
    hint = suggestion(kind, kinds, "use one of the choices")
    report.add("unknown-kind", f"there is no kind of {what} {shown(kind)}", hint, choices=sorted(kinds))


Check = Callable[[Connector, Schema, Report], None]
_checks: list[Check] = []


def check_with(check: Check) -> None:
    """Converters and expressions stand above the model; what only they can check is found by ``check``."""
    _checks[:] = [check]


def check_connector(connector: Connector, schema: Schema, report: Report) -> None:
    """Everything about a source or sink that takes the schema of its stream or output to know."""
    connector.inspect(schema, report)
    if connector.retry.first.us <= 0 or connector.retry.most.us < connector.retry.first.us:
        found = f"retry waits {connector.retry.first} first and {connector.retry.most} at most"
        report.at("retry").add("bad-value", found, "give a first wait above 0s, and a longest one not below it")
    if connector.format is None:
        if connector.needs_format:
            report.add("missing-parameter", "'format' is not given", "add 'format', such as json or csv")
        elif connector.options:
            found = "'options' are those of a format, and no format is given"
            report.at("options").add("conflicting-parameters", found, "add 'format', or remove 'options'")
    for check in _checks:
        check(connector, schema, report)
