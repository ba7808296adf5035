"""Random values of every kind, awkward ones often: NULL, ties, zeros, extremes, times before 1970."""

from __future__ import annotations

import random
from typing import Any

DAY_US = 86_400_000_000
MAX = 9_223_372_036_854_775_807

WORDS = (
    "",
    "a",
    "b",
    "ab",
    "Ab",
    "aurora",
    "AURORA ",
    "  x",
    "ñandú",
    "straße",
    "日本",
    "a,b,c",
    ",",
    "-1",
    "17",
    "2.5",
    "%",
    "_a",
)
INTS = (0, 1, -1, 2, 3, 7, -7, 10, 63, 64, 1_000, -1_000, 2**31, 2**53 + 1, MAX, -MAX, -MAX - 1)
DOUBLES = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    3.5,
    0.1,
    1e-7,
    1e15,
    1e17,
    -1e18,
    1e19,
    1e300,
    -1e-300,
    float("inf"),
    float("-inf"),
    float("nan"),
)
TIMES = (
    0,
    -1,
    1,
    -DAY_US,
    DAY_US - 1,
    951_782_400_000_000,
    1_709_164_800_000_000,
    -2_208_988_800_000_001,
    4_102_444_799_999_999,
)
LENGTHS = (0, 1, -1, 1_000_000, -90_000_000, DAY_US, 3_600_000_000, 1_500)

NULLS = 0.12


def value(kind: str, chance: random.Random) -> Any:
    """A value of that kind, or NULL."""
    if chance.random() < NULLS:
        return None
    return present(kind, chance)


def present(kind: str, chance: random.Random) -> Any:
    """A value of that kind; times and durations in microseconds."""
    awkward = chance.random() < 0.6
    if kind == "bool":
        return chance.random() < 0.5
    if kind == "int":
        return chance.choice(INTS) if awkward else chance.randint(-20, 20)
    if kind == "double":
        return chance.choice(DOUBLES) if awkward else chance.randint(-80, 80) / 4
    if kind == "string":
        return chance.choice(WORDS) if awkward else "".join(chance.choices("abA ñ,1", k=chance.randint(0, 6)))
    if kind == "timestamp":
        return chance.choice(TIMES) if awkward else chance.randint(-3_000_000_000_000_000, 4_000_000_000_000_000)
    return chance.choice(LENGTHS) if awkward else chance.randint(-200 * DAY_US, 200 * DAY_US)
