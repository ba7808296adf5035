"""Writes ticker feeds with known troubles: single securities that fall silent, a quiet exchange, a quiet feed.

    python -m case_studies.feed_alarms.generate --seconds 240 --to out/feed_alarms

Both feeds report the same securities. A security that is well updates within its interval, always; so every alarm
has a cause that the generator put there. The same seed gives the same feed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

FEEDS = {"reuters": "Reuters", "comstock": "Comstock"}
EXCHANGES = ("NYSE", "NASDAQ")
OPENING_BELL = datetime(2004, 3, 1, 14, 30, tzinfo=UTC)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Speed:
    """How often a kind of security reports when it is well, and for how long it falls silent when it is not."""

    name: str
    interval_s: float
    gap_s: tuple[float, float]
    silence_s: tuple[float, float]
    silent_share: float


FAST = Speed("fast", 5, (0.5, 4.5), (6, 30), 0.06)
SLOW = Speed("slow", 60, (10, 55), (65, 150), 0.02)
SPEEDS = (FAST, SLOW)
STREAMS = tuple(f"{feed}_{speed.name}" for feed in FEEDS for speed in SPEEDS)


@dataclass(frozen=True)
class Outage:
    """Nothing is heard between two times: from a feed, from an exchange, or (neither given) from anyone."""

    start_s: float
    end_s: float
    feed: str | None = None
    exchange: str | None = None

    @property
    def who(self) -> str:
        return FEEDS[self.feed] if self.feed else self.exchange or "everything"

    def __str__(self) -> str:
        return f"{self.who} is quiet from {self.start_s:g} s to {self.end_s:g} s"


@dataclass(frozen=True)
class Plan:
    """What to generate. Without outages of its own, a plan has one of NYSE and one of Comstock."""

    seconds: float = 240
    seed: int = 6
    fast: int = 500
    slow: int = 4_000
    outages: tuple[Outage, ...] = field(default=())

    @property
    def episodes(self) -> tuple[Outage, ...]:
        if self.outages:
            return self.outages
        nyse, comstock = round(0.35 * self.seconds), round(0.65 * self.seconds)
        return (
            Outage(nyse, nyse + min(20, 0.1 * self.seconds), exchange="NYSE"),
            Outage(comstock, comstock + min(15, 0.08 * self.seconds), feed="comstock"),
        )


def generate(plan: Plan) -> Iterator[tuple[str, pl.DataFrame]]:
    """The input streams by name, each sorted by time. No two tuples of any streams have the same time."""
    random = np.random.default_rng(plan.seed)
    names = _ticker_names(random, plan.fast + plan.slow)
    exchanges = np.array(EXCHANGES)[(random.random(len(names)) < 0.45).astype(int)]
    prices = np.exp(random.normal(3.5, 0.6, len(names)))
    for number, stream in enumerate(STREAMS):
        feed, _, speed = stream.partition("_")
        members = slice(0, plan.fast) if speed == "fast" else slice(plan.fast, None)
        pace = FAST if speed == "fast" else SLOW
        yield stream, _stream(random, plan, number, feed, pace, names[members], exchanges[members], prices[members])


def _stream(
    random: np.random.Generator,
    plan: Plan,
    number: int,
    feed: str,
    speed: Speed,
    names: npt.NDArray[np.str_],
    exchanges: npt.NDArray[np.str_],
    prices: Floats,
) -> pl.DataFrame:
    shortest, longest = speed.gap_s
    updates = int(plan.seconds / shortest) + 2
    gaps = random.uniform(shortest, longest, (len(names), updates))
    gaps[:, 0] *= random.random(len(names))
    times = gaps.cumsum(axis=1)
    steps = random.normal(0, 0.0008, times.shape)
    walks = prices[:, None] * np.exp(steps.cumsum(axis=1))

    heard = (times < plan.seconds) & ~_silent(random, plan, speed, times)
    for outage in plan.episodes:
        if outage.feed in (None, feed):
            concerned = np.full(len(names), True) if outage.exchange is None else exchanges == outage.exchange
            heard &= ~(concerned[:, None] & (times >= outage.start_s) & (times < outage.end_s))

    who, _ = np.nonzero(heard)
    order = np.argsort(times[heard], kind="stable")
    start = pl.Series([OPENING_BELL], dtype=pl.Datetime("us", "UTC"))
    stamps = int(start.to_physical()[0]) + _distinct_us(times[heard][order], number)
    return pl.DataFrame(
        {
            "ticker": names[who[order]],
            "feed": np.full(len(order), FEEDS[feed]),
            "exchange": exchanges[who[order]],
            "price": walks[heard][order].round(2),
            "time": pl.Series(stamps).cast(pl.Datetime("us", "UTC")),
        }
    )


def _silent(random: np.random.Generator, plan: Plan, speed: Speed, times: Floats) -> Bools:
    """Some securities say nothing for a while, each on its own."""
    securities = len(times)
    start = random.uniform(0, plan.seconds, securities)
    end = start + random.uniform(*speed.silence_s, securities)
    start[random.random(securities) >= speed.silent_share] = np.inf
    return (times >= start[:, None]) & (times < end[:, None])


def _distinct_us(seconds: Floats, number: int) -> Ints:
    """Whole microseconds that rise strictly, and that no other stream uses: its number is their remainder."""
    ticks = (seconds * 1e6).astype(np.int64) // len(STREAMS)
    positions = np.arange(len(ticks))
    return (np.maximum.accumulate(ticks - positions) + positions) * len(STREAMS) + number


def _ticker_names(random: np.random.Generator, count: int) -> npt.NDArray[np.str_]:
    """Different names of four letters."""
    codes = random.choice(26**4, count, replace=False)
    letters = (codes[:, None] // 26 ** np.arange(4) % 26 + ord("A")).astype(np.uint32)
    return np.ascontiguousarray(letters).view("<U4").ravel()


def write(
    plan: Plan, folder: Path, extension: str = "csv", *, progress: Callable[[str, int], None] | None = None
) -> dict[str, Path]:
    """Writes one file per stream and says where each is. ``progress`` hears of every stream and its tuples."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for stream, frame in generate(plan):
        files[stream] = folder / f"{stream}.{extension}"
        if extension == "parquet":
            frame.write_parquet(files[stream])
        else:
            frame.write_csv(files[stream], datetime_format="%Y-%m-%dT%H:%M:%S%.6fZ")
        if progress is not None:
            progress(stream, frame.height)
    return files


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=Plan.seconds, help="length of the feed (default %(default)s)")
    parser.add_argument("--seed", type=int, default=Plan.seed, help="same seed, same feed (default %(default)s)")
    parser.add_argument("--fast", type=int, default=Plan.fast, help="fast securities per feed (default %(default)s)")
    parser.add_argument("--slow", type=int, default=Plan.slow, help="slow securities per feed (default %(default)s)")


def plan_of(options: Mapping[str, Any]) -> Plan:
    return Plan(options["seconds"], options["seed"], options["fast"], options["slow"])


def main() -> None:
    parser = argparse.ArgumentParser(description="Write ticker feeds with known troubles.")
    add_options(parser)
    parser.add_argument("--to", type=Path, default=Path("out/feed_alarms"), help="folder (default %(default)s)")
    parser.add_argument("--format", choices=("csv", "parquet"), default="csv")
    options = vars(parser.parse_args())
    plan = plan_of(options)
    for episode in plan.episodes:
        print(episode)
    write(plan, options["to"], options["format"], progress=lambda stream, n: print(f"{stream:14} {n:9,} tuples"))


if __name__ == "__main__":
    main()
