"""What is known of a network that is not right: the types of all arcs that mistakes elsewhere do not touch."""

from __future__ import annotations

import aurora.boxes
from aurora.model.check import review
from aurora.model.document.reading import read_text

assert aurora.boxes

NETWORK = """
aurora: 1
network: partial
streams:
  ticks: {schema: {ticker: string, price: double}}
boxes:
  good: {kind: filter, in: ticks, where: price > 1}
  behind: {kind: map, in: good, extend: {twice: price * 2}}
  wrong: {kind: filter, in: behind, where: prise > 1}
  after: {kind: map, in: wrong, compute: {ticker: ticker}}
  broken: {kind: filter, in: after}
  lost: {kind: map, in: broken, extend: {x: 1}}
  unknown: {kind: map, in: behind, compute: {x: nothing}}
outputs: {out: {from: lost}}
"""


def test_arcs_are_typed_in_spite_of_errors_elsewhere() -> None:
    reviewed = review(read_text(NETWORK, format="yaml"))
    assert reviewed.typed is None
    assert {problem.id for problem in reviewed.problems if problem.severity == "error"} == {
        "unknown-column",
        "bad-value",
    }
    known = {arc: list(kind.schema) for arc, kind in reviewed.arcs.items()}
    assert known == {
        "ticks": ["ticker", "price"],
        "good": ["ticker", "price"],
        "behind": ["ticker", "price", "twice"],
        "wrong": ["ticker", "price", "twice"],
        "after": ["ticker"],
    }


def test_a_right_network_has_its_types_too() -> None:
    reviewed = review(
        read_text("{aurora: 1, network: n, streams: {s: {schema: {x: int}}}, outputs: {o: {from: s}}}", format="yaml")
    )
    assert reviewed.typed is not None
    assert dict(reviewed.arcs) == dict(reviewed.typed.arcs)
