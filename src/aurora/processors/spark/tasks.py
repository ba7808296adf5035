"""What a Spark task does: it takes its bundle of our tasks from the job's description, and answers with outcomes."""

from __future__ import annotations

import base64
import pickle
import sys
from collections.abc import Iterable, Iterator

from pyspark import TaskContext, cloudpickle

from aurora.processors.steps.task import Outcome, Program, Task
from aurora.processors.steps.worker import Worker
from aurora.storage.folder import open_folder

BUNDLE = "aurora.bundle."
"""The job's local property that has a task's bundle, with the number of the partition."""

_WORKERS: dict[tuple[str, str], Worker] = {}
"""The program that this process runs, by folder and name."""


def packed_bundle(folder: str, program: str, tasks: list[Task]) -> str:
    return base64.b64encode(pickle.dumps((folder, program, tasks), pickle.HIGHEST_PROTOCOL)).decode()


def packed_program(program: Program) -> bytes:
    """With the operator's code by value: workers need not have its files, nor find them."""
    modules = {
        sys.modules[name] for name in _modules(program) if name in sys.modules and name.partition(".")[0] != "aurora"
    }
    for module in modules:
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    try:
        packed: bytes = cloudpickle.dumps(program)  # type: ignore[no-untyped-call]
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]
    return packed


def _modules(program: Program) -> set[str]:
    """The modules of the operator's functions and classes."""
    code: list[object] = [entry.function for entry in program.functions.values()]
    code += [entry.cls for entry in program.aggregates.values()]
    code += [entry.factory for entry in program.classes.values()]
    return {getattr(part, "__module__", None) or "" for part in code}


def run_bundle(partition: int, _: Iterable[int]) -> Iterator[list[Outcome]]:
    """Runs in Spark's Python workers. They live on between tasks, and so do the kernels."""
    context = TaskContext.get()
    assert context is not None
    text = context.getLocalProperty(f"{BUNDLE}{partition}")
    assert text is not None
    folder, name, tasks = pickle.loads(base64.b64decode(text))
    worker = _WORKERS.get((folder, name))
    if worker is None:
        _WORKERS.clear()
        worker = _WORKERS[folder, name] = Worker(pickle.loads(open_folder(folder).read(name)))
    yield [worker.run(task) for task in tasks]
