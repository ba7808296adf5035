"""Every test here sees the sample boxes only, whatever kinds other tests have imported."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aurora.model.box import KINDS
from tests.unit.model.sample_boxes import SAMPLES


@pytest.fixture(autouse=True, scope="module")
def sample_kinds() -> Iterator[None]:
    before = dict(KINDS)
    KINDS.clear()
    KINDS.update(SAMPLES)
    yield
    KINDS.clear()
    KINDS.update(before)
