"""What holds for all tests: hypothesis profiles, what unit and conformance tests may not do, and who is tried again."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
SHELTERED = (TESTS / "unit", TESTS / "conformance")
TIMED = (TESTS / "page", TESTS / "server")
"""Other programs take part here, a browser or brokers, and they keep their own time."""

# Tests that are not about Spark do without it; those that are say so.
os.environ.setdefault("AURORA_PROCESSOR", "local")

# The default is the same everywhere and every time; `long` looks for new cases, when a person asks for it.
_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "default", max_examples=40, derandomize=True, deadline=None, suppress_health_check=_SLOW_IS_FINE
)
settings.register_profile("long", max_examples=2_000, deadline=None, suppress_health_check=_SLOW_IS_FINE)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


class ForbiddenInUnitTestsError(AssertionError):
    """A unit or conformance test did what makes tests slow or flaky."""


class _NoSpark(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in ("pyspark", "py4j"):
            raise ForbiddenInUnitTestsError(f"a unit test imported {fullname}; move it to tests/integration")
        return None


def _no_sleep(_seconds: float) -> None:
    raise ForbiddenInUnitTestsError(
        "a unit test slept; drive time with a manual clock, or move it to tests/integration"
    )


@contextmanager
def _sheltered() -> Iterator[None]:
    """No sleep, no Spark, and no wall clock for Aurora's own modules (libraries may look at it)."""

    def guarded(read: str) -> object:
        genuine = getattr(time, read)

        def clock() -> object:
            if str(sys._getframe(1).f_globals.get("__name__", "")).partition(".")[0] == "aurora":
                raise ForbiddenInUnitTestsError(f"Aurora read time.{read}() in a unit test; give it a manual clock")
            return genuine()

        return clock

    no_spark = _NoSpark()
    sys.meta_path.insert(0, no_spark)
    try:
        with (
            mock.patch.object(time, "sleep", _no_sleep),
            mock.patch.object(time, "time", guarded("time")),
            mock.patch.object(time, "time_ns", guarded("time_ns")),
        ):
            yield
    finally:
        sys.meta_path.remove(no_spark)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What waits for other programs is tried once more when it fails, and named in the summary; nothing else is."""
    for item in items:
        if _stands_in(item, TIMED) or item.get_closest_marker("timed") is not None:
            item.add_marker(pytest.mark.flaky(reruns=1))


def _stands_in(item: pytest.Item, folders: Iterable[Path]) -> bool:
    return any(item.path.is_relative_to(folder) for folder in folders)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    if not _stands_in(item, SHELTERED):
        return (yield)
    with _sheltered():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    if not _stands_in(item, SHELTERED):
        return (yield)
    with _sheltered():
        return (yield)
