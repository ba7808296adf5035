"""Statistics over time: every number of a reading becomes a sample of a series; old samples go."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from aurora.catalog.records import Sample

_GROUPS = {"inputs": "input", "boxes": "box", "arcs": "arc", "outputs": "output", "parts": "part"}
_WEEK_S = 7 * 86_400.0


def numbers(readings: Mapping[str, Any]) -> Iterator[tuple[str, str, str, float]]:
    """(what, element, metric, value) of every number; a mapping inside a metric adds its keys to the name.

    >>> list(numbers({"boxes": {"late": {"calls": 3, "latency_s": {"p50": 0.5}, "age": None}}}))
    [('box', 'late', 'calls', 3.0), ('box', 'late', 'latency_s.p50', 0.5)]
    """
    for group, what in _GROUPS.items():
        for element, metrics in readings.get(group, {}).items():
            for metric, value in _flat(metrics):
                yield what, element, metric, value
    for metric, value in _flat(readings.get("engine", {})):
        yield "engine", "", metric, value


def _flat(metrics: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            yield f"{prefix}{name}", float(value)


def note(sql: sqlite3.Connection, network: str, readings: Mapping[str, Any], at_us: int) -> int:
    found = [(network, what, element, metric, value) for what, element, metric, value in numbers(readings)]
    sql.executemany(
        "INSERT OR IGNORE INTO series (network, what, element, metric) VALUES (?, ?, ?, ?)", [row[:4] for row in found]
    )
    sql.executemany(
        "INSERT OR REPLACE INTO samples (series, at_us, value) SELECT id, ?, ? FROM series "
        "WHERE network = ? AND what = ? AND element = ? AND metric = ?",
        [(at_us, row[4], *row[:4]) for row in found],
    )
    return len(found)


def samples(
    sql: sqlite3.Connection,
    network: str,
    what: str | None,
    element: str | None,
    metric: str | None,
    since_us: int,
    until_us: int | None,
) -> list[Sample]:
    """As they were noted, series by series."""
    conditions, values = ["network = ?", "at_us >= ?"], [network, since_us]
    given = {"what = ?": what, "element = ?": element, "metric = ?": metric, "at_us <= ?": until_us}
    for condition, value in given.items():
        if value is not None:
            conditions.append(condition)
            values.append(value)
    query = f"SELECT what, element, metric, at_us, value FROM statistics WHERE {' AND '.join(conditions)}"
    return [Sample(*row) for row in sql.execute(f"{query} ORDER BY what, element, metric, at_us", values)]


def keep(sql: sqlite3.Connection, seconds: float) -> None:
    sql.execute("INSERT OR REPLACE INTO settings (name, value) VALUES ('keep_statistics_s', ?)", (seconds,))


def forget_old(sql: sqlite3.Connection, now_us: int) -> None:
    """Removes samples that are older than the setting, and series that have none left."""
    row = sql.execute("SELECT value FROM settings WHERE name = 'keep_statistics_s'").fetchone()
    # Another program may have set it, to anything.
    kept_s = row[0] if row is not None and isinstance(row[0], int | float) and row[0] > 0 else _WEEK_S
    oldest_us = now_us - int(min(kept_s, 1e10) * 1e6)
    sql.execute("DELETE FROM samples WHERE series IN (SELECT id FROM series) AND at_us < ?", (oldest_us,))
    sql.execute("DELETE FROM series WHERE NOT EXISTS (SELECT 1 FROM samples WHERE series = series.id)")
