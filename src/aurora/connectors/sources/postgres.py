"""Rows of PostgreSQL: a query that is asked again and again, and what others send with NOTIFY.

The database writes each row as JSON, which says NULL, numbers, times and lists without doubt; the JSON converter
reads all rows of a batch at once. A row that does not fit the stream is rejected like any other text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aurora.connectors.converters.base import Converter
from aurora.connectors.converters.registry import converter
from aurora.connectors.live.database import connected_database, identifier
from aurora.connectors.live.failures import optional
from aurora.connectors.live.inlet import Inlet
from aurora.model.schema import Schema
from aurora.model.source_kinds import PostgresSource as Declared
from aurora.model.types import BINARY, DURATION

_LOOK_S = 0.1


class PolledQuery:
    """Asks for the rows whose cursor is beyond the greatest seen, at most ``batch`` at once, in the cursor's order."""

    def __init__(self, declared: Declared, schema: Schema, environment: Mapping[str, str]) -> None:
        self._sql = optional("psycopg.sql")
        self._declared = declared
        self._schema = schema
        self._environment = environment
        self._converter = converter("json", schema)
        self._seen: Any = declared.start

    def run(self, inlet: Inlet) -> None:
        declared = self._declared
        with connected_database(declared.url, declared.password_env, self._environment) as database:
            database.execute("SET TimeZone = 'UTC'")
            # Said with every transaction: a setting of the session could be changed by the query itself.
            database.read_only = True
            inlet.connected()
            while not inlet.halt.stopped:
                with database.transaction():
                    rows = database.execute(*self._question()).fetchall()
                if rows:
                    texts = [text.encode() for text, _ in rows]
                    inlet.take(self._converter.decode_each(texts), sum(map(len, texts)))
                    self._seen = rows[-1][1]
                if len(rows) < declared.batch:
                    inlet.halt.wait(declared.poll.seconds)

    def _question(self) -> tuple[Any, list[Any]]:
        """The query inside one that adds the condition, the order and the form; values are never part of its text."""
        sql = self._sql
        cursor = identifier(str(self._declared.cursor))
        columns = sql.SQL(", ").join(self._column(name) for name in self._schema)
        inner = sql.SQL(str(self._declared.query).strip().rstrip(";").replace("%", "%%"))
        beyond = sql.SQL("WHERE q.{} > %s").format(cursor) if self._seen is not None else sql.SQL("")
        text = sql.SQL(
            "SELECT (SELECT row_to_json(r)::text FROM (SELECT {columns}) r), q.{cursor} "
            "FROM ({inner}\n) q {beyond} ORDER BY q.{cursor} LIMIT %s"
        ).format(columns=columns, cursor=cursor, inner=inner, beyond=beyond)
        return text, [*([] if self._seen is None else [self._seen]), self._declared.batch]

    def _column(self, name: str) -> Any:
        """A column as JSON can say it: bytes in base64, and durations as microseconds."""
        sql, kind = self._sql, self._schema[name]
        form = "q.{0} AS {0}"
        if kind == BINARY:
            form = "replace(encode(q.{0}, 'base64'), E'\\n', '') AS {0}"
        elif kind == DURATION:
            form = "(extract(epoch FROM q.{0}) * 1000000)::bigint AS {0}"
        return sql.SQL(form).format(identifier(name))


class Notifications:
    """The payloads of a channel, as messages."""

    def __init__(self, declared: Declared, converter: Converter, environment: Mapping[str, str]) -> None:
        self._sql = optional("psycopg.sql")
        self._declared = declared
        self._converter = converter
        self._environment = environment

    def run(self, inlet: Inlet) -> None:
        declared = self._declared
        with connected_database(declared.url, declared.password_env, self._environment) as database:
            database.execute(self._sql.SQL("LISTEN {}").format(self._sql.Identifier(str(declared.notify))))
            inlet.connected()
            while not inlet.halt.stopped:
                payloads = [notice.payload.encode() for notice in database.notifies(timeout=_LOOK_S, stop_after=1)]
                if payloads:
                    payloads += [notice.payload.encode() for notice in database.notifies(timeout=0)]
                    inlet.take(self._converter.decode_each(payloads), sum(map(len, payloads)))
