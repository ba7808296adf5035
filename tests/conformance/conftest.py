"""Runs every test that takes a ``case`` with each of its module's cases, and a ``train`` with each train size."""

from __future__ import annotations

import pytest

from conformance.cases import TRAINS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", metafunc.module.CASES, ids=str)
    if "train" in metafunc.fixturenames:
        metafunc.parametrize("train", TRAINS, ids=lambda n: "all" if n is None else f"train{n}")
