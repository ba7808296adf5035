"""What is written reads back equal; and whatever is done to a document, it gives a network or problems."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.errors import NetworkError
from aurora.model import Network, check, loads, typecheck
from aurora.model.check import check_draft
from aurora.model.document import yaml_text
from aurora.model.document.reading import read_document, read_text
from tests.unit.model.networks import damaged, networks, parts
from tests.unit.model.test_document import TEXT


@settings(max_examples=150)
@given(networks())
def test_every_network_reads_back_equal(net: Network) -> None:
    for again in (loads(net.to_yaml()), loads(net.to_json(), format="json"), Network.from_document(net.to_document())):
        assert again == net
        assert again.to_document() == net.to_document()
        assert again.boxes == net.boxes
        assert again.outputs == net.outputs
    assert [p.id for p in check(net)] == [p.id for p in check(loads(net.to_yaml()))] or net.boxes


@settings(max_examples=60)
@given(networks())
def test_a_network_is_typed_exactly_when_the_check_finds_no_error(net: Network) -> None:
    errors = [problem for problem in check(net) if problem.severity == "error"]
    try:
        typed = typecheck(net)
    except NetworkError as error:
        assert list(error.problems) == errors
    else:
        assert not errors
        assert set(typed.order) == set(net.boxes)
        assert set(typed.outputs) == set(net.outputs)


def _survives(problems: list[Any], net: Network) -> None:
    assert all(problem.id and problem.found and problem.way_out and problem.element for problem in problems)
    assert str(problems)
    assert loads(net.to_yaml()) == net


@st.composite
def _damaged_documents(draw: st.DrawFn) -> Any:
    document = draw(
        st.one_of(st.just(TEXT).map(lambda text: loads(text).to_document()), networks().map(Network.to_document))
    )
    pieces = parts(document)
    for _ in range(draw(st.integers(1, 4))):
        document = damaged(draw, document, pieces)
    return document


@settings(max_examples=400)
@given(_damaged_documents())
def test_a_damaged_document_never_fails_otherwise(document: Any) -> None:
    draft = read_document(document)
    _survives(check_draft(draft), draft.network)
    if isinstance(document, dict):
        text = yaml_text.dump(document)
        written = read_text(text, format="yaml")
        found = check_draft(written)
        _survives(found, written.network)
        assert all(problem.place.line is not None for problem in found if problem.path)


@settings(max_examples=300)
@given(st.data())
def test_a_damaged_text_never_fails_otherwise(data: st.DataObject) -> None:
    format = data.draw(st.sampled_from(["yaml", "json"]))
    text = TEXT if format == "yaml" else loads(TEXT).to_json()
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 30, len(text))))
        put = data.draw(
            st.one_of(
                st.text(max_size=3),
                st.sampled_from(
                    [
                        "\n",
                        "  ",
                        "- ",
                        ": ",
                        "{",
                        "]",
                        "&a ",
                        "*a",
                        "!",
                        "|",
                        "'",
                        '"',
                        "#",
                        "<<",
                        "\t",
                        "\x00",
                        "9" * 30,
                    ]
                ),
            )
        )
        text = text[:start] + put + text[end:]
    draft = read_text(text, format=format)
    _survives(check_draft(draft), draft.network)


@pytest.mark.parametrize(
    "word",
    [
        "on",
        "yes",
        "null",
        "~",
        "1",
        "1e3",
        "true",
        "'",
        '"',
        "a: b",
        "#",
        "- a",
        "",
        " ",
        "\n",
        "a\n",
        "é\u2028\x85\ufeff",
    ],
)
def test_any_text_can_be_noted(word: str) -> None:
    net = Network("n", description=word, tags=[word], manual=word)
    assert loads(net.to_yaml()) == net
