"""The ways out: each does what it promises when it is taken, and no smaller one would."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aurora as au
from aurora.model.typed import TypedNetwork
from aurora.shedding.cures import cures
from aurora.shedding.load import BoxProfile, LoadAnalysis, analyse_load


def two_sources() -> TypedNetwork:
    """a → first → joint ← b"""
    net = au.Network("n")
    a, b = net.stream("a", x="int"), net.stream("b", x="int")
    net.output("out", a.filter("first", "x > 0").union("joint", b))
    return au.typecheck(net)


TYPED = two_sources()
PROFILES = {"first": BoxProfile(6e-4, {"out": 0.5}), "joint": BoxProfile(4e-4, {"out": 1.0})}


def analysed(
    rates: dict[str, float],
    *,
    profiles: dict[str, BoxProfile] = PROFILES,
    cores: float = 1.0,
    headroom: float = 1.0,
    apart: bool = True,
) -> LoadAnalysis:
    return analyse_load(TYPED, profiles, rates, cores=cores, headroom=headroom, places=None if apart else [])


def test_an_overload_worked_out_by_hand() -> None:
    """first needs 0.6; joint takes 500 + 1000 and needs 0.6 too: 1.2 of 0.8, and no box is too busy by itself."""
    found = analysed({"a": 1000.0, "b": 1000.0}, headroom=0.8)
    assert found.short_by == pytest.approx(0.4)
    ways = cures(found)
    assert ways.cores == 2
    assert ways.all_cheaper == pytest.approx(1.5)
    assert ways.cheaper == pytest.approx({"first": 3.0, "joint": 3.0})
    assert ways.shed_all == pytest.approx(1 / 3)
    # A tuple of a makes 6e-4 + 0.5 * 4e-4 of work, one of b 4e-4: 0.8 and 0.4 of load, of which 0.4 has to go.
    assert ways.shed == pytest.approx({"a": 0.5, "b": 1.0})
    assert ways.growth == pytest.approx(2 / 3)


def test_more_cores_do_not_help_a_box_that_only_one_can_run() -> None:
    ways = cures(analysed({"a": 2000.0, "b": 0.0}, cores=8))
    assert ways.cores is None
    # first alone is too busy, with 1.2; joint could be free and it would not help.
    assert ways.cheaper == pytest.approx({"first": 1.2})
    assert ways.shed == pytest.approx({"a": 1 / 6})
    assert cures(analysed({"a": 2000.0, "b": 0.0}, cores=8, apart=False)).cores == 2


def test_what_fits_needs_no_cure() -> None:
    ways = cures(analysed({"a": 500.0, "b": 0.0}, cores=4))
    assert (ways.cores, ways.all_cheaper, ways.shed_all) == (1, 1.0, 0.0)
    assert not ways.cheaper
    assert not ways.shed
    # first would be full at 1/6e-4 tuples per second.
    assert ways.growth == pytest.approx(1 / 6e-4 / 500)
    assert cures(analysed({"a": 0.0, "b": 0.0})).growth == float("inf")


RATES = st.floats(1, 5000)
MARGIN = 1e-6


@given(RATES, RATES, st.integers(1, 4), st.floats(0.1, 1), st.booleans())
def test_a_cure_is_enough_and_no_more_than_that(a: float, b: float, cores: int, headroom: float, apart: bool) -> None:
    def fits(
        profiles: dict[str, BoxProfile] = PROFILES, a: float = a, b: float = b, cores: float = float(cores)
    ) -> bool:
        return analysed({"a": a, "b": b}, profiles=profiles, cores=cores, headroom=headroom, apart=apart).fits

    found = analysed({"a": a, "b": b}, cores=cores, headroom=headroom, apart=apart)
    ways = cures(found)
    assert found.fits is (not ways.shed_all) is (ways.growth >= 1 - MARGIN)
    grown = ways.growth * (1 - MARGIN), ways.growth * (1 + MARGIN)
    assert [fits(a=a * factor, b=b * factor) for factor in grown] == [True, False]
    if ways.cores is None:
        assert not fits(cores=1e9)
    else:
        assert fits(cores=ways.cores)
        assert ways.cores == 1 or not fits(cores=ways.cores - 1)
    if found.fits:
        return

    def cheaper(factor: float, *names: str) -> dict[str, BoxProfile]:
        return {n: replace(p, cost_s=p.cost_s / factor) if n in names else p for n, p in PROFILES.items()}

    assert fits(cheaper(ways.all_cheaper * (1 + MARGIN), "first", "joint"))
    assert not fits(cheaper(ways.all_cheaper * (1 - MARGIN), "first", "joint"))
    for name in PROFILES:
        factor = ways.cheaper.get(name)
        assert fits(cheaper(1e7 if factor is None else factor * (1 + MARGIN), name)) is (factor is not None)
        assert factor is None or not fits(cheaper(factor * (1 - MARGIN), name))
    for stream in ("a", "b"):
        share = ways.shed.get(stream)
        kept = {"a": a, "b": b}
        kept[stream] *= 0.0 if share is None else max(0.0, 1 - share * (1 + MARGIN))
        assert fits(a=kept["a"], b=kept["b"]) is (share is not None)
