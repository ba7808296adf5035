"""On Spark, too, an engine with too much to do drops what hurts least, inside tasks, and stops when it fits again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aurora import Engine, Network
from integration.overload import Sender, forget, network

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timed, pytest.mark.timeout(300)]


@pytest.fixture
def net() -> Iterator[Network]:
    yield network()
    forget()


def test_drops_come_with_the_overload_and_go_with_it(net: Network) -> None:
    with Engine(net, processor="spark", master="local[2]") as engine:
        sender = Sender(engine)
        sender.send(0.5, 2)
        engine.drain()
        assert sender.drops == []
        sender.send(8, 20, lambda: bool(sender.drops))
        sender.send(8, 3)
        (drop,) = sender.drops
        assert (drop["place"], drop["reason"], drop["outputs"]) == ("s before slow", "random", ["cheap"])
        assert 0.02 < drop["keep"] < 0.8
        sender.send(0.5, 30, lambda: not sender.drops)
        assert sender.drops == []
        engine.drain()
        sender.take()
        read = engine.stats()
    assert sender.got["vital"] == list(range(0, sender.sent, 10))
    assert read.engine.shed == {"random": sender.sent - len(sender.got["cheap"])}
    assert read.engine.shed["random"] > 0.1 * sender.sent
    assert sender.got["cheap"] == sorted(sender.got["cheap"])
