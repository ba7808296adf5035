"""A catalog in a new file, on a clock that stands still, and the same file as another program opens it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aurora.catalog import Catalog
from aurora.clock import ManualClock

TEXT = """\
# watched by the night shift
aurora: 1
network: alarms
description: Which feed is late?
tags: [finance, night]
streams:
  ticks:
    schema: {ticker: string, feed: string, price: double, time: timestamp}
    tags: [raw]
boxes:
  dear:
    kind: filter
    in: ticks
    where: price > 5
    description: only what costs more
    manual: |
      # Dear
      Ask before you change the limit.
  recent:
    kind: tumble
    in: dear
    group_by: [ticker]
    window: {size: 2 tuples}
    compute: {most: max(price)}
outputs:
  alarms:
    from: recent
    qos:
      latency: [[0s, 1], [1500ms, 1], [5s, 0]]
      loss: [[100, 1], [50, 0]]
      value: {on: most, graph: [[0, 0.1], [100, 1]]}
superboxes:
  detect: {boxes: [dear, recent]}
connection_points:
  kept: {on: ticks, keep: 2h, key: ticker}
"""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_700_000_000_000_000)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "networks.db"


@pytest.fixture
def catalog(path: Path, clock: ManualClock) -> Iterator[Catalog]:
    with Catalog.open(path, clock=clock) as opened:
        yield opened


@pytest.fixture
def other(catalog: Catalog, path: Path) -> Iterator[Callable[[str], None]]:
    """Runs SQL on the file in one transaction, as any program with SQLite would."""
    connection = sqlite3.connect(path, isolation_level=None)

    def run(script: str) -> None:
        try:
            connection.executescript(f"BEGIN; {script}; COMMIT;")
        finally:
            if connection.in_transaction:
                connection.rollback()

    yield run
    connection.close()


@pytest.fixture
def rows(path: Path) -> Iterator[Callable[[str], list[tuple[object, ...]]]]:
    connection = sqlite3.connect(path)
    yield lambda query: connection.execute(query).fetchall()
    connection.close()
