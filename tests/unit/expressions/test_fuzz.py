"""A short campaign of ``make fuzz``."""

from __future__ import annotations

import pytest

from tests.fuzz.expressions import tried


@pytest.mark.parametrize("first", range(0, 3000, 500))
def test_random_expressions_raise_nothing_foreign(first: int) -> None:
    assert [str(finding) for seed in range(first, first + 500) if (finding := tried(seed)) is not None] == []
