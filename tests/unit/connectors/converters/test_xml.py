"""XML: paths, resynchronisation, and everything that is meant to harm."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from aurora.connectors.converters.registry import converter
from aurora.errors import InputError
from aurora.model.schema import Schema
from unit.connectors.converters.formats import cut, fed

ORDER = Schema.of(id="int", symbol="string", last="double", tags="list<string>", note="string")
OPTIONS: dict[str, Any] = {
    "record": "/feed/orders/order",
    "columns": {"id": "@id", "last": "quote/last", "tags": "tags/tag[]", "note": "quote/@note"},
}
N = Schema.of(n="int")


def numbers(data: bytes, size: int = 10**6, **options: Any) -> tuple[list[int | None], list[tuple[int, str]], str]:
    found = fed(converter("xml", N, {"record": "r/o", **options}), cut(data, size))
    return found.frame["n"].to_list(), found.faults, found.broken


def test_paths_attributes_and_gathered_elements() -> None:
    text = """<?xml version="1.0"?>
    <feed xmlns:m="urn:m"><noise><order id="9"/></noise>
      <orders>
        <m:order m:id="1" other="x"><m:symbol>A &amp; B</m:symbol><quote note="n"><last> 1.5 </last></quote>
          <tags><tag>x</tag><tag/><tag nil="true"/></tags></m:order>
        <order id="2"><deep><symbol>not this</symbol></deep><symbol><![CDATA[<&>]]></symbol><!-- c --></order>
        <order id="3"><symbol xsi:nil="true">x</symbol><last>2</last></order>
      </orders>
      <order id="8"/>
    </feed>"""
    for size in (1, 10, 10**6):
        found = fed(converter("xml", ORDER, OPTIONS), cut(text.encode(), size))
        assert found.frame.rows() == [
            (1, "A & B", 1.5, ["x", "", None], "n"),
            (2, "<&>", None, [], None),
            (3, None, None, [], None),
        ]
        assert (found.rejected, found.broken) == ([], "")


def test_what_is_written() -> None:
    chosen = converter("xml", ORDER, OPTIONS)
    frame = pl.DataFrame(
        {"id": [1], "symbol": ["<a>"], "last": [None], "tags": [["x", None]], "note": ['"q"']}, schema=ORDER.to_polars()
    )
    assert chosen.encode(frame).data.decode() == (
        '<?xml version="1.0" encoding="UTF-8"?>\n<feed><orders>\n'
        '<order id="1"><symbol>&lt;a&gt;</symbol><quote note="&quot;q&quot;"></quote>'
        '<tags><tag>x</tag><tag nil="true"/></tags></order>\n</orders></feed>\n'
    )


def test_the_text_of_the_record_itself() -> None:
    chosen = converter("xml", Schema.of(s="string"), {"record": "o", "columns": {"s": "."}})
    frame = pl.DataFrame({"s": ["a", None, ""]})
    assert fed(chosen, [chosen.encode(frame).data]).frame.equals(frame)


@pytest.mark.parametrize("size", [1, 7, 10**6])
def test_harmed_records_cost_themselves_only(size: int) -> None:
    data = (
        b"<r><o><n>1</n></o><o><n>2</o><o><n>3</n></o>&undefined;<o><n>4</n></o><o><n>x</n></o>"
        b"<o><n>5</n><n>6</n></o><o><n>7</n></o></r> <r><o><n>8</n></o></r>junk<o bad=1><o><n>9</n></o>"
    )
    found, faults, broken = numbers(data, size)
    assert found == [1, 3, 4, 7, 8, 9]
    assert broken == ""
    assert [reason.partition(":")[0] for _, reason in faults] == [
        "the XML is harmed",
        "the XML is harmed",
        "column 'n'",
        "column 'n'",
        "the XML is harmed",
    ]
    assert [place for place, _ in faults] == [2, 4, 6, 7, 10]


BOMBS = {
    "laughs": b'<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><r><o><n>&b;</n></o></r>',
    "outside": b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><r><o><n>&a;</n></o></r>',
    "elsewhere": b'<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><r><o><n>1</n></o></r>',
    "defaults": b"<!DOCTYPE r [<!ATTLIST o n CDATA '1'>]><r><o/></r>",
    "parameter": b"<!DOCTYPE r [<!ENTITY % a \"<!ENTITY b 'x'>\">%a;]><r><o><n>&b;</n></o></r>",
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
@pytest.mark.parametrize("size", [1, 10**6])
def test_a_document_type_is_refused(bomb: bytes, size: int) -> None:
    found, _, broken = numbers(b'<?xml version="1.0"?>' + bomb, size)
    assert found == []
    assert "DOCTYPE" in broken
    assert "DOCTYPE" in converter("xml", N, {"record": "r/o"}).decode(bomb).rejected[0].reason


def test_deep_nesting_costs_the_record_only() -> None:
    found, faults, _ = numbers(b"<r><o>" + b"<x>" * 5_000 + b"</r><o><n>1</n></o></r>")
    assert found == [1]
    assert faults[0] == (1, "elements are nested more than 64 deep")
    assert numbers(b"<r><o><x><n>1</n></x></o></r>", max_depth=3)[1] == [(1, "elements are nested more than 3 deep")]


def test_a_tag_that_never_ends_is_given_up() -> None:
    data = b"<r><o " + b"a" * 200_000 + b"><n>1</n></o><o><n>2</n></o></r>"
    found, faults, broken = numbers(data, 5_000)
    assert (found, broken) == ([2], "")
    assert [reason for _, reason in faults] == ["a tag or comment is longer than 65536 bytes"]


def test_too_many_names_are_refused() -> None:
    data = b"<r>" + b"".join(b"<x%d/>" % number for number in range(20_000))
    assert "more than 10000 different names" in numbers(data)[2]


@pytest.mark.parametrize(
    ("encoding", "text"), [("utf-16", "é"), ("iso-8859-1", "é"), ("utf-8", "é"), ("windows-1252", "€")]
)
def test_encodings(encoding: str, text: str) -> None:
    data = f'<?xml version="1.0" encoding="{encoding}"?><r><o><s>{text}</s></o></r>'.encode(encoding)
    found = fed(converter("xml", Schema.of(s="string"), {"record": "r/o"}), cut(data, 3))
    assert found.frame["s"].to_list() == [text]


@pytest.mark.parametrize("encoding", ["klingon", "utf-7", "big5", "rot13"])
def test_encodings_that_are_not_taken(encoding: str) -> None:
    found = fed(converter("xml", N, {"record": "r/o"}), [f'<?xml version="1.0" encoding="{encoding}"?><r/>'.encode()])
    assert found.frame.height == 0
    assert found.broken or found.rejected


def test_a_document_that_ends_in_a_record() -> None:
    assert numbers(b"<r><o><n>1</n></o><o><n>2")[:2] == ([1], [(2, "the document ends in the middle of a record")])
    assert numbers(b"<r><o><n>1</n></o>")[:2] == ([1], []), "a connection may end without the last tag"


def test_characters_that_xml_has_no_place_for() -> None:
    chosen = converter("xml", Schema.of(s="string", n="int"), {"record": "r/o"})
    encoded = chosen.encode(pl.DataFrame({"s": ["a", "\0", "b", "\x1b"], "n": [1, 2, 3, 4]}))
    assert fed(chosen, [encoded.data]).frame["n"].to_list() == [1, 3]
    assert [(one.place, one.text) for one in encoded.rejected] == [
        (2, '{"s":"\\u0000","n":2}'),
        (4, '{"s":"\\u001b","n":4}'),
    ]
    messages, rejected = chosen.encode_each(pl.DataFrame({"s": ["\0", "b"], "n": [1, 2]}))
    assert (len(messages), [one.place for one in rejected]) == (1, [1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"record": "a b"}, "holds 'a b', which is no name"),
        ({"record": "r/o", "columns": {"m": "x"}}, "names 'm', which is no column; the columns are n"),
        ({"record": "r/o", "columns": {"n": "x[]"}}, "gathers elements, but 'n' is a int"),
        ({"record": "r/o", "columns": {"n": "a//b"}}, "holds '', which is no name"),
        ({"record": "r/o", "columns": {"n": "@1"}}, "holds '1', which is no name"),
    ],
)
def test_paths_that_are_wrong(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        converter("xml", N, options)


def test_two_columns_on_one_path() -> None:
    with pytest.raises(InputError, match="'a' and 'b' have the same path"):
        converter("xml", Schema.of(a="int", b="int"), {"record": "r", "columns": {"b": "a"}})
