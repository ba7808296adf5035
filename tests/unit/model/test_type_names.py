"""Types under other systems' names: a schema does not take them, but says which name to write."""

from __future__ import annotations

import pytest

from aurora.errors import Report
from aurora.model.elements import read_schema
from aurora.model.type_names import ALIASES, WAYS_OUT
from aurora.model.types import SCALARS


@pytest.mark.parametrize(
    ("written", "way_out"),
    [
        ("float", "did you mean 'double'?"),
        ("BIGINT", "did you mean 'int'?"),
        ("Varchar(10)", "did you mean 'string'?"),
        ("timestamp with time zone", "did you mean 'timestamp'?"),
        ("list<float>", "did you mean 'list<double>'?"),
        ("array<bigint>", "did you mean 'list<int>'?"),
        ("text[]", "did you mean 'list<string>'?"),
        ("decimal(10, 2)", "use double, or an int that counts the smallest unit, such as cents"),
        ("date", "a date is a timestamp at midnight: use timestamp, or string for its text"),
        ("uint64", "use int (64 bits with a sign), double or string"),
        ("struct<a: int>", "use a column for each field; converters take a path into the record"),
        ("map<string, int>", "use string, with the map as JSON"),
        ("strng", "did you mean 'string'?"),
        ("widget", "use one of the choices, or list<...> of one"),
        ("list<" * 10_000, "write list<...>, such as list<int>"),
        (7, "use one of the choices, or list<...> of one"),
    ],
)
def test_the_way_out_names_the_type_to_write(written: object, way_out: str) -> None:
    report = Report()
    assert read_schema({"a": written}, report) is None
    (problem,) = report.problems
    assert (problem.id, problem.way_out) == ("unknown-type", way_out)


def test_no_name_means_two_things() -> None:
    names = [*ALIASES, *SCALARS, *WAYS_OUT]
    assert len(names) == len(set(names))
