"""What the controller says, by hand; how it behaves over time is in ``test_closed_loop``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aurora as au
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.typed import Consumer, Producer
from aurora.shedding.controller import Controller
from aurora.shedding.forward import Through
from aurora.shedding.load import BoxProfile
from aurora.shedding.observation import Directions, Observation, Verdict, seed_of
from aurora.shedding.places import Place
from aurora.shedding.shedder import Shedder
from tests.unit.shedding.networks import FORBIDDEN, Case, cases

FLAT = [(100, 1), (40, 0.9), (0, 0)]
STEEP = [(100, 1), (80, 0.1), (0, 0)]
VALUE = {"on": "x", "graph": [(0, 0), (50, 0), (51, 1)]}


def branches(**outputs: Mapping[str, Any] | None) -> Network:
    """A branch of the stream for each output."""
    net = au.Network("n")
    stream = net.stream("s", x="double")
    for name, graphs in outputs.items():
        qos = None if graphs is None else au.QoS(**graphs)
        net.output(name, stream.map(f"to_{name}", extend={"x": "x"}), qos=qos)
    return net


def observation(
    net: Network, now_s: float = 0.0, costs: Mapping[str, float] | None = None, **waiting: float
) -> Observation:
    """Every box costs 1 ms unless said otherwise; 1000 tuples a second."""
    given = dict.fromkeys(net.boxes, 1e-3) | dict(costs or {})
    profiles = {name: BoxProfile(cost_s, {"out": 1.0}) for name, cost_s in given.items()}
    backlog = {Consumer(name, 0): work_s for name, work_s in waiting.items()}
    return Observation(round(now_s * 1e6), {"s": 1000.0}, profiles, 1.0, 1.0, backlog)


def overload(demand: float) -> Verdict:
    return Verdict(True, demand, max(0.0, demand - 0.95), 1.0, "too much")


def first(controller: Controller, net: Network, demand: float, **options: Any) -> Directions:
    found = controller.decide(observation(net, **options), overload(demand))
    assert found is not None
    return found


def test_the_expensive_branch_with_the_flat_graph_gives_way_first() -> None:
    net = branches(dear={"loss": FLAT}, cheap={"loss": STEEP})
    controller = Controller(typecheck(net), mode="random")
    found = first(controller, net, 1.1, costs={"to_dear": 0.9e-3, "to_cheap": 0.2e-3})
    (drop,) = found.drops
    assert str(drop.place) == "s before to_dear"
    assert drop.outputs == ("dear",)
    assert drop.seed == seed_of(Place(Producer("s"), Consumer("to_dear", 0)), "random")
    assert found.kept <= 0.95 / 1.1 + 1e-6
    assert found.delivered["cheap"] == 1
    assert "s before to_dear" in found.why


def test_waiting_work_is_to_be_gone_in_a_second() -> None:
    net = branches(o={"loss": FLAT})
    calm = first(Controller(typecheck(net)), net, 2.0)
    heaped = first(Controller(typecheck(net)), net, 2.0, to_o=2.1)
    assert calm.kept == pytest.approx(0.475, abs=0.02)
    assert 0.1 < heaped.kept <= 0.95 / 4 + 0.02


def test_outputs_without_graphs_named_ones_and_forbidding_ones_are_left_alone() -> None:
    graphs = {"loss": [(100, 1), (99.9, 0)]}
    net = branches(
        silent=None, late={"latency": [("0s", 1), ("9s", 0)]}, vital=graphs, named={"loss": FLAT}, o={"loss": STEEP}
    )
    found = first(Controller(typecheck(net), protected=["named"]), net, 50.0)
    assert {name for drop in found.drops for name in drop.outputs} == {"o"}
    assert found.delivered == {"silent": 1, "late": 1, "vital": 1, "named": 1, "o": pytest.approx(0.0, abs=1e-6)}


def test_where_nothing_may_go_nothing_goes() -> None:
    net = branches(silent=None)
    assert Controller(typecheck(net)).decide(observation(net), overload(5.0)) is None


def test_uniform_minds_nobody_and_off_does_nothing() -> None:
    net = branches(silent=None, vital={"loss": [(100, 1), (99.9, 0)]})
    found = first(Controller(typecheck(net), mode="uniform"), net, 1.9)
    assert [(str(drop.place), drop.keep) for drop in found.drops] == [("s", 0.5)]
    assert Controller(typecheck(net), mode="off").decide(observation(net), overload(5.0)) is None


def test_it_lowers_at_once_and_gives_back_slowly() -> None:
    net = branches(o={"loss": FLAT})
    controller = Controller(typecheck(net))
    assert first(controller, net, 4.0).kept < 0.25
    shares = []
    for i in range(1, 30):
        controller.decide(observation(net, i / 5), Verdict(False, 0.5, 0.0, 1.0, "fits"))
        shares.append(controller.directions.kept)
    assert shares[1] < 0.25, "nothing is given back before it has been quiet for a while"
    assert all(b >= a for a, b in pairwise(shares))
    assert max(b - a for a, b in pairwise(shares)) < 0.15
    assert shares[:20][-1] == 1.0
    assert controller.directions.empty


def test_where_the_engine_has_time_left_everything_is_given_back_whatever_was_reckoned() -> None:
    """Half of the time would do for all of it, but it is said to need twice as much as there is."""
    net = branches(o={"loss": FLAT})
    controller = Controller(typecheck(net))
    assert first(controller, net, 6.0).kept < 0.2
    shares = []
    for i in range(1, 35):
        seen = replace(observation(net, i / 10), busy=0.5 * controller.directions.kept)
        controller.decide(seen, overload(2.0))
        shares.append(controller.directions.kept)
    assert shares[3] < 0.2, "what is seen at first is still of what was before"
    assert shares[-1] == 1.0
    assert max(b - a for a, b in pairwise(shares)) < 0.1


def test_small_changes_are_not_made() -> None:
    net = branches(o={"loss": FLAT})
    controller = Controller(typecheck(net))
    first(controller, net, 2.0)
    for i in range(1, 50):
        assert controller.decide(observation(net, i / 5), overload(2.0 + 0.04 * (-1) ** i)) is None


def test_the_map_is_made_anew_when_costs_move_but_not_more_than_once_a_second() -> None:
    net = branches(l={"loss": FLAT}, r={"loss": FLAT})
    controller = Controller(typecheck(net))
    first(controller, net, 2.0, costs={"to_l": 1.5e-3, "to_r": 0.5e-3})
    assert controller.directions.delivered["l"] < controller.directions.delivered["r"]
    costs = {"to_l": 0.5e-3, "to_r": 1.5e-3}
    assert controller.decide(observation(net, 0.5, costs), overload(2.0)) is None
    assert controller.decide(observation(net, 1.1, costs), overload(2.0)) is not None
    assert controller.directions.delivered["l"] > controller.directions.delivered["r"]


def test_with_a_large_backlog_the_drop_stands_there() -> None:
    net = au.Network("n")
    first_box = net.stream("s", x="double").map("first", extend={"x": "x"})
    net.output("o", first_box.map("second", extend={"x": "x"}), qos=au.QoS(loss=FLAT))
    costs = {"first": 0.2e-3, "second": 1.8e-3}
    above = first(Controller(typecheck(net)), net, 2.0, costs=costs)
    assert [str(drop.place) for drop in above.drops] == ["s"]
    behind = first(Controller(typecheck(net)), net, 2.0, costs=costs, second=3.0)
    assert [str(drop.place) for drop in behind.drops] == ["first"]


def values(controller: Controller | Shedder, output: str, drawn: np.ndarray) -> None:
    for part in np.array_split(drawn, 10):
        controller.note_values(output, pl.Series("x", part))


UNIFORM = np.random.default_rng(5).uniform(0, 100, 3000)


def test_what_is_worth_least_goes_by_a_condition() -> None:
    net = branches(o={"value": VALUE})
    controller = Controller(typecheck(net))
    values(controller, "o", UNIFORM)
    found = first(controller, net, 1.2)
    assert {drop.reason for drop in found.drops} == {"semantic"}
    assert {str(drop.place) for drop in found.drops} == {"s"}
    table = pl.DataFrame({"x": UNIFORM})
    gone = sum((1 - drop.spared) * len(table.filter(pl.sql_expr(drop.where or ""))) for drop in found.drops) / len(
        table
    )
    assert gone == pytest.approx(1 - 0.95 / 1.2, abs=0.04)
    worst = pl.concat([table.filter(pl.sql_expr(drop.where or "")) for drop in found.drops])
    assert float(worst["x"].max()) < 55  # type: ignore[arg-type]
    assert found.delivered["o"] == pytest.approx(1 - gone, abs=0.03)


def test_many_tuples_of_one_value_go_in_part() -> None:
    """Nine of ten have the value 3. A condition alone would take all of them."""
    net = branches(o={"value": VALUE})
    controller = Controller(typecheck(net), mode="semantic")
    values(controller, "o", np.where(np.arange(3000) % 10 == 0, 80.0, 3.0))
    found = first(controller, net, 1.2)
    (drop,) = found.drops
    assert drop.spared == pytest.approx(1 - (1 - 0.95 / 1.2) / 0.9, abs=0.04)


def test_until_values_are_known_drops_are_at_random() -> None:
    net = branches(o={"value": VALUE})
    found = first(Controller(typecheck(net)), net, 1.2)
    assert {drop.reason for drop in found.drops} == {"random"}


def test_random_mode_ignores_values() -> None:
    net = branches(o={"value": VALUE})
    controller = Controller(typecheck(net), mode="random")
    values(controller, "o", UNIFORM)
    assert {drop.reason for drop in first(controller, net, 1.2).drops} == {"random"}


def test_a_shared_box_in_front_is_relieved_at_random_and_the_rest_by_value() -> None:
    """A condition stops at the split; what stands before it can only be saved by a drop that hurts both."""
    net = au.Network("n")
    shared = net.stream("s", x="double").map("shared", extend={"x": "x"})
    net.output("v", shared.map("to_v", extend={"x": "x"}), qos=au.QoS(value=VALUE))
    net.output("l", shared.map("to_l", extend={"x": "x"}), qos=au.QoS(loss=FLAT))
    controller = Controller(typecheck(net))
    values(controller, "v", UNIFORM)
    found = first(controller, net, 8.0, costs={"shared": 6e-3, "to_v": 1e-3, "to_l": 1e-3})
    assert found.kept <= 0.95 / 8 + 0.02
    assert {(str(drop.place), drop.reason) for drop in found.drops} >= {("s", "random")}


def test_past_a_box_that_cannot_be_inverted_a_trial_finds_the_condition() -> None:
    net = au.Network("n")
    squared = net.stream("s", x="double").map("squared", extend={"x": "x * x"})
    net.output(
        "o", squared.map("last", extend={"x": "x"}), qos=au.QoS(value={"on": "x", "graph": [(0, 0), (25, 0), (26, 1)]})
    )
    sample = pl.DataFrame({"x": np.random.default_rng(1).uniform(0, 10, 500)})
    asked: list[tuple[str, str]] = []

    def trying(place: Place, output: str) -> tuple[pl.DataFrame, Through]:
        asked.append((str(place), output))
        return sample, lambda tuples: tuples.with_columns(pl.col("x") ** 2)

    costs = {"squared": 1e-3, "last": 0.2e-3}
    controller = Controller(typecheck(net), mode="semantic", trying=trying)
    values(controller, "o", (sample["x"] ** 2).to_numpy())
    found = first(controller, net, 1.2, costs=costs)
    assert asked[0] == ("s", "o")
    (drop,) = found.drops
    assert str(drop.place) == "s"
    gone = sample.filter(pl.sql_expr(drop.where or ""))
    assert 0.15 < len(gone) / len(sample) < 0.35
    assert float((gone["x"] ** 2).max()) < 26  # type: ignore[arg-type]
    without = Controller(typecheck(net), mode="semantic")
    values(without, "o", (sample["x"] ** 2).to_numpy())
    drops = first(without, net, 1.2, costs=costs).drops
    assert {str(drop.place) for drop in drops if drop.reason == "semantic"} == {"squared"}


@given(cases(), st.floats(1.05, 5.0))
@settings(max_examples=60, deadline=None)
def test_whatever_the_network_protected_outputs_get_everything(case: Case, demand: float) -> None:
    """The graphs of the drawn case are put on its outputs; those that have none, or one that forbids loss, are safe."""
    net = case.typed.network
    for name, graph in case.graphs.items():
        net.outputs[name] = net.outputs[name].model_copy(update={"qos": None if graph is None else au.QoS(loss=graph)})
    typed = typecheck(net)
    controller = Controller(typed)
    seen = Observation(0, case.rates, case.profiles, 1.0, 1.0)
    found = controller.decide(seen, overload(demand)) or controller.directions
    safe = {name for name, graph in case.graphs.items() if graph is None or graph is FORBIDDEN}
    assert not safe & {name for drop in found.drops for name in drop.outputs}
    assert all(0 <= drop.keep <= 1 for drop in found.drops)
    assert all(found.delivered.get(name, 1.0) == 1.0 for name in safe)


def test_the_shedder_puts_both_together() -> None:
    net = branches(o={"loss": FLAT})
    shedder = Shedder(typecheck(net))
    assert shedder.verdict is None
    assert shedder.directions.empty
    made = [shedder.observe(observation(net, i / 5, {"to_o": 2e-3}, to_o=0.2 * i)) for i in range(10)]
    assert any(found is not None for found in made)
    assert shedder.verdict is not None
    assert shedder.verdict.overloaded
    assert not shedder.directions.empty
