"""Tables of words against a dictionary."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.boxes import coding
from aurora.boxes.coding import Coder
from tests.unit.boxes.drawn import LEAST, cuts, whole

# Strings that share what the first word of a view holds (length and four bytes), and some that stand elsewhere.
SHORT = ["", "a", "b", "ab", "abc", "abcd", "abce", "\x00", "\x00\x00"]
LONGER = ["abcde", "abcdf", "abcdefgh", "abcdefgi", "abcdefghijkl", "abcdefghijkm"]
ELSEWHERE = ["abcdefghijklm", "abcdefghijkln", "abcdefghijklmnop"]


class SlowCoder:
    def __init__(self) -> None:
        self.known: dict[object, int] = {}

    def codes(self, values: list[object]) -> tuple[list[int], list[int]]:
        new = []
        for row, value in enumerate(values):
            if value not in self.known:
                self.known[value] = len(self.known)
                new.append(row)
        return [self.known[value] for value in values], new


@st.composite
def strings(draw: st.DrawFn) -> list[list[object]]:
    """Trains of strings; what is drawn first may fit one word, two words, or neither."""
    pools = draw(st.permutations([SHORT, LONGER, ELSEWHERE]))
    values: list[object] = [v for pool in pools for v in draw(st.lists(st.sampled_from(pool), max_size=8))]
    return [values[cut] for cut in cuts(draw, len(values))]


def compare(trains: list[list[object]], kind: pl.DataType) -> None:
    coder, slow = Coder(), SlowCoder()
    for train in trains:
        column = pl.Series("c", train, kind)
        assert coder.known(column).tolist() == [slow.known.get(value, -1) for value in train]
        codes, new = coder.codes(column)
        assert (codes.tolist(), sorted(new.tolist())) == slow.codes(train)


@given(strings())
def test_strings_of_all_lengths(trains: list[list[object]]) -> None:
    compare(trains, pl.String())


@given(st.lists(st.lists(st.one_of(whole, st.just(LEAST)), max_size=8), max_size=4))
def test_integers(trains: list[list[object]]) -> None:
    compare(trains, pl.Int64())


@pytest.mark.parametrize("longer", [False, True])
def test_keys_that_hash_to_one_place_stand_in_the_next_table(longer: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first factor sends all keys to the same place; the others tell them apart."""
    monkeypatch.setattr(coding, "_FACTORS", ((0, 0), *coding._FACTORS[1:]))
    values: list[object] = [f"{'long' if longer else ''}{k:03}" for k in range(300)]
    compare([values, values[::-1], [*values, "new", ""]], pl.String())


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coding, "_BLOCK_ROWS", 5)
    random = np.random.default_rng(5)
    values = [f"T{k}" for k in random.integers(0, 40, 200)]
    compare([list(values[cut]) for cut in (slice(0, 50), slice(50, 120), slice(120, 200))], pl.String())
