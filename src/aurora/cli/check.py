"""``aurora check``: everything that is wrong with a network."""

from __future__ import annotations

import json
from pathlib import Path

import aurora.boxes  # noqa: F401  (puts the kinds of box on their list)
from aurora.cli.failure import NETWORK_WRONG
from aurora.cli.functions import import_all
from aurora.cli.problems import counted, plain, show
from aurora.model.check import check


def check_file(network: Path, functions: tuple[str, ...], *, as_json: bool) -> int:
    import_all(functions)
    problems = check(network)
    if as_json:
        print(json.dumps([plain(problem) for problem in problems], indent=2, ensure_ascii=False))
    elif problems:
        show(problems, stderr=False)
    else:
        print(f"{network}: {counted(problems)}")
    return NETWORK_WRONG if any(problem.severity == "error" for problem in problems) else 0
