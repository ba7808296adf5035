"""An engine that really has too much to do drops what hurts least, and stops when it fits again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aurora import Engine, Network
from integration.overload import Sender, forget, network

pytestmark = [pytest.mark.slow, pytest.mark.timed, pytest.mark.timeout(120)]


@pytest.fixture
def net() -> Iterator[Network]:
    yield network()
    forget()


def test_drops_come_with_the_overload_and_go_with_it(net: Network) -> None:
    with Engine(net, processor="local") as engine:
        sender = Sender(engine)
        sender.send(0.5, 1.5)
        assert sender.drops == []
        took_s = sender.send(3, 10, lambda: bool(sender.drops))
        assert took_s < 3, "an overload is found within a second, if the machine has time for us"
        sender.send(3, 2)
        (drop,) = sender.drops
        assert (drop["place"], drop["reason"], drop["outputs"]) == ("s before slow", "random", ["cheap"])
        assert 0.05 < drop["keep"] < 0.6
        # It keeps up: what is delivered now has not waited long.
        latency_s = engine.stats().outputs["cheap"].recent_latency_s
        assert latency_s is not None
        assert latency_s < 1
        took_s = sender.send(0.5, 20, lambda: not sender.drops)
        assert took_s < 10
        sender.send(0.5, 1)
        assert sender.drops == []
        engine.drain()
        sender.take()
        read = engine.stats()
        told = [line for line in engine.decisions() if line.startswith("load shedder: ")]
    assert sender.got["vital"] == list(range(0, sender.sent, 10))
    shed = read.drops["s before slow: random"].shed
    assert read.engine.shed == {"random": shed}
    assert len(sender.got["cheap"]) == sender.sent - shed
    assert sender.got["cheap"] == sorted(sender.got["cheap"])
    assert shed > 0.2 * sender.sent
    assert read.outputs["vital"].delivered == 100
    assert read.outputs["cheap"].lost == pytest.approx(shed, rel=0.01)
    assert len(told) >= 2


def test_with_shedding_off_nothing_is_dropped(net: Network) -> None:
    with Engine(net, processor="local", shedding="off") as engine:
        sender = Sender(engine)
        sender.send(3, 1.5)
        engine.drain()
        sender.take()
        assert engine.stats().engine.shed == {}
    assert sender.got["cheap"] == list(range(sender.sent))


def test_what_stops_coming_is_dropped_no_more(net: Network) -> None:
    """Nobody sends anything, and still the engine looks whether it has to drop."""
    with Engine(net, processor="local") as engine:
        sender = Sender(engine)
        sender.send(3, 10, lambda: bool(sender.drops))
        assert sender.drops
        sender.wait(20, lambda: not sender.drops)
        assert not sender.drops
