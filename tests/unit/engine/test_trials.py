"""Trials: what becomes of a sample is what the boxes make of it, for any part of the sample."""

from __future__ import annotations

import numpy as np
import polars as pl

from aurora import Network, tuples
from aurora.clock import ManualClock
from aurora.engine.trials import SAMPLE, Trials
from aurora.expressions import Interval
from aurora.model.check import typecheck
from aurora.model.train import Train
from aurora.model.typed import Producer
from aurora.shedding.forward import find_interval
from aurora.shedding.places import Place

S = Producer("s")


def trials(clock: ManualClock | None = None) -> Trials:
    net = Network("squares")
    s = net.stream("s", x="double", who="string")
    squares = s.filter("known", "x is not null").map("squares", compute={"y": "x * x", "who": "who"})
    net.output("squares", squares.filter("some", "y < 90"))
    net.output("counts", s.aggregate("counts", group_by="who", window=tuples(2), compute={"n": "count(*)"}))
    return Trials(typecheck(net), {}, clock or ManualClock(0))


def train(values: list[float | None]) -> Train:
    return Train(pl.DataFrame({"x": values, "who": ["a"] * len(values)}, schema={"x": pl.Float64, "who": pl.String}), 0)


def test_any_part_of_the_sample_comes_out_as_the_boxes_make_it() -> None:
    found = trials()
    found.note("s", train([1.0, None, -2.0, 9.9, 3.0]))
    given = found(Place(S), "squares")
    assert given is not None
    sample, through = given
    assert sample.get_column("x").to_list() == [1.0, None, -2.0, 9.9, 3.0]
    assert through(sample).get_column("y").to_list() == [1.0, 4.0, 9.0]
    assert through(sample.filter(pl.col("x") < 2)).get_column("y").to_list() == [1.0, 4.0]
    assert through(sample.clear()).get_column("y").to_list() == []


def test_inside_the_network_the_sample_is_what_comes_there() -> None:
    found = trials()
    found.note("s", train([1.0, None, -2.0, 9.9]))
    given = found(Place(Producer("squares")), "squares")
    assert given is not None
    sample, through = given
    assert sample.get_column("y").to_list() == [1.0, 4.0, 9.9 * 9.9]
    assert through(sample).get_column("y").to_list() == [1.0, 4.0]


def test_an_interval_is_found_that_cannot_be_derived() -> None:
    found = trials()
    found.note("s", train(np.linspace(-9, 9, SAMPLE).tolist()))
    given = found(Place(S), "squares")
    assert given is not None
    trial = find_interval(given[0], "x", given[1], output_column="y", unwanted=(Interval(0, 25),))
    assert trial is not None
    assert (trial.removed, trial.lost) == (1.0, 0.0)
    assert trial.interval.lo is not None
    assert trial.interval.hi is not None
    assert -5 <= trial.interval.lo < -4.9
    assert 4.9 < trial.interval.hi <= 5


def test_where_tuples_are_brought_together_nothing_is_tried() -> None:
    found = trials()
    assert found(Place(S), "squares") is None
    found.note("s", train([1.0]))
    assert found(Place(S), "counts") is None


def test_samples_are_bounded_and_renewed() -> None:
    clock = ManualClock(0)
    found = trials(clock)
    found.note("s", train([1.0] * 10 * SAMPLE))
    found.note("s", train([2.0] * 10))
    given = found(Place(S), "squares")
    assert given is not None
    assert given[0].get_column("x").to_list() == [1.0] * SAMPLE
    clock.move_s(3)
    found.note("s", train([2.0] * 10))
    found.note("s", train([3.0] * 10))
    given = found(Place(S), "squares")
    assert given is not None
    assert given[0].get_column("x").to_list() == [2.0] * 10 + [3.0] * 10
