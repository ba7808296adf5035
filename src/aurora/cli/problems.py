"""Problems of a network, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from aurora.errors import Problem

_COLOURS = {"error": "bold red", "warning": "bold yellow"}


def show(problems: Sequence[Problem], *, stderr: bool = True) -> None:
    """Prints every problem; with colours only where a terminal shows them."""
    console = Console(stderr=stderr, highlight=False, soft_wrap=True)
    for problem in problems:
        head = Text.assemble((f"{problem.severity} {problem.id}", _COLOURS[problem.severity]))
        where = " ".join(part for part in (str(problem.place), problem.element) if part)
        if where:
            head.append(f" at {where}", "bold")
        console.print(head)
        console.print(Text(f"  {problem.found}"))
        if problem.choices:
            console.print(Text.assemble(("  choices: ", "dim"), ", ".join(problem.choices)))
        console.print(Text.assemble(("  way out: ", "dim"), problem.way_out))
    console.print(counted(problems))


def counted(problems: Sequence[Problem]) -> str:
    """How many there are of each severity.

    >>> counted([Problem("a", "", ""), Problem("b", "", ""), Problem("c", "", "", severity="warning")])
    '2 errors, 1 warning'
    """
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    counts = [
        f"{count} {word}{'' if count == 1 else 's'}" for count, word in ((errors, "error"), (warnings, "warning"))
    ]
    return ", ".join(text for text in counts if not text.startswith("0 ")) or "no problems"


def plain(problem: Problem) -> dict[str, Any]:
    """A problem as JSON writes it."""
    return {
        "id": problem.id,
        "severity": problem.severity,
        "element": problem.element,
        "path": list(problem.path),
        "file": problem.place.file,
        "line": problem.place.line,
        "found": problem.found,
        "choices": list(problem.choices),
        "way_out": problem.way_out,
    }
