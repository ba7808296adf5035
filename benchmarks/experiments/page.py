"""The page about the experiments: what the paper says, what came out here, and why it differs."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from benchmarks.experiments.catalogue import EXPERIMENTS
from benchmarks.experiments.figure import Experiment

_HEAD = """# Experiments

The figures of the scheduling paper (Carney and others, *Operator Scheduling in a Data Stream Manager*), measured on
this engine. `make experiments` runs all of them in less than 20 minutes on two cores, and writes this page, its
pictures and the data in `benchmarks/results/experiments`. What is about load shedding is run by `make bench-shedding`.

How they are run:

- The *universal box* is the paper's: it keeps the processor busy for a set time per tuple, and passes a set share of
  its tuples.
- Networks are application trees of a set depth and fan-out. The load is given as a fraction of the *ideal capacity*: at
  1 the boxes' own work alone would keep the processor busy.
- The engine's queues, scheduler and local processor run with one worker. Tuples arrive by a timetable, whether the
  engine is ready or not, and their latency counts from the time at which they were due.
- Time is the processor time of the worker, and the time in which it has nothing to do, which is skipped. So others on
  the machine do not show in the figures. Only figure 3, the comparison on Spark and shedding are on the wall clock.
- Where a scheduler in the paper decides on one box or application, so does ours here (`horizon=1`); by itself the
  engine plans up to 32 at a time.
- Box costs and run lengths are scaled where noted. Values are medians of repeated runs.
"""


def page(results: Mapping[str, Mapping[str, Any]]) -> str:
    """From what was written for each experiment, by its key."""
    parts = [_HEAD, "## At a glance\n", _glance(results)]
    parts += [_section(experiment, results[key]) for key, experiment in EXPERIMENTS.items() if key in results]
    return "\n".join(parts)


def heading(experiment: Experiment) -> str:
    """
    >>> heading(EXPERIMENTS["5"])
    'Figure 5: box against application scheduling'
    """
    if not experiment.key.isdigit():
        return experiment.title
    title = (
        experiment.title if experiment.title.startswith("QoS") else experiment.title[0].lower() + experiment.title[1:]
    )
    return f"Figure {experiment.key}: {title}"


def _glance(results: Mapping[str, Mapping[str, Any]]) -> str:
    rows = ["| experiment | finding | |", "| --- | --- | --- |"]
    for key, experiment in EXPERIMENTS.items():
        for number, finding in enumerate(results.get(key, {}).get("findings", ())):
            verdict = "holds" if finding["holds"] else "**does not hold**"
            rows.append(f"| {'' if number else heading(experiment)} | {finding['text']} | {verdict} |")
    return "\n".join(rows) + "\n"


def _section(experiment: Experiment, result: Mapping[str, Any]) -> str:
    pictures = "\n".join(f"![{heading(experiment)}](pictures/experiments/{name}.svg)\n" for name in result["pictures"])
    findings = [
        f"- {finding['text']}" + ("" if finding["holds"] else " **This does not hold here.**")
        for finding in result["findings"]
    ]
    parts = [f"## {heading(experiment)}\n", pictures, _filled(f"**The claim.** {experiment.claim}")]
    parts += [_filled(f"**The setup.** {experiment.setup}"), "**What came out.**\n", "\n".join(findings) + "\n"]
    if experiment.differs:
        parts.append(_filled(f"**What differs, and why.** {experiment.differs}"))
    return "\n".join(parts)


def _filled(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"
