"""A network cut into segments: the superboxes that run as one on a worker, and how each is spread over workers.

A segment ends where the partitioning changes. Boxes that take tuples anywhere run where their input is made. A keyed
box starts a segment whose parts each get the tuples of some keys; a box that must see everything runs in one place.
A box that runs in the driver is a segment of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from aurora.model.typed import Producer, TypedNetwork
from aurora.scheduler.branches import branches

Spread = Literal["slices", "keys", "one"]
"""Over slices of a stream, over parts by key, or not at all."""

Keys = tuple[str, ...]


@dataclass(frozen=True)
class Split:
    """An arc split by the values of ``keys``. Every part is told of the ``progress`` of columns over all of it."""

    keys: Keys
    progress: Keys = ()


@dataclass(frozen=True)
class Segment:
    """``boxes`` in topological order; a segment without boxes only passes an arc on.

    ``reads`` are the arcs that come from elsewhere; where the segment is spread by keys, with the split that it reads.
    ``writes`` are the arcs that others want as they are, ``splits`` those that they want split.
    Segments of one ``level`` do not wait for each other. One that is ``in_driver`` never goes to a worker. Where
    branches of the network are cut apart, ``branch`` is the number of the one that it is of; -1 if it has no boxes.
    """

    name: str
    boxes: tuple[str, ...]
    spread: Spread
    level: int
    reads: Mapping[Producer, Split | None]
    writes: tuple[Producer, ...] = ()
    splits: Mapping[Producer, tuple[Split, ...]] = field(default_factory=dict)
    in_driver: bool = False
    branch: int = 0


def segments(typed: TypedNetwork, parts: int, *, apart: bool = False) -> tuple[Segment, ...]:
    """The segments of a network for so many parts, by level. With one part everything runs in one place.

    With ``apart`` no segment is shared by branches, so that each branch can be run without the others.
    """
    if not apart:
        return _Cutting(typed, parts, typed.order, typed.outputs.values()).segments()
    streams = [arc for arc in typed.outputs.values() if arc.name in typed.network.streams]
    found = list(_Cutting(typed, parts, (), streams, branch=-1).segments())
    for number, boxes in enumerate(branches(typed)):
        made = [arc for arc in typed.outputs.values() if arc.name in boxes]
        found += _Cutting(typed, parts, boxes, made, branch=number).segments()
    return tuple(sorted(found, key=lambda segment: segment.level))


class _Draft:
    """A segment that is still growing."""

    def __init__(self, spread: Spread, level: int) -> None:
        self.spread = spread
        self.level = level
        self.in_driver = False
        self.boxes: list[str] = []
        self.passes: list[Producer] = []
        self.keys: dict[Producer, Keys] = {}
        self.writes: dict[Producer, None] = {}
        self.splits: dict[Producer, dict[Keys, set[str]]] = {}


class _Cutting:
    """Cuts boxes, in topological order, that read from each other and from streams alone; ``wanted`` are outputs."""

    def __init__(
        self,
        typed: TypedNetwork,
        parts: int,
        boxes: Collection[str],
        wanted: Collection[Producer],
        *,
        branch: int = 0,
    ) -> None:
        self._typed = typed
        self._parts = parts
        self._boxes = boxes
        self._wanted = wanted
        self._branch = branch
        self._drafts: list[_Draft] = []
        self._home: dict[str, _Draft] = {}
        self._passed: dict[Producer, _Draft] = {}
        self._keyed: dict[tuple[tuple[Producer, Keys], ...], _Draft] = {}

    def segments(self) -> tuple[Segment, ...]:
        for box in self._boxes:
            self._place(box)
        for producer in self._wanted:
            self._maker(producer).writes[producer] = None
        for box in self._boxes:
            self._note_reads(box)
        made = [self._segment(draft) for draft in self._drafts]
        return tuple(sorted(made, key=lambda segment: segment.level))

    def _place(self, box: str) -> None:
        """Finds the box's segment, or starts one."""
        live = self._live(box)
        trait = self._typed.network.boxes[box].partitioning(self._typed.input_types(box))
        if self._typed.network.boxes[box].in_driver:
            draft = self._beside(live)
        elif self._parts == 1:
            draft = self._single(live)
        elif trait.columns is None and len(live) == 1 and self._may_join(box, live[0]):
            draft = self._maker(live[0])
        elif trait.keyed and self._splits_agree(box):
            draft = self._by_keys(self._keys(box))
        else:
            draft = self._single(live)
        draft.boxes.append(box)
        self._home[box] = draft

    def _splits_agree(self, box: str) -> bool:
        """A box that reads one arc twice, by different keys, cannot have it split."""
        wanted = self._keys(box)
        return len(dict(wanted)) == len(set(wanted))

    def _may_join(self, box: str, producer: Producer) -> bool:
        """Behind parts only boxes can run in parts that keep what tuples carry."""
        maker = self._maker(producer)
        return not maker.in_driver and (maker.spread != "keys" or self._typed.network.boxes[box].tuplewise)

    def _live(self, box: str) -> list[Producer]:
        types = self._typed.input_types(box)
        return [p for p, arc in zip(self._typed.inputs[box], types, strict=True) if not arc.static]

    def _keys(self, box: str) -> list[tuple[Producer, Keys]]:
        trait = self._typed.network.boxes[box].partitioning(self._typed.input_types(box))
        return list(zip(self._typed.inputs[box], trait.columns or (), strict=True))

    def _new(self, spread: Spread, level: int) -> _Draft:
        self._drafts.append(_Draft(spread, level))
        return self._drafts[-1]

    def _maker(self, producer: Producer) -> _Draft:
        """Where an arc is made; a stream is taken in slices."""
        if producer.name in self._home:
            return self._home[producer.name]
        return self._passing(producer, "slices" if self._parts > 1 else "one", 0)

    def _passing(self, producer: Producer, spread: Spread, level: int) -> _Draft:
        if producer not in self._passed:
            self._passed[producer] = self._new(spread, level)
            self._passed[producer].passes.append(producer)
        return self._passed[producer]

    def _assembler(self, producer: Producer) -> _Draft:
        """Where an arc stands whole. What parts have made is put together before it is split by other keys."""
        maker = self._maker(producer)
        return maker if maker.spread != "keys" else self._passing(producer, "one", maker.level + 1)

    def _by_keys(self, inputs: Iterable[tuple[Producer, Keys]]) -> _Draft:
        """Boxes that read the same arcs by the same keys share a segment."""
        wanted = tuple(dict.fromkeys(inputs))
        if wanted not in self._keyed:
            draft = self._new("keys", 1 + max(self._assembler(producer).level for producer, _ in wanted))
            draft.keys = dict(wanted)
            self._keyed[wanted] = draft
        return self._keyed[wanted]

    def _single(self, live: list[Producer]) -> _Draft:
        """One place: joins what it reads from, if that runs in one place at the same level."""
        makers = {id(m): m for m in (self._maker(p) for p in live if not self._is_stream(p))}.values()
        open_to_more = {id(m): m.spread == "one" and not m.in_driver for m in makers}
        level = max((m.level if open_to_more[id(m)] else m.level + 1 for m in makers), default=0)
        joined = [maker for maker in makers if open_to_more[id(maker)] and maker.level == level]
        if not joined:
            return self._new("one", level)
        for other in joined[1:]:
            self._merge(joined[0], other)
        return joined[0]

    def _beside(self, live: list[Producer]) -> _Draft:
        """One place that nothing else joins."""
        level = max((self._maker(producer).level + 1 for producer in live if not self._is_stream(producer)), default=0)
        draft = self._new("one", level)
        draft.in_driver = True
        return draft

    def _is_stream(self, producer: Producer) -> bool:
        return producer.name in self._typed.network.streams

    def _merge(self, into: _Draft, other: _Draft) -> None:
        into.boxes += other.boxes
        into.passes += other.passes
        self._home.update({box: into for box, draft in self._home.items() if draft is other})
        self._passed.update({arc: into for arc, draft in self._passed.items() if draft is other})
        self._drafts.remove(other)

    def _note_reads(self, box: str) -> None:
        """Tells the segments from which a box reads what is wanted of them."""
        home = self._home[box]
        if home.spread != "keys" or box in self._downstream(home):
            for producer in self._live(box):
                # One place reads a stream itself.
                if producer.name not in home.boxes and not (home.spread == "one" and self._is_stream(producer)):
                    maker = self._maker(producer)
                    if maker is not home:
                        maker.writes[producer] = None
            return
        trait = self._typed.network.boxes[box].partitioning(self._typed.input_types(box))
        for (producer, keys), progress in zip(self._keys(box), trait.progress, strict=True):
            assembler, maker = self._assembler(producer), self._maker(producer)
            if assembler is not maker:
                maker.writes[producer] = None
            columns = assembler.splits.setdefault(producer, {}).setdefault(keys, set())
            columns.update([] if progress is None else [progress])

    def _downstream(self, home: _Draft) -> set[str]:
        """The boxes of a keyed segment that read what its keyed boxes make."""
        return {box for box in home.boxes if any(producer.name in home.boxes for producer in self._live(box))}

    def _segment(self, draft: _Draft) -> Segment:
        place = {box: number for number, box in enumerate(self._typed.order)}
        boxes = tuple(sorted(draft.boxes, key=place.__getitem__))
        reads = dict.fromkeys(draft.passes)
        reads.update(dict.fromkeys(p for box in boxes for p in self._live(box) if p.name not in boxes))
        splits = {arc: tuple(Split(k, tuple(sorted(p))) for k, p in by.items()) for arc, by in draft.splits.items()}
        return Segment(
            "+".join(boxes) or "+".join(map(str, draft.passes)),
            boxes,
            draft.spread,
            draft.level,
            {arc: self._split_read(draft, arc) for arc in reads},
            tuple(draft.writes),
            splits,
            draft.in_driver,
            self._branch,
        )

    def _split_read(self, draft: _Draft, producer: Producer) -> Split | None:
        if draft.spread != "keys":
            return None
        keys = draft.keys[producer]
        return Split(keys, tuple(sorted(self._assembler(producer).splits[producer][keys])))
