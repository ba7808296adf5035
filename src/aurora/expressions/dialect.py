"""The SQL that expressions are written in, as a sqlglot dialect.

It stands on DuckDB's, which is closest to what we want: double quotes make identifiers, ``//`` and ``div`` divide
integers, ``~`` matches a regular expression, ``filter (where ...)`` follows aggregates, and backslashes in strings
are plain characters, so that regular expressions can be written as they are. Two things differ. ``^`` is the
bitwise exclusive or, as in Spark, not a power. And sqlglot's own table of functions is empty: every call arrives
as a name with arguments, so that Aurora's table of functions alone says what exists and what it means.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.tokenizer_core import TokenType

_SYNTAX = ("CAST", "TRY_CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM")
"""Calls with a syntax of their own, such as ``extract(hour from t)``; all others are name(argument, ...)."""


class AuroraParser(DuckDBParser):
    FUNCTIONS: ClassVar = {}
    FUNCTION_PARSERS: ClassVar = {name: DuckDBParser.FUNCTION_PARSERS[name] for name in _SYNTAX}
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": DuckDBParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}
    NO_PAREN_FUNCTIONS: ClassVar = {}
    BITWISE: ClassVar = {**DuckDBParser.BITWISE, TokenType.CARET: exp.BitwiseXor}
    EXPONENT: ClassVar = {}
    TYPE_CONVERTERS: ClassVar = {}
    FUNC_TOKENS: ClassVar = {*DuckDBParser.FUNC_TOKENS, TokenType.DIV}


class Aurora(DuckDB):
    INDEX_OFFSET = 0  # sqlglot would count the n of list[n] from 0; here it stays as it is written.
    Parser = AuroraParser
