"""What a sequence of box calls would cost: how long it takes, how late its outputs are, how much memory it holds.

A call takes all that waits at its box, in a time of its overhead and its cost per tuple. What a tuple gives rise to
comes out when the tuple is done, not at the end of the call. Selectivities are means, so there are fractions of tuples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class BoxModel(NamedTuple):
    cost_s: float
    overhead_s: float
    selectivity: float
    queued: float
    tuple_bytes: float = 1.0


class Forecast(NamedTuple):
    """``latency_s`` is the mean over output tuples, from the start of the first call.

    Memory counts what waits in queues and what came out: ``memory_by_call`` is the mean of what there is after each
    call, ``memory_over_time`` weighs each call with its duration.
    """

    total_s: float
    latency_s: float
    outputs: float
    memory_by_call: float
    memory_over_time: float


def forecast(
    calls: Iterable[int], boxes: Mapping[int, BoxModel], after: Mapping[int, Sequence[int]], root: int
) -> Forecast:
    """Runs the calls on paper. What the ``root`` makes is output.

    >>> two = {0: BoxModel(1.0, 0.5, 1.0, queued=2), 1: BoxModel(1.0, 0.5, 1.0, queued=0)}
    >>> forecast([0, 1], two, {0: [1], 1: []}, root=1)[:3]
    (5.0, 4.5, 2.0)
    """
    queued = {box: model.queued for box, model in boxes.items()}
    memory = sum(model.queued * model.tuple_bytes for model in boxes.values())
    now_s = late = outputs = by_call = over_time = 0.0
    count = 0
    for box in calls:
        cost_s, overhead_s, selectivity, _, tuple_bytes = boxes[box]
        taken = queued[box]
        made = taken * selectivity
        queued[box] = 0.0
        memory -= taken * tuple_bytes
        for successor in after[box]:
            queued[successor] += made
            memory += made * boxes[successor].tuple_bytes
        if box == root:
            # The k-th of n tuples is done after k costs: the mean is that of (n + 1) / 2, and n where that is below 1.
            late += made * (now_s + overhead_s + cost_s * min(taken, (taken + 1) / 2))
            outputs += made
            memory += made * tuple_bytes
        took_s = overhead_s + taken * cost_s
        now_s += took_s
        by_call += memory
        over_time += memory * took_s
        count += 1
    return Forecast(
        now_s,
        late / outputs if outputs else 0.0,
        outputs,
        by_call / count if count else memory,
        over_time / now_s if now_s else memory,
    )
