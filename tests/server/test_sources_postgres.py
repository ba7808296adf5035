"""Against a real PostgreSQL: a query that is polled, notifications, rows out, and a server that goes away."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from aurora.errors import NetworkError
from tests.server.brokers import PASSWORD, Broker, postgres, postgres_missing, postgres_url, until
from tests.server.feeding import document, fed, lines, ticks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("postgres"),  # one broker for all
    pytest.mark.skipif(bool(postgres_missing()), reason=postgres_missing()),
]

ALL_TYPES = {
    "k": "int", "b": "bool", "d": "double", "s": "string", "t": "timestamp", "i": "duration", "y": "binary",
    "l": "list<int>",
}  # fmt: skip
TABLE = "(k bigint, b boolean, d double precision, s text, t timestamptz, i interval, y bytea, l bigint[])"
ROWS: list[dict[str, Any]] = [
    {
        "k": 1,
        "b": True,
        "d": 1.5,
        "s": "a'; drop table out; --\n\"%s",
        "t": datetime(2024, 2, 29, 12, 0, 0, 123456, UTC),
        "i": timedelta(days=1, seconds=1.5),
        "y": b"\x00\xff'",
        "l": [1, 2, 3],
    },
    {"k": 2, "b": None, "d": None, "s": None, "t": None, "i": None, "y": None, "l": None},
    {
        "k": 3,
        "b": False,
        "d": -0.0,
        "s": "",
        "t": datetime(1969, 1, 1, tzinfo=UTC),
        "i": timedelta(0),
        "y": b"",
        "l": [],
    },
]


@pytest.fixture(scope="module")
def server() -> Iterator[Broker]:
    with postgres() as running:
        yield running


def _sql(server: Broker, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    import psycopg

    with psycopg.connect(postgres_url(server), password=PASSWORD, autocommit=True) as database:
        cursor = database.execute(statement, values or None)  # type: ignore[arg-type]
        return cursor.fetchall() if cursor.description else []


def _given(server: Broker, kind: str = "postgres", **given: Any) -> dict[str, Any]:
    return {"kind": kind, "url": postgres_url(server), "password_env": "PG_KEY", **given}


def test_new_rows_of_a_query_are_brought_once(server: Broker) -> None:
    _sql(server, "CREATE TABLE orders (ticker text, price double precision, n bigint)")
    _sql(server, "INSERT INTO orders SELECT 'T' || n % 7, n / 2.0, n FROM generate_series(0, 2499) n")
    query = "SELECT * FROM orders WHERE ticker LIKE 'T%' -- all of them"
    source = _given(server, query=query, cursor="n", poll="50ms", batch=1000)
    with fed(document({"feed": source}), PG_KEY=PASSWORD) as running:
        until(lambda: len(running.rows) == 2500)
        assert running.rows == ticks(0, 2500)
        _sql(server, "INSERT INTO orders SELECT 'T' || n % 7, n / 2.0, n FROM generate_series(2500, 2599) n")
        until(lambda: len(running.rows) == 2600)
        assert running.rows == ticks(0, 2600)
    with fed(document({"feed": {**source, "start": 2589}}), PG_KEY=PASSWORD) as running:
        until(lambda: len(running.rows) == 10)


def test_a_query_cannot_write(server: Broker) -> None:
    _sql(server, "CREATE TABLE kept (n bigint); INSERT INTO kept VALUES (1)")
    query = "WITH gone AS (DELETE FROM kept RETURNING n) SELECT 'x' AS ticker, 1.0 AS price, n FROM gone"
    with fed(document({"feed": _given(server, query=query, cursor="n")}), PG_KEY=PASSWORD) as running:
        until(lambda: running.state("feed") == "retrying")
    query = "SELECT 'x' AS ticker, 1.0 AS price, 1 AS n) q; DELETE FROM kept; SELECT * FROM (SELECT 1 AS n"
    with fed(document({"feed": _given(server, query=query, cursor="n")}), PG_KEY=PASSWORD) as running:
        until(lambda: running.state("feed") == "retrying")
    # What the session may do is for the query to change, what its transaction may do is not.
    _sql(server, "CREATE FUNCTION empty_it() RETURNS bigint LANGUAGE sql AS 'DELETE FROM kept RETURNING n'")
    mine = "set_config('default_transaction_read_only', 'off', false)"
    turns = f"CASE current_setting('transaction_read_only') WHEN 'on' THEN length({mine}) ELSE empty_it() END"
    query = f"SELECT 'x' AS ticker, 1.0 AS price, extract(epoch FROM clock_timestamp())::bigint + {turns} AS n"
    with fed(document({"feed": _given(server, query=query, cursor="n", poll="10ms")}), PG_KEY=PASSWORD) as running:
        until(lambda: len(running.rows) >= 3)
    assert _sql(server, "SELECT n FROM kept") == [(1,)]


@pytest.mark.parametrize("name", ['kept"; DROP TABLE safe; --', "safe; DROP TABLE safe", "public.safe) SELECT 1; --"])
def test_statements_in_names_are_names(server: Broker, name: str) -> None:
    _sql(server, "CREATE TABLE IF NOT EXISTS safe (ticker text, price double precision, n bigint)")
    with fed(document(sinks={"rows": _given(server, table=name)}), PG_KEY=PASSWORD) as running:
        running.engine.enqueue("ticks", [{"ticker": "a", "price": 1.0, "n": 1}])
        until(lambda: running.feeds.status("rows").dead == 1)
    with fed(document({"feed": _given(server, notify=name, format="json")}), PG_KEY=PASSWORD) as running:
        until(lambda: running.state("feed") == "connected")
    query = document({"feed": _given(server, query="SELECT * FROM safe", cursor=name)})
    with pytest.raises(NetworkError, match="unknown-column"), fed(query):
        pass
    assert _sql(server, "SELECT count(*) FROM safe") == [(0,)]


def test_notifications_become_tuples(server: Broker) -> None:
    source = _given(server, notify='odd "channel', format="json")
    with fed(document({"feed": source}), PG_KEY=PASSWORD) as running:
        until(lambda: running.state("feed") == "connected")
        for line in [*lines(ticks(0, 50)).decode().splitlines(), "no json"]:
            _sql(server, "SELECT pg_notify(%s, %s)", 'odd "channel', line)
        until(lambda: len(running.rows) == 50 and running.feeds.status("feed").rejected == 1)
        assert running.rows == ticks(0, 50)


def test_every_type_goes_out_and_comes_back(server: Broker) -> None:
    _sql(server, f'CREATE TABLE "out" {TABLE}')
    sink = _given(server, table="public.out")
    with fed(document(sinks={"rows": sink}, columns=ALL_TYPES), PG_KEY=PASSWORD) as sending:
        sending.engine.enqueue("ticks", ROWS)
        until(lambda: sending.feeds.status("rows").tuples == 3)
    stored = _sql(server, 'SELECT * FROM "out" ORDER BY k')
    assert [tuple(row) for row in stored] == [tuple(row.values()) for row in ROWS]
    source = _given(server, query='SELECT * FROM "out"', cursor="k")
    with fed(document({"feed": source}, columns=ALL_TYPES), PG_KEY=PASSWORD) as running:
        until(lambda: len(running.rows) == 3)
        assert running.rows == [tuple(row.values()) for row in ROWS]


def test_rows_that_a_table_does_not_take_are_dead_letters(server: Broker) -> None:
    _sql(server, "CREATE TABLE few (ticker text, price double precision, n bigint CHECK (n < 5))")
    with fed(document(sinks={"rows": _given(server, table="few", batch=5)}), PG_KEY=PASSWORD) as running:
        running.engine.enqueue("ticks", [{"ticker": t, "price": p, "n": n} for t, p, n in ticks(0, 10)])
        until(lambda: running.feeds.status("rows").dead == 5)
        assert "few" in running.feeds.status("rows").last_error
    assert _sql(server, "SELECT count(*) FROM few") == [(5,)]


def test_a_wrong_password_is_said_and_not_shown(server: Broker) -> None:
    with fed(document({"feed": _given(server, notify="c", format="json")}), PG_KEY="wr0ng") as running:
        until(lambda: running.state("feed") == "retrying")
        error = running.feeds.status("feed").last_error
        assert "password authentication failed" in error
        assert "wr0ng" not in error


def test_a_server_that_comes_back_is_found_again() -> None:
    with postgres() as server:
        _sql(server, "CREATE TABLE t (ticker text, price double precision, n bigint); CREATE TABLE o (LIKE t)")
        _sql(server, "INSERT INTO t VALUES ('A', 1, 1)")
        source = _given(server, query="SELECT * FROM t", cursor="n", poll="50ms")
        with fed(document({"feed": source}, {"rows": _given(server, table="o")}), PG_KEY=PASSWORD) as running:
            until(lambda: running.feeds.status("rows").tuples == 1)
            server.stop()
            until(lambda: running.state("feed") == "retrying")
            running.engine.enqueue("ticks", [{"ticker": "B", "price": 2.0, "n": 2}])
            server.start()
            until(lambda: running.feeds.status("rows").tuples == 2)
            _sql(server, "INSERT INTO t VALUES ('C', 3, 3)")
            until(lambda: running.feeds.status("rows").tuples == 3)
            assert running.rows == [("A", 1.0, 1), ("B", 2.0, 2), ("C", 3.0, 3)]
            assert _sql(server, "SELECT n FROM o ORDER BY n") == [(1,), (2,), (3,)]
