"""A network spread over parts, as a cluster would do it, gives the same output: every case of every box."""

from __future__ import annotations

import pytest

from conformance.cases import Case, check_engine
from conformance.test_python import CASES as PYTHON_CASES
from conformance.test_snapshots import CASES as DECLARED_CASES

CASES = [*DECLARED_CASES, *PYTHON_CASES]


@pytest.mark.parametrize(("parts", "most_readers"), [(1, 4), (2, 4), (2, 0), (3, 0)])
@pytest.mark.parametrize("size", [1, 3, None])
def test_spread(case: Case, size: int | None, parts: int, most_readers: int) -> None:
    """Parts read whole streams, or streams are split for them."""
    check_engine(case, size, parts=parts, most_readers=most_readers)
