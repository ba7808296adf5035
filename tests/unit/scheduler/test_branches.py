"""Which boxes of a network hang together, and how policies see what does not."""

from __future__ import annotations

import pytest

from aurora.model.check import typecheck
from aurora.model.document import loads
from aurora.model.typed import TypedNetwork
from aurora.scheduler.branches import branches, topology_of_branches
from aurora.scheduler.segments import segments

FORKED = """
aurora: 1
network: forked
streams:
  s: {schema: {k: string, x: int}}
  t: {schema: {k: string, x: int}}
boxes:
  big: {kind: filter, in: s, where: x > 3}
  runs: {kind: latch, in: s, group_by: k, compute: {n: count(*)}}
  small: {kind: filter, in: s, where: x < 3}
  both: {kind: union, in: [small, t]}
  odd: {kind: filter, in: both, where: x % 2 = 1}
  alone: {kind: filter, in: t, where: x > 0}
outputs:
  big: {from: big, qos: {latency: [[0s, 1], [1s, 1], [2s, 0]]}}
  odd: {from: odd}
  runs: {from: runs}
  all: {from: t}
"""


@pytest.fixture
def forked() -> TypedNetwork:
    return typecheck(loads(FORKED))


def test_boxes_hang_together_by_arcs_and_not_by_streams(forked: TypedNetwork) -> None:
    assert branches(forked) == (("big",), ("runs",), ("small", "both", "odd"), ("alone",))


def test_a_box_behind_two_branches_makes_one_of_them() -> None:
    joined = loads(FORKED.replace("in: [small, t]", "in: [small, big]"))
    assert branches(typecheck(joined)) == (("big", "small", "both", "odd"), ("runs",), ("alone",))


def test_for_policies_a_branch_is_a_box_with_the_graphs_of_its_outputs(forked: TypedNetwork) -> None:
    topology = topology_of_branches(forked, branches(forked))
    assert topology.boxes == ("big", "runs", "small+both+odd", "alone")
    assert topology.successors == ((),) * 4
    graphs = {app.name: (app.root, app.latency is not None) for app in topology.applications}
    assert graphs == {"big": (0, True), "odd": (2, False), "runs": (1, False), "all": (-1, False)}


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_cut_apart_no_segment_is_of_two_branches(forked: TypedNetwork, parts: int) -> None:
    found = segments(forked, parts, apart=True)
    home = {box: number for number, boxes in enumerate(branches(forked)) for box in boxes}
    assert sorted(box for segment in found for box in segment.boxes) == sorted(forked.order)
    for segment in found:
        assert {home[box] for box in segment.boxes} <= {segment.branch}
    assert [segment.level for segment in found] == sorted(segment.level for segment in found)
    # The stream that is an output by itself is of no branch.
    assert [str(arc) for segment in found if segment.branch == -1 for arc in segment.writes] == ["t"]


def test_together_branches_that_read_a_stream_anywhere_share_it(forked: TypedNetwork) -> None:
    shared = segments(forked, 2)
    assert any({"big", "small"} <= set(segment.boxes) for segment in shared)
    assert {segment.branch for segment in shared} == {0}
