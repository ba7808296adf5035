"""From text to sqlglot's tree: limits, syntax errors, and where in the text they stand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from aurora.errors import Report, Span
from aurora.expressions.dialect import Aurora

MAX_CHARACTERS = 100_000
MAX_NESTING = 25
"""How deep parentheses, calls and CASE may be nested. The parser needs about 22 Python frames for each level."""
MAX_PREFIXES = 50
"""How many NOT, - or ~ may follow each other directly."""
MAX_DEPTH = 100
"""How deep the tree may be. AND, OR and || do not count: their chains are flattened."""

_DIALECT = Aurora()
_OPENING = {TokenType.L_PAREN, TokenType.CASE, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSING = {TokenType.R_PAREN, TokenType.END, TokenType.R_BRACKET, TokenType.R_BRACE}
_PREFIX = {TokenType.NOT, TokenType.DASH, TokenType.TILDE, TokenType.PLUS}

_QUOTED = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|/\*.*?\*/|--[^\n]*|(?P<open>'|"|/\*)""",
    re.DOTALL,
)
"""Quotes and comments that are closed, and then those that are not."""

_SPLIT = "compute the parts in a map box first, or write it flatter"


def parse(text: str, report: Report) -> exp.Expr | None:
    """The syntax tree, or None if ``report`` was given a problem."""
    if len(text) > MAX_CHARACTERS:
        report.add("too-long", f"an expression of {len(text)} characters", f"the limit is {MAX_CHARACTERS}; {_SPLIT}")
        return None
    try:
        tokens = _DIALECT.tokenize(text)
    except TokenError as error:
        found = f"{_clip(text)}: {_first_line(error)}"
        report.add("syntax-error", found, "close every quote and comment", span=_unclosed(text))
        return None
    if not tokens:
        report.add("syntax-error", "an empty expression", "write an SQL expression such as price > 100")
        return None
    if not _limits_hold(tokens, text, report):
        return None
    try:
        trees = _DIALECT.parser().parse_into(exp.Condition, tokens, text)
    except ParseError as error:
        _report_syntax(error, text, report)
        return None
    except RecursionError:
        report.add("too-deep", f"{_clip(text)} is nested too deeply", _SPLIT)
        return None
    if len(trees) != 1 or trees[0] is None:
        report.add("syntax-error", f"{_clip(text)} is not one expression", "write one SQL expression, without ;")
        return None
    if _depth(trees[0]) > MAX_DEPTH:
        found = f"{_clip(text)} is a chain of more than {MAX_DEPTH} operators"
        report.add("too-deep", found, _SPLIT)
        return None
    return trees[0]


def _depth(tree: exp.Expr) -> int:
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        for child in node.iter_expressions():
            flat = type(child) is type(node) and isinstance(node, exp.And | exp.Or | exp.DPipe)
            waiting.append((child, depth if flat else depth + 1))
    return deepest


def _limits_hold(tokens: list[Token], text: str, report: Report) -> bool:
    depth = deepest = prefixes = longest = 0
    for token in tokens:
        if token.token_type in _OPENING:
            depth += 1
        elif token.token_type in _CLOSING:
            depth -= 1
        deepest = max(deepest, depth)
        prefixes = prefixes + 1 if token.token_type in _PREFIX else 0
        longest = max(longest, prefixes)
    if deepest > MAX_NESTING or longest > MAX_PREFIXES:
        found = f"{_clip(text)} is nested {max(deepest, longest)} levels deep"
        report.add("too-deep", found, f"the limit is {MAX_NESTING}; {_SPLIT}")
        return False
    opened = sum(token.token_type is TokenType.L_PAREN for token in tokens)
    closed = sum(token.token_type is TokenType.R_PAREN for token in tokens)
    if opened != closed:
        found = f"{_clip(text)} opens {opened} parentheses and closes {closed}"
        report.add("syntax-error", found, "close every parenthesis that is opened", span=_unmatched(tokens))
        return False
    return True


def _report_syntax(error: ParseError, text: str, report: Report) -> None:
    details = next((found for found in error.errors if found.get("description")), {})
    where = ""
    if details.get("line") is not None:
        column, line = details.get("col"), details["line"]
        where = f" at column {column}" if line == 1 else f" at line {line}, column {column}"
    near = str(details.get("highlight") or "").strip()
    what = str(details.get("description", "not an expression")).rstrip(".")
    if what.startswith("Required keyword"):
        what = "an operand is missing"
    found = f"{_clip(text)}: {what}{where}"
    way_out = "write an SQL expression; put a column name that is an SQL keyword in double quotes"
    report.add("syntax-error", found + (f", near {near!r}" if near else ""), way_out, span=_place(details, text))


def _place(details: Mapping[str, Any], text: str) -> Span | None:
    """The word that sqlglot stopped at: it tells the line, the column of the word's last character, and the word."""
    if details.get("line") is None or not details.get("highlight"):
        return None
    before = sum(len(line) for line in text.splitlines(keepends=True)[: details["line"] - 1])
    end = before + int(details["col"])
    return end - len(details["highlight"]), end


def _unmatched(tokens: list[Token]) -> Span | None:
    """The last parenthesis that is never closed, or the first that was never opened."""
    opened: list[Token] = []
    for token in tokens:
        if token.token_type is TokenType.L_PAREN:
            opened.append(token)
        elif token.token_type is TokenType.R_PAREN:
            if not opened:
                return token.start, token.end + 1
            opened.pop()
    return (opened[-1].start, opened[-1].end + 1) if opened else None


def _unclosed(text: str) -> Span | None:
    """From the quote or comment that has no end to the end of the text."""
    for match in _QUOTED.finditer(text):
        if match.lastgroup == "open":
            return match.start(), len(text)
    return None


def _clip(text: str, size: int = 60) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= size else text[: size - 3] + "...")


def _first_line(error: Exception) -> str:
    return str(error).split("\n")[0].split(" from ")[0].rstrip(".:")
