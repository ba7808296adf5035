"""Engines on the steps of Spark without Spark: tasks are run here, one after the other."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from aurora.engine.workplace import Workplace
from aurora.processors.steps.processor import InlineRunner, StepProcessor
from aurora.storage.blocks import BlockStore


@contextmanager
def in_parts(parts: int, most_readers: int = 4) -> Iterator[None]:
    """Inside, engines that ask for Spark get its steps, with so many parts."""
    with tempfile.TemporaryDirectory() as folder:

        def steps(workplace: Workplace, typed: Any, statics: Any, _committed: Any) -> StepProcessor:
            states = workplace._state or folder
            blocks = BlockStore(None, folder, 0)
            runner = InlineRunner(parts)
            return StepProcessor(
                typed,
                runner,
                blocks,
                states,
                statics=statics,
                parts=parts,
                most_readers=most_readers,
                apart=workplace._live,
            )

        with patch.object(Workplace, "_spark", steps):
            yield
