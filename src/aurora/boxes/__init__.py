"""The boxes: one module each, with its declaration and its kernel. Importing this package fills the list of kinds.

What the window boxes are built from, in the order in which a tuple meets it: ``coding`` and ``groups`` (group values to
dense codes), ``order`` (slack and lateness), ``accumulators``, ``picks`` and ``bags`` (partial aggregates),
``aggregation`` (a box's calls together), ``closing``, ``grid``, ``origins``, ``empties``, ``value_windows`` and
``tuple_windows`` (which tuples belong together, and when that is known).
"""

from aurora.boxes import (
    aggregate,
    bsort,
    drop,
    filter,
    group_by,
    join,
    latch,
    map,
    python,
    resample,
    slide,
    spark,
    tumble,
    union,
)

__all__ = [
    "aggregate",
    "bsort",
    "drop",
    "filter",
    "group_by",
    "join",
    "latch",
    "map",
    "python",
    "resample",
    "slide",
    "spark",
    "tumble",
    "union",
]
