"""A process that forks runs of ``aurora``: starting Python and importing everything takes longer than a short run.

    python -m integration.spark.forge

Each line on standard input asks for a run, as JSON; the answers are its process id and, when it has ended, its exit
code. Nothing here has used Polars before the fork, and so no thread is missing in the child.

A run can be told to commit after every step, and to kill itself at its n-th *moment*: before a file of its folder is
opened, renamed, removed, cut or synchronised, or when half of what goes to an output is written. One that passes fewer
moments than it was told leaves a note how many.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

import polars as pl
import pyarrow.parquet  # noqa: F401  (imported once for all runs)

import aurora.cli.run
import aurora.connectors.columnar_out
import aurora.connectors.csv_files
import aurora.connectors.json_lines  # noqa: F401
from aurora.cli import main
from aurora.connectors.bytes_out import GrowingFile
from aurora.engine import workplace
from aurora.engine.recovery import Recovery
from aurora.model.typed import TypedNetwork
from aurora.processors.plan import Processor
from aurora.processors.steps.processor import InlineRunner, StepProcessor
from aurora.storage.tiers import Tiers
from integration.spark.killing import ROOT, Job, said

KILLED_AT = "killed-at"
PASSED = "passed"
_EVENTS = {"open", "os.rename", "os.remove", "os.truncate", "os.rmdir", "os.mkdir"}
_CALM = {"_RJEM_MALLOC_CONF": "background_thread:false", "JE_ARROW_MALLOC_CONF": "background_thread:false"}


class Forge:
    """The process, as tests see it. One run at a time."""

    def __init__(self) -> None:
        path = os.pathsep.join([str(ROOT), str(ROOT / "src"), str(ROOT / "tests")])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "integration.spark.forge"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **_CALM, "PYTHONPATH": path},
        )

    def start(self, job: Job, folder: Path, *more: str, **how: Any) -> int:
        """``how``: inline, every_s, kill_at. What the run says goes to the file ``said``."""
        folder.mkdir(exist_ok=True)
        request = {"folder": str(folder), "arguments": job.arguments(*more), **how}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def wait(self) -> int:
        """The exit code, negative where a signal ended the run."""
        return self._answer()

    def call(self, job: Job, folder: Path, *more: str, **how: Any) -> tuple[int, str]:
        """A run to its end: the exit code, and what it said."""
        before = len(said(folder))
        self.start(job, folder, *more, **how)
        return self.wait(), said(folder)[before:]

    def _answer(self) -> int:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process that forks runs has ended"
        return int(line)

    def __enter__(self) -> Forge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()


def _killed_at(moment: int, folder: str) -> None:
    """Lets this process kill itself at a moment, and leave a note which one that was."""
    passed = 0

    def passing() -> bool:
        nonlocal passed
        passed += 1
        return passed == moment

    @atexit.register
    def note_how_many() -> None:
        Path(folder, PASSED).write_text(str(passed))

    def die(what: str) -> None:
        note = os.open(os.path.join(folder, KILLED_AT), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(note, f"{what}\n".encode())
        os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _EVENTS:
            path = os.path.abspath(arguments[0]) if isinstance(arguments[0], (str, os.PathLike)) else ""
            if path.startswith(folder) and passing():
                die(f"{event} {os.path.relpath(path, folder)}")

    write, sync = GrowingFile.write, os.fsync

    def half_written(self: GrowingFile, data: bytes | memoryview) -> None:
        if len(data) and passing():
            write(self, data[: len(data) // 2])
            die("write")
        write(self, data)

    def synced(file: int) -> None:
        if passing():
            die("fsync")
        sync(file)

    GrowingFile.write = half_written  # type: ignore[method-assign]
    os.fsync = synced
    sys.addaudithook(hook)


def _inline(
    self: workplace.Workplace, typed: TypedNetwork, statics: dict[str, pl.DataFrame], committed: Any
) -> Processor:
    """Steps as with Spark, but in this process."""
    assert self._state is not None
    self._tiers = Tiers(f"{self._state}/blocks", self._memory)
    parts = None if committed is None else int(committed.processor["parts"])
    runner = InlineRunner(2)
    return StepProcessor(typed, runner, self._tiers.blocks, self._state, statics=statics, parts=parts, durable=True)


def _run(folder: str, arguments: list[str], inline: bool = False, every_s: float = 0.05, kill_at: int = 0) -> None:
    os.chdir(folder)
    output = os.open("said", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    workplace.Recovery = functools.partial(Recovery, every_s=every_s)  # type: ignore[misc, assignment]
    if inline:
        workplace.Workplace._spark = _inline  # type: ignore[method-assign, assignment]
    if kill_at:
        _killed_at(kill_at, folder)
    sys.argv = ["aurora", *arguments]
    main()


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                _run(**json.loads(line))
            except SystemExit as end:
                atexit._run_exitfuncs()
                os._exit(int(end.code or 0))
            finally:
                os._exit(70)
        print(child, file=answers, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
