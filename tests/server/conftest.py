"""Which tests of the server run by default: those that hold whatever else the machine does.

The others open many connections and ports, or measure how long somebody waits, and get in the way of tests that run
beside them. They run alone: ``make test-server``.
"""

from __future__ import annotations

import os

import pytest

_ALONE = ("test_flight", "test_client", "test_http_live", "test_http_process", "test_http_safety", "test_sources_")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("AURORA_SERVER_TESTS"):
        return
    skipped = pytest.mark.skip(reason="runs alone: make test-server")
    for item in items:
        if item.path.parent.name == "server" and item.path.stem.startswith(_ALONE):
            item.add_marker(skipped)
