"""An engine whose network is changed while it runs."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from aurora import Engine, InputError, Network, NetworkError, StateError
from aurora.clock import ManualClock
from aurora.model.arc import Arc

SOON_S = 30.0
"""Long enough for anything that happens at all."""


def pairs(arc: Arc, name: str) -> Arc:
    """Sums of every two tuples: a box with a state."""
    return arc.aggregate(name, window={"size": "2 tuples", "advance": "2 tuples"}, compute={"total": "sum(x)"})


def network(least: int = 0, **streams: str) -> Network:
    net = Network("live")
    s = net.stream("s", x="int")
    net.output("big", pairs(s.filter("above", f"x > {least}"), "twos"))
    net.output("all", pairs(s, "pairs"))
    for name, kind in streams.items():
        net.output(f"of_{name}", net.stream(name, x=kind).filter(f"some_{name}", "x > 0"))
    return net


def rows(*xs: int) -> list[dict[str, int]]:
    return [{"x": x} for x in xs]


def engine(net: Network | None = None, **options: Any) -> Engine:
    options.setdefault("wall", ManualClock())
    return Engine(net or network(), processor="local", **options)


def values(running: Engine, output: str) -> list[int]:
    return [row[0] for train in running.dequeue(output) for row in train.rows()]


def test_boxes_that_stay_go_on_with_their_state_and_others_start_anew() -> None:
    with engine() as running:
        running.enqueue("s", rows(1, 2, 3))
        report = running.modify(network(least=1))
        running.enqueue("s", rows(4, 5))
        assert values(running, "all") == [3, 7]
        assert values(running, "big") == [3, 9]
    assert report.boxes.changed == ("above",)
    assert report.restarted == ("twos",)
    assert report.drained == ("above", "twos")
    assert report.held == ("s",)
    assert 0 < report.swap_s < SOON_S


def test_what_a_change_would_do_can_be_asked_before() -> None:
    with engine() as running:
        running.enqueue("s", rows(1, 2, 3))
        foreseen = running.foresee(network(least=1))
        with pytest.raises(NetworkError, match="other-network"):
            running.foresee(Network("other"))
        # Nothing has changed yet: all boxes have the state they had.
        running.enqueue("s", rows(4))
        assert values(running, "big") == [3, 7]
        done = running.modify(network(least=1))
    assert foreseen == replace(done, drain_s=0.0, swap_s=0.0)


@pytest.mark.parametrize("paused", [False, True])
def test_what_was_enqueued_before_goes_through_the_old_network(paused: bool) -> None:
    with engine(paused=paused) as running:
        running.enqueue("s", rows(1, 2))
        running.modify(network(least=100))
        running.resume()
        assert values(running, "big") == [3]


def test_a_network_that_is_not_valid_is_refused_with_all_reasons_and_changes_nothing() -> None:
    wrong = network()
    wrong.output("a", "nowhere")
    wrong.boxes["above"] = wrong.boxes["above"].model_copy(update={"where": "y > 0"})
    with engine() as running:
        running.enqueue("s", rows(1))
        with pytest.raises(NetworkError) as refused:
            running.modify(wrong)
        running.enqueue("s", rows(2))
        assert values(running, "all") == [3]
        assert "a" not in running.describe()["network"]["outputs"]
    assert {problem.id for problem in refused.value.problems} == {"unknown-arc", "unknown-column"}


def test_what_the_engine_cannot_take_is_refused_with_all_reasons() -> None:
    other = Network("other")
    s = other.stream("s", x="int")
    other.connection_point("names", schema={"x": "int"})
    other.output("all", s.join("named", "names", on="left.x = right.x", compute={"x": "left.x"}))
    other.output("more", other.stream("t", y="int"))
    with engine(clock="x") as running, pytest.raises(NetworkError) as refused:
        running.modify(other)
    assert {problem.id for problem in refused.value.problems} == {"other-network", "no-table", "no-clock"}


def test_streams_come_and_go() -> None:
    with engine() as running:
        with pytest.raises(InputError, match="no stream 't'"):
            running.enqueue("t", rows(1))
        running.modify(network(t="int"))
        running.enqueue("t", rows(-1, 1))
        assert values(running, "of_t") == [1]
        running.modify(network(t="double"))
        running.enqueue("t", [{"x": 2.5}])
        assert values(running, "of_t") == [2.5]
        running.modify(network())
        with pytest.raises(InputError, match="no stream 't'"):
            running.enqueue("t", rows(1))
        assert set(running.stats().inputs) == {"s"}


def test_the_network_may_be_the_very_object_that_was_added_to() -> None:
    net = network()
    with engine(net) as running:
        net.output("raw", "s")
        assert "raw" not in running.describe()["network"]["outputs"]
        assert running.modify(net).outputs.added == ("raw",)
        running.enqueue("s", rows(7))
        assert values(running, "raw") == [7]


def test_answers_of_a_removed_output_can_still_be_dequeued() -> None:
    less = network()
    del less.outputs["all"]
    with engine() as running:
        running.enqueue("s", rows(1, 2))
        assert running.modify(less).outputs.removed == ("all",)
        running.enqueue("s", rows(3, 4))
        assert values(running, "all") == [3]
        with pytest.raises(InputError, match="no output 'all'"):
            values(running, "all")


def test_subscribers_of_a_removed_output_are_told_the_end_and_others_stay() -> None:
    less = network()
    del less.outputs["all"]
    ended: list[str] = []
    got: list[int] = []
    with engine() as running:
        running.subscribe("all", lambda train: None, lambda: ended.append("all"))
        running.subscribe("big", lambda train: got.extend(train["total"]), lambda: ended.append("big"))
        running.modify(less)
        assert ended == ["all"]
        running.enqueue("s", rows(1, 2))
        running.drain()
    assert got == [3]
    assert ended == ["all", "big"]


def test_waiting_for_answers_ends_with_the_output() -> None:
    async def main() -> list[int]:
        got: list[int] = []
        less = network()
        del less.outputs["all"]
        with engine() as running:
            running.enqueue("s", rows(1, 2))
            async for train in running.stream("all"):
                got.extend(train["total"])
                await asyncio.to_thread(running.modify, less)
        return got

    assert asyncio.run(asyncio.wait_for(main(), SOON_S)) == [3]


def test_totals_are_counted_on() -> None:
    with engine() as running:
        running.enqueue("s", rows(1, 2, 3, 4))
        running.modify(network(t="int"))
        running.enqueue("s", rows(5, 6))
        running.drain()
        stats = running.stats()
    assert stats.inputs["s"].tuples == 6
    assert stats.boxes["pairs"].tuples_in == 6
    assert stats.outputs["all"].tuples == 3
    assert stats.arcs["pairs"].tuples == 3
    assert stats.boxes["some_t"].tuples_in == 0


def test_other_qos_is_followed() -> None:
    better = network()
    qos = {"latency": [["0s", 1], ["1s", 0]], "loss": [[100, 1], [0, 0]]}
    better.outputs["all"] = Network.from_document(
        {**better.to_document(), "outputs": {"all": {"from": "pairs", "qos": qos}}}
    ).outputs["all"]
    with engine() as running:
        assert running.modify(better).qos.added == ("all",)
        running.enqueue("s", rows(1, 2))
        running.drain()
        assert running.stats().outputs["all"].utility["live"].overall == 1.0
        assert running.stats().outputs["big"].utility["live"].overall is None


def test_notes_change_without_a_pause() -> None:
    noted = network()
    noted.superbox("both", ["above", "twos"], description="the large ones")
    with engine() as running, running._exclusive():
        # Somebody runs boxes just now, and need not stop.
        done: list[str] = []
        thread = threading.Thread(target=lambda: done.extend(running.modify(noted).superboxes.added))
        thread.start()
        thread.join(SOON_S)
        assert done == ["both"]
        assert "both" in running.describe()["network"]["superboxes"]


def test_who_looks_at_an_arc_that_stays_looks_on() -> None:
    seen: list[pl.DataFrame] = []
    gone: list[pl.DataFrame] = []
    with engine() as running:
        running.tap("pairs", seen.append)
        running.tap("above", gone.append)
        running.modify(network(least=1))
        running.enqueue("s", rows(1, 2))
        running.drain()
    assert pl.concat(seen).rows() == [(3,)]
    assert gone == []


def test_everything_is_listed() -> None:
    with engine() as running:
        running.modify(network(t="int"))
        found = {(entity["section"], entity["name"]): entity for entity in running.entities()}
    assert found["box", "some_t"]["kind"] == "filter"
    assert found["box", "some_t"]["arcs"] == {"some_t": {"x": "int"}}
    assert found["output", "of_t"]["arcs"] == {"some_t": {"x": "int"}}
    assert ("stream", "s") in found


def test_a_callback_cannot_modify_the_network_that_calls_it() -> None:
    why: list[str] = []

    def take(train: pl.DataFrame) -> None:
        try:
            running.modify(network(least=1))
        except StateError as error:
            why.append(str(error))

    with engine() as running:
        running.subscribe("all", take)
        running.enqueue("s", rows(1, 2))
        running.drain()
    assert why
    assert "in another thread" in why[0]


def test_before_the_start_and_after_the_end_there_is_nothing_to_modify() -> None:
    running = engine()
    with pytest.raises(StateError, match="has not been started"):
        running.modify(network(least=1))
    running.start()
    running.shutdown()
    with pytest.raises(StateError, match="shut down"):
        running.modify(network(least=1))


# While boxes that change have much to do


def test_what_the_change_does_not_concern_goes_on_while_boxes_are_drained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tuples of s that come while those of t are still under way overtake them."""
    monkeypatch.setattr("aurora.engine.changing._SLICE_S", 0.0)
    events: list[str] = []

    def under_way(train: pl.DataFrame) -> None:
        events.append("t")
        if running._queued._held and "enqueued" not in events:
            events.append("enqueued")
            running.enqueue("s", rows(1, 2))

    with engine(network(t="int"), paused=True, train=1, scheduler="round_robin") as running:
        running.subscribe("of_t", under_way)
        running.subscribe("all", lambda train: events.append("s"))
        running.enqueue("t", rows(*range(1, 301)))
        running._looping.paused = False
        report = running.modify(network())
        running.drain()
    assert report.held == ("t",)
    assert events.count("t") == 300
    assert events.index("enqueued") < events.index("s") < 300


def test_who_enqueues_to_a_stream_that_changes_waits_for_it() -> None:
    why: list[str] = []
    threads: list[threading.Thread] = []
    brought: list[bool] = []

    def bring() -> None:
        running.enqueue("t", [{"x": 2.5}])
        brought.append(True)

    def under_way(train: pl.DataFrame) -> None:
        if running._queued._barred and not threads:
            threads.append(threading.Thread(target=bring))
            threads[0].start()
            with pytest.raises(StateError) as refused:
                running.enqueue("t", rows(5))
            why.append(str(refused.value))

    with engine(network(t="int"), paused=True, train=1) as running:
        running.subscribe("of_t", under_way)
        running.enqueue("t", rows(*range(1, 101)))
        running.modify(network(t="double"))
        threads[0].join(SOON_S)
        assert brought == [True]
        running.resume()
        assert values(running, "of_t") == [2.5]
    assert "is being modified" in why[0]


# State


def test_a_restart_needs_the_new_network(tmp_path: Path) -> None:
    with engine(state=tmp_path) as running:
        running.enqueue("s", rows(1, 2, 3))
        running.modify(network(least=1))
        # As if the process died here: what comes out of the way is not committed.
        assert values(running, "all") == [3]
    with pytest.raises(StateError, match=r"was modified while it ran.*network\.json"):
        engine(state=tmp_path).start()
    with engine(network(least=1), state=tmp_path) as again:
        assert again.stats().inputs["s"].tuples == 3
        again.enqueue("s", rows(4, 5))
        assert values(again, "all") == [7]
        assert values(again, "big") == [9]
    with pytest.raises(StateError, match="belongs to another run"):
        engine(network(least=7), state=tmp_path).start()


def test_notes_are_committed_too(tmp_path: Path) -> None:
    noted = network()
    noted.superbox("both", ["above", "twos"])
    with engine(state=tmp_path) as running:
        running.modify(noted)
        running.enqueue("s", rows(1))
    with engine(noted, state=tmp_path) as again:
        again.enqueue("s", rows(2))
        assert values(again, "all") == [3]


def test_a_process_that_dies_right_after_the_commit_leaves_a_folder_of_the_new_network(tmp_path: Path) -> None:
    with engine(state=tmp_path) as running:
        running.enqueue("s", rows(1))
        identity = (tmp_path / "identity").read_bytes()
        running.modify(network(least=1))
    # It was not noted yet whose folder this is.
    (tmp_path / "identity").write_bytes(identity)
    with pytest.raises(StateError, match="was modified while it ran"):
        engine(state=tmp_path).start()
    for x, wanted in ((2, [3]), (3, [])):
        with engine(network(least=1), state=tmp_path) as again:
            again.enqueue("s", rows(x))
            assert values(again, "all") == wanted


def with_names(**columns: str) -> Network:
    net = network()
    net.connection_point("names", schema={"x": "int", **columns})
    net.output("named", net.box("join", "named", ["s", "names"], on="left.x = right.x", compute={"name": "right.name"}))
    return net


def test_static_tables_come_with_the_network_and_stay() -> None:
    with engine() as running:
        running.modify(with_names(name="string"), statics={"names": [{"x": 1, "name": "one"}]})
        running.enqueue("s", rows(1))
        assert [train.rows() for train in running.dequeue("named")] == [[("one",)]]
        more = with_names(name="string")
        more.output("raw", "s")
        running.modify(more)
        running.enqueue("s", rows(1))
        assert [train.rows() for train in running.dequeue("named")] == [[("one",)]]
        assert running.modify(more, statics={"names": [{"x": 1, "name": "eins"}]}).restarted == ("named",)
        running.enqueue("s", rows(1))
        assert [train.rows() for train in running.dequeue("named")] == [[("eins",)]]


def test_tables_that_do_not_fit_are_refused() -> None:
    with engine(with_names(name="string"), statics={"names": [{"x": 1, "name": "one"}]}) as running:
        with pytest.raises(NetworkError) as refused:
            running.modify(with_names(name="int"), statics={"nowhere": []})
        assert [problem.id for problem in refused.value.problems] == ["unknown-point", "no-table"]
        with pytest.raises(NetworkError) as refused:
            running.modify(with_names(name="int"), statics={"names": pl.DataFrame({"y": ["a"]})})
        assert refused.value.problems[0].id == "wrong-table"
