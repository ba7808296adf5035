"""The load over the picture: every box has its colour, nothing moves, and the plain picture is as it was."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import aurora as au
from aurora.drawing import draw
from aurora.drawing.heat import level
from aurora.shedding.load import BoxProfile, LoadAnalysis, analyse_load

SVG = "{http://www.w3.org/2000/svg}"


def example() -> tuple[au.Network, LoadAnalysis]:
    net = au.Network("n")
    dear = net.stream("ticks", price="double").filter("dear", "price > 5")
    net.output("out", dear.filter("dearer", "price > 9"))
    profiles = {"dear": BoxProfile(1e-5, {"out": 0.1}), "dearer": BoxProfile(3e-3, {"out": 1.0})}
    return net, analyse_load(au.typecheck(net), profiles, {"ticks": 5000.0}, cores=2, headroom=0.8)


def _boxes(text: str) -> dict[str, ET.Element]:
    return {g.attrib["data-box"]: g for g in ET.fromstring(text).iter(f"{SVG}g") if "data-box" in g.attrib}


def test_boxes_are_coloured_by_load() -> None:
    net, found = example()
    boxes = _boxes(draw(net, found))
    classes = {name: box.find(f"{SVG}rect").attrib["class"] for name, box in boxes.items()}  # type: ignore[union-attr]
    # 5,000 per second at 10 µs keep 5% of a core busy, 500 at 3 ms one and a half.
    assert classes == {"dear": "card heat-2", "dearer": "card heat-5 hottest"}
    captions = {name: [t.text for t in box.iter(f"{SVG}text")][1] for name, box in boxes.items()}
    assert captions == {"dear": "filter · 5% · 5k/s", "dearer": "filter · 150% · 500/s"}


def test_there_is_a_legend_of_all_colours_and_a_verdict() -> None:
    net, found = example()
    legend = next(g for g in ET.fromstring(draw(net, found)).iter(f"{SVG}g") if g.attrib.get("class") == "legend")
    assert [r.attrib["class"] for r in legend.iter(f"{SVG}rect")] == [f"card heat-{n}" for n in range(6)]
    first = next(legend.iter(f"{SVG}text")).text
    assert first == "needs 1.55 cores; 2 with headroom 0.8 give 1.6: does not fit"


def test_the_plain_picture_knows_nothing_of_heat_and_boxes_stand_in_the_same_places() -> None:
    net, found = example()
    plain, warm = draw(net), draw(net, found)
    assert "heat" not in plain
    places = r'<rect class="card[^"]*" (x="[\d.]+" y="[\d.]+" width="[\d.]+")'
    shown = re.findall(places, plain)
    assert shown
    assert re.findall(places, warm)[: len(shown)] == shown


def test_more_load_is_never_a_cooler_colour() -> None:
    levels = [level(load / 1000) for load in range(1500)]
    assert levels == sorted(levels)
    assert set(levels) == set(range(6))
