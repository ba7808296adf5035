"""One page per kind of box: the docstring, the ports, the parameters, and examples with what they put out.

The first example is that of the docstring: its network and its rows are caught while it runs.
"""

from __future__ import annotations

import doctest
import inspect
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from unittest import mock

import yaml
from pydantic import BaseModel

import aurora.boxes
import aurora.testing
from aurora.engine.in_memory import RunResult
from aurora.model.box import KINDS, Box
from aurora.model.document import loads
from aurora.model.element import Element
from aurora.model.forms import form
from aurora.model.window import Window
from aurora.server.palette import box_summary, code_marks, said_of_boxes
from docs.sources.forms import type_of
from docs.sources.tables import notice, rows_table, table

NOTICE = notice("src/aurora/boxes")


@dataclass(frozen=True)
class Shown:
    """A run as a page shows it. ``code`` is Python that the network needs."""

    network: str
    inputs: Mapping[str, Any]
    clock: str | None
    result: RunResult
    code: str = ""


def pages() -> dict[str, str]:
    assert aurora.boxes, "importing the boxes fills KINDS"
    return {f"{kind}.md": _page(kind, KINDS[kind]) for kind in sorted(KINDS)} | {"index.md": _index()}


def _index() -> str:
    rows = [(f"[{kind}]({kind}.md)", box_summary(KINDS[kind])) for kind in sorted(KINDS)]
    return "\n".join([NOTICE, "", "# The boxes", "", *table(("box", "what it does"), rows), ""])


def _page(kind: str, declaration: type[Box]) -> str:
    said = said_of_boxes()["boxes"][kind]
    prose, example = _split(inspect.getdoc(declaration) or "")
    lines = [NOTICE, "", f"# {kind}", "", box_summary(declaration), "", code_marks(prose), ""]
    # An example that cannot be run here stands in the file as it is to be shown.
    shown = [said["example"].strip()] if "example" in said else _shown(_caught(example, declaration))
    lines += ["## Example", "", *shown, ""]
    for extra in said.get("examples", ()):
        lines += [f"### {extra['title']}", "", extra["text"], "", *_shown(_run(extra)), ""]
    lines += ["## Parameters", ""]
    lines += [*table(("parameter", "type", "meaning", "default"), _parameters(declaration, _known(kind))), ""]
    lines += ["It also takes `description`, `tags` and `manual`, as every element does.", ""]
    if said.get("windows"):
        lines += ["## Windows", "", "A window is a mapping:", ""]
        lines += [*table(("key", "type", "meaning", "default"), _parameters(Window, said_of_boxes()["window"])), ""]
        lines += [said_of_boxes()["windows"].strip(), ""]
    lines += ["## Ports", "", _inputs(declaration), ""]
    lines += [*table(("output port", "carries"), [(f"`{port}`", what) for port, what in said["ports"].items()]), ""]
    if said.get("ordered") or said.get("notes"):
        lines += ["## Order and lateness" if said.get("ordered") else "## Notes", ""]
        lines += [said_of_boxes()["ordered"].strip(), ""] if said.get("ordered") else []
        lines += [said["notes"].strip(), ""] if said.get("notes") else []
    return "\n".join(lines)


def _split(doc: str) -> tuple[str, str]:
    prose, marker, example = doc.partition("\n>>>")
    return prose.strip(), (">>>" + example).strip() if marker else ""


def _inputs(declaration: type[Box]) -> str:
    least, most = declaration.arity
    count = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
    static = " One of them may be a dangling connection point, which is static data."
    return f"Inputs: {count}.{static if declaration.takes_static else ''}"


def _known(kind: str) -> dict[str, str]:
    """What is said of the parameters of a kind."""
    texts: dict[str, str] = said_of_boxes()["parameters"] | said_of_boxes()["boxes"][kind].get("parameters", {})
    return texts


def _parameters(declaration: type[BaseModel], known: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
    rows = []
    for name, field in declaration.model_fields.items():
        if name in Element.model_fields:
            continue
        parameter = field.alias or name
        if parameter not in known:
            where = declaration.__name__
            raise SystemExit(f"src/aurora/boxes/boxes.yaml does not say what {parameter} of {where} means")
        default = "required" if field.is_required() else _written(field.get_default(call_default_factory=True))
        rows.append((f"`{parameter}`", type_of(form(field.annotation, field.metadata)), known[parameter], default))
    return rows


def _written(default: Any) -> str:
    if default is None or default == () or default == {} or default == []:
        return "none"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


# Examples


def _caught(example: str, declaration: type[Box]) -> Shown:
    """The run that the docstring's example makes."""
    runs: list[Shown] = []
    genuine = aurora.testing.run_rows

    def catching(network: str, inputs: Mapping[str, Any], *, clock: str | None = None) -> RunResult:
        result = genuine(network, inputs, clock=clock)
        runs.append(Shown(network.strip(), inputs, clock, result, _python(example)))
        return result

    names = dict(vars(sys.modules[declaration.__module__]))
    parsed = doctest.DocTestParser().get_doctest(example, names, declaration.kind, None, None)
    with mock.patch.object(aurora.testing, "run_rows", typing.cast(Callable[..., RunResult], catching)):
        failed = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(parsed).failed
    if failed or len(runs) != 1:
        raise SystemExit(f"the example of {declaration.kind} should run once and be right")
    return runs[0]


def _python(example: str) -> str:
    """The classes and functions that an example registers, as code to read."""
    parsed = doctest.DocTestParser().get_examples(example)
    registering = [part.source.rstrip() for part in parsed if part.source.startswith("@")]
    return "\n\n".join(["import polars as pl\n\nimport aurora as au", *registering]) if registering else ""


def _run(said: Mapping[str, Any]) -> Shown:
    """The run that an example of the YAML file describes: a network around one box called ``box``."""
    points = said.get("points", {})
    document = {
        "aurora": 1,
        "network": "example",
        "streams": {name: {"schema": schema} for name, schema in said["streams"].items()},
        "connection_points": {name: {"schema": schema} for name, schema in points.items()},
        "boxes": {"box": said["box"]},
        "outputs": {arc.replace(".", "_"): {"from": arc} for arc in said.get("outputs", ["box"])},
    }
    if not points:
        del document["connection_points"]
    schemas = {**said["streams"], **points}
    inputs = {name: [dict(zip(schemas[name], row, strict=True)) for row in rows] for name, rows in said["rows"].items()}
    text = yaml.safe_dump(document, sort_keys=False)
    clock = said.get("clock")
    return Shown(text, inputs, clock, aurora.testing.run_rows(text, inputs, clock=clock))


def _shown(run: Shown) -> list[str]:
    """The network, the rows that go in and the rows that come out."""
    network = loads(run.network)
    lines = ["```python", run.code.replace("@python_box", "@au.python_box"), "```", ""] if run.code else []
    lines += ["```yaml", network.to_yaml().strip(), "```", ""]
    clocked = f", with `{run.clock}` as the clock" if run.clock else ""
    for name, rows in run.inputs.items():
        columns = list((network.streams.get(name) or network.connection_points[name]).schema or ())
        values = [[row[column] for column in columns] for row in rows]
        lines += [f"In, on `{name}`{clocked}:", "", *rows_table(columns, values), ""]
    for name, frame in run.result.outputs.items():
        lines += [f"Out, on `{name}`:", "", *rows_table(frame.columns, frame.rows()), ""]
    return lines[:-1]
