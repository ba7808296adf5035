"""A sample for the history says the same as a reading of all statistics."""

from __future__ import annotations

import pytest

import aurora as au
from aurora.clock import ManualClock
from aurora.engine.latencies import Latencies


def network() -> au.Network:
    net = au.Network("n")
    ticks, quotes = net.stream("ticks", x="int"), net.stream("quotes", x="int")
    routes = ticks.filter("routes", routes={"small": "x < 10"}, otherwise="rest")
    both = routes["small"].union("both", quotes)
    net.output("all", both, qos=au.QoS(latency=[("0s", 1), ("1s", 1), ("2s", 0)], loss=[(100, 1), (0, 0)]))
    net.output("rest", routes["rest"].map("twice", compute={"x": "2 * x"}))
    return net


def test_a_sample_agrees_with_the_statistics() -> None:
    clock = ManualClock(start_us=1_000_000_000)
    with au.Engine(network(), processor="local", scheduler="round_robin", wall=clock, paused=True) as engine:
        for second in range(5):
            engine.enqueue("ticks", [{"x": x} for x in range(30)])
            engine.enqueue("quotes", [{"x": x} for x in range(5)])
            clock.move_s(1)
            if second < 3:
                while engine.step():
                    pass
        engine.step()  # some boxes have something waiting
        clock.move_s(0.5)
        reading, sample = engine.stats(), engine.sample()
        boxes = [reading.boxes[name] for name in sample.typed.order]
        assert sample.load == pytest.approx([box.recent_load for box in boxes])
        assert sample.tuple_cost_s == pytest.approx([box.recent_tuple_cost_s for box in boxes])
        assert sample.selectivity == pytest.approx([box.recent_selectivity for box in boxes])
        assert sample.queue_tuples == pytest.approx([box.queue_tuples for box in boxes])
        assert sample.age_s == pytest.approx([box.age_s for box in boxes])
        assert sample.queue_tuples.sum() > 0
        arcs = [reading.arcs[name] for name in sample.typed.arcs]
        assert sample.arc_rate_per_s == pytest.approx([arc.recent_rate_per_s for arc in arcs])
        assert sample.arc_queue_tuples == pytest.approx([arc.queue_tuples for arc in arcs])
        for name, output in sample.outputs.items():
            read = reading.outputs[name]
            assert (output.tuples, output.lost) == (read.tuples, read.lost)
            assert output.rate_per_s == pytest.approx(read.recent_rate_per_s)
            assert output.latency_s == pytest.approx(read.recent_latency_s)
            assert output.utility == read.utility["live"]
        assert {name: one.rate_per_s for name, one in sample.inputs.items()} == pytest.approx(
            {name: one.recent_rate_per_s for name, one in reading.inputs.items()}
        )
        assert sample.busy == pytest.approx(sum(part.recent_share for part in reading.parts.values()))
        assert sample.shed == reading.engine.shed == {}


def test_why_boxes_run_or_do_not_is_known_of_a_real_engine() -> None:
    with au.Engine(network(), processor="local", wall=ManualClock(1_000_000_000), paused=True) as engine:
        engine.enqueue("ticks", [{"x": x} for x in range(30)])
        engine.step()
        paused = engine.scheduling()
        assert set(paused) == {"routes", "both", "twice"}
        assert {one.state for one in paused.values()} == {"paused"}
        engine.resume()
        engine.drain()
        assert engine.scheduling()["twice"].state == "keeping_up"


def test_latencies_since_an_earlier_copy() -> None:
    latencies = Latencies()
    latencies.note(1_000, 10)
    before = latencies.copy()
    latencies.note(5_000_000, 4)
    recent = latencies.since(before)
    assert recent.tuples == 4
    assert recent.quantiles((0.5, 0.99)) == pytest.approx([5.0, 5.0], rel=0.01)
    assert latencies.since(latencies.copy()).quantile(0.5) is None
    # Those of another run are no earlier ones.
    other = Latencies()
    other.note(2_000, 3)
    assert other.since(latencies).tuples == 3
