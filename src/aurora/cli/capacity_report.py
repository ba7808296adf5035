"""What a network needs, for people as tables and sentences, and for programs as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from typing import Any

from rich.console import Console
from rich.table import Table

from aurora.model.typed import Producer
from aurora.shedding.cures import Cures
from aurora.shedding.load import LoadAnalysis

_MOST_NAMED = 3


def show(found: LoadAnalysis, ways: Cures) -> None:
    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = 120
    console.print(_inputs(found), "")
    if found.boxes:
        console.print(_boxes(found), "")
    for line in verdict(found, ways):
        console.print(line, markup=False)


def verdict(found: LoadAnalysis, ways: Cures) -> list[str]:
    """Whether the load fits, by how much it does or does not, and the ways out."""
    cores = "core" if found.cores == 1 else "cores"
    lines = [
        f"needs {_cores(found.min_cap)}; {found.cores:g} {cores} with headroom {found.headroom:g} "
        f"{'gives' if found.cores == 1 else 'give'} {_cores(found.usable)}"
    ]
    if found.bottleneck is not None:
        busiest = found.boxes[found.bottleneck]
        share = busiest.load / found.min_cap
        lines.append(f"bottleneck: {found.bottleneck}, {_cores(busiest.load)}, {share:.0%} of the load")
    if found.fits:
        room = "any rate" if math.isinf(ways.growth) else f"up to {ways.growth:.3g} times these rates"
        return [*lines, f"it fits: {room}"]
    if found.short_by:
        share = found.short_by / found.usable
        lines.append(f"it does not fit: short by {_cores(found.short_by)}, {share:.0%} of what there is")
    lines += [
        f"it does not fit: {' and '.join(limit.boxes)} can use one core at a time, of which headroom leaves "
        f"{_cores(limit.most)}, and {'needs' if len(limit.boxes) == 1 else 'need'} {_cores(limit.load)}"
        for limit in found.crowded[:_MOST_NAMED]
    ]
    return [*lines, "ways out, each by itself:", *(f"  {line}" for line in ways_out(found, ways))]


def ways_out(found: LoadAnalysis, ways: Cures) -> list[str]:
    lines = []
    if ways.cores is not None:
        lines.append(f"more cores: {ways.cores} with this headroom")
    elif found.short_by:
        lines.append("more cores: not by itself, since what can use only one core needs more than that")
    else:
        lines.append("more cores: of no use, since what can use only one core needs more than that")
    for name, factor in islice(ways.cheaper.items(), _MOST_NAMED):
        cost_s = found.boxes[name].cost_s
        lines.append(
            f"a cheaper box: {name} by a factor of {factor:.3g}, from {_time(cost_s)} to {_time(cost_s / factor)}"
        )
    lines.append(f"cheaper boxes: all of them by a factor of {ways.all_cheaper:.3g}")
    for stream, share in islice(ways.shed.items(), _MOST_NAMED):
        if len(found.rates_per_s) > 1:
            lines.append(f"shedding: {_share(share)} of {stream}")
    every = "every input" if len(found.rates_per_s) > 1 else next(iter(found.rates_per_s))
    lines.append(f"shedding: {_share(ways.shed_all)} of {every}")
    return lines


def plain(found: LoadAnalysis, ways: Cures, notes: Sequence[str]) -> dict[str, Any]:
    """The analysis as JSON writes it."""
    inputs = {
        name: {
            "rate_per_s": rate,
            "coefficient_s": found.arcs[Producer(name)].coefficient_s,
            "load": found.input_load(name),
        }
        for name, rate in found.rates_per_s.items()
    }
    return {
        "min_cap": found.min_cap,
        "cores": found.cores,
        "headroom": found.headroom,
        "usable": found.usable,
        "fits": found.fits,
        "short_by": found.short_by,
        "bottleneck": found.bottleneck,
        "crowded": [{"boxes": list(limit.boxes), "load": limit.load, "most": limit.most} for limit in found.crowded],
        "inputs": inputs,
        "boxes": {
            name: {"rate_per_s": box.rate_per_s, "cost_s": box.cost_s, "load": box.load}
            for name, box in found.boxes.items()
        },
        "arcs": {
            str(arc): {"rate_per_s": entry.rate_per_s, "coefficient_s": entry.coefficient_s}
            for arc, entry in found.arcs.items()
        },
        "cures": {
            "cores": ways.cores,
            "all_cheaper": ways.all_cheaper,
            "cheaper": dict(ways.cheaper),
            "shed_all": ways.shed_all,
            "shed": dict(ways.shed),
            "growth": None if math.isinf(ways.growth) else ways.growth,
        },
        "notes": list(notes),
    }


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(columns[0], overflow="fold")
    for column in columns[1:]:
        table.add_column(column, justify="right")
    return table


def _inputs(found: LoadAnalysis) -> Table:
    table = _table("input", "tuples/s", "work per tuple", "cores", "of the load")
    for name, rate in found.rates_per_s.items():
        load = found.input_load(name)
        table.add_row(
            name, _rate(rate), _time(found.arcs[Producer(name)].coefficient_s), _number(load), _part(load, found)
        )
    return table


def _boxes(found: LoadAnalysis) -> Table:
    table = _table("box", "tuples/s", "per tuple", "cores", "of the load")
    for name, box in found.boxes.items():
        table.add_row(name, _rate(box.rate_per_s), _time(box.cost_s), _number(box.load), _part(box.load, found))
    return table


def _part(load: float, found: LoadAnalysis) -> str:
    return f"{load / found.min_cap:.0%}" if found.min_cap else "-"


def _cores(number: float) -> str:
    text = _number(number)
    return f"{text} core" if text == "1" else f"{text} cores"


def _number(value: float) -> str:
    return f"{value:.3g}" if value < 1 else f"{value:,.2f}".removesuffix(".00")


def _rate(per_s: float) -> str:
    return f"{per_s:,.0f}" if per_s >= 100 or per_s == round(per_s) else f"{per_s:,.3g}"


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:,.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def _share(share: float) -> str:
    """Rounded up, so that what is said is enough."""
    return f"{math.ceil(share * 1000 * (1 - 1e-9)) / 10:g}%"
