"""Writes the pages and pictures that come from the code: one page per kind of box, and the case studies' networks.

    python -m docs.generate

A page is the box's docstring, its example and its parameters with what parameters.yaml says of each.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import aurora.boxes
from aurora.drawing import draw
from aurora.model import load
from aurora.model.box import KINDS, Box
from aurora.model.element import Element

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "reference" / "boxes"
NOTICE = "<!-- Written by `make docs` from src/aurora/boxes and docs/parameters.yaml; change it there. -->"


def page(kind: str, declaration: type[Box]) -> str:
    """The reference page of one kind of box."""
    prose, example = _split(inspect.getdoc(declaration) or "")
    lines = [NOTICE, "", f"# {kind}", "", _code_marks(_summary(declaration)), "", _code_marks(prose), ""]
    if example:
        lines += ["## Example", "", "```python", example, "```", ""]
    lines += ["## Parameters", "", "| parameter | meaning | default |", "| --- | --- | --- |"]
    lines += [f"| `{name}` | {what} | {default} |" for name, what, default in _parameters(declaration)]
    lines += ["", "It also takes `description`, `tags` and `manual`, as every element does.", ""]
    return "\n".join(lines)


def index() -> str:
    lines = [NOTICE, "", "# The boxes", "", "| box | what it does |", "| --- | --- |"]
    lines += [f"| [{kind}]({kind}.md) | {_code_marks(_summary(KINDS[kind]))} |" for kind in sorted(KINDS)]
    return "\n".join([*lines, ""])


def pages() -> dict[Path, str]:
    """Every page by its path."""
    assert aurora.boxes, "importing the boxes fills KINDS"
    return {PAGES / f"{kind}.md": page(kind, KINDS[kind]) for kind in sorted(KINDS)} | {PAGES / "index.md": index()}


def pictures() -> dict[Path, str]:
    """The drawing of every case study's network, beside the network."""
    networks = sorted((ROOT / "case_studies").glob("*/network.yaml"))
    return {path.with_name(f"{path.parent.name}.svg"): draw(load(path)) for path in networks}


def _summary(declaration: type[Box]) -> str:
    """The module's first line, which starts with the kind's name."""
    first = (inspect.getdoc(inspect.getmodule(declaration)) or "").partition("\n")[0]
    rest = first.removeprefix(f"{declaration.kind}: ")
    return rest[:1].upper() + rest[1:]


def _split(doc: str) -> tuple[str, str]:
    prose, marker, example = doc.partition("\n>>>")
    return prose.strip(), (">>>" + example).strip() if marker else ""


def _code_marks(text: str) -> str:
    return re.sub(r"``(.+?)``", r"`\1`", text)


def _parameters(declaration: type[Box]) -> list[tuple[str, str, str]]:
    meanings = _meanings()
    known = meanings["every box"] | meanings["boxes"].get(declaration.kind, {})
    rows = []
    for name, field in declaration.model_fields.items():
        if name in Element.model_fields:
            continue
        parameter = field.alias or name
        if parameter not in known:
            raise SystemExit(f"docs/parameters.yaml does not say what {parameter} of {declaration.kind} means")
        default = "required" if field.is_required() else _written(field.get_default(call_default_factory=True))
        rows.append((parameter, known[parameter].replace("|", "\\|"), default))
    return rows


@cache
def _meanings() -> dict[str, Any]:
    meanings: dict[str, Any] = yaml.safe_load((ROOT / "docs" / "parameters.yaml").read_text(encoding="utf-8"))
    return meanings


def _written(default: Any) -> str:
    if default is None or default == () or default == {} or default == []:
        return ""
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def main() -> None:
    PAGES.mkdir(parents=True, exist_ok=True)
    for path, text in (pages() | pictures()).items():
        changed = not path.exists() or path.read_text(encoding="utf-8") != text
        if changed:
            path.write_text(text, encoding="utf-8")
        print(f"{'wrote' if changed else 'kept '} {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
