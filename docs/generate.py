"""Writes the reference pages that come from the code: one page per kind of box, and their index.

    python -m docs.generate

A page is the box's docstring, its example and its parameters, so it cannot say what the code does not.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import aurora.boxes
from aurora.model.box import KINDS, Box
from aurora.model.element import Element

PAGES = Path(__file__).parent / "reference" / "boxes"
NOTICE = "<!-- Written by `make docs` from src/aurora/boxes; change it there. -->"

TYPE_NAMES = {
    "QuantityField": "5 tuples, 200ms, 60s or a number",
    "DurationField": "duration",
    "TuplesField": "tuples",
    "Names": "name or list of names",
    "InputNames": "name or list of names",
    "str": "text",
    "bool": "true or false",
    "int": "whole number",
    "float": "number",
    "dict[str, str]": "mapping of name to expression",
    "dict[str, Any]": "mapping",
}


def page(kind: str, declaration: type[Box]) -> str:
    """The reference page of one kind of box."""
    prose, example = _split(inspect.getdoc(declaration) or "")
    lines = [NOTICE, "", f"# {kind}", "", _code_marks(_summary(declaration)), "", _code_marks(prose), ""]
    if example:
        lines += ["## Example", "", "```python", example, "```", ""]
    lines += ["## Parameters", "", "| parameter | what it is | default |", "| --- | --- | --- |"]
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
    rows = []
    own = {name for owner in declaration.__mro__ for name in vars(owner).get("__annotations__", {})}
    annotations = _annotations(declaration)
    for name, field in declaration.model_fields.items():
        if name in Element.model_fields or name not in own:
            continue
        default = "required" if field.is_required() else _written(field.get_default(call_default_factory=True))
        what = field.description or _type_name(annotations.get(name, ""))
        rows.append((field.alias or name, what.replace("|", "\\|"), default))
    return rows


def _annotations(declaration: type[Box]) -> dict[str, str]:
    """Annotations as their authors wrote them; the nearest class wins."""
    texts: dict[str, str] = {}
    for owner in reversed(declaration.__mro__):
        texts |= {name: str(text) for name, text in vars(owner).get("__annotations__", {}).items()}
    return texts


def _type_name(annotation: str) -> str:
    inner = re.sub(r"^Annotated\[(\w+),.*\]$", r"\1", annotation)
    parts = [part.strip() for part in inner.split(" | ") if part.strip() != "None"]
    return " or ".join(TYPE_NAMES.get(part, part.lower() if part.isidentifier() else f"`{part}`") for part in parts)


def _written(default: Any) -> str:
    if default is None or default == () or default == {} or default == []:
        return ""
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def main() -> None:
    PAGES.mkdir(parents=True, exist_ok=True)
    for path, text in pages().items():
        changed = not path.exists() or path.read_text(encoding="utf-8") != text
        if changed:
            path.write_text(text, encoding="utf-8")
        print(f"{'wrote' if changed else 'kept '} {path.relative_to(PAGES.parents[2])}")


if __name__ == "__main__":
    main()
