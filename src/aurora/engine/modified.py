"""What a modification has changed, for people and programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from aurora.engine.modify import Plan, declared
from aurora.model.element import Element
from aurora.model.network import Network
from aurora.model.typed import TypedNetwork

T = TypeVar("T")


@dataclass(frozen=True)
class Changes:
    """Names of one kind of thing."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    @classmethod
    def between(cls, old: Mapping[str, T], new: Mapping[str, T]) -> Changes:
        """
        >>> Changes.between({"a": 1, "b": 2, "c": 3}, {"b": 2, "c": 4, "d": 5})
        Changes(added=('d',), removed=('a',), changed=('c',), kept=('b',))
        """
        return cls(
            tuple(name for name in new if name not in old),
            tuple(name for name in old if name not in new),
            tuple(name for name in new if name in old and new[name] != old[name]),
            tuple(name for name in new if name in old and new[name] == old[name]),
        )

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True)
class Modified:
    """What became of a network, by kind of thing.

    A box in ``boxes.changed`` or ``restarted`` starts anew: the latter is declared as it was, but something before it
    is not. All other boxes went on with their state, those in ``renamed`` (old name to new) under another name.
    ``described`` are things of which only the description, the tags or the manual changed. ``drained`` boxes took what
    waited for them before the change, for which the streams in ``held`` had to wait ``drain_s`` seconds. The engine
    stood still for ``swap_s`` seconds.
    """

    network: str
    streams: Changes
    boxes: Changes
    arcs: Changes
    outputs: Changes
    qos: Changes
    superboxes: Changes
    connection_points: Changes
    sources: Changes
    sinks: Changes
    restarted: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    described: tuple[str, ...] = ()
    drained: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    drain_s: float = 0.0
    swap_s: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """As plain values, which JSON has too."""
        return {key: _plain(value) for key, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value


def compare(old: TypedNetwork, new: TypedNetwork, plan: Plan) -> Modified:
    """What the plan changes. It has not taken any time yet."""

    def section(of: Callable[[TypedNetwork], Mapping[str, T]]) -> Changes:
        return Changes.between(of(old), of(new))

    boxes = section(_boxes)
    return Modified(
        new.network.name,
        streams=section(lambda typed: {name: stream.schema for name, stream in typed.network.streams.items()}),
        boxes=boxes,
        arcs=section(lambda typed: {arc: kind.schema for arc, kind in typed.arcs.items()}),
        outputs=section(lambda typed: {n: (arc, typed.arcs[arc].schema) for n, arc in typed.outputs.items()}),
        qos=section(lambda typed: {name: o.qos for name, o in typed.network.outputs.items() if o.qos is not None}),
        superboxes=section(lambda typed: _declared(typed.network.superboxes)),
        connection_points=section(lambda typed: _declared(typed.network.connection_points)),
        sources=section(lambda typed: _declared(typed.network.sources)),
        sinks=section(lambda typed: _declared(typed.network.sinks)),
        restarted=tuple(name for name in boxes.kept if name not in plan.kept),
        renamed={was: name for name, was in plan.kept.items() if name != was},
        described=tuple(_described(old.network, new.network)),
        drained=tuple(name for name in old.order if name in plan.drained),
        held=tuple(name for name in old.network.streams if name in plan.held),
    )


def _boxes(typed: TypedNetwork) -> dict[str, object]:
    return {name: (declared(box), typed.inputs[name]) for name, box in typed.network.boxes.items()}


def _declared(elements: Mapping[str, Element]) -> dict[str, str]:
    return {name: declared(element) for name, element in elements.items()}


def _described(old: Network, new: Network) -> list[str]:
    found = []
    if _notes(old) != _notes(new):
        found.append("network")
    before = old.sections()
    for section, elements in new.sections().items():
        for name, element in elements.items():
            was = before[section].get(name)
            if was is not None and _notes(was) != _notes(element):
                found.append(f"{section}.{name}")
    return found


def _notes(thing: Network | Element) -> tuple[object, ...]:
    return thing.tags, thing.description, thing.manual
