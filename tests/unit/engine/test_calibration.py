"""A calibration counts what the samples hold, time after time, and measures what it took."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import aurora as au
from aurora.clock import ManualClock
from aurora.connectors.frames import FrameSource
from aurora.connectors.source import Source
from aurora.engine.calibration import calibrate
from aurora.errors import InputError
from aurora.model.typed import TypedNetwork
from aurora.shedding.measured import measured


def typed() -> TypedNetwork:
    net = au.Network("n")
    s = net.stream("s", x="int")
    net.output("odd", s.filter("odd", "x % 2 = 1"))
    net.output("pairs", s.tumble("pairs", window={"size": "2 tuples"}, n="count(*)"))
    return au.typecheck(net)


def test_a_sample_that_ends_is_run_again_and_the_first_time_does_not_count() -> None:
    network, opened = typed(), []

    def samples() -> Mapping[str, Source]:
        opened.append(1)
        return {"s": FrameSource([{"x": n} for n in range(10)], network.arcs["s"].schema)}

    calibrate(network, samples, wall=ManualClock(), seconds=0.0)
    assert len(opened) == 1, "one that takes longer than there is time for is not run again"
    found = calibrate(network, samples, wall=ManualClock(), seconds=0.05)
    times = len(opened) - 2
    assert times >= 1
    assert found["inputs"]["s"]["tuples"] == found["boxes"]["odd"]["tuples_in"] == 10 * times
    assert found["outputs"]["odd"]["tuples"] == 5 * times
    # Every time begins with fresh boxes, so no pair is made of two samples.
    assert found["boxes"]["pairs"]["tuples_out"] == 5 * times
    profiles = measured(network, found).boxes
    assert profiles["odd"].selectivity == profiles["pairs"].selectivity == {"out": 0.5}
    assert profiles["odd"].cost_s > 0


def test_samples_without_tuples() -> None:
    network = typed()

    def empty() -> Mapping[str, Source]:
        return {"s": FrameSource([], network.arcs["s"].schema)}

    with pytest.raises(InputError, match="the samples have no tuples"):
        calibrate(network, empty, wall=ManualClock(), seconds=0.0)
