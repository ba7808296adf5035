"""Runs the experiments, and writes their data, their pictures and the page about them."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.experiments.catalogue import EXPERIMENTS
from benchmarks.experiments.figure import Effort, Experiment
from benchmarks.experiments.page import heading, page

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "experiments"
PICTURES = ROOT / "docs" / "pictures" / "experiments"
PAGE = ROOT / "docs" / "experiments.md"


def perform(experiment: Experiment, effort: Effort, results: Path, pictures: Path) -> dict[str, Any]:
    """One experiment; what it writes to ``results`` is also given back."""
    began = time.perf_counter()
    measured = experiment.measure(effort)
    results.mkdir(parents=True, exist_ok=True)
    pictures.mkdir(parents=True, exist_ok=True)
    written = {
        "title": heading(experiment),
        "claim": experiment.claim,
        "findings": [asdict(finding) for finding in measured.findings],
        "pictures": list(measured.pictures),
        "data": measured.data,
        "seconds": round(time.perf_counter() - began, 1),
        "machine": {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()},
    }
    for name, picture in measured.pictures.items():
        (pictures / f"{name}.svg").write_text(picture, encoding="utf-8")
    text = json.dumps(written, indent=1, ensure_ascii=False)
    (results / f"{file_name(experiment.key)}.json").write_text(text + "\n", encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def file_name(key: str) -> str:
    """
    >>> file_name("5"), file_name("goals")
    ('figure_05', 'goals')
    """
    return f"figure_{int(key):02d}" if key.isdigit() else key


def known(results: Path) -> dict[str, dict[str, Any]]:
    """What earlier runs have written."""
    files = {key: results / f"{file_name(key)}.json" for key in EXPERIMENTS}
    return {key: json.loads(file.read_text(encoding="utf-8")) for key, file in files.items() if file.exists()}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.experiments", description=__doc__)
    parser.add_argument("--only", help=f"some of them, with commas between: {', '.join(EXPERIMENTS)}")
    parser.add_argument("--quick", action="store_true", help="short runs to try things out, written to out/experiments")
    parser.add_argument("--page", action="store_true", help="only write the page anew, from what was measured last")
    options = parser.parse_args(arguments)
    whole = [key for key, experiment in EXPERIMENTS.items() if not experiment.apart]
    keys = whole if options.only is None else options.only.split(",")
    unknown = [key for key in keys if key not in EXPERIMENTS]
    if unknown:
        parser.error(f"there is no experiment {', '.join(unknown)}; there are {', '.join(EXPERIMENTS)}")
    results, pictures = (ROOT / "out" / "experiments",) * 2 if options.quick else (RESULTS, PICTURES)
    console = Console()
    effort = _effort(options.quick, console.print)
    began = time.perf_counter()
    for key in [] if options.page else keys:
        console.print(f"[bold]{heading(EXPERIMENTS[key])}[/]", highlight=False)
        written = perform(EXPERIMENTS[key], effort, results, pictures)
        for finding in written["findings"]:
            verdict = "[green]holds[/]" if finding["holds"] else "[red]does not hold[/]"
            console.print(f"  {verdict}: {finding['text']}", highlight=False, soft_wrap=True)
        console.print(f"  [dim]{written['seconds']:g} s[/]", highlight=False)
    if not options.quick:
        PAGE.write_text(page(known(RESULTS)), encoding="utf-8")
    console.print(f"{time.perf_counter() - began:,.0f} s in all")
    return 0


def _effort(quick: bool, tell: Callable[..., None]) -> Effort:
    def say(line: str) -> None:
        tell(f"  [dim]{line}[/]", highlight=False)

    return Effort(scale=0.25, repeats=1, thin=True, say=say) if quick else Effort(say=say)
