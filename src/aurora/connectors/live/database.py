"""A connection to PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aurora.connectors.live.failures import optional, secret

_CONNECT_S = 10


def identifier(*names: str) -> Any:
    """A name for a statement that has parameters too, where a percent sign is written twice."""
    return optional("psycopg.sql").Identifier(*(name.replace("%", "%%") for name in names))


def connected_database(url: str, password_env: str | None, environment: Mapping[str, str], **more: Any) -> Any:
    psycopg = optional("psycopg")
    password = secret(password_env, environment)
    extra = {} if password is None else {"password": password}
    return psycopg.connect(url, autocommit=True, connect_timeout=_CONNECT_S, application_name="aurora", **extra, **more)
