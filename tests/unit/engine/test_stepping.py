"""Steps through a paused network: trains and single tuples, of the scheduler's choice and of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aurora import Engine, InputError, Network, StateError
from aurora.clock import ManualClock
from aurora.engine.stepping import Seen, Step
from oracle.parts import in_parts


def network() -> Network:
    net = Network("stepped")
    s = net.stream("s", g="string", x="int")
    r = net.stream("r", g="string", x="int")
    both = s.filter("some", "x > 0").union("both", r)
    net.output("sums", both.latch("sums", group_by="g", total="sum(x)"))
    net.output("twice", s.map("twice", compute={"x": "x * 2"}))
    return net


def rows(*xs: int) -> list[dict[str, Any]]:
    return [{"g": "ab"[x % 2], "x": x} for x in xs]


def engine(**options: Any) -> Engine:
    options = {"processor": "local", "wall": ManualClock(), "paused": True, "shedding": "off", **options}
    return Engine(network(), **options)


def seen(*parts: Seen) -> dict[str, tuple[int, list[Any]]]:
    return {part.arc: (part.tuples, [row[-1] for row in part.first.rows()]) for part in parts}


def totals(running: Engine) -> list[Any]:
    return [row for train in running.dequeue("sums") for row in train.rows()]


def test_a_step_of_a_train_tells_what_every_box_of_the_superbox_took_and_made() -> None:
    with engine() as running:
        running.enqueue("s", rows(1, 0, 3))
        step = running.step("some")
        assert step
        assert seen(*step.entered) == {"s": (3, [1, 0, 3])}
        (some,) = step.boxes
        assert some.box == "some"
        assert seen(*some.taken) == {"s": (3, [1, 0, 3])}
        assert seen(*some.made) == {"some": (2, [1, 3])}
        assert not step.whole
        steps: list[Step] = []
        while step := running.step():
            steps.append(step)
        ran = [box.box for step in steps for box in step.boxes]
        assert sorted(ran) == ["both", "sums", "twice"]
        assert all(not step.entered for step in steps)


def test_a_step_of_one_tuple_takes_one_and_leaves_the_others() -> None:
    with engine() as running:
        running.enqueue("s", rows(1, 2, 3))
        (box,) = running.step("twice", 1).boxes
        assert seen(*box.taken, *box.made) == {"s": (1, [1]), "twice": (1, [2])}
        (box,) = running.step("twice", 1).boxes
        assert seen(*box.made) == {"twice": (1, [4])}
        assert running.stats().boxes["twice"].queue_tuples == 1
        assert running.stats().boxes["some"].queue_tuples == 3
        count = 0
        while step := running.step(tuples=1):
            (box,) = step.boxes
            assert sum(part.tuples for part in box.taken) == 1
            count += 1
        assert count == 1 + 3 + 3 + 3
        assert totals(running) == [("b", 1), ("a", 2), ("b", 4)]


def test_a_box_that_has_nothing_to_take_does_not_run() -> None:
    with engine() as running:
        running.enqueue("s", rows(1))
        running.step("some")
        assert not running.step("some")
        assert not running.step("some", 1)
        # And no time has passed for the others meanwhile.
        assert running.stats().boxes["twice"].queue_tuples == 1


def test_state_that_grows_is_told() -> None:
    with engine() as running:
        running.enqueue("s", rows(1))
        while not (sums := [box for box in running.step().boxes if box.box == "sums"]):
            pass
        grown = [(before, after) for before, after in (sums[0].state or {}).values() if after > before]
        assert grown


def test_only_the_first_rows_are_shown() -> None:
    with engine() as running:
        running.enqueue("s", rows(*range(50)))
        (box,) = running.step("twice", rows=3).boxes
        assert seen(*box.made) == {"twice": (50, [0, 2, 4])}


def test_what_cannot_be_stepped_is_refused_and_harms_nothing() -> None:
    with engine() as running:
        with pytest.raises(InputError, match="did you mean 'sums'"):
            running.step("sum")
        with pytest.raises(InputError, match="give 1 or more"):
            running.step(tuples=0)
        running.enqueue("s", rows(1))
        running.drain()
        assert totals(running) == [("b", 1)]


def test_workers_rest_while_it_is_paused() -> None:
    with engine(workers=3) as running:
        running.enqueue("s", rows(1, 2, 3))
        running.step("some", 1)
        assert running.stats().boxes["some"].tuples_in == 1
        assert running.stats().boxes["twice"].tuples_in == 0
        running.resume()
        running.drain()
        running.pause()
        running.enqueue("s", rows(4))
        running.step("some")
        assert running.stats().boxes["twice"].tuples_in == 3
        running.resume()
        running.drain()
        assert totals(running) == [("b", 1), ("a", 2), ("b", 4), ("a", 6)]


def test_a_commit_that_is_due_waits_until_nobody_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would let all boxes run."""
    monkeypatch.setattr("aurora.engine.recovery.Recovery.due", True)
    with engine(state=tmp_path) as running:
        running.enqueue("s", rows(1, 2))
        running.step("twice", 1)
        assert running.stats().boxes["twice"].tuples_in == 1
        assert running.stats().boxes["some"].tuples_in == 0
    with engine(state=tmp_path) as again:
        assert again.stats().inputs["s"].tuples == 2


def test_where_boxes_run_in_tasks_a_step_is_of_all_of_them() -> None:
    with in_parts(2), engine(processor="spark") as running:
        running.enqueue("s", rows(1, 0, 3))
        with pytest.raises(StateError, match="one superbox"):
            running.step("some")
        step = running.step(tuples=2)
        assert step.whole
        assert seen(*step.entered) == {"s": (2, [1, 0])}
        boxes = {box.box: box for box in step.boxes}
        assert boxes.keys() == {"some", "both", "sums", "twice"}
        assert seen(*boxes["both"].taken, *boxes["both"].made) == {"some": (1, [1]), "both": (1, [1])}
        assert boxes["sums"].state is None
        assert running.step()
        assert not running.step()
        assert totals(running) == [("b", 1), ("b", 4)]
