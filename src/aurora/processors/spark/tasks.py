"""What a Spark task does: it takes a bundle of our tasks, and answers with outcomes.

The bundle is in the job's description; or the task stands by for bundle after bundle (``standing.py``).
"""

from __future__ import annotations

import base64
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator

from pyspark import TaskContext, cloudpickle

from aurora.errors import AuroraError
from aurora.processors.spark.standing import Address, bundles_for
from aurora.processors.steps.task import Outcome, Program, Task
from aurora.processors.steps.worker import Worker
from aurora.storage.folder import open_folder

BUNDLE = "aurora.bundle."
"""The job's local property that has a task's bundle, with the number of the partition."""

_WORKERS: dict[tuple[str, str], Worker] = {}
"""The programs that this process runs, by folder and name: one for every network that shares the session."""


def packed_bundle(folder: str, program: str, tasks: list[Task]) -> bytes:
    return pickle.dumps((folder, program, tasks), pickle.HIGHEST_PROTOCOL)


def as_property(bundle: bytes) -> str:
    """A bundle as a property of a job."""
    return base64.b64encode(bundle).decode()


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
    yield _outcomes(base64.b64decode(text))


def take_seat(address: Address, token: bytes) -> Callable[[int, Iterable[int]], Iterator[None]]:
    """The function of tasks that stand by. They end without a result."""

    def stand_by(partition: int, _: Iterable[int]) -> Iterator[None]:
        for bundle, answer in bundles_for(address, token, partition):
            answer(pickle.dumps(_outcomes(bundle), pickle.HIGHEST_PROTOCOL))
        yield from ()

    return stand_by


def _outcomes(bundle: bytes) -> list[Outcome]:
    folder, name, tasks = pickle.loads(bundle)
    worker = _WORKERS.get((folder, name))
    if worker is None:
        _forget_what_is_gone()
        worker = _WORKERS[folder, name] = Worker(pickle.loads(open_folder(folder).read(name)))
    return [worker.run(task) for task in tasks]


def _forget_what_is_gone() -> None:
    """Programs whose network has ended, or was changed."""
    for folder, name in list(_WORKERS):
        try:
            there = name in open_folder(folder).names()
        except (AuroraError, OSError):
            there = False
        if not there:
            del _WORKERS[folder, name]
