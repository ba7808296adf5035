"""SQL expressions over the columns of a stream: parse, type, analyse, and compile to Polars.

In the order in which a text goes through: ``parse`` (sqlglot's syntax tree, in our ``dialect``), ``binding`` (the
typed tree of ``nodes``, resolved against the table in ``functions``), then ``compile`` (Polars), ``analysis``
(conjuncts, intervals, equalities) or ``aggregates`` (expressions of aggregates).
"""

from aurora.expressions.aggregates import AggregateCall, Aggregates, analyse_aggregates
from aurora.expressions.analysis import Interval, columns_used, conjuncts, equalities, interval
from aurora.expressions.compile import Compiled
from aurora.expressions.reference import FunctionEntry, reference
from aurora.expressions.registry import function, register_aggregate, register_function, unregister
from aurora.expressions.scalar import Scalar, analyse
from aurora.expressions.scope import Scope

__all__ = [
    "AggregateCall",
    "Aggregates",
    "Compiled",
    "FunctionEntry",
    "Interval",
    "Scalar",
    "Scope",
    "analyse",
    "analyse_aggregates",
    "columns_used",
    "conjuncts",
    "equalities",
    "function",
    "interval",
    "reference",
    "register_aggregate",
    "register_function",
    "unregister",
]
