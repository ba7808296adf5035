"""Tuples as rows of a PostgreSQL table. A batch is one statement: the database unpacks the JSON of all its tuples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from aurora.connectors.converters.registry import converter
from aurora.connectors.live.database import connected_database, identifier
from aurora.connectors.live.failures import UndeliverableError, optional
from aurora.model.schema import Schema
from aurora.model.sink_kinds import PostgresSink as Declared
from aurora.model.types import BINARY

_OURS = ("22", "23", "42")
"""Classes of errors that come from the tuples or the table; the same statement would fail again."""


class PostgresSink:
    attempts: int | None = None

    def __init__(self, declared: Declared, schema: Schema, environment: Mapping[str, str]) -> None:
        self._psycopg = optional("psycopg")
        self.batch = declared.batch
        self._declared = declared
        self._environment = environment
        self._converter = converter("json", schema, {"form": "array"})
        self._statement = self._insert(schema)
        self._database: Any = None

    def _insert(self, schema: Schema) -> Any:
        """The table's own row type says how each value is read, so that NULLs, times and lists come out right."""
        sql = optional("psycopg.sql")
        table = identifier(*self._declared.table.split("."))
        names = [identifier(name) for name in schema]
        values = [
            sql.SQL("decode(j.{0}, 'base64')" if schema[name] == BINARY else "r.{0}").format(identifier(name))
            for name in schema
        ]
        binary = [name for name in schema if schema[name] == BINARY]
        if binary:
            return sql.SQL(
                "INSERT INTO {table} ({names}) SELECT {values} FROM jsonb_array_elements(%s::jsonb) AS e(t), "
                "jsonb_populate_record(NULL::{table}, e.t - {gone}::text[]) AS r, "
                "jsonb_to_record(e.t) AS j({texts})"
            ).format(
                table=table,
                names=sql.SQL(", ").join(names),
                values=sql.SQL(", ").join(values),
                gone=sql.Literal([name.replace("%", "%%") for name in binary]),
                texts=sql.SQL(", ").join(sql.SQL("{} text").format(identifier(name)) for name in binary),
            )
        return sql.SQL(
            "INSERT INTO {table} ({names}) SELECT {values} FROM json_populate_recordset(NULL::{table}, %s::json) AS r"
        ).format(table=table, names=sql.SQL(", ").join(names), values=sql.SQL(", ").join(values))

    def open(self) -> None:
        declared = self._declared
        self._database = connected_database(declared.url, declared.password_env, self._environment)
        self._database.execute("SET TimeZone = 'UTC'")

    def send(self, frame: pl.DataFrame) -> int:
        data = self._converter.encode(frame).data
        try:
            self._database.execute(self._statement, [data.decode()])
        except self._psycopg.Error as error:
            if error.sqlstate is not None and error.sqlstate[:2] in _OURS:
                raise UndeliverableError(f"the table {self._declared.table} takes no such rows: {error}") from error
            raise
        return len(data)

    def idle(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()
