"""Start Spark quietly, and stop it whole.

Everything that Java and log4j write goes to a log file; the terminal belongs to Aurora. The Java process gets the file
as its output when it is launched, so that nothing of it, not even its last words at exit, can end up anywhere else. It
dies with us: its standard input is a pipe that we hold. Keyboard interrupts do not reach it.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyspark
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from aurora.errors import AuroraError, InputError
from aurora.processors.spark.java import ensure_java, java_home
from aurora.processors.spark.masters import ATTEMPTS, Master

DRIVER_MEMORY = "1g"
"""Enough for descriptors of jobs; trains never enter the Java process."""

STOP_TIMEOUT_S = 20

# How the threads of allocators that Polars and Arrow bring are switched off; they do not survive the fork of a worker.
_WORKER_ENVIRONMENT = {
    "POLARS_MAX_THREADS": "1",
    "_RJEM_MALLOC_CONF": "background_thread:false",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}

_JAVA_OPTIONS = ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions")

_SMALL_JOBS = " ".join(
    [
        "-XX:+UseSerialGC",
        "-XX:Tier4InvocationThreshold=50000",
        "-XX:Tier4MinInvocationThreshold=6000",
        "-XX:Tier4CompileThreshold=150000",
    ]
)
"""On one machine Java's threads take time from the workers. So one thread collects garbage, and what runs often, but
not yet very often, is not compiled a second time. The first hundreds of steps are shorter for it; loops of SQL, which
are compiled by their turns and not by calls, are as fast as ever."""

_LOG4J = """\
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.append = true
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{yyyy-MM-dd HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""


def start_session(
    master: Master,
    *,
    log: Path,
    ui: bool = False,
    slots: int | None = None,
    on_progress: Callable[[str], None] | None = None,
    extra: Mapping[str, str] | None = None,
) -> SparkSession:
    """A session on ``master`` whose Python workers are up. ``extra`` is Spark configuration that goes over ours."""
    say = on_progress or (lambda text: None)
    if SparkContext._active_spark_context is not None:
        raise AuroraError("Spark is running in this process already.\n  way out: stop that session, or use it")
    log = log.absolute()
    settings = _overlaid(configuration(master, log=log, ui=ui, slots=slots), extra or {})
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        written = log.stat().st_size if log.exists() else 0
        _log4j_file(log).write_text(_LOG4J.format(log=log), encoding="utf-8")
        output = log.open("ab")
    except OSError as error:
        raise InputError(f"Spark's log {log} cannot be written: {error.strerror}.\n  way out: name another") from error
    try:
        with output:
            gateway = _launch(master, settings, output, say)
    except OSError as error:
        raise _failure(str(error), log) from error
    except PySparkException as error:
        raise _failure(f"Java ended before Spark was up: {_last_words(log, written)}", log) from error
    try:
        if (version := gateway.jvm.org.apache.spark.package.SPARK_VERSION()) != pyspark.__version__:
            raise AuroraError(
                f"Spark is version {version}, but its Python package is {pyspark.__version__}.\n"
                "  way out: unset SPARK_HOME, or install the pyspark package of that version"
            )
        say(f"starting Spark on {master.spark_url} ...")
        with _interrupts_kept():
            context = SparkContext(conf=_conf(settings), gateway=gateway)
        _keep_quiet(context, log)
        context.pythonExec = settings["spark.pyspark.python"]
        workers = slots or master.slots or context.defaultParallelism
        session = SparkSession.builder.config("spark.sql.shuffle.partitions", str(workers)).getOrCreate()
        say(f"starting {workers} Python worker{'s' if workers > 1 else ''} ...")
        context.parallelize(range(workers), workers).mapPartitions(_greet).collect()
    except BaseException as error:
        reason = _reason(error)  # Java may have to be asked, so before it is stopped
        _stop(SparkContext._active_spark_context, gateway)
        if isinstance(error, Py4JError | PySparkException | ValueError):
            raise _failure(reason, log) from error
        raise
    return session


def stop_session(session: SparkSession) -> None:
    """Stop Spark and its Java process, and wait for it; safe to call twice, and after Java has died."""
    if SparkContext._gateway is not None:
        _stop(session, SparkContext._gateway)


def session_alive(session: SparkSession) -> bool:
    """Whether jobs can be run: Java is there, and Spark has not given up, as when a cluster's master is gone."""
    context, gateway = session._sc, SparkContext._gateway
    if context._jsc is None or gateway is None:
        return False
    process = _process(gateway)
    if process is not None and process.poll() is not None:
        return False
    try:
        return not context._jsc.sc().isStopped()
    except (Py4JError, OSError):
        return False


def configuration(master: Master, *, log: Path, ui: bool = False, slots: int | None = None) -> dict[str, str]:
    """What Spark is told. Only what differs from its defaults, or what Aurora relies on."""
    options = f"-Dlog4j2.configurationFile={_log4j_file(log).as_uri()}"
    settings = {
        "spark.app.name": "aurora",
        "spark.master": master.spark_url,
        "spark.ui.enabled": str(ui).lower(),
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": DRIVER_MEMORY,
        "spark.driver.extraJavaOptions": options,
        # A task must be tried again when its worker died, and never run twice at once.
        "spark.task.maxFailures": str(ATTEMPTS),
        "spark.speculation": "false",
        "spark.shuffle.service.enabled": "false",
        # Every task may run anywhere at once: blocks are mapped from files.
        "spark.locality.wait": "0",
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.worker.reuse": "true",
        "spark.python.daemon.module": "aurora.processors.spark.daemon",
        "spark.pyspark.python": sys.executable,
        "spark.pyspark.driver.python": sys.executable,
    }
    if workers := slots or master.slots:
        settings["spark.sql.shuffle.partitions"] = str(workers)
    if master.is_local:
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": f"{options} {_SMALL_JOBS}",
            "spark.executor.extraJavaOptions": options,
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        }
    environment = _WORKER_ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(_import_path(master))}
    return settings | {f"spark.executorEnv.{name}": value for name, value in environment.items()}


def _import_path(master: Master) -> list[str]:
    """Where workers look for modules: on this machine where we do, elsewhere at least where Aurora is."""
    ours = str(Path(__file__).parents[3])
    if not master.is_local:
        return [ours]
    installed = (sys.prefix, sys.base_prefix)
    others = [os.path.abspath(entry) for entry in sys.path if not entry.startswith(installed)]
    return list(dict.fromkeys([ours, *others]))


def _launch(master: Master, settings: Mapping[str, str], output: Any, say: Callable[[str], None]) -> Any:
    surroundings = {}
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # set where spark-submit has started Java, and Java us
        surroundings["JAVA_HOME"] = str(java_home(ensure_java(say)))
        if master.is_local:
            surroundings["SPARK_LOCAL_IP"] = "127.0.0.1"
        say("starting Java ...")
    with _environment(surroundings):
        launch: Callable[..., Any] = launch_gateway  # it has no types
        return launch(_conf(settings), {"stdout": output, "stderr": output, "process_group": 0})


def _overlaid(settings: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """``extra`` over ``settings``; but options of Java are added to ours, so that the log stays where it is."""
    options = {name: f"{settings[name]} {extra[name]}" for name in _JAVA_OPTIONS if name in settings and name in extra}
    return {**settings, **extra, **options}


def _conf(settings: Mapping[str, str]) -> SparkConf:
    return SparkConf(loadDefaults=False).setAll(list(settings.items()))


def _log4j_file(log: Path) -> Path:
    return log.with_name(f"{log.stem}.log4j2.properties")


def _greet(numbers: Iterable[int]) -> Iterator[int]:
    """The first task of a worker: it has unpickled this function, so it can import Aurora."""
    yield from numbers


@contextmanager
def _environment(changes: Mapping[str, str]) -> Iterator[None]:
    """PySpark hands our own environment on to Java, and takes no other."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _interrupts_kept() -> Iterator[None]:
    """PySpark takes over SIGINT to cancel all jobs; what an interrupt means is for the engine to say."""
    ours = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, ours)


def _process(gateway: Any) -> subprocess.Popen[bytes] | None:
    process: subprocess.Popen[bytes] | None = gateway.proc
    return process


class _Complaints(logging.Filter):
    """What py4j has to say of a connection that broke; callers learn of it from the error that they get."""

    log = Path(os.devnull)

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING or Path(record.pathname).parent.name != "py4j":
            return True
        with self.log.open("a", encoding="utf-8") as output:
            print(logging.Formatter().format(record), file=output)
        return False


_COMPLAINTS = _Complaints()
_PY4J_LOGGERS = (None, "py4j.clientserver", "py4j.java_gateway")  # the first is the root's: filters are not inherited


def _keep_quiet(context: SparkContext, log: Path) -> None:
    """PySpark listens for counters of tasks, and shouts when Java is gone in the middle of one; so does py4j."""
    _COMPLAINTS.log = log
    for name in _PY4J_LOGGERS:
        logging.getLogger(name).addFilter(_COMPLAINTS)

    def note(_request: object, _address: object) -> None:
        with log.open("a", encoding="utf-8") as output:
            traceback.print_exc(file=output)

    context._accumulatorServer.handle_error = note  # type: ignore[method-assign, assignment]


def _stop(running: SparkSession | SparkContext | None, gateway: Any) -> None:
    """Stop what runs as far as it will, end Java, and leave PySpark as if it had never been started."""
    for end in (running.stop if running is not None else None, gateway.shutdown):
        if end is not None:
            with suppress(Exception):  # whatever state it is in, the process is ended next
                end()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    process = _process(gateway)
    if process is None:
        return
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()  # Java ends when it sees this
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _failure(reason: str, log: Path) -> AuroraError:
    return AuroraError(
        f"Spark did not start: {reason}\n"
        f"  the whole story is in {log}\n"
        "  way out: mend what it names, give another --master, or run without Spark: --processor local"
    )


def _reason(error: BaseException) -> str:
    """The deepest cause that adds something to the one around it."""
    if not isinstance(error, Py4JJavaError):
        return str(error).partition("\n")[0]
    cause = error.java_exception
    while (deeper := cause.getCause()) is not None and str(deeper.getMessage()) not in str(cause.getMessage()):
        cause = deeper
    return str(cause.toString()).partition("\n")[0]


def _last_words(log: Path, start: int) -> str:
    """The last few lines logged since ``start``, without the lines of stack traces."""
    with log.open("rb") as stream:
        stream.seek(start)
        lines = [line.strip() for line in stream.read().decode(errors="replace").splitlines()]
    telling = [line for line in lines if line and not line.startswith(("at ", "... ", "WARNING: "))]
    return " / ".join(telling[-3:]) or "it said nothing"
