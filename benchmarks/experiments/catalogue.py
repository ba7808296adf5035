"""All experiments, in the order of the paper."""

from __future__ import annotations

from benchmarks.experiments import (
    branches_on_spark,
    figure_03,
    figure_05,
    figure_06,
    figure_07,
    figure_08,
    figure_09,
    figure_11,
    figure_13,
    figure_14,
    goals,
    on_spark,
    shedding,
)

_FIGURES = (
    figure_03,
    figure_05,
    figure_06,
    figure_07,
    figure_08,
    figure_09,
    figure_11,
    figure_13,
    figure_14,
    goals,
    on_spark,
    branches_on_spark,
)
_FOUND = [*(module.EXPERIMENT for module in _FIGURES), shedding.LOCAL, shedding.ON_SPARK]
EXPERIMENTS = {experiment.key: experiment for experiment in _FOUND}
