"""Real brokers for tests, each on a free port with a folder of its own, and ended with the test."""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from aurora.processors.spark.java import find_java
from tests.server.ports import free_port

KAFKA = Path(os.environ.get("AURORA_TEST_KAFKA", Path.home() / ".cache" / "aurora-tests" / "kafka"))
"""Where the jars of a Kafka broker are."""
PASSWORD = "cherry-pie"


def until(condition: Callable[[], object], seconds: float = 30.0, what: str = "") -> None:
    """Waits until the condition holds; fails after so long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"it did not come to this in {seconds} s: {what or condition}"
        time.sleep(0.02)


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Broker:
    """A program that can be stopped and started again on its port, with what it has stored."""

    def __init__(
        self,
        command: Sequence[str],
        port: int,
        *,
        user: str | None = None,
        folder: Path,
        ends_by: signal.Signals = signal.SIGTERM,
    ) -> None:
        self.port = port
        self._ends_by = ends_by
        self.folder = folder
        self._command = list(command)
        self._user = user
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        log = (self.folder / "log.txt").open("ab")
        with log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, user=self._user, cwd=self.folder)
        until(lambda: answers(self.port) or self._ended(), 60, f"{self._command[0]} answers")
        assert not self._ended(), (self.folder / "log.txt").read_text(errors="replace")[-2000:]

    def _ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(self._ends_by)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(20)
            self._process = None


@contextmanager
def _folder(user: str | None = None) -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="aurora-broker-"))
    if user is not None:
        shutil.chown(path, user)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


# Mosquitto


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")


def mosquitto_missing() -> str:
    return "" if _program("mosquitto") else "Mosquitto is not installed (apt-get install mosquitto)"


@contextmanager
def mosquitto() -> Iterator[Broker]:
    """Takes everybody, and ``pat`` only with the password."""
    with _folder() as folder:
        port = free_port()
        config = folder / "mosquitto.conf"
        lines = [f"listener {port} 127.0.0.1", "allow_anonymous true", f"password_file {folder / 'passwords'}"]
        # It drops what a reader is more than 1,000 messages behind with, unless told not to.
        lines.append("max_queued_messages 0")
        lines += ["user root"] if os.geteuid() == 0 else []
        config.write_text("\n".join(lines) + "\n")
        passwords = folder / "passwords"
        passwords.touch(mode=0o600)
        made = _program("mosquitto_passwd")
        assert made is not None
        subprocess.run([made, "-b", str(passwords), "pat", PASSWORD], check=True, capture_output=True)
        program = _program("mosquitto")
        assert program is not None
        broker = Broker([program, "-c", str(config)], port, folder=folder)
        broker.start()
        try:
            yield broker
        finally:
            broker.stop()


# PostgreSQL


def _postgres_programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) if Path("/usr/lib/postgresql").exists() else []
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    return None if initdb is None else Path(initdb).parent


def postgres_missing() -> str:
    return "" if _postgres_programs() else "PostgreSQL is not installed (apt-get install postgresql)"


@contextmanager
def postgres() -> Iterator[Broker]:
    """The superuser is ``tester``, with the password. The server refuses to run as root, so it runs as its own user."""
    programs = _postgres_programs()
    assert programs is not None
    user = "postgres" if os.geteuid() == 0 else None
    with _folder(user) as folder:
        port = free_port()
        (folder / "password").write_text(PASSWORD)
        if user is not None:
            shutil.chown(folder / "password", user)
        data = folder / "data"
        subprocess.run(
            [programs / "initdb", "-D", data, "-U", "tester", "-A", "scram-sha-256", "--pwfile", folder / "password"],
            check=True, capture_output=True, user=user, cwd=folder,
        )  # fmt: skip
        options = ["-c", "fsync=off", "-c", "listen_addresses=127.0.0.1", "-k", str(folder)]
        command = [str(programs / "postgres"), "-D", str(data), "-p", str(port), *options]
        # Told otherwise, it waits until all clients have gone by themselves.
        broker = Broker(command, port, user=user, folder=folder, ends_by=signal.SIGINT)
        broker.start()
        try:
            until(lambda: _takes_logins(port), 30, "PostgreSQL takes logins")
            yield broker
        finally:
            broker.stop()


def postgres_url(broker: Broker) -> str:
    return f"postgresql://tester@127.0.0.1:{broker.port}/postgres"


def _takes_logins(port: int) -> bool:
    import psycopg

    with contextlib.suppress(psycopg.OperationalError):
        psycopg.connect(f"postgresql://tester@127.0.0.1:{port}/postgres", password=PASSWORD).close()
        return True
    return False


# Kafka


def _java() -> str | None:
    found = shutil.which("java") or find_java()
    return None if found is None else str(found)


def kafka_missing() -> str:
    if _java() is None:
        return "there is no Java for Kafka"
    if not list(KAFKA.glob("kafka_*.jar")):
        return f"there is no Kafka in {KAFKA} (python -m tests.server.install_brokers)"
    return ""


@contextmanager
def kafka() -> Iterator[Broker]:
    """One node that is broker and controller."""
    with _folder() as folder:
        port, controller = free_port(), free_port()
        config = folder / "server.properties"
        settings = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(folder / "data"),
            "num.partitions": "2",
            "offsets.topic.num.partitions": "1",
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
        }
        config.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        program = _java()
        assert program is not None
        java = [program, "-Xmx512m", "-cp", f"{KAFKA}/*"]
        subprocess.run(
            [*java, "kafka.tools.StorageTool", "format", "-t", _cluster_id(), "-c", str(config)],
            check=True, capture_output=True, cwd=folder,
        )  # fmt: skip
        broker = Broker([*java, "kafka.Kafka", str(config)], port, folder=folder)
        broker.start()
        try:
            yield broker
        finally:
            broker.stop()


def _cluster_id() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
