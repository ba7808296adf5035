"""On Spark itself, every case of every box and random networks give what they give without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

from aurora.engine.in_memory import ProcessorMaker
from aurora.engine.run import AtEnd
from aurora.model.typed import TypedNetwork
from aurora.processors.plan import Processor
from aurora.processors.spark.masters import Master
from aurora.processors.spark.place import SparkPlace
from aurora.processors.spark.runner import SparkRunner
from aurora.processors.spark.session import start_session, stop_session
from aurora.processors.steps.processor import StepProcessor
from aurora.storage.tiers import Tiers
from aurora.testing import run_rows
from conformance.cases import Case, check_engine
from conformance.test_snapshots import CASES
from oracle.strategies import Example, examples
from oracle.test_random_networks import CLOCK, ENDS, assert_same, engine

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

SLOTS = 2


@pytest.fixture(scope="module")
def on_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessorMaker]:
    """Makes processors on one session; keyed boxes run in two parts."""
    folder: Path = tmp_path_factory.mktemp("conformance")
    session = start_session(Master.parse(f"local[{SLOTS}]"), log=folder / "spark.log")
    place = SparkPlace(session, SLOTS)
    tiers = Tiers(str(folder / "blocks"), None)

    def make(typed: TypedNetwork, statics: Mapping[str, pl.DataFrame]) -> Processor:
        runner = SparkRunner(place, tiers.fastest)
        return StepProcessor(typed, runner, tiers.blocks, tiers.fastest, statics=statics)

    yield make
    place.dismiss()
    tiers.close()
    stop_session(session)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, on_spark: ProcessorMaker) -> None:
    check_engine(case, 7, processor=on_spark)


@pytest.mark.parametrize("at_end", ENDS)
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(example=examples())
def test_random_networks(at_end: AtEnd, on_spark: ProcessorMaker, example: Example) -> None:
    found = run_rows(example.document, example.inputs, clock=CLOCK, train=20, at_end=at_end, processor=on_spark)
    assert_same(found, engine(example, None, at_end))
