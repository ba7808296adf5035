"""A kernel restored from a snapshot goes on where the other stopped: every case of every box, cut after each train."""

from __future__ import annotations

import pytest

from conformance import (
    test_aggregate,
    test_bsort,
    test_drop,
    test_filter,
    test_group_by,
    test_join,
    test_latch,
    test_map,
    test_resample,
    test_slide,
    test_timeouts,
    test_tumble,
    test_union,
)
from conformance.cases import Case, check_restored

MODULES = (
    test_aggregate,
    test_bsort,
    test_drop,
    test_filter,
    test_group_by,
    test_join,
    test_latch,
    test_map,
    test_resample,
    test_slide,
    test_timeouts,
    test_tumble,
    test_union,
)
CASES = [case for module in MODULES for case in module.CASES]


@pytest.mark.parametrize("size", [1, 2])
def test_restored(case: Case, size: int) -> None:
    check_restored(case, size)
