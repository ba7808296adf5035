"""``aurora draw``: a network as a picture."""

from __future__ import annotations

import sys
from pathlib import Path

import aurora.boxes  # noqa: F401  (puts the kinds of box on their list)
from aurora.cli.failure import say
from aurora.cli.functions import import_all
from aurora.cli.problems import counted
from aurora.drawing import draw
from aurora.errors import InputError
from aurora.model.check import check
from aurora.model.document import load


def draw_file(network: Path, output: str, functions: tuple[str, ...]) -> int:
    """Draws also what does not type yet, since a picture helps to see what is wrong; but says so."""
    import_all(functions)
    if output != "-" and not output.lower().endswith(".svg"):
        raise InputError(f"--output {output}: a network is drawn as SVG; give a name that ends in .svg, or -")
    loaded = load(network)
    text = draw(loaded)
    if output == "-":
        sys.stdout.write(text)
    else:
        try:
            Path(output).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot write {output}: {error.strerror}; give a path in an existing folder") from error
    errors = [problem for problem in check(loaded) if problem.severity == "error"]
    if errors:
        say(f"note: the network has {counted(errors)}; aurora check {network} lists them")
    return 0
