"""Order, cycles and reach of graphs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aurora.model import topology

_NODES = [f"n{index}" for index in range(8)]
_GRAPHS = st.dictionaries(st.sampled_from(_NODES), st.lists(st.sampled_from([*_NODES, "stream"]), max_size=3))


def test_free_nodes_keep_their_order() -> None:
    assert topology.order({"c": ["s"], "a": ["s"], "b": ["c"]}) == ("c", "a", "b")
    assert topology.order({"late": ["x"], "x": [], "first": []}) == ("x", "late", "first")


def test_a_node_that_reads_one_other_twice_is_visited_once() -> None:
    assert topology.order({"b": ["a", "a"], "a": []}) == ("a", "b")


def test_nodes_on_and_behind_a_cycle_have_no_place_in_the_order() -> None:
    reads = {"a": [], "b": ["c", "a"], "c": ["b"], "d": ["c"]}
    assert topology.order(reads) == ("a",)
    assert topology.cycles(reads) == [("b", "c")]


def test_every_separate_cycle_is_found() -> None:
    reads = {"a": ["a"], "b": ["d"], "c": ["b"], "d": ["c"], "e": ["a", "f"], "f": ["e"]}
    assert topology.cycles(reads) == [("a",), ("b", "c", "d"), ("e", "f")]


def test_upstream_and_downstream() -> None:
    reads = {"a": ["s"], "b": ["a"], "c": ["b", "t"], "d": ["a"]}
    assert topology.upstream(reads, "c") == {"a", "b", "s", "t"}
    assert topology.downstream(reads, "a") == {"b", "c", "d"}
    assert topology.downstream(reads, "s") == {"a", "b", "c", "d"}


@given(_GRAPHS)
def test_order_respects_reads_and_misses_only_what_cycles_hold_back(reads: dict[str, list[str]]) -> None:
    found = topology.order(reads)
    rank = {name: index for index, name in enumerate(found)}
    for name in found:
        assert all(rank[up] < rank[name] for up in reads[name] if up in reads)
    cycles = topology.cycles(reads)
    on_cycles = {name for cycle in cycles for name in cycle}
    behind = on_cycles.union(*(topology.downstream(reads, name) for name in on_cycles))
    assert set(reads) - set(found) == behind & set(reads)
    for cycle in cycles:
        assert all(up in reads[name] for up, name in zip(cycle, (*cycle[1:], cycle[0]), strict=True))
