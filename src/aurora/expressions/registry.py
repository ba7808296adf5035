"""Functions and aggregates that the operator wrote in Python, by the name that expressions call them.

They are looked up when an expression is analysed, so they must be registered before the network is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import polars as pl

from aurora.errors import InputError, UserCodeError
from aurora.expressions.names import RESERVED_NAMES
from aurora.expressions.vectors import align
from aurora.model.types import Type

VectorFunction = Callable[..., pl.Series]
F = TypeVar("F", bound=VectorFunction)


class Aggregate(Protocol):
    """A user-defined aggregate. It may also have ``apply(values: pl.Series)``, which takes a whole window at once."""

    def init(self) -> Any: ...

    def incr(self, state: Any, *values: Any) -> Any: ...

    def final(self, state: Any) -> Any: ...


@dataclass(frozen=True)
class UserFunction:
    name: str
    function: VectorFunction
    arguments: tuple[Type, ...]
    returns: Type

    def build(self, *arguments: pl.Expr) -> pl.Expr:
        return pl.map_batches(list(arguments), self._run, return_dtype=self.returns.to_polars(), is_elementwise=True)

    def _run(self, columns: Sequence[pl.Series]) -> pl.Series:
        columns = align(columns)
        try:
            result = self.function(*columns)
        except Exception as error:
            raise UserCodeError(f"the function {self.name} raised {type(error).__name__}: {error}") from error
        if not isinstance(result, pl.Series) or len(result) != len(columns[0]):
            shape = f"{len(result)} values" if isinstance(result, pl.Series) else type(result).__name__
            raise UserCodeError(f"the function {self.name} gave {shape}, not a Series of {len(columns[0])} values")
        try:
            return result.cast(self.returns.to_polars())
        except pl.exceptions.PolarsError as error:
            raise UserCodeError(
                f"the function {self.name} gave {result.dtype}, which is no {self.returns}: {error}"
            ) from error


@dataclass(frozen=True)
class UserAggregate:
    """``argument`` None takes a value of any type."""

    name: str
    cls: type[Aggregate]
    returns: Type
    argument: Type | None = None


FUNCTIONS: dict[str, UserFunction] = {}
AGGREGATES: dict[str, UserAggregate] = {}


def register_function(name: str, function: VectorFunction, arguments: Sequence[str], returns: str) -> None:
    """Lets expressions call ``function``, which gets one Polars Series per argument and returns one as long.

    >>> register_function("doubled", lambda x: x * 2, ["double"], "double")
    >>> unregister("doubled")
    """
    _check_name(name)
    if not arguments:
        raise InputError(f"the function {name} takes no argument; it would not know how many values to return")
    FUNCTIONS[name.lower()] = UserFunction(
        name.lower(), function, tuple(map(Type.parse, arguments)), Type.parse(returns)
    )


def function(*, arguments: Sequence[str], returns: str, name: str | None = None) -> Callable[[F], F]:
    """Decorator form of ``register_function``; the name is the Python function's unless one is given."""

    def register(body: F) -> F:
        register_function(name or body.__name__, body, arguments, returns)
        return body

    return register


def register_aggregate(name: str, cls: type[Aggregate], returns: str, argument: str | None = None) -> None:
    """Lets expressions of aggregate boxes call ``name(x)``; see ``Aggregate`` for what the class needs."""
    _check_name(name)
    missing = [method for method in ("init", "incr", "final") if not callable(getattr(cls, method, None))]
    if missing:
        raise InputError(f"the aggregate {name} lacks {', '.join(missing)}; it needs init, incr and final")
    takes = None if argument is None else Type.parse(argument)
    AGGREGATES[name.lower()] = UserAggregate(name.lower(), cls, Type.parse(returns), takes)


def unregister(name: str) -> None:
    """Forgets a function or aggregate; names that are not registered are ignored."""
    FUNCTIONS.pop(name.lower(), None)
    AGGREGATES.pop(name.lower(), None)


def _check_name(name: str) -> None:
    if not name.isidentifier():
        raise InputError(f"{name!r} is not a name; use letters, digits and _")
    if name.lower() in RESERVED_NAMES:
        raise InputError(f"{name!r} is built in; choose another name")
