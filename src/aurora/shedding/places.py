"""Where tuples can be dropped, and which outputs that hurts.

A drop saves the more the further upstream it stands. But it may not stand above a split one branch of which leads to
outputs that should not be hurt. So every arc has two kinds of place: before all that get its tuples, and before one of
the boxes that read it, where the others still get every tuple.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from aurora.model.typed import Consumer, Producer, TypedNetwork

MATCHING = frozenset({"join", "resample"})
"""The kinds of box that bring tuples of several inputs together: half of each input leaves a quarter of the pairs."""


class Place(NamedTuple):
    """Before one reader of an arc; or, without a reader, before all that get the arc's tuples."""

    arc: Producer
    reader: Consumer | None = None

    def __str__(self) -> str:
        return str(self.arc) if self.reader is None else f"{self.arc} before {self.reader.box}"


class Places:
    """All places of a network, and the outputs below each.

    A box that leads to no output may have effects elsewhere, in a table for example, which no graph weighs. What it
    reads is therefore never thinned.

    >>> from aurora.model.check import typecheck
    >>> from aurora.model.network import Network
    >>> net = Network("demo")
    >>> clean = net.stream("s", x="int").filter("clean", "x > 0")
    >>> _ = net.output("all", clean.map("twice", compute={"y": "2 * x"}))
    >>> _ = net.output("big", clean.filter("large", "x > 9").map("half", compute={"y": "x / 2"}))
    >>> places = Places(typecheck(net))
    >>> [str(place) for place in places.highest({"big"})], [str(place) for place in places.highest({"all", "big"})]
    (['clean before large'], ['s'])
    """

    def __init__(self, typed: TypedNetwork) -> None:
        self.typed = typed
        self._below: dict[Place, Mapping[str, int]] = {}
        self._vital: set[Place] = set()
        for name in reversed(typed.order):
            for port in typed.network.boxes[name].output_ports():
                self._add(Producer(name, port))
        for stream in (*typed.network.streams, *typed.network.connection_points):
            if stream in typed.arcs:
                self._add(Producer(stream))

    def __iter__(self) -> Iterator[Place]:
        """From the inputs downwards: a place comes after all that are upstream of it."""
        return reversed(self._below)

    def outputs(self, place: Place) -> Mapping[str, int]:
        """The outputs below a place. The number is the power to which the share that is kept there is raised at the
        output, as far as all inputs of boxes in between are thinned alike: 2 behind a join.
        """
        return self._below[place]

    def is_vital(self, place: Place) -> bool:
        """Whether the tuples also go to a box that leads to no output."""
        return place in self._vital

    def ways(self, box: str) -> int:
        """How many thinned inputs multiply in what the box makes."""
        if self.typed.network.boxes[box].kind not in MATCHING:
            return 1
        return max(1, sum(not kind.static for kind in self.typed.input_types(box)))

    def hurts_only(self, place: Place, outputs: Collection[str]) -> bool:
        below = self._below[place]
        return bool(below) and place not in self._vital and all(output in outputs for output in below)

    def highest(self, outputs: Collection[str]) -> tuple[Place, ...]:
        """As far upstream as possible without hurting other outputs; together they see all tuples of these that can
        be dropped before they are done with.
        """
        return tuple(
            place
            for place in self
            if self.hurts_only(place, outputs)
            and not any(self.hurts_only(above, outputs) for above in self._right_above(place))
            and (place.reader is not None or self.typed.consumers(place.arc))
        )

    def highest_above(self, place: Place, outputs: Collection[str]) -> tuple[Place, ...]:
        """As far upstream of a place as possible without hurting other outputs; none if there is nothing above it."""
        found: dict[Place, None] = {}
        waiting = [place]
        while waiting:
            here = waiting.pop()
            above = [place for place in self._right_above(here) if self.hurts_only(place, outputs)]
            waiting += above
            if not above and here != place:
                found[here] = None
        return tuple(found)

    def above_backlog(self, waiting_s: Mapping[Consumer, float], least_s: float) -> frozenset[Place]:
        """The places where a drop would leave a large backlog as it is, because the backlog is already past them.

        ``waiting_s`` is the work that waits before each reader, with all that it makes downstream. From ``least_s`` on
        the drop should rather stand at the backlog itself, until that is gone. Places that have such a backlog
        themselves stay open.
        """
        large = [reader for reader, work_s in waiting_s.items() if work_s >= least_s]
        at = {self._at(reader) for reader in large}
        seen = {above for place in at for above in self.above(place)}
        return frozenset(seen - at)

    def above(self, place: Place) -> frozenset[Place]:
        """All places upstream of one."""
        seen: set[Place] = set()
        waiting = list(self._right_above(place))
        while waiting:
            here = waiting.pop()
            if here not in seen:
                seen.add(here)
                waiting.extend(self._right_above(here))
        return frozenset(seen)

    def _at(self, reader: Consumer) -> Place:
        """Where a drop sees the tuples that wait for the reader."""
        arc = self.typed.inputs[reader.box][reader.port]
        alone = len(self.typed.consumers(arc)) == 1 and not self.typed.delivered_to(arc)
        return Place(arc) if alone else Place(arc, reader)

    def _right_above(self, place: Place) -> tuple[Place, ...]:
        if place.reader is not None:
            return (Place(place.arc),)
        inputs = self.typed.inputs.get(place.arc.name, ())
        return tuple(Place(arc, Consumer(place.arc.name, port)) for port, arc in enumerate(inputs))

    def _add(self, arc: Producer) -> None:
        """The readers of the arc are known already."""
        whole = Place(arc)
        found = dict.fromkeys(self.typed.delivered_to(arc), 1)
        for reader in self.typed.consumers(arc):
            place = Place(arc, reader)
            behind = [Place(Producer(reader.box, port)) for port in self._ports(reader.box)]
            ways = self.ways(reader.box)
            below: dict[str, int] = {}
            for after in behind:
                for output, power in self._below[after].items():
                    below[output] = max(below.get(output, 0), ways * power)
            self._below[place] = below
            if not below or any(after in self._vital for after in behind):
                self._vital |= {place, whole}
            for output, power in below.items():
                found[output] = max(found.get(output, 0), power)
        self._below[whole] = found

    def _ports(self, box: str) -> tuple[str, ...]:
        return self.typed.network.boxes[box].output_ports()
