"""Rates, loads and coefficients against examples worked out by hand, and against sums over all paths."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aurora as au
from aurora.errors import InputError
from aurora.model.typed import Producer, TypedNetwork
from aurora.shedding.load import BoxProfile, LoadAnalysis, analyse_load, load_coefficients


def routed() -> TypedNetwork:
    """a and b meet; of what comes out, a part goes through ``fine``, and another is delivered as it is."""
    net = au.Network("routed")
    a, b = net.stream("a", x="int"), net.stream("b", x="int")
    split = a.union("both", b).filter("split", routes={"small": "x < 10"}, otherwise="rest")
    net.output("fine", split["small"].map("fine", compute={"x": "x + 1"}))
    net.output("rest", split["rest"])
    return au.typecheck(net)


PROFILES = {
    "both": BoxProfile(1e-4, {"out": 1.0}),
    "split": BoxProfile(2e-4, {"small": 0.25, "rest": 0.5}),
    "fine": BoxProfile(8e-4, {"out": 1.0}),
}


def analysed(cores: float = 1.0, headroom: float = 1.0, **rates: float) -> LoadAnalysis:
    return analyse_load(routed(), PROFILES, rates or {"a": 1000.0, "b": 500.0}, cores=cores, headroom=headroom)


def test_rates_go_with_the_arrows() -> None:
    found = analysed()
    rates = {str(arc): entry.rate_per_s for arc, entry in found.arcs.items()}
    assert rates == pytest.approx(
        {"a": 1000, "b": 500, "both": 1500, "split.small": 375, "split.rest": 750, "fine": 375}
    )
    assert {name: box.rate_per_s for name, box in found.boxes.items()} == pytest.approx(
        {"both": 1500, "split": 1500, "fine": 375}
    )


def test_work_goes_against_them() -> None:
    coefficients = {str(arc): entry.coefficient_s for arc, entry in analysed().arcs.items()}
    # 1e-4 + 2e-4 + 0.25 * 8e-4 = 5e-4 from either input.
    assert coefficients == pytest.approx(
        {"a": 5e-4, "b": 5e-4, "both": 4e-4, "split.small": 8e-4, "split.rest": 0, "fine": 0}
    )


def test_loads_add_up_to_the_least_capacity() -> None:
    found = analysed()
    assert {name: box.load for name, box in found.boxes.items()} == pytest.approx(
        {"both": 0.15, "split": 0.3, "fine": 0.3}
    )
    assert found.min_cap == pytest.approx(0.75)
    assert found.input_load("a") == pytest.approx(0.5)
    assert found.boxes["fine"].by_input == pytest.approx({"a": 0.2, "b": 0.1})
    assert found.boxes["fine"].most_per_s == pytest.approx(1250)


def test_the_box_with_the_greatest_load_is_the_bottleneck() -> None:
    profiles = PROFILES | {"fine": BoxProfile(9e-4, {"out": 1.0})}
    assert analyse_load(routed(), profiles, {"a": 1000.0, "b": 0.0}).bottleneck == "fine"
    cheaper = PROFILES | {"fine": BoxProfile(7e-4, {"out": 1.0})}
    assert analyse_load(routed(), cheaper, {"a": 1000.0, "b": 0.0}).bottleneck == "split"
    assert analysed(a=0.0, b=0.0).bottleneck is None


@pytest.mark.parametrize(
    ("cores", "headroom", "fits", "short_by"),
    [(1.0, 1.0, True, 0.0), (1.0, 0.75, True, 0.0), (1.0, 0.7, False, 0.05), (2.0, 0.4, True, 0.0)],
)
def test_capacity_times_headroom_decides(cores: float, headroom: float, fits: bool, short_by: float) -> None:
    found = analysed(cores, headroom)
    assert found.usable == pytest.approx(cores * headroom)
    assert found.fits is fits
    assert found.short_by == pytest.approx(short_by)


def test_a_box_on_one_worker_can_be_too_busy_on_any_number_of_cores() -> None:
    """At 4,000 per second split and fine need 0.8 each, which is just what headroom leaves of a core."""
    assert analysed(64, 0.8, a=4000.0, b=0.0).fits
    busier = analysed(64, 0.8, a=4001.0, b=0.0)
    assert busier.short_by == 0
    assert not busier.fits
    crowded = busier.crowded
    assert {limit.boxes for limit in crowded} == {("split",), ("fine",)}


def test_boxes_of_one_place_share_a_core() -> None:
    typed, rates = routed(), {"a": 2000.0, "b": 0.0}
    place = ("both", "split", "fine")
    assert analyse_load(typed, PROFILES, rates, cores=4, places=[place]).fits
    busier = {"a": 2100.0, "b": 0.0}
    assert not analyse_load(typed, PROFILES, busier, cores=4, places=[place]).fits
    assert analyse_load(typed, PROFILES, busier, cores=4).fits
    assert analyse_load(typed, PROFILES, {"a": 8000.0, "b": 0.0}, cores=4, places=[]).fits


def test_static_data_has_no_rate() -> None:
    net = au.Network("static")
    ticks = net.stream("ticks", ticker="string")
    names = net.connection_point("names", schema={"ticker": "string", "name": "string"}, file="names.csv")
    net.output("named", ticks.join("named", names, on="left.ticker = right.ticker"))
    found = analyse_load(au.typecheck(net), {"named": BoxProfile(1e-3, {"out": 1.0})}, {"ticks": 10.0})
    assert found.boxes["named"].rate_per_s == 10
    assert found.min_cap == pytest.approx(0.01)


def test_a_box_that_reads_an_arc_twice_takes_its_tuples_twice() -> None:
    net = au.Network("twice")
    s = net.stream("s", x="int")
    net.output("out", s.union("double", s))
    found = analyse_load(au.typecheck(net), {"double": BoxProfile(1e-3, {"out": 1.0})}, {"s": 10.0})
    assert found.boxes["double"].rate_per_s == 20
    assert found.arcs[Producer("s")].coefficient_s == pytest.approx(2e-3)


def test_what_is_not_known_is_said() -> None:
    typed = routed()
    with pytest.raises(InputError, match=r"no such stream; it has a, b"):
        analyse_load(typed, PROFILES, {"a": 1, "b": 1, "c": 1})
    with pytest.raises(InputError, match=r"no rate is given for the stream b;"):
        analyse_load(typed, PROFILES, {"a": 1})
    with pytest.raises(InputError, match=r"not known of the box split; measure a run in which tuples reach it"):
        analyse_load(typed, {"both": PROFILES["both"], "fine": BoxProfile(1.0, {})}, _ONE)
    for rate in (-1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="tuples per second, 0 or more"):
            analyse_load(typed, PROFILES, {"a": rate, "b": 0})
    for headroom in (0.0, 1.5, math.nan):
        with pytest.raises(InputError, match="headroom"):
            analyse_load(typed, PROFILES, _ONE, headroom=headroom)
    for cores in (0.0, -1.0, math.nan):
        with pytest.raises(InputError, match="cores"):
            analyse_load(typed, PROFILES, _ONE, cores=cores)


_ONE = {"a": 1.0, "b": 1.0}


def test_a_near_miss_is_named() -> None:
    net = au.Network("n")
    net.output("out", net.stream("ticks", x="int").filter("f", "x > 0"))
    with pytest.raises(InputError, match="did you mean 'ticks'"):
        analyse_load(au.typecheck(net), {}, {"tick": 1.0})


def test_a_box_that_nothing_reaches_needs_no_costs() -> None:
    profiles = {"both": PROFILES["both"], "split": BoxProfile(1e-4, {"rest": 1.0})}
    assert analyse_load(routed(), profiles, _ONE).boxes["fine"].load == 0


@st.composite
def drawn_networks(draw: st.DrawFn) -> tuple[TypedNetwork, dict[str, BoxProfile], dict[str, float]]:
    """Unions of anything that came before, some split in two ports."""
    net = au.Network("drawn")
    arcs = [net.stream(f"s{n}", x="int") for n in range(draw(st.integers(1, 3)))]
    sizes = st.floats(0, 3, allow_nan=False)
    profiles: dict[str, BoxProfile] = {}
    rates = {f"s{n}": draw(st.floats(0, 1000)) for n in range(len(arcs))}
    for n in range(draw(st.integers(1, 7))):
        name = f"b{n}"
        if draw(st.booleans()):
            read = draw(st.lists(st.integers(0, len(arcs) - 1), min_size=2, max_size=3))
            arcs.append(arcs[read[0]].union(name, *(arcs[place] for place in read[1:])))
            ports = ["out"]
        else:
            source = arcs[draw(st.integers(0, len(arcs) - 1))]
            split = source.filter(name, routes={"low": "x < 1"}, otherwise="high")
            arcs += [split["low"], split["high"]]
            ports = ["low", "high"]
        profiles[name] = BoxProfile(draw(st.floats(0, 1e-2)), {port: draw(sizes) for port in ports})
    net.output("out", arcs[-1])
    return au.typecheck(net), profiles, rates


def _paths(typed: TypedNetwork, profiles: dict[str, BoxProfile], arc: Producer) -> Iterator[float]:
    """For every path from the arc to a box: how many tuples get there for one on the arc, times what each costs."""
    for box, _ in typed.consumers(arc):
        yield profiles[box].cost_s
        for port, selectivity in profiles[box].selectivity.items():
            yield from (selectivity * part for part in _paths(typed, profiles, Producer(box, port)))


@given(drawn_networks())
def test_a_coefficient_is_the_sum_over_all_paths(
    drawn: tuple[TypedNetwork, dict[str, BoxProfile], dict[str, float]],
) -> None:
    typed, profiles, _ = drawn
    found = load_coefficients(typed, profiles)
    assert found == pytest.approx({arc: math.fsum(_paths(typed, profiles, arc)) for arc in found}, rel=1e-9)


@given(drawn_networks())
def test_work_counted_with_and_against_the_arrows_is_the_same(
    drawn: tuple[TypedNetwork, dict[str, BoxProfile], dict[str, float]],
) -> None:
    found = analyse_load(*drawn)
    assert math.fsum(map(found.input_load, found.rates_per_s)) == pytest.approx(found.min_cap, rel=1e-9, abs=1e-12)
    for box in found.boxes.values():
        assert math.fsum(box.by_input.values()) == pytest.approx(box.load, rel=1e-9, abs=1e-12)
