"""The last hour of a network: what was noted can be read, however its elements come and go."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest

import aurora as au
from aurora.engine.latencies import Latencies
from aurora.engine.samples import InputSample, OutputSample, Sample
from aurora.model.check import typecheck
from aurora.model.typed import TypedNetwork
from aurora.qos.monitor import Utility
from aurora.server.history import COARSE, FINE_SLOTS, KEPT, History

START_S = 1_700_000_000


def network(*boxes: str) -> TypedNetwork:
    net = au.Network("n")
    arc = net.stream("s", x="int")
    for name in boxes:
        arc = arc.filter(name, "x > 0")
    net.output("out", arc)
    return typecheck(net)


def sample(
    typed: TypedNetwork,
    second: float,
    load: float = 0.0,
    *,
    queue: float = 0.0,
    shed: int = 0,
    tuples: int = 0,
    lost: float = 0.0,
    latencies: Mapping[int, int] | None = None,
) -> Sample:
    boxes, arcs = len(typed.order), len(list(typed.arcs))
    noted = Latencies()
    for latency_us, count in (latencies or {}).items():
        noted.note(latency_us, count)
    return Sample(
        now_us=round((START_S + second) * 1e6),
        typed=typed,
        load=np.full(boxes, load),
        tuple_cost_s=np.full(boxes, 1e-6),
        selectivity=np.full(boxes, 0.5),
        queue_tuples=np.full(boxes, queue),
        age_s=np.zeros(boxes),
        arc_rate_per_s=np.arange(arcs, dtype=float),
        arc_queue_tuples=np.full(arcs, queue),
        inputs={"s": InputSample(10.0, shed)},
        outputs={"out": OutputSample(5.0, None, tuples, lost, noted, Utility(0.5, 0.5))},
        busy=load * boxes,
        capacity=0.9,
        memory_bytes=1_000,
        disk_bytes=0,
        shed={"random": shed},
        rejected={},
    )


def read(history: History, of: str, name: str, metric: str, seconds: float, at: float) -> list[float | None]:
    found = history.read(of, [name], seconds, round((START_S + at) * 1e6))  # type: ignore[arg-type]
    series: list[float | None] = found["series"][name][metric]
    assert len(series) == len(found["times"])
    return series


def test_every_second_of_five_minutes_is_kept() -> None:
    history, typed = History(), network("a", "b")
    for second in range(400):
        history.note(sample(typed, second + 0.5, load=second / 1000))
    series = read(history, "box", "b", "load", 300, 399.7)
    assert series == pytest.approx([second / 1000 for second in range(100, 400)], rel=1e-3)
    times = history.read("box", ["a"], 3, round((START_S + 399.7) * 1e6))["times"]
    assert times == [START_S + 397, START_S + 398, START_S + 399]


def test_an_hour_is_kept_in_steps_of_ten_seconds_as_mean_or_most() -> None:
    history, typed = History(), network("a")
    for second in range(4000):
        history.note(sample(typed, second, load=second, queue=second))
    found = history.read("box", ["a"], 3600, (START_S + 3999) * 1_000_000)
    assert found["step_s"] == 10
    assert len(found["times"]) == 360
    assert found["times"][0] == START_S + 400
    assert found["series"]["a"]["load"][0] == pytest.approx(404.5, rel=1e-3)
    assert found["series"]["a"]["queue_tuples"][0] == 409
    # The step that is not over yet is there as well.
    history.note(sample(typed, 4000, load=1.0))
    assert read(history, "box", "a", "load", 3600, 4000)[-1] == 1


def test_a_time_without_samples_is_a_gap() -> None:
    history, typed = History(), network("a")
    for second in [*range(20), *range(100, 120)]:
        history.note(sample(typed, second, load=1.0))
    fine = read(history, "box", "a", "load", 120, 119)
    assert [value for value in fine if value is not None] == [1.0] * 40
    assert fine[20:100] == [None] * 80
    coarse = read(history, "box", "a", "load", 3600, 119)
    assert coarse[-12:] == [1.0, 1.0, *[None] * 8, 1.0, 1.0]


def test_elements_come_and_go_and_come_again() -> None:
    history = History()
    first, second = network("a", "b"), network("b", "c")
    for at in range(10):
        history.note(sample(first, at, load=1.0))
    for at in range(10, 20):
        history.note(sample(second, at, load=2.0))
    for at in range(20, 30):
        history.note(sample(first, at, load=3.0))
    assert read(history, "box", "a", "load", 30, 29) == [1.0] * 10 + [None] * 10 + [3.0] * 10
    assert read(history, "box", "b", "load", 30, 29) == [1.0] * 10 + [2.0] * 10 + [3.0] * 10
    assert read(history, "box", "c", "load", 30, 29) == [None] * 10 + [2.0] * 10 + [None] * 10
    assert set(history.read("box", None, 30, (START_S + 29) * 1_000_000)["series"]) == {"a", "b"}
    with pytest.raises(KeyError):
        history.read("box", ["d"], 30, START_S * 1_000_000)


def test_elements_that_are_gone_do_not_pile_up() -> None:
    history = History()
    for at in range(400):
        history.note(sample(network(f"box{at}"), at, load=at))
    assert "box399" in history.names("box")
    assert "box0" not in history.names("box")
    assert len(history.names("box")) == 101
    # A row that was taken over shows nothing of who had it before.
    known = [value for value in read(history, "box", "box399", "load", 300, 399) if value is not None]
    assert known == [399.0]


def test_memory_is_bounded_whatever_the_size() -> None:
    small, large = network(*(f"b{n}" for n in range(10))), network(*(f"b{n}" for n in range(300)))
    budget = 2_000_000
    history = History(budget)
    for at in range(30):
        history.note(sample(small, at, load=at))
    assert history.step_s == 1
    for at in range(30, 90, 3):
        history.note(sample(large, at, load=at))
    assert history.step_s == 3
    assert history.bytes <= budget * 1.1
    # What was known before is still there, at the times of the longer steps.
    series = history.read("box", ["b0"], 90, (START_S + 89) * 1_000_000)
    assert series["step_s"] == 3
    assert not any(value is None for value in series["series"]["b0"]["load"])


def test_a_thousand_boxes_take_twenty_megabytes() -> None:
    history = History()
    history.note(sample(network(*(f"b{n}" for n in range(1000))), 0))
    assert history.step_s == 1
    assert 15e6 < history.bytes < 21e6


def test_counts_become_rates_and_a_new_run_counts_anew() -> None:
    history, typed = History(), network("a")
    for second, shed in enumerate([100, 150, 250, 7]):
        history.note(sample(typed, second, shed=shed))
    assert read(history, "input", "s", "shed_per_s", 4, 3) == [None, 50, 100, 7]
    assert read(history, "network", "", "shed_per_s", 4, 3) == [None, 50, 100, 7]


def test_latencies_are_those_of_the_last_second() -> None:
    history, typed = History(), network("a")
    history.note(sample(typed, 0, latencies={1_000: 1_000}))
    history.note(sample(typed, 1, latencies={1_000: 1_000, 2_000_000: 10}))
    history.note(sample(typed, 2, latencies={1_000: 1_000, 2_000_000: 10}))
    p50 = read(history, "output", "out", "p50_s", 3, 2)
    assert p50[0] == pytest.approx(0.001, rel=0.01)
    assert p50[1] == pytest.approx(2.0, rel=0.01)
    assert p50[2] is None


def test_the_delivered_share_is_a_recent_one() -> None:
    history, typed = History(), network("a")
    tuples, lost = 0, 0.0
    for second in range(120):
        tuples, lost = tuples + 50, lost + (50 if second < 60 else 0)
        history.note(sample(typed, second, tuples=tuples, lost=lost))
    series = read(history, "output", "out", "delivered", 120, 119)
    assert series[59] == pytest.approx(50, abs=0.1)
    assert series[119] is not None
    assert series[119] > 99.9


def test_the_whole_is_the_sum_of_its_parts() -> None:
    history, typed = History(), network("a", "b")
    history.note(sample(typed, 0, load=0.25, queue=4))
    found = history.read("network", [""], 1, START_S * 1_000_000)["series"][""]
    assert found["load"] == [0.5]
    assert (found["in_per_s"], found["out_per_s"], found["queue_tuples"]) == ([10], [5], [8])
    assert found["utility"] == [0.25]
    assert set(found) == {kept.name for kept in KEPT["network"]}


def test_slots_are_what_the_reference_says() -> None:
    assert FINE_SLOTS == 300
    assert math.isclose(COARSE * 360, 3600)
