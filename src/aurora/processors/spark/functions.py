"""Boxes of kind ``spark``: a train becomes a DataFrame of the session, and the function's answer a frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
from pyspark.sql import DataFrame, SparkSession

from aurora.errors import UserCodeError


class SparkFunctions:
    """Calls operators' functions with DataFrames of a session."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        # Otherwise Spark makes rows of the train in the driver, one by one, which takes five times as long.
        session.conf.set("spark.sql.execution.arrow.localRelationThreshold", "0")

    def __call__(self, function: Callable[[Any], Any], frame: pl.DataFrame) -> pl.DataFrame:
        given = self._session.createDataFrame(frame.to_arrow(compat_level=pl.CompatLevel.oldest()))
        answer = function(given)
        if not isinstance(answer, DataFrame):
            raise UserCodeError(f"it answered with {type(answer).__name__}; answer with a DataFrame")
        table = pl.from_arrow(answer.toArrow())
        assert isinstance(table, pl.DataFrame)
        return table
