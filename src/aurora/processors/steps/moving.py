"""State that moves to the segments of another network, which has some of the boxes too.

A state is kept by segment and part. A box keeps its part of every key as long as it is spread in the same way; what
its kernels keep of tuples must have the same columns as well, though others may now be read from the same stream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl
import pyarrow as pa

from aurora.errors import StateError
from aurora.model.typed import TypedNetwork
from aurora.processors.local import LocalProcessor
from aurora.scheduler.segments import Segment, Split


def check_movable(
    old: TypedNetwork,
    old_segments: Sequence[Segment],
    new: TypedNetwork,
    new_segments: Sequence[Segment],
    statics: Mapping[str, pl.DataFrame],
    kept: Mapping[str, str],
) -> None:
    """StateError with all boxes of ``kept``, by new names the old ones, whose state would not fit any more."""
    # All kernels are made once: what is wrong with one shows here, and not in the middle of the change.
    fresh = LocalProcessor(new, statics).snapshot()
    refused = []
    for name, was in kept.items():
        box = new.network.boxes[name]
        if box.partitioning(new.input_types(name)).columns is None:
            continue
        if _spread(name, new_segments) != _spread(was, old_segments):
            refused.append(f"{name} would be spread over workers in another way")
        elif new.input_types(name) != old.input_types(was):
            before = LocalProcessor(old, statics, [was]).snapshot()[was]
            if not before.num_rows or not before.equals(fresh[name]):
                refused.append(f"{name} would get columns that its state does not have")
    if refused:
        raise StateError(
            "the change cannot be made while the network runs on Spark: "
            + "; ".join(refused)
            + "; shut the engine down and start one with the changed network, or change these boxes too: then they "
            "start anew"
        )


def _spread(box: str, segments: Sequence[Segment]) -> tuple[object, ...]:
    (segment,) = [segment for segment in segments if box in segment.boxes]
    keys = sorted(form.keys for form in segment.reads.values() if isinstance(form, Split))
    return segment.spread, segment.in_driver, keys


def moved_states(
    old_segments: Sequence[Segment],
    latest: Mapping[tuple[int, int], str],
    new_segments: Sequence[Segment],
    read: Callable[[str], Mapping[str, pa.Table]],
    kept: Mapping[str, str],
    fresh: Callable[[int], Mapping[str, pa.Table]],
) -> dict[tuple[int, int], dict[str, pa.Table]]:
    """The states of the new segments by number and part. ``latest`` names those of the old; see ``read``."""
    of_box: dict[tuple[str, int], pa.Table] = {}
    for (_, part), name in latest.items():
        of_box |= {(box, part): table for box, table in read(name).items()}
    found: dict[tuple[int, int], dict[str, pa.Table]] = {}
    for number, segment in enumerate(new_segments):
        its = {box: kept[box] for box in segment.boxes if box in kept}
        for part in sorted({part for box, part in of_box if box in its.values()}):
            states = {box: of_box[was, part] for box, was in its.items() if (was, part) in of_box}
            found[number, part] = {**fresh(number), **states}
    return found
