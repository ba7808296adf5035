"""The systems of the latency benchmark, and one measurement of one of them.

Every system is a program in latency_peers that its own Python runs. Opponents have virtual environments of their own,
which are made when they are first needed and kept for the next run.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from aurora.errors import AuroraError
from aurora.processors.spark.java import ensure_java, java_home
from benchmarks.latency_samples import Samples, samples

ROOT = Path(__file__).parents[1]
VENVS = ROOT / ".bench-venvs"
Say = Callable[[str], None]


class NotMeasuredError(Exception):
    """Why a system has no figures; the others go on."""


@dataclass(frozen=True)
class Peer:
    """A system, how it is started, and how it is installed if it is not ours."""

    name: str
    title: str
    module: str
    arguments: tuple[str, ...] = ()
    requirement: str = ""
    java: bool = False

    @property
    def version(self) -> str:
        return self.requirement.partition("==")[2]

    @property
    def _venv(self) -> Path:
        return VENVS / self.requirement.replace("==", "-")

    @property
    def _python(self) -> str:
        return str(self._venv / "bin" / "python") if self.requirement else sys.executable

    def warm_up_s(self, least_s: float) -> float:
        """Java compiles what runs often only after a while, so it is given three times as long."""
        return 3 * least_s if self.java else least_s

    def install(self, say: Say) -> None:
        """Makes its virtual environment unless it is there, whole."""
        stamp = self._venv / "installed"
        if not self.requirement or stamp.exists():
            return
        shutil.rmtree(self._venv, ignore_errors=True)
        say(f"installing {self.requirement}")
        _checked([sys.executable, "-m", "venv", str(self._venv)])
        pip = [self._python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        _checked([*pip, self.requirement])
        stamp.touch()

    def measure(self, query: str, warm_up_s: float, seconds: float, say: Say) -> Samples:
        """One run against a fresh feed."""
        scratch = _scratch()
        try:
            log, notes, said = scratch / "sent.npz", scratch / "notes", scratch / "said.txt"
            notes.mkdir()
            with said.open("wb") as output:
                self._run(query, warm_up_s + seconds, log, notes, output, say)
            if not log.exists():
                raise NotMeasuredError(_last_words(said))
            measured = samples(query, log, notes, warm_up_s)
            if not measured.results:
                raise NotMeasuredError(f"{measured.objection}; {_last_words(said)}")
            return measured
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _run(self, query: str, seconds: float, log: Path, notes: Path, output: IO[bytes], say: Say) -> None:
        environment = self._environment(say)
        feed = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.latency_feed", f"--seconds={seconds}", f"--log={log}"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
        )
        peer = None
        try:
            assert feed.stdout is not None
            if not (port := feed.stdout.readline().strip()):
                raise NotMeasuredError("the feed did not start")
            command = [self._python, "-m", f"benchmarks.latency_peers.{self.module}"]
            peer = subprocess.Popen(
                [*command, query, port, str(notes), *self.arguments],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            while feed.poll() is None and peer.poll() is None:
                time.sleep(0.2)
            if peer.poll() is None:
                time.sleep(DRAIN_JAVA_S if self.java else DRAIN_S)
        finally:
            if peer is not None:
                _end(peer)
            with suppress(subprocess.TimeoutExpired):
                feed.wait(FEED_STOP_S)  # it notices at the next tuple, unless nobody has ever connected
            feed.kill()
            feed.wait()

    def _environment(self, say: Say) -> dict[str, str]:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment = os.environ | {"PYTHONPATH": path}
        if self.java:
            try:
                environment["JAVA_HOME"] = str(java_home(ensure_java(say)))
            except AuroraError as error:
                raise NotMeasuredError(str(error).partition("\n")[0]) from error
        return environment


DRAIN_S, DRAIN_JAVA_S = 3.0, 8.0
"""How long after the last tuple results may still come; on a busy machine micro-batches take seconds."""

STOP_S, FEED_STOP_S = 10.0, 2.0

PEERS = (
    Peer("aurora", "Aurora, local", "on_aurora", ("local",)),
    Peer("aurora-spark", "Aurora on Spark", "on_aurora", ("spark",), java=True),
    Peer("bytewax", "Bytewax", "on_bytewax", ("poll",), "bytewax==0.21.1"),
    Peer("bytewax-wait", "Bytewax, source waits", "on_bytewax", ("wait",), "bytewax==0.21.1"),
    Peer("pathway", "Pathway", "on_pathway", (), "pathway==0.33.0"),
    Peer("flink", "Flink SQL", "on_flink", (), "apache-flink==2.3.0", java=True),
    Peer("structured", "Structured Streaming", "on_structured_streaming", (), "pyspark==4.3.0", java=True),
)


def _end(peer: subprocess.Popen[bytes]) -> None:
    """The peer writes its notes when its input ends; what it started itself goes with it."""
    assert peer.stdin is not None
    with suppress(OSError):
        peer.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        peer.wait(STOP_S)
    with suppress(ProcessLookupError):
        os.killpg(peer.pid, signal.SIGKILL)
    peer.wait()


def _scratch() -> Path:
    """A folder in memory where there is one, so that nobody waits for a disk."""
    shared = Path("/dev/shm")
    usable = shared.is_dir() and os.access(shared, os.W_OK)
    return Path(tempfile.mkdtemp(prefix="aurora-latency-", dir=shared if usable else None))


def _checked(command: list[str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        reason = lines[-1].removeprefix("ERROR: ").partition(" (")[0] if lines else f"exit code {done.returncode}"
        raise NotMeasuredError(f"cannot be installed: {reason}")


def _last_words(said: Path) -> str:
    lines = [line.strip() for line in said.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if re.search("Error|Exception", line) and not line.startswith("at ")]
    return errors[-1] if errors else "it said nothing of an error"
