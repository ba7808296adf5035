"""The names that expressions already use, so that no registered function can take one."""

from __future__ import annotations

from aurora.expressions.functions import BY_NAME

AGGREGATES = {
    "count": "count", "sum": "sum", "avg": "avg", "mean": "avg", "min": "min", "max": "max", "first": "first",
    "first_value": "first", "last": "last", "last_value": "last", "stddev": "stddev", "stddev_samp": "stddev",
    "variance": "variance", "var_samp": "variance", "median": "median", "quantile": "quantile",
    "percentile": "quantile", "delta": "delta", "any_value": "any_value", "bool_and": "bool_and",
    "every": "bool_and", "bool_or": "bool_or", "collect": "collect", "collect_list": "collect",
    "array_agg": "collect",
}  # fmt: skip
"""The aggregate functions by every name they are known under."""
WINDOW_FUNCTIONS = ("timed_out", "window_start", "window_end")
SPECIAL = ("if", "iif", "coalesce", "ifnull", "nvl", "arrival_time", "cast", "try_cast", "extract", "date_part",
           "datepart")  # fmt: skip
CLOCKS = ("now", "current_timestamp", "current_date", "current_time", "localtimestamp", "getdate", "sysdate")
RESERVED_NAMES = frozenset([*BY_NAME, *AGGREGATES, *WINDOW_FUNCTIONS, *SPECIAL, *CLOCKS])
