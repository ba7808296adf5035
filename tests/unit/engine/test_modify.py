"""What a change of the network means, before anything is touched."""

from __future__ import annotations

from collections.abc import Callable

from aurora.engine.modified import compare
from aurora.engine.modify import Plan, own_copy, plan_change
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.qos import QoS
from aurora.model.typed import Producer

Edit = Callable[[Network], None]


def network(edit: Edit = lambda net: None, *, least: int = 5, size: int = 4) -> Network:
    """Two streams that do not meet: s with a filter, an aggregate behind it and one beside it; t with a filter."""
    net = Network("n")
    s = net.stream("s", x="int", g="string")
    t = net.stream("t", y="int")
    big = s.filter("big", f"x > {least}")
    last = {"size": f"{size} tuples", "advance": "1 tuples"}
    net.output("sums", big.aggregate("sum", compute={"total": "sum(x)"}, window=last))
    net.output("counts", s.aggregate("count", compute={"n": "count(*)"}, window={**last, "size": "3 tuples"}))
    net.output("ys", t.filter("positive", "y > 0"))
    edit(net)
    return net


def plan(edit: Edit, **changed: int) -> Plan:
    return plan_change(typecheck(network()), typecheck(network(edit, **changed)))


def nothing(net: Network) -> None:
    pass


def test_nothing_changes() -> None:
    made = plan(nothing)
    assert made.quiet
    assert made.kept == {name: name for name in ("big", "sum", "count", "positive")}
    assert not made.fresh
    assert not made.ended
    assert not made.drained
    assert not made.held
    assert not made.barred


def test_behind_a_box_that_changes_everything_starts_anew_and_the_rest_goes_on() -> None:
    made = plan(nothing, least=6)
    assert made.fresh == made.ended == ("big", "sum")
    assert made.kept == {"count": "count", "positive": "positive"}
    assert made.drained == {"big", "sum"}
    assert made.held == {"s"}
    assert not made.quiet


def test_before_a_box_that_changes_boxes_go_on_but_are_drained() -> None:
    made = plan(nothing, size=5)
    assert made.fresh == ("sum",)
    assert "big" in made.kept
    assert made.drained == {"big", "sum"}


def test_a_renamed_box_goes_on() -> None:
    old = network()

    def rename(net: Network) -> None:
        net.boxes["large"] = net.boxes.pop("big").model_copy(update={"name": "large"})
        net.boxes["sum"] = net.boxes["sum"].model_copy(update={"inputs": ("large",)})

    new = network(rename)
    made = plan_change(typecheck(old), typecheck(new))
    assert made.kept["large"] == "big"
    assert made.kept["sum"] == "sum"
    assert not made.fresh
    assert not made.drained
    assert compare(typecheck(old), typecheck(new), made).renamed == {"big": "large"}
    assert made.same_arcs()[Producer("large")] == Producer("big")


def test_of_two_boxes_that_do_the_same_only_one_takes_the_state_over() -> None:
    def twice(net: Network) -> None:
        net.boxes["again"] = net.boxes["count"].model_copy(update={"name": "again"})

    made = plan(twice)
    assert made.kept["count"] == "count"
    assert made.fresh == ("again",)


def test_what_people_note_concerns_nothing_that_runs() -> None:
    old = network()

    def note(net: Network) -> None:
        net.boxes["big"] = net.boxes["big"].model_copy(update={"description": "the large ones", "tags": ("a",)})
        net.superbox("group", ["big", "sum"])

    new = network(note)
    made = plan_change(typecheck(old), typecheck(new))
    assert made.quiet
    report = compare(typecheck(old), typecheck(new), made)
    assert report.described == ("boxes.big",)
    assert report.superboxes.added == ("group",)
    assert not report.boxes


def test_a_stream_with_other_columns_is_barred_and_all_behind_it_starts_anew() -> None:
    def widen(net: Network) -> None:
        net.streams["t"] = Network("m").stream("t", y="int", z="int").network.streams["t"]

    made = plan(widen)
    assert made.barred == {"t"}
    assert made.fresh == ("positive",)
    assert made.held == {"t"}


def test_the_order_of_columns_counts() -> None:
    def turn(net: Network) -> None:
        net.streams["s"] = Network("m").stream("s", g="string", x="int").network.streams["s"]

    assert plan(turn).barred == {"s"}


def test_a_removed_stream_takes_its_boxes_along() -> None:
    def remove(net: Network) -> None:
        del net.streams["t"], net.boxes["positive"], net.outputs["ys"]

    made = plan(remove)
    assert made.barred == {"t"}
    assert made.ended == ("positive",)
    assert made.kept.keys() == {"big", "sum", "count"}


def test_a_new_output_on_an_arc_has_its_makers_drained() -> None:
    def add(net: Network) -> None:
        net.output("bigs", "big")

    made = plan(add)
    assert made.drained == {"big"}
    assert not made.fresh
    assert not made.quiet


def test_other_qos_drains_nothing() -> None:
    def better(net: Network) -> None:
        net.outputs["sums"] = net.outputs["sums"].model_copy(update={"qos": QoS(latency=[("0s", 1), ("1s", 0)])})

    made = plan(better)
    assert not made.drained
    assert not made.fresh
    assert not made.quiet
    old, new = typecheck(network()), typecheck(network(better))
    assert compare(old, new, made).qos.added == ("sums",)


def test_streams_that_meet_are_held_together() -> None:
    def joined(net: Network) -> Network:
        u = net.stream("u", x="int", g="string")
        net.output("all", u.union("both", "s"))
        return net

    old = network(joined)
    new = network(joined, least=6)
    assert plan_change(typecheck(old), typecheck(new)).held == {"s", "u"}


def test_where_a_box_waits_for_time_all_streams_are_held() -> None:
    def timed(net: Network) -> None:
        window = {"size": "3 tuples", "advance": "3 tuples", "timeout": "1s"}
        net.boxes["timed"] = (
            Network("m").stream("s", x="int", g="string").aggregate("timed", compute={"n": "count(*)"}, window=window)
        ).network.boxes["timed"]

    old, new = network(timed), network(timed, least=6)
    assert plan_change(typecheck(old), typecheck(new)).held == {"s", "t"}


def test_new_data_of_a_static_point_has_its_readers_start_anew() -> None:
    def look_up(net: Network) -> None:
        net.connection_point("names", schema={"g": "string", "name": "string"})
        net.box("join", "named", ["s", "names"], on="left.g = right.g")

    typed = typecheck(network(look_up))
    assert plan_change(typed, typed).fresh == ()
    assert plan_change(typed, typed, ["names"]).fresh == ("named",)


def test_a_box_that_is_now_asked_for_numbers_is_drained_first() -> None:
    """Before, no box asked for them, and trains without may wait for the filter."""
    old = Network("n")
    old.output("a", old.stream("s", x="int").filter("f", "x > 0"))
    new = own_copy(old)
    new.output("n", new.box("latch", "l", "s", compute={"n": "count(*)"}).producer)
    assert plan_change(typecheck(old), typecheck(new)).drained == {"f"}


def test_a_copy_does_not_see_what_is_added_later() -> None:
    net = network()
    copy = own_copy(net)
    assert copy == net
    net.output("later", "big")
    assert "later" not in copy.outputs


def test_the_report_is_plain() -> None:
    old, new = typecheck(network()), typecheck(network(least=6))
    report = compare(old, new, plan_change(old, new))
    plain = report.to_dict()
    assert plain["boxes"] == {"added": [], "removed": [], "changed": ["big"], "kept": ["sum", "count", "positive"]}
    assert plain["restarted"] == ["sum"]
    assert plain["drained"] == ["big", "sum"]
    assert plain["held"] == ["s"]


def test_a_box_that_reads_another_that_does_the_same_goes_on_when_both_are_drained() -> None:
    """One of the two may be further than the other."""

    def twins(net: Network) -> None:
        net.boxes["large"] = net.boxes["big"].model_copy(update={"name": "large"})
        net.output("larges", "large")

    def turned(net: Network) -> None:
        twins(net)
        net.boxes["sum"] = net.boxes["sum"].model_copy(update={"inputs": ("large",)})

    made = plan_change(typecheck(network(twins)), typecheck(network(turned)))
    assert made.kept["sum"] == "sum"
    assert made.drained == {"big", "large", "sum"}
