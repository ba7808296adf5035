"""Traversals of random trees and loop-free graphs: all tuples come out, as cheaply or as early as each promises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.scheduler.cost_model import BoxModel, Forecast, forecast
from aurora.scheduler.state import Topology
from aurora.scheduler.traversal import by_output_cost, memory_rates, min_cost, min_latency, min_memory, output_costs
from aurora.scheduler.tree import Tree
from tests.unit.scheduler.simulated import topologies

COLUMN = st.lists(st.integers(1, 9), min_size=12, max_size=12)


class Case:
    def __init__(self, topology: Topology, waiting: list[int], costs: list[int], selectivities: list[int]) -> None:
        self.tree = Tree(topology, topology.roots[0])
        self.waiting = [bool(count % 3) for count in waiting]
        self.queued = waiting
        self.costs = [float(cost) for cost in costs]
        self.selectivities = [selectivity / 6 for selectivity in selectivities]

    def early(self) -> list[int]:
        order = by_output_cost(self.tree, output_costs(self.tree, self.costs, self.selectivities))
        return min_latency(self.tree, self.waiting, order)

    def freeing(self) -> list[int]:
        return min_memory(self.tree, self.waiting, memory_rates(self.tree, self.costs, self.selectivities, [1.0] * 12))

    def forecast(self, calls: list[int], overhead_s: float = 0.0) -> Forecast:
        models = {
            box: BoxModel(
                self.costs[box], overhead_s, self.selectivities[box], self.queued[box] if self.waiting[box] else 0
            )
            for box in self.tree.boxes
        }
        return forecast(calls, models, self.tree.after, self.tree.root)


CASES = st.builds(Case, topologies(), COLUMN, COLUMN, COLUMN)
TREES = st.builds(Case, topologies(trees=True), COLUMN, COLUMN, COLUMN)


@given(CASES)
def test_min_cost_calls_a_box_once_behind_all_that_feed_it(case: Case) -> None:
    calls = min_cost(case.tree, case.waiting)
    assert len(set(calls)) == len(calls)
    for place, box in enumerate(calls):
        assert not set(case.tree.after[box]) & set(calls[:place])
    assert {box for box in case.tree.boxes if case.waiting[box]} <= set(calls)


@given(CASES)
def test_all_traversals_bring_out_the_same_tuples_for_the_same_work(case: Case) -> None:
    cheap = case.forecast(min_cost(case.tree, case.waiting))
    for calls in (case.early(), case.freeing()):
        other = case.forecast(calls)
        assert other.outputs == pytest.approx(cheap.outputs)
        assert other.total_s == pytest.approx(cheap.total_s)
        assert (
            case.forecast(calls, overhead_s=1.0).total_s
            >= case.forecast(min_cost(case.tree, case.waiting), overhead_s=1.0).total_s - 1e-9
        )


@given(TREES)
def test_without_overhead_min_latency_is_never_later_in_a_tree(case: Case) -> None:
    cheap, early = case.forecast(min_cost(case.tree, case.waiting)), case.forecast(case.early())
    assert early.latency_s <= cheap.latency_s + 1e-9


@given(CASES)
def test_min_memory_calls_the_best_box_that_has_tuples(case: Case) -> None:
    rates = memory_rates(case.tree, case.costs, case.selectivities, [1.0] * 12)
    filled = {box for box in case.tree.boxes if case.waiting[box]}
    for box in case.freeing():
        assert box in filled
        assert rates[box] == max(rates[other] for other in filled)
        filled.remove(box)
        filled.update(case.tree.after[box])
    assert not filled


@given(TREES)
def test_output_cost_is_the_sum_over_the_boxes_downstream(case: Case) -> None:
    found = output_costs(case.tree, case.costs, case.selectivities)
    for box in case.tree.boxes:
        total, yielded = 0.0, 1.0
        for down in reversed(case.tree.down(box)):
            yielded *= case.selectivities[down]
            total += case.costs[down] / yielded
        assert found[box] == pytest.approx(total)


def test_branches_that_join_again_and_again_do_not_blow_min_memory_up() -> None:
    reads: dict[str, list[str]] = {"j0": []}
    for stage in range(20):
        reads |= {f"l{stage}": [f"j{stage}"], f"r{stage}": [f"j{stage}"], f"j{stage + 1}": [f"l{stage}", f"r{stage}"]}
    topology = Topology.build(reads, {"out": "j20"})
    tree = Tree(topology, topology.roots[0])
    rates = {box: float(place) for place, box in enumerate(tree.boxes)}
    calls = min_memory(tree, [box == 0 for box in tree.boxes], rates)
    assert len(calls) <= 9 * len(tree.boxes)
    assert calls[-1] == tree.root
    assert set(calls) == set(tree.boxes)


def test_a_box_that_lets_nothing_through_comes_last() -> None:
    topology = Topology.build({"dead": [], "alive": [], "root": ["dead", "alive"]}, {"out": "root"})
    tree = Tree(topology, 2)
    costs = output_costs(tree, [1.0, 5.0, 1.0], [0.0, 0.1, 1.0])
    assert by_output_cost(tree, costs) == (2, 1, 0)


def test_a_long_chain_needs_no_recursion() -> None:
    reads = {f"b{n}": [f"b{n - 1}"] if n else [] for n in range(3_000)}
    topology = Topology.build(reads, {"out": "b2999"})
    assert Tree(topology, 2_999).post_order == tuple(range(3_000))
