"""A process with an engine and its sources that is killed in the middle, as by a failure of power.

``python -m`` this module with a document, and after it the engine's options as JSON: it tells every moment how the
source ``feed`` is, and how many tuples and bytes it has brought so far.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aurora.connectors.live.manager import Feeds
from aurora.engine.engine import Engine
from aurora.model.document import loads

ROOT = Path(__file__).parents[2]


class Told:
    """What the process has said last."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.said: dict[str, Any] = {}

    def until(self, true: Callable[[dict[str, Any]], bool]) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said = json.loads(line)
            if true(self.said):
                return
        raise AssertionError(f"it ended before; the last it said was {self.said}")


@contextmanager
def killed(document: str, **options: Any) -> Iterator[Told]:
    """At the end of the block the process is gone, without a chance to do anything more."""
    command = [sys.executable, "-m", "tests.server.dying", document, json.dumps(options)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        yield Told(process)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def main(document: str, options: str) -> None:
    network = loads(document)
    with Engine(network, processor="local", **json.loads(options)) as engine, Feeds(network, engine) as feeds:
        while True:
            status = feeds.status("feed")
            print(json.dumps({"state": status.state, "tuples": status.tuples, "bytes": status.bytes}), flush=True)
            time.sleep(0.02)


if __name__ == "__main__":
    main(*sys.argv[1:])
