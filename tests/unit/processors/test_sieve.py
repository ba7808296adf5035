"""Sieves at work in a processor: what goes, what is counted, and what it costs where there is none."""

from __future__ import annotations

import pickle

import numpy as np
import polars as pl
import pytest

from aurora.boxes.drop import lucky
from aurora.boxes.thinned import WholeWindows
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.train import Progress, Train
from aurora.model.typed import Consumer, Producer, TypedNetwork
from aurora.processors.local import LocalProcessor
from aurora.processors.plan import Execution, Result
from aurora.processors.sieve import NO_DROPS, Drops, Sieve, Sieving, Tally
from aurora.shedding.places import Place

S = Producer("s")
N = 10_000
WHOLE = Progress.standing(N - 1, 0)


@pytest.fixture
def typed() -> TypedNetwork:
    """A stream with two readers, and itself an output."""
    net = Network("sieved")
    s = net.stream("s", x="int")
    net.output("raw", s)
    net.output("even", s.filter("even", "x % 2 = 0"))
    net.output("twice", s.map("twice", compute={"y": "2 * x"}))
    return typecheck(net)


def numbered(first: int = 0, count: int = N) -> Train:
    numbers = np.arange(first, first + count)
    clocks = np.zeros(count, np.int64)
    return Train.of(pl.DataFrame({"x": numbers}), 2 * numbers + 1, clocks, clocks)


def ran(typed: TypedNetwork, *sieves: Sieve, train: Train | None = None, boxes: tuple[str, ...] = ()) -> Result:
    execution = Execution(boxes or typed.order, {S: train or numbered()}, WHOLE, sieves)
    (result,) = LocalProcessor(typed).run([execution])
    return result


def xs(result: Result, arc: str, column: str = "x") -> list[int]:
    return result.trains[Producer(arc)].frame.get_column(column).to_list()


def test_before_one_reader_the_others_get_everything(typed: TypedNetwork) -> None:
    place = Place(S, Consumer("even", 0))
    result = ran(typed, Sieve(place, seed=3, keep=0.25))
    assert len(xs(result, "s")) == len(xs(result, "twice", "y")) == N
    stay = np.flatnonzero(lucky(3, 0.75, np.arange(N)))
    assert xs(result, "even") == [x for x in stay.tolist() if x % 2 == 0]
    assert result.shed == {(place, "random"): N - len(stay)}
    assert result.costs["even"].tuples_in == len(stay)
    assert result.costs["twice"].tuples_in == N


def test_on_an_arc_all_readers_and_outputs_lose_the_same_and_it_is_counted_once(typed: TypedNetwork) -> None:
    result = ran(typed, Sieve(Place(S), seed=3, keep=0.25))
    kept = xs(result, "s")
    assert 0.2 * N < len(kept) < 0.3 * N
    assert xs(result, "twice", "y") == [2 * x for x in kept]
    assert xs(result, "even") == [x for x in kept if x % 2 == 0]
    assert result.shed == {(Place(S), "random"): N - len(kept)}


def test_box_by_box_the_first_reader_counts(typed: TypedNetwork) -> None:
    """A scheduled flow gives every reader the train of the arc by itself."""
    sieve = Sieve(Place(S), seed=3, keep=0.25)
    first, second = (ran(typed, sieve, boxes=(box,)) for box in ("even", "twice"))
    assert first.shed == ran(typed, sieve).shed
    assert not second.shed
    assert xs(first, "s") == xs(second, "s")


def test_what_a_box_makes_is_thinned_where_it_is_made(typed: TypedNetwork) -> None:
    result = ran(typed, Sieve(Place(Producer("even")), seed=0, where="x >= 10"))
    assert xs(result, "even") == [0, 2, 4, 6, 8]
    assert result.shed == {(Place(Producer("even")), "semantic"): N // 2 - 5}
    # What the box let through is its own selectivity, whatever became of it.
    assert result.costs["even"].tuples_out == N // 2


def test_nothing_is_left_out_of_pity(typed: TypedNetwork) -> None:
    result = ran(typed, Sieve(Place(S), seed=1, keep=0.0))
    assert not result.trains
    assert result.costs["even"].calls == 0
    assert result.shed == {(Place(S), "random"): N}


def test_a_condition_that_is_null_takes_nothing_away(typed: TypedNetwork) -> None:
    train = numbered(count=2)
    holey = Train(train.frame.with_columns(pl.Series("x", [None, 4])))
    assert xs(ran(typed, Sieve(Place(S), 0, where="x < 10"), train=holey), "s") == [None]


def test_some_are_spared(typed: TypedNetwork) -> None:
    result = ran(typed, Sieve(Place(S), seed=5, where="x < 5000", spared=0.3))
    spared = np.flatnonzero(lucky(5, 0.7, np.arange(N)))
    assert xs(result, "s") == [x for x in spared.tolist() if x < 5000] + list(range(5000, N))


def test_less_is_kept_of_the_same(typed: TypedNetwork) -> None:
    """A share that falls takes more away and gives nothing back; what waits has lost the right tuples already."""
    more, less = (set(xs(ran(typed, Sieve(Place(S), 7, keep)), "s")) for keep in (0.6, 0.2))
    assert less < more


def test_bare_trains_lose_the_same_share(typed: TypedNetwork) -> None:
    bare = Train(pl.DataFrame({"x": np.arange(N)}), arrival_us=0)
    result = ran(typed, Sieve(Place(S), seed=3, keep=0.25), train=bare)
    assert 0.22 * N < len(xs(result, "s")) < 0.28 * N
    assert result.trains[S].arrival_us == 0


def test_trains_that_have_been_sifted_are_not_sifted_again(typed: TypedNetwork) -> None:
    bare = Train(pl.DataFrame({"x": np.arange(N)}), arrival_us=0)
    sieves = (Sieve(Place(S), 3, keep=0.5), Sieve(Place(S, Consumer("twice", 0)), 4, keep=0.5))
    execution = Execution(typed.order, {S: bare}, WHOLE, sieves, sifted=True)
    (result,) = LocalProcessor(typed).run([execution])
    assert len(xs(result, "s")) == N
    assert list(result.shed) == [(Place(S, Consumer("twice", 0)), "random")]


def test_sieves_change_from_one_execution_to_the_next(typed: TypedNetwork) -> None:
    processor = LocalProcessor(typed)
    counts = []
    for keep in (0.5, 1.0, 0.1):
        sieves = (Sieve(Place(S), 0, keep),)
        (result,) = processor.run([Execution(typed.order, {S: numbered()}, WHOLE, sieves)])
        counts.append(len(xs(result, "s")))
    assert counts[0] > counts[2]
    assert counts[1] == N


def test_a_sieve_that_keeps_all_gives_the_very_train(typed: TypedNetwork) -> None:
    train, tally = numbered(), Tally()
    assert Sieving(typed, (Sieve(Place(S), 0, keep=1.0),)).on(S, train, tally) is train
    assert Sieving(typed).on(S, train, tally) is train
    assert not tally
    assert not Drops()
    assert not NO_DROPS


def test_drops_go_to_workers() -> None:
    drops = Drops((Sieve(Place(S, Consumer("even", 0)), 3, where="x > 1"),), {"b": WholeWindows(0.5)})
    assert pickle.loads(pickle.dumps(drops)) == drops


def test_a_rule_reaches_the_kernel_and_what_it_drops_is_counted() -> None:
    net = Network("windows")
    s = net.stream("s", x="int")
    net.output("sums", s.tumble("sums", order_by="x", window={"size": 10}, compute={"n": "count(*)"}))
    typed = typecheck(net)
    processor = LocalProcessor(typed)
    rule = WholeWindows(0.5, max_gap=3)
    (thinned,) = processor.run([Execution(("sums",), {S: numbered()}, WHOLE, rules={"sums": rule})])
    shed = thinned.shed[Place(S, Consumer("sums", 0)), "windows"]
    assert 0.4 * N < shed < 0.6 * N
    assert thinned.costs["sums"].tuples_in == N - shed
    assert set(xs(thinned, "sums", "n")) == {10}
    (whole,) = processor.run([Execution(("sums",), {S: numbered(N)}, WHOLE)])
    assert not whole.shed
    assert len(xs(whole, "sums", "n")) == N // 10
