"""What a source or a sink raises beside the errors of its libraries."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType

from aurora.errors import AuroraError

EXTRAS = {"paho": "mqtt", "confluent_kafka": "kafka", "psycopg": "postgres"}
_IMPORTING = threading.RLock()
"""Threads that import modules of one package at the same time may meet each other's unfinished modules."""


class HopelessError(AuroraError):
    """Trying again does not help: a package or an environment variable is missing, a file cannot be understood."""


class UndeliverableError(AuroraError):
    """The other side will not take these tuples, however often it is asked."""


class BrokenError(AuroraError):
    """Nothing that follows on a connection can be understood; a new connection may do better."""


def optional(module: str) -> ModuleType:
    """A module of a package that is installed on demand; says how where it is missing."""
    package = module.partition(".")[0]
    try:
        with _IMPORTING:
            return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or package).partition(".")[0] != package:
            raise  # something that the package needs
        raise HopelessError(
            f"the Python package {package} is not installed; pip install 'aurora-streams[{EXTRAS[package]}]'"
        ) from error


def secret(variable: str | None, environment: Mapping[str, str]) -> str | None:
    """The value of an environment variable that a declaration names; messages never show it."""
    if variable is None:
        return None
    if variable not in environment:
        raise HopelessError(f"the environment variable {variable} is not set; set it before Aurora starts")
    return environment[variable]
