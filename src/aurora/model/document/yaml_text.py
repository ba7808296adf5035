"""YAML texts: events for reading them, and text from plain data.

Plain scalars follow YAML 1.2's core schema: ``on``, ``no`` and ``1:30`` are text, as people who name a parameter
``on`` expect. There are no infinities and no tags.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import yaml

from aurora.model.document.tree import Event, MalformedError

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_LONGEST_NUMBER = 40
_WIDTH = 110
_FLOW_WIDTH = 88


def resolve(text: str) -> Any:
    """The value of a plain scalar.

    >>> [resolve(text) for text in ("on", "5", "0.5", "5s", "true", "~")]
    ['on', 5, 0.5, '5s', True, None]
    """
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def events(text: str) -> Iterator[Event]:
    """The events of the one document in the text; raises MalformedError where it is not YAML."""
    try:
        documents = 0
        for event in yaml.parse(text, Loader=_LOADER):
            line = event.start_mark.line + 1
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise MalformedError("malformed-document", "a second document starts", "keep one per file", line)
            elif isinstance(event, yaml.AliasEvent):
                yield Event("alias", line, event.anchor)
            elif isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
                yield _started(event, line)
            elif isinstance(event, yaml.CollectionEndEvent):
                yield Event("end", line)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(part for part in (error.context, error.problem) if part)
        line = None if mark is None else mark.line + 1
        raise MalformedError("malformed-document", f"this is not YAML: {said}", "correct the text", line) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        found = f"a character that YAML does not allow: {error.reason}"
        raise MalformedError("malformed-document", found, "remove it, or escape it in double quotes", line) from None
    except yaml.YAMLError as error:
        raise MalformedError("malformed-document", f"this is not YAML: {error}", "correct the text") from None


def _started(event: Any, line: int) -> Event:
    if event.tag not in (None, "!"):
        raise MalformedError("malformed-document", f"the tag {event.tag}", "remove it; documents have no tags", line)
    if isinstance(event, yaml.ScalarEvent):
        plain = event.implicit[0]
        return Event("scalar", line, resolve(event.value) if plain else event.value, event.anchor)
    kind: Any = "mapping" if isinstance(event, yaml.MappingStartEvent) else "list"
    return Event(kind, line, None, event.anchor)


def dump(data: dict[str, Any]) -> str:
    """The data as YAML for people: short lists and mappings of parameters on one line, long texts as blocks."""
    stream = [yaml.StreamStartEvent(), yaml.DocumentStartEvent(explicit=False)]
    stream += _written(data, 0)
    stream += [yaml.DocumentEndEvent(explicit=False), yaml.StreamEndEvent()]
    text: str = yaml.emit(stream, width=_WIDTH, allow_unicode=True)
    return text


def _written(value: Any, depth: int, *, flow: bool = False) -> Iterator[Any]:
    if isinstance(value, dict | list):
        # Sections and elements are easier to read as blocks, what stands inside an element on a line of its own.
        inside = depth >= 3 or isinstance(value, list)
        flow = flow or not value or (inside and len(_one_line(value)) <= _FLOW_WIDTH)
        if isinstance(value, dict):
            yield yaml.MappingStartEvent(None, None, True, flow_style=flow)
            for key, item in value.items():
                yield _scalar(key)
                yield from _written(item, depth + 1, flow=flow)
            yield yaml.MappingEndEvent()
        else:
            yield yaml.SequenceStartEvent(None, None, True, flow_style=flow)
            for item in value:
                yield from _written(item, depth + 1, flow=flow)
            yield yaml.SequenceEndEvent()
    else:
        yield _scalar(value, block=not flow)


def _one_line(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_one_line(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_one_line(item) for item in value) + "]"
    text = str(value)
    return text * _FLOW_WIDTH if "\n" in text else text


def _scalar(value: Any, *, block: bool = False) -> Any:
    if isinstance(value, str):
        plain = isinstance(resolve(value), str)
        return yaml.ScalarEvent(None, None, (plain, True), value, style=_style(value, block))
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    return yaml.ScalarEvent(None, None, (True, False), text)


def _style(text: str, block: bool) -> str | None:
    """A block for clean lines; double quotes for what other styles would not keep; else what the emitter finds best."""
    if not block or "\n" not in text:
        return None if text.isprintable() else '"'
    lines = text.split("\n")
    clean = lines[0].strip() == lines[0] != "" and all(line.isprintable() and line.rstrip() == line for line in lines)
    return "|" if clean else '"'
