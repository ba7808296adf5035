"""What a drawing program asks the server for: what can be drawn, the manual, and documents in one form."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import httpx
import pytest

from aurora.boxes.python import REGISTERED, python_box
from aurora.expressions import register_function, unregister
from aurora.model.box import KINDS
from aurora.model.connectors import SINKS, SOURCES
from aurora.model.element import Element
from aurora.server.manual import PAGES
from aurora.server.service import Service
from tests.server.http_serving import API, DOCUMENT, READ, TOKENS, asking, serving


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serving(tokens=TOKENS) as running:
        yield running


@pytest.fixture
def http(service: Service) -> Iterator[httpx.Client]:
    with asking(service, READ) as client:
        yield client


@pytest.fixture
def palette(http: httpx.Client) -> dict[str, Any]:
    answer = http.get(f"{API}/palette")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _kind(palette: dict[str, Any], section: str, kind: str | None) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in palette["kinds"] if (one["section"], one["kind"]) == (section, kind))
    return found


def test_every_kind_is_there_with_all_its_parameters(palette: dict[str, Any]) -> None:
    declared = {
        **{("boxes", kind): declaration for kind, declaration in KINDS.items()},
        **{("sources", kind): declaration for kind, declaration in SOURCES.items()},
        **{("sinks", kind): declaration for kind, declaration in SINKS.items()},
    }
    shown = {(one["section"], one["kind"]): one for one in palette["kinds"] if one["kind"] is not None}
    assert shown.keys() == declared.keys()
    for key, declaration in declared.items():
        names = {
            field.alias or name for name, field in declaration.model_fields.items() if name not in Element.model_fields
        }
        assert {parameter["name"] for parameter in shown[key]["parameters"]} == names, key
    assert {one["section"] for one in palette["kinds"] if one["kind"] is None} == {
        "streams",
        "outputs",
        "superboxes",
        "connection_points",
    }


def test_every_kind_and_parameter_is_explained(palette: dict[str, Any]) -> None:
    unsaid = [f"{one['section']} {one['kind']}" for one in palette["kinds"] if not one["summary"] or not one["title"]]
    for one in palette["kinds"]:
        for parameter in one["parameters"]:
            parts = [parameter, *parameter["form"].get("fields", ())]
            unsaid += [f"{one['section']} {one['kind']} {part['name']}" for part in parts if not part["means"]]
    assert not unsaid, "say what these mean in src/aurora/boxes/boxes.yaml or src/aurora/model/elements.yaml"


def test_every_parameter_has_a_form_of_its_own(palette: dict[str, Any]) -> None:
    unknown = [
        f"{one['section']} {one['kind']} {parameter['name']}"
        for one in palette["kinds"]
        for parameter in one["parameters"]
        if parameter["form"]["form"] == "any"
    ]
    assert not unknown, "mark these with Holds (src/aurora/model/forms.py)"


def test_a_kind_says_what_a_form_needs(palette: dict[str, Any]) -> None:
    join = _kind(palette, "boxes", "join")
    assert join["inputs"] == {"least": 2, "most": 2, "names": ["left", "right"], "static": True}
    assert join["ports"] == [
        {"name": "out"},
        {"name": "late_left", "when": "late"},
        {"name": "late_right", "when": "late"},
    ]
    parameters = {parameter["name"]: parameter for parameter in join["parameters"]}
    assert parameters["on"]["form"] == {"form": "expression", "expect": "bool", "scope": "joined"}
    assert parameters["slack"]["default"] == "0 tuples"
    assert _kind(palette, "boxes", "filter")["ports"] == [
        {"name": "out", "when": "where"},
        {"each": "routes"},
        {"named_by": "else"},
    ]
    assert _kind(palette, "boxes", "union")["inputs"]["most"] is None
    assert _kind(palette, "sources", "tcp")["title"] == "TCP"
    assert "json" in palette["formats"]


def test_what_a_box_starts_with_is_right(http: httpx.Client, palette: dict[str, Any]) -> None:
    """But for the columns and code that only the author knows."""
    unknown_yet = {"bsort", "group_by", "join", "resample", "python", "spark"}
    for one in palette["kinds"]:
        if one["section"] != "boxes" or one["kind"] in unknown_yet:
            continue
        document = {
            "aurora": 1,
            "network": "started",
            "streams": {"s": {"schema": {"x": "int"}}},
            "boxes": {"b": {"kind": one["kind"], "in": "s", **one["start"]}},
            "outputs": {"o": {"from": "b"}},
        }
        checked = http.post(f"{API}/typecheck", json={"document": document}).json()
        assert checked["valid"], (one["kind"], checked["problems"])


def test_functions_are_told_with_their_scope(http: httpx.Client, palette: dict[str, Any]) -> None:
    functions = {one["name"]: one for one in palette["functions"]}
    assert functions["last"]["scope"] == "aggregate"
    assert functions["timed_out"]["scope"] == "window"
    assert functions["round"]["signatures"][0] == "round(x int) -> int"
    register_function("scored", lambda x: x, ["double"], "double")
    try:
        own = next(one for one in http.get(f"{API}/palette").json()["functions"] if one["name"] == "scored")
    finally:
        unregister("scored")
    assert own["signatures"] == ["scored(double) -> double"]


def test_registered_code_is_a_choice(http: httpx.Client) -> None:
    @python_box("told", outputs={"good": {"x": "int"}, "bad": {"x": "int"}})
    class Told:
        def process(self, port: int, train: Any) -> Any:
            return train

    try:
        kind = _kind(http.get(f"{API}/palette").json(), "boxes", "python")
    finally:
        REGISTERED.pop("told")
    assert kind["ports"] == [{"of": "class"}]
    code = kind["parameters"][1]["form"]
    assert (code["form"], code["ports"]["told"]) == ("code", ["good", "bad"])


def test_the_manual_has_the_page_of_every_kind(http: httpx.Client, palette: dict[str, Any]) -> None:
    pages = {page["name"]: page for page in http.get(f"{API}/manual").json()}
    missing = [one["manual"] for one in palette["kinds"] if one["manual"].partition("#")[0] not in pages]
    assert not missing
    for kind in palette["kinds"]:
        page, _, heading = kind["manual"].partition("#")
        headings = {line.lstrip("# ").lower().replace(" ", "-") for line in pages[page]["text"].split("\n")}
        assert not heading or heading in headings, kind["manual"]
    assert pages["reference/boxes/filter.md"]["title"] == "filter"
    assert pages["reference/boxes/filter.md"]["text"].startswith("# filter\n")


def test_a_wheel_has_the_manual() -> None:
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    packed = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert {page: f"aurora/manual/{page}" for page in PAGES}.items() <= {
        source.removeprefix("docs/"): target for source, target in packed.items()
    }.items()


def test_links_between_manual_pages_lead_somewhere(http: httpx.Client) -> None:
    """Those to pages that only the repository has, such as decisions, are shown as plain text."""
    pages = {page["name"]: page["text"] for page in http.get(f"{API}/manual").json()}
    dead = []
    for name, text in pages.items():
        for target in re.findall(r"\]\(([^)#\s]+\.md)[^)]*\)", text):
            parts: list[str] = []
            for part in (PurePosixPath(name).parent / target).parts:
                parts = parts[:-1] if part == ".." else [*parts, part]
            if parts and parts[0] in ("how-to", "reference") and "/".join(parts) not in pages:
                dead.append(f"{name}: {target}")
    assert not dead


def test_typecheck_points_at_the_mistake_and_knows_the_rest(http: httpx.Client) -> None:
    text = DOCUMENT.replace("price * 2", "price * tow")
    checked = http.post(f"{API}/typecheck", content=text).json()
    (problem,) = checked["problems"]
    assert problem["path"] == ["boxes", "double", "compute", "price"]
    assert "price * tow"[slice(*problem["span"])] == "tow"
    assert checked["arcs"]["high"] == {"ticker": "string", "price": "double"}
    assert "double" not in checked["arcs"]
