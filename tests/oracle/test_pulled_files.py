"""Random networks over files that whoever runs the boxes reads: what comes out is what comes of tables.

Of such files it is known where they end, so that the last train brings word of the end.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aurora import RunResult
from aurora.clock import ManualClock
from aurora.connectors.frames import FrameSink, table_frame
from aurora.connectors.slices import FileSlices
from aurora.engine.run import AtEnd, Run
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.processors.local import LocalProcessor
from aurora.processors.plan import Processor
from aurora.processors.steps.processor import InlineRunner, StepProcessor
from aurora.storage.blocks import BlockStore
from oracle.keyed_chains import keyed_chains
from oracle.strategies import CLOCK, Example, examples
from oracle.test_random_networks import assert_same, engine, problems

pytestmark = pytest.mark.timeout(3600)


def pulled(example: Example, at_end: AtEnd, train: int | None, parts: int | None, readers: int) -> RunResult:
    network = Network.from_document(dict(example.document))
    typed = typecheck(network)
    sinks = {name: FrameSink(typed.arcs[producer].schema) for name, producer in typed.outputs.items()}
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name in network.streams:
            schema = typed.arcs[name].schema
            path = Path(folder, f"{name}.parquet")
            table_frame(example.inputs.get(name, []), schema).write_parquet(path, row_group_size=5)
            files[name] = FileSlices(str(path), schema)
        processor: Processor = LocalProcessor(typed)
        if parts is not None:
            blocks = BlockStore(None, folder, 0)
            processor = StepProcessor(typed, InlineRunner(parts), blocks, folder, most_readers=readers)
        running = Run(typed, files, sinks, train=train, clock=CLOCK, wall=ManualClock(), processor=processor)
        statistics = running.to_end(at_end)
        if at_end == "flush":
            running.flush()
        processor.close()
    return RunResult({name: sink.frame for name, sink in sinks.items()}, statistics)


@pytest.mark.parametrize("at_end", ["flush", "hold"])
@given(example=st.one_of(examples(), keyed_chains()), data=st.data())
def test_files_give_what_tables_give(at_end: AtEnd, example: Example, data: st.DataObject) -> None:
    assume(not problems(example))
    train = data.draw(st.sampled_from([3, 10, 1000, None]), label="train")
    parts = data.draw(st.sampled_from([None, 1, 2, 3]), label="parts")
    readers = data.draw(st.sampled_from([0, 4]), label="so many parts read whole streams themselves")
    assert_same(pulled(example, at_end, train, parts, readers), engine(example, None, at_end))
