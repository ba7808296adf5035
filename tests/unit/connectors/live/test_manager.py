"""All sources and sinks of a network together, and what a document may reach."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from aurora.clock import ManualClock
from aurora.connectors.live.failures import HopelessError
from aurora.connectors.live.making import Surroundings
from aurora.connectors.live.manager import Feeds
from aurora.connectors.rejected import Rejected
from aurora.errors import InputError, StateError
from aurora.model.network import Network
from tests.unit.connectors.live.stand_ins import Recorder


def _network(**sources: dict[str, Any]) -> Network:
    net = Network("demo")
    net.output("all", net.stream("ticks", x="int"))
    for name, given in sources.items():
        kind = given.pop("kind")
        net.source(kind, name, "ticks", **given)
    return net


def _feeds(net: Network, target: Recorder, folder: Path, **given: Any) -> Feeds:
    return Feeds(net, target, clock=ManualClock(), random=Random(0), environment={}, folder=folder, **given)


def _ended(feeds: Feeds, *names: str) -> None:
    """Waits for threads, not for time."""
    for section, name in list(feeds._running):
        if name in names:
            thread = feeds._running[section, name].thread
            assert thread is not None
            thread.join(20)
            assert not thread.is_alive()


def test_a_file_goes_in_and_a_file_comes_out(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("x\n1\nno\n2\n")
    net = _network(feed={"kind": "file", "path": "in.csv"})
    net.sink("file", "kept", "all", path="out/kept.csv")
    target, rejected = Recorder(), list[Rejected]()
    with _feeds(net, target, tmp_path, on_reject=rejected.append) as feeds:
        _ended(feeds, "feed")
        for frame in target.frames:
            target.callbacks["all"](frame)
        assert [status.name for status in feeds.statuses()] == ["feed", "kept"]
        status = feeds.status("feed")
        assert (status.state, status.tuples, status.rejected) == ("ended", 2, 1)
        assert feeds.rejections("feed") == rejected
        assert rejected[0].stream == "ticks"
    assert (tmp_path / "out" / "kept.csv").read_text() == "x\n1\n2\n"
    assert target.drained == 1


def test_one_that_fails_leaves_the_others_alone(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("x\n1\n")
    (tmp_path / "bad.csv").write_text("y\n1\n")
    net = _network(bad={"kind": "file", "path": "bad.csv"}, good={"kind": "file", "path": "in.csv"})
    target = Recorder()
    with _feeds(net, target, tmp_path) as feeds:
        _ended(feeds, "bad", "good")
        assert [status.state for status in feeds.statuses()] == ["failed", "ended"]
        assert "x" in feeds.status("bad").last_error
    assert target.rows == [(1,)]


def test_pushed_bodies(tmp_path: Path) -> None:
    net = _network(push={"kind": "http", "format": "json", "max_bytes": 40}, file={"kind": "file", "path": "none.csv"})
    target = Recorder()
    feeds = _feeds(net, target, tmp_path)
    with pytest.raises(InputError, match="no source"):
        feeds.receive("push", b"")
    feeds.start()
    _connected(feeds, "push")
    received = feeds.receive("push", b'{"x": 1}\nno\n')
    assert (received.tuples, [one.place for one in received.rejected]) == (1, [2])
    assert target.rows == [(1,)]
    assert feeds.status("push").bytes == 12
    target.failures = [StateError("it is paused")]
    with pytest.raises(StateError, match="paused"):
        feeds.receive("push", b'{"x": 2}')
    assert (feeds.status("push").dropped, feeds.status("push").tuples) == (1, 1)
    with pytest.raises(InputError, match="41 bytes"):
        feeds.receive("push", b" " * 41)
    with pytest.raises(InputError, match="kind file"):
        feeds.receive("file", b"")
    with pytest.raises(InputError, match="did you mean 'push'"):
        feeds.receive("pusch", b"")
    with pytest.raises(StateError):
        feeds.start()
    feeds.stop()
    assert feeds.statuses() == []


def _connected(feeds: Feeds, name: str) -> None:
    """The thread has only to come to its first wait."""
    for _ in range(10_000_000):
        if feeds.status(name).state == "connected":
            return
    raise AssertionError("it does not connect")


def test_another_network_leaves_what_is_alike_running(tmp_path: Path) -> None:
    feeds = _feeds(
        _network(a={"kind": "http", "format": "json"}, b={"kind": "http", "format": "json"}), Recorder(), tmp_path
    )
    with feeds:
        before = dict(feeds._running)
        feeds.replace(_network(a={"kind": "http", "format": "json"}, c={"kind": "http", "format": "csv"}))
        assert [status.name for status in feeds.statuses()] == ["a", "c"]
        assert feeds._running["sources", "a"] is before["sources", "a"]
        assert before["sources", "b"].halt.stopped
        feeds.replace(_network(a={"kind": "http", "format": "csv"}))
        assert feeds._running["sources", "a"] is not before["sources", "a"]


def test_a_sink_that_was_stopped_takes_nothing_more(tmp_path: Path) -> None:
    net = _network()
    net.sink("file", "kept", "all", path="kept.csv")
    target = Recorder()
    with _feeds(net, target, tmp_path):
        taking = target.callbacks["all"]
        taking(pl.DataFrame({"x": [1]}))
    assert target.callbacks == {}
    # An engine may just be about to call it.
    taking(pl.DataFrame({"x": [2]}))
    assert (tmp_path / "kept.csv").read_text() == "x\n1\n"


@pytest.mark.parametrize(("error", "told"), [(StateError("it has stopped"), 0), (OSError("disk full"), 1)])
def test_an_engine_that_cannot_drain_at_the_end_is_told_of(
    error: Exception, told: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    net = _network()
    net.sink("file", "kept", "all", path="kept.csv")
    target = Recorder()

    def drain() -> None:
        raise error

    monkeypatch.setattr(target, "drain", drain)
    with _feeds(net, target, tmp_path):
        target.callbacks["all"](pl.DataFrame({"x": [1]}))
    assert (tmp_path / "kept.csv").read_text() == "x\n1\n", "the sinks are stopped all the same"
    assert [record.message for record in caplog.records] == [
        "what was under way at the end did not all reach the sinks"
    ] * told


@pytest.mark.parametrize("path", ["../out.csv", "/etc/passwd", "a/../../b", "link/x"])
def test_documents_of_others_stay_in_the_folder(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    around = Surroundings("demo", folder, {}, ManualClock(), confined=True)
    with pytest.raises(HopelessError, match="leads out"):
        around.path(path)
    assert around.path("a/b.csv") == (folder / "a" / "b.csv").resolve()
    assert Surroundings("demo", folder, {}, ManualClock()).path("/etc/x") == Path("/etc/x")


def test_documents_of_others_see_only_the_secrets_meant_for_them(tmp_path: Path) -> None:
    environment = {"AURORA_SECRET_HOOK": "a", "AWS_KEY": "b"}
    confined = Surroundings("demo", tmp_path, environment, ManualClock(), confined=True)
    assert confined.variables() == {"AURORA_SECRET_HOOK": "a"}
    assert Surroundings("demo", tmp_path, environment, ManualClock()).variables() == environment
