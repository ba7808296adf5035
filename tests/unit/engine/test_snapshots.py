"""Snapshots: a restart at any point changes nothing, for boxes of every kind; a foreign snapshot is refused."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
import pytest
import yaml

from aurora.boxes.python import python_box
from aurora.connectors.frames import FrameSource
from aurora.engine.in_memory import run
from aurora.engine.intake import by_column
from aurora.engine.run import Run
from aurora.errors import StateError
from aurora.model.box import KINDS
from aurora.model.check import typecheck
from aurora.model.document import loads
from aurora.model.network import Network
from aurora.model.train import Progress
from aurora.model.typed import Producer
from aurora.processors.local import LocalProcessor
from aurora.processors.plan import Execution, Result
from aurora.scheduler.trains import FixedTrain
from aurora.testing import ManualClock


@python_box("snapshots_seen", outputs={"out": {"n": "int", "x": "double"}}, tick="3s")
class Seen:
    def open(self, schemas: Any) -> None:
        self.n = 0

    def process(self, port: int, train: pl.DataFrame) -> pl.DataFrame:
        self.n += train.height
        return train.select(pl.int_range(self.n - train.height, self.n).alias("n"), "x")

    def on_time(self, now: int) -> pl.DataFrame:
        return pl.DataFrame({"n": [-self.n], "x": [now / 1e6]})

    def snapshot(self) -> pl.DataFrame:
        return pl.DataFrame({"n": [self.n]})

    def restore(self, state: pl.DataFrame) -> None:
        self.n = state["n"][0]


ALL_CALLS = (
    "{n: count(*), d: count(distinct x), s: sum(x), m: median(x), f: first(g), l: last(at), v: variance(x),"
    " c: collect(y), i: sum(y), hi: max(x), lo: min(g), z: delta(y)}"
)
CALLS = "{n: count(*), s: sum(x), l: last(at), c: collect(y)}"
GROUPED = "in: s, group_by: g"
PAIR = "left_order_by: y, right_order_by: y"

# Kind, then a name for what is special about it, then the box.
BOXES = {
    "filter": "{kind: filter, in: s, routes: {big: x > 2, small: x <= 2}, else: other}",
    "map": "{kind: map, in: s, extend: {z: x * 2}}",
    "union": "{kind: union, in: [s, r]}",
    "drop by lot": "{kind: drop, in: s, rate: 0.4, seed: 3}",
    "drop by condition": "{kind: drop, in: s, where: x > 2}",
    "bsort by count": f"{{kind: bsort, {GROUPED}, order_by: y, slack: 2 tuples}}",
    "bsort by distance": f"{{kind: bsort, {GROUPED}, order_by: y, slack: 3}}",
    "aggregate tuples": f"{{kind: aggregate, {GROUPED}, window: {{size: 3 tuples, advance: 2 tuples}},"
    f" compute: {CALLS}}}",
    "aggregate many tuples": f"{{kind: aggregate, in: s, window: {{size: 6 tuples, advance: 1 tuple}},"
    f" compute: {CALLS}}}",
    "aggregate panes of tuples": f"{{kind: aggregate, {GROUPED}, order_by: y, slack: 1 tuple, late: true,"
    f" window: {{size: 4 tuples, advance: 2 tuples}}, compute: {CALLS}}}",
    "aggregate tuples with timeout": f"{{kind: aggregate, {GROUPED}, window: {{size: 3 tuples, timeout: 2s}},"
    f" compute: {CALLS}}}",
    "aggregate tuples by distance": f"{{kind: aggregate, {GROUPED}, order_by: y, slack: 2,"
    f" window: {{size: 2 tuples}}, compute: {CALLS}}}",
    "aggregate values by count": f"{{kind: aggregate, {GROUPED}, order_by: y, slack: 1 tuple, late: true,"
    f" window: {{size: 4, advance: 2, emit_empty: true}}, compute: {CALLS}}}",
    "aggregate values by distance": f"{{kind: aggregate, {GROUPED}, order_by: y, slack: 2, late: true,"
    f" window: {{size: 4, advance: 3, align: first}}, compute: {CALLS}}}",
    "aggregate values with timeout": f"{{kind: aggregate, {GROUPED}, order_by: y, slack: 2,"
    f" window: {{size: 4, advance: 2, timeout: 2s, emit_empty: true}}, compute: {CALLS}}}",
    "aggregate doubles": "{kind: aggregate, in: s, order_by: x, slack: 2,"
    " window: {size: 1.5, advance: 0.5}, compute: {n: count(*), c: collect(x)}}",
    "tumble": f"{{kind: tumble, {GROUPED}, window: {{size: 2 tuples}}, compute: {ALL_CALLS}}}",
    "slide": f"{{kind: slide, {GROUPED}, window: {{size: 2 tuples}}, compute: {CALLS}}}",
    "latch": f"{{kind: latch, {GROUPED}, every: 2 tuples, compute: {ALL_CALLS}}}",
    "latch by count": f"{{kind: latch, {GROUPED}, order_by: y, slack: 1 tuple, late: true, compute: {CALLS}}}",
    "latch by distance": f"{{kind: latch, {GROUPED}, order_by: y, slack: 2, compute: {CALLS}}}",
    "group_by": "{kind: group_by, in: s, columns: [g]}",
    "join by count": f"{{kind: join, in: [s, r], 'on': left.g = right.g, within: 2, {PAIR}, slack: 1 tuple,"
    " late: true}",
    "join by distance": f"{{kind: join, in: [s, r], 'on': left.x < right.x, within: 1, {PAIR}, slack: 3}}",
    "resample": "{kind: resample, in: [r, s], order_by: y, within: 2, group_by: g, slack: 1 tuple, late: true,"
    " compute: {n: count(*), c: collect(x)}}",
    "resample by distance": "{kind: resample, in: [r, s], order_by: y, within: 2, slack: 2,"
    " compute: {n: count(*), v: avg(x)}}",
    "resample interpolated": "{kind: resample, in: [r, s], order_by: y, within: 3, interpolate: linear,"
    " compute: {v: avg(x)}}",
    "python": "{kind: python, in: [s, r], class: snapshots_seen}",
}

SCHEMA = "{schema: {at: int, g: string, x: double, y: int}}"
ROWS = {
    "s": [
        (0, "a", 1.5, 1), (1, "b", None, 2), (1, "a", 2.5, 2), (3, None, 0.1, 1), (4, "a", 0.2, 5), (4, "b", 3.5, 7),
        (6, "a", None, 3), (7, "a", 2.5, 8), (9, "c", 9.0, None), (9, "b", 0.3, 9), (12, "a", 1.0, 14),
    ],
    "r": [
        (0, "a", 2.0, 1), (2, "b", 7.5, 4), (4, "a", 3.0, 6), (5, "b", 1.0, 3), (9, "a", None, 9), (11, "b", 4.0, 12),
    ],
}  # fmt: skip
TUPLES = sum(map(len, ROWS.values()))


def network(box: str, name: str = "b") -> Network:
    """The box alone, with each of its ports drawn out."""
    declared = yaml.safe_load(box)
    parsed = KINDS[declared["kind"]].model_validate(
        {"name": name, **{k: v for k, v in declared.items() if k != "kind"}}
    )
    outputs = ", ".join(f"out_{port}: {{from: {name}.{port}}}" for port in parsed.output_ports())
    return loads(
        f"{{aurora: 1, network: n, streams: {{s: {SCHEMA}, r: {SCHEMA}}}, boxes: {{{name}: {box}}},"
        f" outputs: {{{outputs}}}}}"
    )


def tables() -> dict[str, list[dict[str, Any]]]:
    return {name: [dict(zip(("at", "g", "x", "y"), row, strict=True)) for row in rows] for name, rows in ROWS.items()}


def outcome(net: Network, train: int, restarts: set[int]) -> dict[str, Any]:
    """Everything that comes out and everything that is counted, with restarts after these trains."""
    trains = 0

    def after_train(running: Run) -> None:
        nonlocal trains
        trains += 1
        if trains in restarts:
            running.move_state()

    result = run(net, tables(), clock="at", train=train, wall=ManualClock(), on_epoch=after_train)
    counted = {name: (box.tuples_out, box.late, box.nulled) for name, box in result.statistics.boxes.items()}
    return {"counted": counted, **{name: frame.rows() for name, frame in result.outputs.items()}}


def test_every_kind_is_here() -> None:
    # A box of kind spark has no state, and needs Spark.
    assert {name.split()[0] for name in BOXES} == KINDS.keys() - {"spark"}


@pytest.mark.parametrize("box", BOXES)
def test_a_restart_after_any_train_changes_nothing(box: str) -> None:
    """Trains of one tuple, so that every state between two tuples is cut once; each is restored and run to the end."""
    typed = typecheck(network(BOXES[box]))
    sources = {name: FrameSource(table, typed.arcs[name].schema) for name, table in tables().items()}
    epochs = list(by_column(sources, {name: typed.arcs[name].schema for name in sources}, "at", FixedTrain(1)))
    plan = [
        Execution(typed.order, {Producer(name): train for name, train in epoch.trains.items()}, epoch.progress)
        for epoch in epochs
    ]
    plan.append(
        Execution(typed.order, {}, Progress.standing(epochs[-1].progress.seq, epochs[-1].progress.clock, end=True))
    )
    running = LocalProcessor(typed)
    given, states = [], []
    for execution in plan:
        states.append(running.snapshot())
        given.append(outcome_of(running.run([execution])))
    assert any(trains for trains, _ in given)
    for k, state in enumerate(states):
        restored = LocalProcessor(typed)
        restored.restore(state)
        assert [outcome_of([result]) for result in restored.run(plan[k:])] == given[k:]


def outcome_of(results: list[Result]) -> Any:
    """What boxes put out, with the hidden columns, and what they counted."""
    (result,) = results
    trains = {producer: train.frame.rows() for producer, train in result.trains.items() if producer.name == "b"}
    return trains, [(cost.tuples_out, cost.late, cost.nulled) for cost in result.costs.values()]


@pytest.mark.parametrize("box", BOXES)
def test_restarts_all_the_time_change_nothing(box: str) -> None:
    """What a restored kernel gives for a snapshot is again a whole one; and trains do not matter either."""
    net = network(BOXES[box])
    expected = outcome(net, 100, set())
    assert any(rows for name, rows in expected.items() if name != "counted")
    assert outcome(net, 1, set(range(TUPLES + 1))) == expected
    assert outcome(net, 3, set(range(TUPLES + 1))) == expected


def snapshot_of(net: Network) -> dict[str, pa.Table]:
    taken: list[dict[str, pa.Table]] = []
    run(
        net,
        tables(),
        clock="at",
        train=5,
        wall=ManualClock(),
        on_epoch=lambda running: taken.append(running.processor.snapshot()),
    )
    return taken[1]


def restore(net: Network, states: dict[str, pa.Table]) -> None:
    LocalProcessor(typecheck(net)).restore(states)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bsort by count", "bsort by distance"),
        ("bsort by count", "map"),
        ("latch", "tumble"),
        ("aggregate tuples", "aggregate values by count"),
        ("join by count", "join by distance"),
        ("union", "python"),
    ],
)
def test_a_snapshot_of_another_box_is_refused(one: str, other: str) -> None:
    for source, target in ((one, other), (other, one)):
        with pytest.raises(StateError, match=r"^in box b: the snapshot holds .*, but this kernel keeps"):
            restore(network(BOXES[target]), snapshot_of(network(BOXES[source])))


def test_a_snapshot_of_the_box_with_other_aggregates_is_refused() -> None:
    """The parts are named alike; only what is in them does not fit."""
    few, more = (
        f"{{kind: latch, {GROUPED}, compute: {calls}}}" for calls in ("{n: count(*)}", "{s: sum(x), n: avg(y)}")
    )
    with pytest.raises(StateError, match=r"^in box b: the snapshot does not fit"):
        restore(network(more), snapshot_of(network(few)))


def test_a_snapshot_of_another_network_is_refused() -> None:
    states = snapshot_of(network(BOXES["map"]))
    with pytest.raises(StateError, match="the snapshot is of the boxes b, but the network has c"):
        restore(network(BOXES["map"], name="c"), states)
    with pytest.raises(StateError, match="the snapshot is of the boxes "):
        restore(network(BOXES["map"]), {})


def test_what_is_no_snapshot_is_refused() -> None:
    net = network(BOXES["latch"])
    with pytest.raises(StateError, match="not a kernel's snapshot: it has the columns"):
        restore(net, {"b": pa.table({"x": [1]})})
    whole = snapshot_of(net)["b"]
    torn = whole.set_column(1, "data", pa.array([b"torn"] * whole.num_rows, pa.large_binary()))
    with pytest.raises(StateError, match="the snapshot does not fit"):
        restore(net, {"b": torn})


def test_a_snapshot_is_taken_without_changing_anything() -> None:
    """Taking a snapshot twice gives the same, and the run goes on as if none had been taken."""
    net = network(BOXES["aggregate values by count"])
    expected = outcome(net, 100, set())
    seen: list[bool] = []

    def look(running: Run) -> None:
        seen.append(running.processor.snapshot()["b"].equals(running.processor.snapshot()["b"]))

    result = run(net, tables(), clock="at", train=2, wall=ManualClock(), on_epoch=look)
    assert all(seen)
    assert {name: frame.rows() for name, frame in result.outputs.items()}.items() <= expected.items()
