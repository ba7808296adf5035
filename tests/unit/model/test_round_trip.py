"""What is written reads back equal; and whatever is done to a document, it gives a network or problems."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.errors import NetworkError, Problem
from aurora.model import Network, check, loads, typecheck
from aurora.model.check import check_draft
from aurora.model.document import yaml_text
from aurora.model.document.reading import read_document, read_text
from tests.unit.model.networks import damaged, networks, parts
from tests.unit.model.test_document import TEXT


@settings(max_examples=50)
@given(networks())
def test_every_network_reads_back_equal(net: Network) -> None:
    for again in (loads(net.to_yaml()), loads(net.to_json(), format="json"), Network.from_document(net.to_document())):
        assert again == net
        assert again.to_document() == net.to_document()
        assert again.sections() == net.sections()
        assert {(p.id, p.element) for p in check(again)} == {(p.id, p.element) for p in check(net)}


@settings(max_examples=30)
@given(networks())
def test_a_network_is_typed_exactly_when_the_check_finds_no_error(net: Network) -> None:
    errors = [problem for problem in check(net) if problem.severity == "error"]
    if errors:
        with pytest.raises(NetworkError) as caught:
            typecheck(net)
        assert list(caught.value.problems) == errors
    else:
        typed = typecheck(net)
        assert set(typed.order) == set(net.boxes)
        assert set(typed.outputs) == set(net.outputs)


def _survives(problems: list[Problem], net: Network) -> None:
    """The problems can be shown, and what could be read of the network can be written."""
    assert all(problem.id and problem.found and problem.way_out and problem.element for problem in problems)
    assert str(NetworkError(problems)).count("way out") >= len(problems)
    assert loads(net.to_yaml()) == net


@st.composite
def _damaged_documents(draw: st.DrawFn) -> Any:
    document: Any = loads(TEXT).to_document() if draw(st.booleans()) else draw(networks()).to_document()
    pieces = parts(document)
    for _ in range(draw(st.integers(1, 4))):
        document = damaged(draw, document, pieces)
    return document


@settings(max_examples=60)
@given(_damaged_documents())
def test_a_damaged_document_never_fails_otherwise(document: Any) -> None:
    draft = read_document(document)
    _survives(check_draft(draft), draft.network)
    if isinstance(document, dict):
        written = read_text(yaml_text.dump(document), format="yaml")
        found = check_draft(written)
        _survives(found, written.network)
        assert all(problem.place.line is not None for problem in found)


_SIGNS = ["\n", "  ", "- ", ": ", "{", "]", "&a ", "*a", "!", "|", "'", '"', "#", "<<", "\t", "\x00", "9" * 30]
_FORMATS: list[Literal["yaml", "json"]] = ["yaml", "json"]


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_text_never_fails_otherwise(data: st.DataObject) -> None:
    format = data.draw(st.sampled_from(_FORMATS))
    text = TEXT if format == "yaml" else loads(TEXT).to_json()
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 30, len(text))))
        put = data.draw(st.one_of(st.text(max_size=3), st.sampled_from(_SIGNS)))
        text = text[:start] + put + text[end:]
    draft = read_text(text, format=format)
    _survives(check_draft(draft), draft.network)


@pytest.mark.parametrize("word", ["on", "null", "~", "1", "1e3", "true", "'", '"', "a: b", "#", "- a", "", " ", "\n"])
def test_any_text_can_be_noted(word: str) -> None:
    for text in (word, f"{word}\n{word}", f"{word}\n", "é\u2028\x85\ufeff\x07"):
        net = Network("n", description=text, tags=[text], manual=text)
        assert loads(net.to_yaml()) == net
