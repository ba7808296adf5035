"""Runs what a page shows: Python with its output, and the few commands that console blocks use.

Everything happens in this process and in the current folder, so that a page of many commands takes no time.
"""

from __future__ import annotations

import doctest
import io
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from typer.testing import CliRunner

from aurora.boxes import python, spark
from aurora.cli.app import app
from aurora.expressions import registry
from tests.integration.pages import ROOT

FLAGS = doctest.ELLIPSIS


@contextmanager
def nothing_left_behind() -> Iterator[None]:
    """What a page registers and imports is forgotten with the page."""
    with (
        mock.patch.dict(registry.FUNCTIONS),
        mock.patch.dict(registry.AGGREGATES),
        mock.patch.dict(python.REGISTERED),
        mock.patch.dict(spark.REGISTERED),
        mock.patch.dict(sys.modules),
        mock.patch.object(sys, "path", ["", *sys.path]),
    ):
        yield


def trimmed(text: str) -> str:
    """Without spaces at the ends of lines, which nobody sees, and without empty lines around."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def differs(wanted: str, got: str) -> str:
    """What is different, or nothing. ``...`` in what is wanted stands for anything."""
    wanted, got = trimmed(wanted) + "\n", trimmed(got) + "\n"
    if doctest.OutputChecker().check_output(wanted, got, FLAGS):
        return ""
    return f"the page says:\n{wanted}\nbut it is:\n{got}"


def run_python(code: str, names: dict[str, Any], where: str) -> str:
    """What the code prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, where, "exec"), names)
    return printed.getvalue()


def run_doctest(text: str, names: dict[str, Any], where: str) -> str:
    """What is different from what the page says, or nothing."""
    test = doctest.DocTestParser().get_doctest(text, names, where, None, None)
    test.globs = names
    told: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=told.append, clear_globs=False)
    return "".join(told)


def commands(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output that follows it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        end = next(number for number, line in enumerate(lines) if not line.endswith("\\"))
        yield " ".join(line.rstrip("\\").strip() for line in lines[: end + 1]), "\n".join(lines[end + 1 :])


def run_command(command: str) -> str:
    """What a reader sees in the terminal, from standard output and standard error."""
    name, *arguments = shlex.split(command)
    if name == "aurora":
        result = CliRunner().invoke(app, arguments)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.output
    if name == "python" and len(arguments) == 1:
        return run_python(Path(arguments[0]).read_text(), {"__name__": "__main__"}, arguments[0])
    if name == "cat":
        return "".join(Path(file).read_text() for file in arguments)
    if name == "make":
        rules = (ROOT / "Makefile").read_text()
        missing = [target for target in arguments if f"\n{target}:" not in rules]
        assert not missing, f"the Makefile has no {missing}"
        return ""
    raise AssertionError(f"{command}: the pages use aurora, python FILE, cat and make only")
