"""Where in its text a part of an expression stands, so that a problem can be pointed at."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from aurora.errors import Report, Span

_OF_THE_NAME = ("unknown-function", "wrong-argument-count")
"""Problems of a call that are those of its name; the arguments may be right."""


def span_of(tree: exp.Expr) -> Span | None:
    """From the first to the last word of the part that sqlglot knows the place of; it knows those of leaves and names.

    >>> from aurora.expressions.dialect import Aurora
    >>> span_of(Aurora().parse("a < f(b)")[0])
    (0, 7)
    """
    spans = [span for node in tree.walk() if (span := _own(node)) is not None]
    return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else None


def _own(tree: exp.Expr) -> Span | None:
    start, end = tree.meta.get("start"), tree.meta.get("end")
    return None if start is None or end is None else (start, end + 1)


def point_at(tree: exp.Expr, report: Report, since: int) -> None:
    """Gives the problems from number ``since`` the place of the tree, unless a part inside it has had them already."""
    for index in range(since, len(report.problems)):
        problem = report.problems[index]
        if problem.span is None:
            span = _own(tree) if problem.id in _OF_THE_NAME else None
            report.problems[index] = replace(problem, span=span or span_of(tree))
