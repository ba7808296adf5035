"""What becomes of a running network when another takes its place: pure, before anything is touched.

A box is the same if it does the same on the same: kind, parameters, types of its inputs, and where these come from, up
to the streams. Such a box goes on with its state, whatever it is called now. Every other box starts anew, and so does
all behind it; so the boxes that end are closed downstream, and what they have not taken yet can be run by them alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from aurora.model.element import Element
from aurora.model.network import Network
from aurora.model.typed import Producer, TypedNetwork

_NOTES = frozenset({"name", "tags", "description", "manual"})


@dataclass(frozen=True)
class Plan:
    """How to get from one network to another.

    ``kept`` has the boxes that go on, by their new names the old ones; ``fresh`` those that start, ``ended`` those that
    are no more. Before the change ``drained`` (old names) must have taken all that entered; meanwhile the streams in
    ``held`` bring nothing new, and those that are ``barred``, since they end or change, take nothing. ``quiet`` says
    that nothing changes that runs.
    """

    kept: Mapping[str, str]
    fresh: tuple[str, ...]
    ended: tuple[str, ...]
    drained: frozenset[str]
    held: frozenset[str]
    barred: frozenset[str]
    quiet: bool = False
    meanings: tuple[Mapping[Producer, int], Mapping[Producer, int]] = field(default=({}, {}), repr=False)
    """What every arc means, before and after: the same number for the same."""

    def same_arcs(self) -> dict[Producer, Producer]:
        """Arcs that mean the same as before, by what they are now: what they were."""
        before, after = self.meanings
        renamed = {arc: Producer(self.kept.get(arc.name, arc.name), arc.port) for arc in after}
        return {arc: was for arc, was in renamed.items() if was in before and before[was] == after[arc]}


def plan_change(old: TypedNetwork, new: TypedNetwork, statics: Collection[str] = ()) -> Plan:
    """``statics`` names connection points that get other data than they had."""
    known: dict[object, int] = {}
    was, now = _meanings(old, known, ()), _meanings(new, known, statics)
    kept = _kept(old, new, was, now)
    fresh = tuple(name for name in new.order if name not in kept)
    ended = tuple(name for name in old.order if name not in kept.values())
    drained = _drained(old, new, kept, fresh, ended, was, now)
    barred = frozenset(
        name
        for name, stream in old.network.streams.items()
        if name not in new.network.streams or new.network.streams[name].schema != stream.schema
    )
    same_outputs = _outputs(old, was) == _outputs(new, now)
    renamed = any(one != other for one, other in kept.items())
    quiet = not fresh and not ended and not barred and not renamed and same_outputs
    quiet = quiet and old.order == new.order and old.inputs == new.inputs
    quiet = quiet and list(old.network.streams) == list(new.network.streams)
    held = _held(old, drained)
    return Plan(kept, fresh, ended, drained, held, barred, quiet, (was, now))


def _outputs(typed: TypedNetwork, meanings: Mapping[Producer, int]) -> dict[str, object]:
    return {name: (meanings[arc], typed.network.outputs[name].qos) for name, arc in typed.outputs.items()}


def declared(element: Element) -> str:
    """All that an element does, without what people note about it; and of a box, without what it reads."""
    plain = element.model_dump(mode="json", by_alias=True, exclude=set(_NOTES) | {"inputs"})
    return json.dumps([getattr(element, "kind", ""), plain])


def _meanings(typed: TypedNetwork, known: dict[object, int], new_data: Collection[str]) -> dict[Producer, int]:
    """A number for what is on every arc."""

    def number(meaning: object) -> int:
        return known.setdefault(meaning, len(known))

    found: dict[Producer, int] = {}
    for name, stream in typed.network.streams.items():
        found[Producer(name)] = number(("stream", name, tuple(stream.schema.items())))
    for name, point in typed.network.connection_points.items():
        if point.schema is not None and name not in typed.network.boxes:
            found[Producer(name)] = number(("static", declared(point), name, name in new_data))
    for name in typed.order:
        box = typed.network.boxes[name]
        types = tuple(repr(kind) for kind in typed.input_types(name))
        meaning = number(("box", declared(box), tuple(found[arc] for arc in typed.inputs[name]), types))
        for port in box.output_ports():
            found[Producer(name, port)] = number(("port", meaning, port))
    return found


def _kept(
    old: TypedNetwork, new: TypedNetwork, was: Mapping[Producer, int], now: Mapping[Producer, int]
) -> dict[str, str]:
    """By name first. A box that has gone may be one that has come, under another name."""
    old_meaning = {name: _of_box(old, name, was) for name in old.order}
    gone: dict[object, list[str]] = {}
    for name in old.order:
        if name not in new.network.boxes or _of_box(new, name, now) != old_meaning[name]:
            gone.setdefault(old_meaning[name], []).append(name)
    kept = {}
    for name in new.order:
        meaning = _of_box(new, name, now)
        if old_meaning.get(name) == meaning:
            kept[name] = name
        elif gone.get(meaning):
            kept[name] = gone[meaning].pop(0)
    return kept


def _of_box(typed: TypedNetwork, name: str, meanings: Mapping[Producer, int]) -> tuple[object, ...]:
    ports = typed.network.boxes[name].output_ports()
    made = tuple(meanings[Producer(name, port)] for port in ports)
    return made or (declared(typed.network.boxes[name]), *(meanings[arc] for arc in typed.inputs[name]))


def _drained(
    old: TypedNetwork,
    new: TypedNetwork,
    kept: Mapping[str, str],
    fresh: Iterable[str],
    ended: Iterable[str],
    was: Mapping[Producer, int],
    now: Mapping[Producer, int],
) -> frozenset[str]:
    """The boxes that must be done with all that entered before the change, with those that they get it from.

    So every tuple goes wholly through the one network or wholly through the other, as far as it can tell.
    """

    def before(arc: Producer) -> str:
        return kept.get(arc.name, "")

    wanted = set(ended)
    for name in fresh:
        wanted |= {before(arc) for arc in new.inputs[name]}
    for name, its_old in kept.items():
        if tuple(_was(arc, kept) for arc in new.inputs[name]) != old.inputs[its_old]:
            wanted |= {its_old, *(before(arc) for arc in new.inputs[name])}
        if any(new.asked_for_hidden(arc) and not old.asked_for_hidden(_was(arc, kept)) for arc in new.inputs[name]):
            # Trains without numbers wait for it, and from now on it is asked for them.
            wanted.add(its_old)
    for name in old.outputs.keys() | new.outputs.keys():
        source, target = old.outputs.get(name), new.outputs.get(name)
        if source is None or target is None or was[source] != now[target] or source != _was(target, kept):
            wanted |= {"" if source is None else source.name, "" if target is None else before(target)}
    return frozenset(upstream(old, wanted & set(old.order)))


def _was(arc: Producer, kept: Mapping[str, str]) -> Producer:
    return Producer(kept.get(arc.name, arc.name), arc.port)


def upstream(typed: TypedNetwork, boxes: Collection[str]) -> set[str]:
    """The boxes and all that bring them tuples."""
    found = set(boxes)
    for name in reversed(typed.order):
        if name in found:
            found |= {arc.name for arc in typed.inputs[name] if arc.name in typed.inputs}
    return found


def _held(typed: TypedNetwork, drained: Collection[str]) -> frozenset[str]:
    """The streams that bring something to these boxes, and those that meet them anywhere: their order must not change.

    Where a box waits for time, every tuple of every stream tells it, so that then all streams are held.
    """
    groups = {name: {name} for name in typed.network.streams}
    reached: dict[str, set[str]] = dict(groups)
    for name in typed.order:
        joined: set[str] = set()
        for arc in typed.inputs[name]:
            joined |= reached.get(arc.name, set())
        for stream in list(joined):
            joined |= groups[stream]
        for stream in joined:
            groups[stream] = joined
        reached[name] = joined
    found: set[str] = set()
    for name in drained:
        for stream in reached[name]:
            found |= groups[stream]
    timed = [name for name in typed.order if typed.network.boxes[name].keeps_time()]
    if any(groups[stream] & found for name in timed for stream in reached[name]):
        return frozenset(typed.network.streams)
    return frozenset(found)


def own_copy(network: Network) -> Network:
    """The network as it is now: what somebody adds to it later does not show."""
    made = Network(network.name, description=network.description, tags=network.tags, manual=network.manual)
    made.places = network.places
    for section, elements in network.sections().items():
        setattr(made, section, dict(elements))
    return made
