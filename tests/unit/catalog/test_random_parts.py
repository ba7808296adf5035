"""Random networks with awkward names and texts: taken apart into rows, and put together as they were."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from aurora.catalog.database import Database
from aurora.catalog.parts import put_together, read_parts, take_apart, write_parts
from aurora.model import Network, loads
from tests.unit.model.conftest import sample_kinds
from tests.unit.model.networks import networks

assert sample_kinds  # a fixture for the whole module: the networks are made of sample boxes


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return Database(tmp_path_factory.mktemp("parts") / "catalog.db", create=True, wait_s=1)


@settings(max_examples=150)
@given(net=networks())
def test_every_network_comes_back_from_its_rows(database: Database, net: Network) -> None:
    with database.write() as sql:
        write_parts(sql, net.name, take_apart(net))
        again = put_together(net.name, read_parts(sql, net.name))
    assert again.problems == []
    assert loads(again.text) == net
