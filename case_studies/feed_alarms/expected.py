"""Which alarms a feed must raise: slow, obvious Python that shares nothing with the engine."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import polars as pl

INTERVAL = {"fast": timedelta(seconds=5), "slow": timedelta(seconds=60)}
THRESHOLD = 100


@dataclass(frozen=True, order=True)
class Alarm:
    """A security was not heard of within its interval. ``due`` is when that became known."""

    due: datetime
    ticker: str
    feed: str
    exchange: str
    price: float
    last_update: datetime


def alarms(streams: Mapping[str, pl.DataFrame]) -> list[Alarm]:
    """Every alarm in the order raised. Time goes on only as long as tuples come, as with `--clock time`."""
    updates = [(row["time"], stream, row) for stream, frame in streams.items() for row in frame.iter_rows(named=True)]
    updates.sort(key=lambda update: update[0])
    waiting: list[tuple[datetime, str, str]] = []
    latest: dict[tuple[str, str], dict[str, Any]] = {}
    raised = []
    for now, stream, row in updates:
        while waiting and waiting[0][0] <= now:
            due, of_stream, ticker = heapq.heappop(waiting)
            last = latest[of_stream, ticker]
            if last["time"] + INTERVAL[of_stream.rpartition("_")[2]] == due:
                raised.append(Alarm(due, ticker, last["feed"], last["exchange"], last["price"], last["time"]))
        latest[stream, row["ticker"]] = row
        heapq.heappush(waiting, (now + INTERVAL[stream.rpartition("_")[2]], stream, row["ticker"]))
    return raised


def outputs(raised: list[Alarm]) -> dict[str, list[dict[str, Any]]]:
    """What each output of the network delivers, in order, for these alarms."""
    result: dict[str, list[dict[str, Any]]] = {}
    for feed in ("Reuters", "Comstock"):
        numbered = _numbered([alarm for alarm in raised if alarm.feed == feed])
        for level in ("low", "high"):
            result[f"{feed.lower()}_{level}"] = [row for row in numbered if row["level"] == level]
    for exchange in ("NYSE", "NASDAQ"):
        numbered = _numbered([alarm for alarm in raised if alarm.exchange == exchange])
        result[f"{exchange.lower()}_alarms"] = [row for row in numbered if row["level"] != "suppressed"]
    return result


def _numbered(raised: list[Alarm]) -> list[dict[str, Any]]:
    """Every 100th alarm is high; from the first of them on, the others are suppressed."""
    rows = []
    suppress = False
    for number, alarm in enumerate(raised, start=1):
        level = "suppressed" if suppress else "low"
        if number % THRESHOLD == 0:
            level, suppress = "high", True
        row = {name: getattr(alarm, name) for name in ("ticker", "feed", "exchange", "price", "last_update", "due")}
        rows.append({**row, "number": number, "level": level})
    return rows
