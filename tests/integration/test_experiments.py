"""The scheduling experiments run, measure what they say, and can be drawn; a tiny one stands for all."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from aurora.model.box import KINDS
from aurora.scheduler.settings import SchedulerSettings
from benchmarks.experiments.catalogue import EXPERIMENTS
from benchmarks.experiments.figure import Effort
from benchmarks.experiments.harness import Outcome, run
from benchmarks.experiments.page import page
from benchmarks.experiments.plots import Axis, line_chart
from benchmarks.experiments.run import perform
from benchmarks.experiments.workload import chains, constant, evenly, forest, in_phase

TINY = Effort(scale=0.05, repeats=1, thin=True)


def burst(policy: str) -> Outcome:
    """Three tuples at each of nine inputs of a tree of 13 boxes, of which half go through the root."""
    passed = iter([1.0] * 12 + [0.5])
    workload = forest(1, 3, 3, constant(20e-6), lambda: next(passed))
    return run(workload, SchedulerSettings(policy, horizon=1), in_phase(9, 1_000.0, 0.027, 3))


def test_a_run_counts_what_the_boxes_did() -> None:
    outcome = burst("round_robin")
    assert outcome.tuples == 27 * 3
    assert outcome.delivered == 13
    assert outcome.processing_s == pytest.approx(81 * 20e-6)
    assert outcome.calls == 13
    assert outcome.busy_s >= outcome.processing_s + outcome.scheduler_s + outcome.storage_s
    assert outcome.latency_s >= 81 * 20e-6


def test_tuples_at_a_time_need_more_calls() -> None:
    assert burst("tuple_at_a_time").calls >= 2 * burst("round_robin").calls


def test_capacity_is_the_share_of_time_that_boxes_need() -> None:
    workload = chains(4, 5, constant(1e-4))
    arrivals = evenly(4, workload.rate_per_s(0.5), 0.2)
    assert workload.mean_load_s == pytest.approx(5e-4)
    assert arrivals.total == pytest.approx(0.5 * 0.2 / 5e-4, abs=1)
    outcome = run(workload, SchedulerSettings("applications"), arrivals)
    assert outcome.processing_s / arrivals.span_s == pytest.approx(0.5, rel=0.05)


def test_only_experiments_know_the_universal_box() -> None:
    assert "universal" not in KINDS


def test_a_figure_is_measured_drawn_and_told(tmp_path: Path) -> None:
    written = perform(EXPERIMENTS["8"], TINY, tmp_path, tmp_path)
    assert json.loads((tmp_path / "figure_08.json").read_text()) == written
    for name in written["pictures"]:
        ElementTree.parse(tmp_path / f"{name}.svg")
    told = page({"8": written})
    assert all(finding["text"] in told for finding in written["findings"])


def test_a_chart_has_all_points_inside_its_frame() -> None:
    values = list(np.geomspace(0.01, 30, 7))
    drawn = line_chart("t", "n", Axis("x"), Axis("y", log=True), {"a": list(enumerate(values))})
    marks = [mark for mark in ElementTree.fromstring(drawn).iter() if mark.tag.endswith("circle")]
    assert len(marks) == 7 + 1
    assert all(62 - 1 <= float(mark.attrib["cy"]) <= 62 + 270 + 1 for mark in marks)
