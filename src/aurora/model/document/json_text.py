"""JSON texts as events. The standard library's reader tells no lines and takes double keys in silence."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aurora.model.document.tree import Event, MalformedError

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True)
class _Token:
    """A sign, or a value with an empty sign. The end of the text is a sign as well."""

    sign: str
    line: int
    value: Any = None

    def __str__(self) -> str:
        return self.sign or repr(self.value)[:40]


def events(text: str) -> Iterator[Event]:
    """The events of the document in the text; raises MalformedError where it is not JSON."""
    awaited: list[str] = []
    wanted = "a value"
    for token in _tokens(text):
        if awaited and token.sign == awaited[-1] and wanted.endswith(token.sign):
            awaited.pop()
            yield Event("end", token.line)
        elif wanted.startswith("a key") and isinstance(token.value, str):
            yield Event("scalar", token.line, token.value)
            wanted = "a colon"
            continue
        elif wanted == "a colon" and token.sign == ":":
            wanted = "a value"
            continue
        elif wanted.startswith("a comma") and token.sign == ",":
            wanted = "a key" if awaited[-1] == "}" else "a value"
            continue
        elif wanted.startswith("a value") and token.sign in ("{", "["):
            yield Event("mapping" if token.sign == "{" else "list", token.line)
            awaited.append("}" if token.sign == "{" else "]")
            wanted = "a key or }" if token.sign == "{" else "a value or ]"
            continue
        elif wanted.startswith("a value") and not token.sign:
            yield Event("scalar", token.line, token.value)
        elif token.sign != wanted:
            raise _wrong(f"{token} stands where {wanted} should be", token.line)
        wanted = f"a comma or {awaited[-1]}" if awaited else _END


_END = "the end of the text"


def _tokens(text: str) -> Iterator[_Token]:
    at, line = 0, 1
    while True:
        space = _SPACE.match(text, at)
        after = at if space is None else space.end()
        line += text.count("\n", at, after)
        at = after
        if at == len(text):
            yield _Token(_END, line)
            return
        if text[at] in "{}[],:":
            yield _Token(text[at], line)
            at += 1
        else:
            value, at = _value(text, at, line)
            yield _Token("", line, value)


def _value(text: str, at: int, line: int) -> tuple[Any, int]:
    if text[at] == '"':
        literal = _STRING.match(text, at)
        if literal is None:
            raise _wrong("a text has no end on its line, or holds a control character", line)
        try:
            value = json.loads(literal[0])
        except json.JSONDecodeError as error:
            raise _wrong(error.msg, line) from None
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise _wrong("half of a surrogate pair stands in a text", line)
        return value, literal.end()
    for word, value in _WORDS.items():
        if text.startswith(word, at):
            return value, at + len(word)
    match = _NUMBER.match(text, at)
    if match is None:
        raise _wrong(f"{text[at]!r} begins no value", line)
    whole = match[2] is None and match[3] is None
    number = int(match[0]) if whole and len(match[0]) <= 40 else float(match[0])
    if not math.isfinite(number):
        raise _wrong(f"the number {match[0][:40]} is too large", line)
    return number, match.end()


def _wrong(what: str, line: int) -> MalformedError:
    return MalformedError("malformed-document", f"this is not JSON: {what}", "correct the text", line)
