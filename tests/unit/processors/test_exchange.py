"""Splitting by key depends on the key's value alone; what parts made is merged by the ranks it carries."""

from __future__ import annotations

import math
import struct
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.model.train import AT_END, FLUSHED, RANKS, WHEN, Train
from aurora.processors.steps.exchange import (
    PLACE,
    Hidden,
    assembled,
    part_numbers,
    part_train,
    shared_part,
    split,
    thin,
)
from aurora.scheduler.segments import Split

PARTS = 5
OTHER_NAN = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000123))[0]
LONG = "longer than twelve bytes"

VALUES: dict[str, tuple[pl.DataType, list[Any]]] = {
    "bool": (pl.Boolean(), [True, False, None]),
    "int": (pl.Int64(), [0, 1, -1, 2**63 - 1, -(2**63), None]),
    "double": (pl.Float64(), [0.0, -0.0, 1.5, math.nan, OTHER_NAN, math.inf, 5e-324, None]),
    "string": (pl.String(), ["", "a", "twelve bytes", "é", LONG, LONG + "!", "\x00", None]),
    "binary": (pl.Binary(), [b"", b"\x00", b"a", b"longer than twelve bytes", None]),
    "timestamp": (pl.Datetime("us", "UTC"), [datetime(1970, 1, 1, tzinfo=UTC), datetime(2024, 5, 6, tzinfo=UTC), None]),
    "duration": (pl.Duration("us"), [timedelta(0), timedelta(microseconds=-1), None]),
}


def column(kind: str, values: list[Any], name: str = "k") -> pl.Series:
    return pl.Series(name, values, VALUES[kind][0])


def part_of(kind: str, value: Any) -> int:
    """The part of a value that stands alone."""
    return int(part_numbers(column(kind, [value]).to_frame(), ["k"], PARTS)[0])


@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data())
def test_a_values_part_does_not_depend_on_its_company(kind: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.sampled_from(VALUES[kind][1]), min_size=1, max_size=12))
    numbers = part_numbers(column(kind, values).to_frame(), ["k"], PARTS)
    assert numbers.tolist() == [part_of(kind, value) for value in values]


@given(values=st.lists(st.text(max_size=20) | st.none(), min_size=2, max_size=12), cut=st.integers(0, 11))
def test_nor_on_how_the_column_lies_in_memory(values: list[str | None], cut: int) -> None:
    whole = column("string", values).to_frame()
    expected = part_numbers(whole, ["k"], PARTS).tolist()
    pieces = pl.concat([whole[:cut], whole[cut:]], rechunk=False)
    assert part_numbers(pieces, ["k"], PARTS).tolist() == expected
    assert part_numbers(whole[1:], ["k"], PARTS).tolist() == expected[1:]
    assert part_numbers(whole.reverse(), ["k"], PARTS).tolist() == expected[::-1]


def test_equal_doubles_go_together() -> None:
    assert part_of("double", 0.0) == part_of("double", -0.0)
    assert part_of("double", math.nan) == part_of("double", OTHER_NAN)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("int", list(range(200))),
        ("string", [f"key {n}" for n in range(200)]),
        ("string", [LONG + str(n) for n in range(200)]),
    ],
    ids=["ints", "short strings", "long strings"],
)
def test_many_values_spread_over_all_parts(kind: str, values: list[Any]) -> None:
    sizes = np.bincount(part_numbers(column(kind, values).to_frame(), ["k"], PARTS), minlength=PARTS)
    assert sizes.min() >= 20


@given(rows=st.lists(st.tuples(st.sampled_from([None, "a", LONG]), st.sampled_from([None, 0, 1])), max_size=10))
def test_several_columns_are_one_key(rows: list[tuple[str | None, int | None]]) -> None:
    frame = pl.DataFrame([column("string", [a for a, _ in rows], "a"), column("int", [b for _, b in rows], "b")])
    parts: dict[tuple[str | None, int | None], set[int]] = {}
    for row, number in zip(rows, part_numbers(frame, ["a", "b"], PARTS).tolist(), strict=True):
        parts.setdefault(row, set()).add(number)
    assert all(len(found) == 1 for found in parts.values())


def test_the_order_of_the_columns_matters_not_only_their_values() -> None:
    """Else (1, 2) and (2, 1) would always meet, and pairs of equal values all stand in one part."""
    pairs = [(a, b) for a in range(8) for b in range(8)]
    frame = pl.DataFrame({"a": [a for a, _ in pairs], "b": [b for _, b in pairs]})
    one, other = part_numbers(frame, ["a", "b"], PARTS), part_numbers(frame, ["b", "a"], PARTS)
    assert (one != other).any()
    assert len(set(one[[a == b for a, b in pairs]].tolist())) > 1


def stream(keys: list[str | None], first: int = 0) -> pl.DataFrame:
    numbers = np.arange(first, first + len(keys))
    return pl.DataFrame(
        {"k": keys, "x": 10 * numbers, "__order": 2 * numbers + 1, "__clock": numbers, "__arrival": numbers},
        schema_overrides={"k": pl.String},
    )


keys = st.lists(st.sampled_from([None, "a", "b", "c", LONG]), max_size=12)


@given(keys=keys, parts=st.integers(1, 4))
def test_a_split_loses_nothing_and_says_where_rows_stood(keys: list[str | None], parts: int) -> None:
    frame = stream(keys)
    blocks = split(frame, ["k"], parts)
    assert len(blocks) == parts
    assert pl.concat(blocks).sort(PLACE).drop(PLACE).equals(frame)
    for block in blocks:
        assert block.drop(PLACE).equals(frame[block[PLACE].to_list()])
        assert block[PLACE].is_sorted()


@given(slices=st.lists(keys, min_size=1, max_size=3), first=st.integers(0, 100), part=st.integers(0, 2))
def test_a_part_knows_its_places_on_the_arc(slices: list[list[str | None]], first: int, part: int) -> None:
    """Whether several workers split the arc's slices or one worker picks its rows, the train is the same."""
    lengths = [len(some) for some in slices]
    offsets = [sum(lengths[:n]) for n in range(len(slices))]
    frames = [stream(some, offset) for some, offset in zip(slices, offsets, strict=True)]
    own = [(split(frame, ["k"], 3)[part], offset) for frame, offset in zip(frames, offsets, strict=True)]
    form = Split(("k",), ("x",))
    whole = pl.concat([thin(frame, form.progress) for frame in frames])
    train = part_train(own, first, whole)
    assert train.part is not None
    assert train.visible["x"].to_list() == [10 * place for place in train.part.places]
    assert train.hidden(WHEN[0]).tolist() == [first + place for place in train.part.places]
    assert not train.frame.select(WHEN[1:]).to_numpy().any()
    assert train.part.whole.columns == ["x", "__order", "__clock"]
    arc = Train(pl.concat(frames))
    hidden = Hidden(arc.hidden("__order"), arc.hidden("__clock"), arc.hidden("__arrival"))
    picked = shared_part(arc.visible, hidden, form, part, 3, first)
    assert picked.part is not None
    assert picked.frame.equals(train.frame)
    assert picked.part.places.tolist() == train.part.places.tolist()
    assert picked.part.whole.equals(whole)


def block(*rows: tuple[int, ...]) -> pl.DataFrame:
    """What a part made: a name for each row, its number, its clock, and ranks."""
    names = ["x", "__order", "__clock", "__arrival", *RANKS][: len(rows[0]) if rows else 7]
    return pl.DataFrame(list(rows), schema=dict.fromkeys(names, pl.Int64()), orient="row")


def test_blocks_without_ranks_stand_one_after_the_other() -> None:
    one, other = block((1, 9, 0, 0)), block((2, 1, 0, 0))
    assert assembled([one, other], ranked=False)["x"].to_list() == [1, 2]


def test_parts_are_merged_by_number() -> None:
    one, other = block((1, 1, 0, 0, 7), (3, 5, 0, 0, 8)), block((2, 3, 0, 0, 9), (4, 9, 0, 0, 0))
    merged = assembled([one, other], ranked=True)
    assert merged["x"].to_list() == [1, 2, 3, 4]
    assert merged.columns == ["x", "__order", "__clock", "__arrival"]


def test_ties_are_settled_by_clock_and_then_by_one_rank_after_the_other() -> None:
    one = block((1, 1, 5, 0, 9, 9), (4, 1, 6, 0, 1, 2), (6, 1, 6, 0, 2, 0))
    other = block((2, 1, 6, 0, 0, 7), (3, 1, 6, 0, 1, 1), (5, 1, 6, 0, 1, 3))
    assert assembled([one, other], ranked=True)["x"].to_list() == [1, 2, 3, 4, 5, 6]
    assert assembled([other, one], ranked=True)["x"].to_list() == [1, 2, 3, 4, 5, 6]


def test_what_is_flushed_stands_behind_every_place_and_before_what_is_closed_at_once() -> None:
    one = block((4, 8, 0, 0, FLUSHED, 3, 0), (5, 8, 0, 0, AT_END, AT_END, AT_END))
    other = block((1, 8, 0, 0, -1, -1, -1), (2, 8, 0, 0, 10**12, 0, 0), (3, 8, 0, 0, FLUSHED, -(2**63), 0))
    assert assembled([one, other], ranked=True)["x"].to_list() == [1, 2, 3, 4, 5]


def test_rows_that_agree_in_everything_stay_as_they_stand() -> None:
    one, other = block((1, 1, 0, 0, 0), (2, 1, 0, 0, 0)), block((3, 1, 0, 0, 1))
    assert assembled([one, other], ranked=True)["x"].to_list() == [1, 2, 3]


def test_one_part_alone_only_sheds_its_ranks() -> None:
    merged = assembled([block((2, 1, 0, 0, 5), (1, 1, 0, 0, 6))], ranked=True)
    assert merged.rows() == [(2, 1, 0, 0), (1, 1, 0, 0)]
