"""What a check of a document needs converters and expressions for; the model asks for it."""

from __future__ import annotations

from aurora.connectors.converters.registry import converter, converter_names
from aurora.connectors.sources.generator import typed_columns, typed_where
from aurora.errors import ExpressionError, InputError, Report
from aurora.model.connectors import Connector, check_with
from aurora.model.naming import suggestion
from aurora.model.schema import Schema
from aurora.model.source_kinds import GeneratorSource


def check_live(connector: Connector, schema: Schema, report: Report) -> None:
    if connector.format is not None:
        _check_format(connector, connector.format, schema, report)
    if isinstance(connector, GeneratorSource):
        try:
            typed_columns(connector.columns, schema, report.at("columns"))
        except ExpressionError as error:
            report.at("columns").take(error.problems)
        if connector.where is not None:
            try:
                typed_where(connector.where, connector.columns, schema)
            except ExpressionError as error:
                report.at("where").take(error.problems)


def _check_format(connector: Connector, format: str, schema: Schema, report: Report) -> None:
    names = converter_names()
    if format not in names:
        hint = suggestion(format, names, "use one of the choices")
        report.at("format").add("unknown-format", f"there is no format {format!r}", hint, choices=names)
        return
    try:
        converter(format, schema, connector.options)
    except InputError as error:
        found, _, instead = str(error).rpartition("; ")
        place = report.at("options") if connector.options else report.at("format")
        place.add("bad-options", found or str(error), instead if found else "correct the options of the format")


check_with(check_live)
