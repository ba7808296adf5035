"""Spark starts, keeps quiet, survives what it should and dies when it must. Every test here starts Java."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import aurora
from aurora.errors import AuroraError
from aurora.processors.spark.masters import Master
from aurora.processors.spark.session import session_alive, start_session, stop_session

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timed, pytest.mark.timeout(300)]

PROLOGUE = """
    import os, signal, sys
    from pathlib import Path
    from aurora.processors.spark.masters import Master
    from aurora.processors.spark.session import session_alive, start_session, stop_session

    def ask(session, tasks, question):
        return session.sparkContext.parallelize(range(tasks), tasks).mapPartitions(question).collect()

    def java(session):
        return session.sparkContext._gateway.proc.pid
"""


def script(text: str, *options: str) -> list[str]:
    return [sys.executable, "-X", "dev", *options, "-c", textwrap.dedent(PROLOGUE) + textwrap.dedent(text)]


def alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def ask(session: SparkSession, tasks: int, question: Callable[..., object]) -> list[object]:
    return session.sparkContext.parallelize(range(tasks), tasks).mapPartitions(question).collect()  # type: ignore[arg-type]


class Started:
    """A session and what was seen when it started."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.said: list[str] = []
        self.interrupts = signal.getsignal(signal.SIGINT)
        self.session = start_session(Master.parse("local[2]"), log=log, on_progress=self.said.append)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    started = Started(tmp_path_factory.mktemp("a folder with blanks") / "spark.log")
    yield started
    java = started.session.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    stop_session(started.session)
    assert not session_alive(started.session)
    assert not alive(java)
    stop_session(started.session)


def test_progress_is_told_step_by_step(started: Started) -> None:
    assert [text.split()[:2] for text in started.said] == [
        ["starting", "Java"],
        ["starting", "Spark"],
        ["starting", "2"],
    ]


def test_workers_have_our_python_our_modules_and_one_thread_of_polars(started: Started) -> None:
    def look(_numbers: object) -> list[object]:
        import gc
        import os
        import sys

        import polars

        import aurora

        return [(sys.executable, aurora.__file__, polars.thread_pool_size(), gc.get_freeze_count() > 0, os.getpid())]

    answers = ask(started.session, 2, look)
    assert {answer[:-1] for answer in answers} == {(sys.executable, aurora.__file__, 1, True)}  # type: ignore[index]


def test_workers_are_forked_before_any_thread_of_polars_exists(started: Started) -> None:
    """Fresh workers: those before may have used Polars. A thread that was forked away would hang its first query."""

    def leave(_numbers: object) -> list[object]:
        os.kill(os.getpid(), signal.SIGKILL)
        return []

    def query(_numbers: object) -> list[object]:
        import polars as pl

        daemon = Path(f"/proc/{os.getppid()}/task")
        threads = sorted((task / "comm").read_text().strip() for task in daemon.iterdir())
        return [(threads, pl.DataFrame({"a": [1, 2, 1]}).lazy().group_by("a").agg(pl.len()).collect().height)]

    with pytest.raises(Exception, match="Python worker exited"):
        ask(started.session, 2, leave)
    for threads, groups in ask(started.session, 2, query):  # type: ignore[misc]
        assert groups == 2
        assert not [name for name in threads if name.startswith(("polars-0", "tokio", "async", "jemalloc"))]


def test_a_task_whose_worker_died_is_tried_again(started: Started, tmp_path: Path) -> None:
    mark = tmp_path / "died"

    def die_once(numbers: Iterator[int]) -> list[object]:
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return list(numbers)

    assert ask(started.session, 2, die_once) == [0, 1]
    assert mark.exists()
    assert "Python worker exited" in started.log.read_text()


def test_interrupts_stay_ours(started: Started) -> None:
    assert signal.getsignal(signal.SIGINT) is started.interrupts


def test_sql_has_as_many_partitions_as_slots(started: Started) -> None:
    assert started.session.conf.get("spark.sql.shuffle.partitions") == "2"
    assert started.session.range(10).groupBy().count().collect()[0][0] == 10


def test_only_one_at_a_time(started: Started) -> None:
    with pytest.raises(AuroraError, match="running in this process already"):
        start_session(Master.parse("local[1]"), log=started.log)


def test_nothing_reaches_the_terminal(tmp_path: Path) -> None:
    """Not at start, not when a worker is killed or a task fails, not at exit, and not when nobody stops the session."""
    text = """
        session = start_session(Master.parse("local[2]"), log=Path("spark.log"))

        def die(numbers):
            print("from a worker"), print("from a worker", file=sys.stderr)
            os.kill(os.getpid(), signal.SIGKILL)

        for wrong in (die, lambda numbers: 1 / 0):
            try:
                ask(session, 2, wrong)
            except Exception:
                print("failed")
        print(java(session), flush=True)
    """
    done = subprocess.run(script(text), cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.stderr == ""
    *said, java = done.stdout.split()
    assert said == ["failed", "failed"]
    assert "from a worker" in (tmp_path / "spark.log").read_text()
    assert wait_for(lambda: not alive(int(java)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spark.log", "spark.log4j2.properties"]


def test_an_interrupt_leaves_java_to_us_and_java_dies_with_us(tmp_path: Path) -> None:
    text = """
        # Where tests run in the background of a shell, interrupts are ignored unless somebody asks for them.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        session = start_session(Master.parse("local[1]"), log=Path("spark.log"))
        try:
            print(java(session), flush=True)
            signal.pause()
        except KeyboardInterrupt:
            print(ask(session, 1, lambda numbers: [os.getpid()])[0], flush=True)
        signal.pause()
    """
    process = subprocess.Popen(script(text), cwd=tmp_path, stdout=subprocess.PIPE, text=True, process_group=0)
    with process:
        try:
            assert process.stdout is not None
            java = int(process.stdout.readline())
            os.killpg(process.pid, signal.SIGINT)
            worker = int(process.stdout.readline())
            assert alive(java)
            assert alive(worker)
        finally:
            process.kill()
    assert wait_for(lambda: not alive(java))
    assert wait_for(lambda: not alive(worker))


def test_a_cluster_of_processes(tmp_path: Path) -> None:
    """Executors are processes of their own; they find Aurora, and the user's modules, where the driver does."""
    (tmp_path / "mine.py").write_text("def three():\n    return 3\n")
    text = """
        sys.path.insert(0, os.getcwd())
        session = start_session(Master.parse("local-cluster[2,1,1024]"), log=Path("spark.log"))

        def look(numbers):
            import gc, mine, aurora.boxes
            return [(os.getppid(), mine.three() == 3, gc.get_freeze_count() > 0)]

        answers = ask(session, 2, look)
        print(len({daemon for daemon, *_ in answers}), {tuple(rest) for _, *rest in answers})
        print(session_alive(session))
        os.kill(java(session), signal.SIGKILL)
        session.sparkContext._gateway.proc.wait()
        print(session_alive(session))
        stop_session(session)
    """
    done = subprocess.run(script(text), cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["2 {(True, True)}", "True", "False"]


def test_java_that_dies_in_the_middle_of_an_answer_is_told_in_the_log_only(tmp_path: Path) -> None:
    text = """
        import logging, threading, time
        from py4j.protocol import Py4JError

        logging.basicConfig(level=logging.WARNING)
        session = start_session(Master.parse("local[1]"), log=Path("spark.log"))
        gateway = session.sparkContext._gateway
        connection = gateway._gateway_client.get_thread_connection()

        def kill():
            time.sleep(0.5)
            connection.socket.sendall(b"never read")  # so the connection is reset, not closed
            os.kill(java(session), signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            gateway.jvm.java.lang.Thread.sleep(60_000)
        except Py4JError:
            print("an error")
        killer.join()
        print(session_alive(session))
        stop_session(session)
        logging.warning("ours")
    """
    done = subprocess.run(script(text), cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.stderr == "WARNING:root:ours\n"
    assert done.stdout.splitlines() == ["an error", "False"]
    assert "Exception while sending command" in (tmp_path / "spark.log").read_text()


def test_failures_name_the_reason_the_log_and_the_way_out(tmp_path: Path) -> None:
    text = """
        from aurora.errors import AuroraError

        for extra in ({"spark.driver.memory": "1x"}, {"spark.pyspark.python": "/no/python"}):
            try:
                start_session(Master.parse("local[1]"), log=Path("spark.log"), extra=extra)
            except AuroraError as error:
                print(error, end="\\n\\n")
        session = start_session(Master.parse("local[1]"), log=Path("spark.log"))
        print(session_alive(session))
        stop_session(session)
    """
    # PySpark leaves a pipe open when Java does not start.
    command = script(text, "-W", "ignore::ResourceWarning")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=250)
    assert done.stderr == ""
    memory, python, after = done.stdout.split("\n\n")
    assert "-Xmx1x" in memory
    assert "/no/python" in python
    for message in (memory, python):
        assert message.startswith("Spark did not start: ")
        assert str(tmp_path / "spark.log") in message
        assert "--processor local" in message
    assert after == "True\n"
