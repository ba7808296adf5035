"""Arcs as the builder hands them out: each method puts a box behind the arc and gives the box's output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from aurora.model.quantities import Duration, Number, Tuples
from aurora.model.window import Window

if TYPE_CHECKING:
    from aurora.model.network import Network

Names = str | Sequence[str]
Expressions = Mapping[str, str]
Slack = str | Number | Tuples | Duration
WindowLike = Window | Mapping[str, Any]


class Notes(TypedDict, total=False):
    """What every element can have beside its parameters."""

    tags: Sequence[str]
    description: str
    manual: str


class Arc:
    """The output of a stream or of a box's port. ``arc["late"]`` is another port of the same box.

    Methods that take aggregates also take them as keyword arguments: ``ticks.latch("seen", n="count(*)")``.
    """

    def __init__(self, network: Network, producer: str, port: str | None = None) -> None:
        self.network = network
        self.producer = producer
        self.port = port

    @property
    def name(self) -> str:
        """As documents name it: ``ticks``, ``late`` or ``by_exchange.nyse``."""
        return self.producer if self.port is None else f"{self.producer}.{self.port}"

    def __getitem__(self, port: str) -> Arc:
        return Arc(self.network, self.producer, port)

    __iter__ = None
    """An arc is no sequence of its ports; without this, iteration would ask for ports 0, 1, 2 and never end."""

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Arc({self.name!r})"

    def filter(
        self,
        name: str,
        where: str | None = None,
        /,
        *,
        routes: Expressions | None = None,
        otherwise: str | None = None,
        **notes: Unpack[Notes],
    ) -> Arc:
        """Passes what matches ``where``, or sends each tuple to the first of ``routes`` that matches.

        ``otherwise`` names a port for what matches no route (``else`` in documents).
        """
        given = {"where": where, "routes": routes, "else": otherwise}
        return self._box("filter", name, [self], given, notes)

    def map(
        self,
        name: str,
        /,
        *,
        compute: Expressions | None = None,
        extend: Expressions | None = None,
        drop: Names | None = None,
        rename: Mapping[str, str] | None = None,
        **notes: Unpack[Notes],
    ) -> Arc:
        """Computes new columns from old."""
        given = {"compute": compute, "extend": extend, "drop": drop, "rename": rename}
        return self._box("map", name, [self], given, notes)

    def union(self, name: str, /, *others: Arc | str, **notes: Unpack[Notes]) -> Arc:
        """Merges this arc with others of the same schema."""
        return self._box("union", name, [self, *others], {}, notes)

    def bsort(
        self,
        name: str,
        /,
        *,
        order_by: str,
        slack: Slack | None = None,
        group_by: Names | None = None,
        **notes: Unpack[Notes],
    ) -> Arc:
        """Sorts with a bounded buffer."""
        return self._box("bsort", name, [self], {"order_by": order_by, "slack": slack, "group_by": group_by}, notes)

    def aggregate(
        self,
        name: str,
        /,
        *,
        window: WindowLike,
        group_by: Names | None = None,
        order_by: str | None = None,
        slack: Slack | None = None,
        late: bool | None = None,
        shed: Literal["windows", "tuples"] | None = None,
        max_gap: int | None = None,
        compute: Expressions | None = None,
        tags: Sequence[str] = (),
        description: str = "",
        manual: str = "",
        **computed: str,
    ) -> Arc:
        """Aggregates over windows."""
        given: dict[str, Any] = {
            "window": window,
            "group_by": group_by,
            "order_by": order_by,
            "slack": slack,
            "late": late,
            "shed": shed,
            "max_gap": max_gap,
        }
        notes: Notes = {"tags": tags, "description": description, "manual": manual}
        return self._aggregating("aggregate", name, [self], given, notes, compute, computed)

    def tumble(
        self,
        name: str,
        /,
        *,
        window: WindowLike,
        group_by: Names | None = None,
        order_by: str | None = None,
        slack: Slack | None = None,
        late: bool | None = None,
        shed: Literal["windows", "tuples"] | None = None,
        max_gap: int | None = None,
        compute: Expressions | None = None,
        tags: Sequence[str] = (),
        description: str = "",
        manual: str = "",
        **computed: str,
    ) -> Arc:
        """Aggregates over windows that follow each other without overlap or gap."""
        given: dict[str, Any] = {
            "window": window,
            "group_by": group_by,
            "order_by": order_by,
            "slack": slack,
            "late": late,
            "shed": shed,
            "max_gap": max_gap,
        }
        notes: Notes = {"tags": tags, "description": description, "manual": manual}
        return self._aggregating("tumble", name, [self], given, notes, compute, computed)

    def slide(
        self,
        name: str,
        /,
        *,
        window: WindowLike,
        group_by: Names | None = None,
        order_by: str | None = None,
        slack: Slack | None = None,
        late: bool | None = None,
        shed: Literal["windows", "tuples"] | None = None,
        max_gap: int | None = None,
        compute: Expressions | None = None,
        tags: Sequence[str] = (),
        description: str = "",
        manual: str = "",
        **computed: str,
    ) -> Arc:
        """Aggregates over windows that advance by one tuple, or as the window says."""
        given: dict[str, Any] = {
            "window": window,
            "group_by": group_by,
            "order_by": order_by,
            "slack": slack,
            "late": late,
            "shed": shed,
            "max_gap": max_gap,
        }
        notes: Notes = {"tags": tags, "description": description, "manual": manual}
        return self._aggregating("slide", name, [self], given, notes, compute, computed)

    def latch(
        self,
        name: str,
        /,
        *,
        every: str | int | Tuples | None = None,
        group_by: Names | None = None,
        order_by: str | None = None,
        slack: Slack | None = None,
        late: bool | None = None,
        compute: Expressions | None = None,
        tags: Sequence[str] = (),
        description: str = "",
        manual: str = "",
        **computed: str,
    ) -> Arc:
        """Aggregates over each group's whole life."""
        notes: Notes = {"tags": tags, "description": description, "manual": manual}
        given = {"every": every, "group_by": group_by, "order_by": order_by, "slack": slack, "late": late}
        return self._aggregating("latch", name, [self], given, notes, compute, computed)

    def group_by(self, name: str, /, *columns: str, **notes: Unpack[Notes]) -> Arc:
        """Splits into keyed substreams; order-sensitive boxes downstream inherit the grouping."""
        return self._box("group_by", name, [self], {"columns": list(columns)}, notes)

    def join(
        self,
        name: str,
        right: Arc | str,
        /,
        *,
        on: str | None = None,
        within: str | Number | Duration | None = None,
        left_order_by: str | None = None,
        right_order_by: str | None = None,
        slack: Slack | None = None,
        left_slack: Slack | None = None,
        right_slack: Slack | None = None,
        late: bool | None = None,
        compute: Expressions | None = None,
        **notes: Unpack[Notes],
    ) -> Arc:
        """Pairs tuples of this arc (``left``) with those of another (``right``) that are not far from them."""
        given = {
            "on": on,
            "within": within,
            "left_order_by": left_order_by,
            "right_order_by": right_order_by,
            "slack": slack,
            "left_slack": left_slack,
            "right_slack": right_slack,
            "late": late,
            "compute": compute,
        }
        return self._box("join", name, [self, right], given, notes)

    def resample(
        self,
        name: str,
        data: Arc | str,
        /,
        *,
        order_by: Names,
        within: str | Number | Duration,
        group_by: Names | None = None,
        slack: Slack | None = None,
        late: bool | None = None,
        interpolate: str | None = None,
        compute: Expressions | None = None,
        tags: Sequence[str] = (),
        description: str = "",
        manual: str = "",
        **computed: str,
    ) -> Arc:
        """For every tuple of this arc (the pace), aggregates the tuples of ``data`` around it."""
        given = {
            "order_by": order_by,
            "within": within,
            "group_by": group_by,
            "slack": slack,
            "late": late,
            "interpolate": interpolate,
        }
        notes: Notes = {"tags": tags, "description": description, "manual": manual}
        return self._aggregating("resample", name, [self, data], given, notes, compute, computed)

    def drop(
        self,
        name: str,
        /,
        *,
        rate: float | None = None,
        seed: int | None = None,
        where: str | None = None,
        **notes: Unpack[Notes],
    ) -> Arc:
        """Discards a share of the tuples, or those that match ``where``."""
        return self._box("drop", name, [self], {"rate": rate, "seed": seed, "where": where}, notes)

    def python(
        self,
        name: str,
        registered: str,
        /,
        *others: Arc | str,
        parameters: Mapping[str, Any] | None = None,
        **notes: Unpack[Notes],
    ) -> Arc:
        """Runs a class that the operator registered, on this arc and ``others``."""
        given = {"class": registered, "parameters": parameters}
        return self._box("python", name, [self, *others], given, notes)

    def spark(self, name: str, function: str, /, **notes: Unpack[Notes]) -> Arc:
        """Runs a function over Spark DataFrames that the operator registered."""
        return self._box("spark", name, [self], {"function": function}, notes)

    def _aggregating(
        self,
        kind: str,
        name: str,
        inputs: Sequence[Arc | str],
        given: Mapping[str, Any],
        notes: Notes,
        compute: Expressions | None,
        computed: Expressions,
    ) -> Arc:
        both = {**(compute or {}), **computed}
        return self._box(kind, name, inputs, {**given, "compute": both or None}, notes)

    def _box(self, kind: str, name: str, inputs: Sequence[Arc | str], given: Mapping[str, Any], notes: Notes) -> Arc:
        parameters = {key: value for key, value in given.items() if value is not None}
        return self.network.box(kind, name, inputs, **parameters, **notes)


def arc_name(source: Arc | str) -> str:
    return source.name if isinstance(source, Arc) else source
