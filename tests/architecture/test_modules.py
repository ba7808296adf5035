"""Names, lengths and clocks: what keeps modules readable and runs repeatable."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator

from tests.architecture.source import PACKAGE, ROOT, Module, modules

LONGEST = 600
EMPTY_NAMES = re.compile(r"_?(utils?|helpers?|common|misc|v\d+)")
CLOCK_READS = {
    "time": {"time", "time_ns", "sleep", "localtime", "gmtime", "ctime"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
}
MAY_READ_THE_CLOCK = {"clock", "cli"}


def test_module_names_say_something() -> None:
    parts = {part for path in PACKAGE.rglob("*") for part in (path.stem, path.name)}
    empty = sorted(part for part in parts if EMPTY_NAMES.fullmatch(part))
    assert not empty, f"name these after what they hold: {empty}"


def test_modules_are_short() -> None:
    lengths = {module.path.relative_to(ROOT): module.text.count("\n") for module in modules()}
    longest = sorted(lengths.items(), key=lambda entry: -entry[1])[:5]
    report = [f"median {statistics.median(lengths.values()):.0f} lines"]
    report += [f"{length:5} {path}" for path, length in longest]
    print("\n".join(report))
    assert longest[0][1] <= LONGEST, "split the longest modules; one idea each:\n" + "\n".join(report)


def _clock_reads(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute):
            owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
            if node.attr in CLOCK_READS.get(owner, ()):
                yield f"{module.at(node.lineno)} uses {owner}.{node.attr}"
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            for alias in node.names:
                if alias.name in CLOCK_READS["time"]:
                    yield f"{module.at(node.lineno)} imports time.{alias.name}"


def test_time_is_injected() -> None:
    reads = [line for module in modules() if module.part not in MAY_READ_THE_CLOCK for line in _clock_reads(module)]
    assert not reads, "take a clock of aurora.clock instead:\n" + "\n".join(reads)


def test_every_folder_is_a_package() -> None:
    bare = sorted({path.parent for path in PACKAGE.rglob("*.py") if not (path.parent / "__init__.py").exists()})
    assert not bare, f"these folders have no __init__.py: {[str(path.relative_to(ROOT)) for path in bare]}"


def test_every_module_says_what_it_is_for() -> None:
    silent = [str(module.path.relative_to(ROOT)) for module in modules() if not ast.get_docstring(module.tree)]
    assert not silent, f"no docstring: {silent}"
