"""``aurora convert``: a converter tried out, from one format to another."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import aurora.boxes  # noqa: F401  (puts the kinds of box on their list)
from aurora.cli.failure import CANNOT_USE, say
from aurora.connectors.bytes_in import STANDARD, Blocks
from aurora.connectors.bytes_out import BytesOut, GrowingFile, StandardOutput
from aurora.connectors.converters.base import Decoded
from aurora.connectors.converters.registry import converter
from aurora.connectors.rejected import Rejected, RejectedWriter
from aurora.errors import InputError, NetworkError, Report, did_you_mean
from aurora.model.document import load
from aurora.model.elements import read_schema
from aurora.model.schema import Schema

_SHOWN = 10
_INPUT, _OUTPUT = "input", "output"


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    input: str
    output: str
    source: str
    target: str
    schema: str | None
    network: Path | None
    stream: str | None
    source_options: tuple[str, ...]
    target_options: tuple[str, ...]
    rejected: Path | None
    quiet: bool


def convert(request: Request) -> int:
    schema = _schema(request)
    reader = converter(request.source, schema, _options("--from-option", request.source_options))
    writer = converter(request.target, schema, _options("--to-option", request.target_options))
    if request.input == request.output != STANDARD:
        raise InputError(f"{request.output} is both read and written; name another --output")
    decoder, encoder = reader.decoder(), writer.encoder()
    with ExitStack() as stack:
        blocks = Blocks(request.input)
        stack.callback(blocks.close)
        refused = _Refused(request)
        stack.callback(refused.close)
        header = encoder.header()
        out: BytesOut = StandardOutput(header) if request.output == STANDARD else GrowingFile(request.output, header)
        stack.callback(out.close)
        tuples = 0
        decoded: Decoded | None = None
        while decoded is None or not decoded.broken:
            block = blocks.read()
            decoded = decoder.feed(block) if block else decoder.finish()
            for one in decoded.rejected:
                refused.note(one.of(_INPUT))
            encoded = encoder.encode(decoded.frame)
            for one in encoded.rejected:
                refused.note(Rejected(_OUTPUT, tuples + one.place, one.reason, one.text))
            out.write(encoded.data)
            tuples += decoded.frame.height
            if not block:
                break
        out.write(encoder.footer())
    refused.show(tuples)
    if decoded.broken:
        say(f"error: {blocks.name} cannot be read any further: {decoded.broken}")
        return CANNOT_USE
    return 0


class _Refused:
    """What could not be converted: in a file, or the first of it on standard error."""

    def __init__(self, request: Request) -> None:
        self._quiet = request.quiet
        self._file = request.rejected
        self._writer: RejectedWriter | None = None
        self._counts = {_INPUT: 0, _OUTPUT: 0}
        if self._file is not None:
            taken = [Path(name) for name in (request.input, request.output) if name != STANDARD]
            self._writer = RejectedWriter((_INPUT, _OUTPUT), file=self._file, spare=taken)
            self._writer.begin()

    def note(self, row: Rejected) -> None:
        self._counts[row.stream] += 1
        if self._writer is not None:
            self._writer(row)
        elif sum(self._counts.values()) <= _SHOWN:
            say(f"rejected, {row.stream} {row.line}: {row.reason}")

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def show(self, tuples: int) -> None:
        """Rejections are told even to those who want quiet: nothing is lost silently."""
        total = sum(self._counts.values())
        if self._quiet and not total:
            return
        where = f"; see {self._file}" if total and self._file is not None else ""
        read, unwritten = self._counts[_INPUT], self._counts[_OUTPUT]
        rejected = f"{read:,} rejected" + (f", and {unwritten:,} have no place in the output" if unwritten else "")
        say(f"{tuples:,} tuples read, {rejected}{where}")


def _schema(request: Request) -> Schema:
    if (request.schema is None) == (request.network is None):
        raise InputError("give the columns either with --schema or with --network, and a --stream of it")
    if request.network is not None:
        return _stream_schema(request.network, request.stream)
    text = str(request.schema).strip()
    try:
        plain = yaml.safe_load(text if text.startswith("{") else "{" + text + "}")
    except yaml.YAMLError as error:
        raise InputError(f"--schema {text}: {error}; write ticker: string, price: double") from None
    report = Report("--schema")
    schema = read_schema(plain, report)
    if schema is None:
        raise NetworkError(report.problems)
    return schema


def _stream_schema(network: Path, stream: str | None) -> Schema:
    streams = load(network).streams
    if stream is None and len(streams) == 1:
        return next(iter(streams.values())).schema
    if stream not in streams:
        names = ", ".join(streams)
        what = "name the stream with --stream" if stream is None else f"--stream {stream}: there is no such stream"
        hint = did_you_mean(stream or "", streams)
        raise InputError(f"{what}; {network} has {names}" + (f"; {hint}" if hint else ""))
    return streams[stream].schema


def _options(option: str, texts: tuple[str, ...]) -> dict[str, Any]:
    """Values are written as in a document: ``fields={price: f4}``, ``header=false``."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"{option} {text}: write NAME=VALUE")
        try:
            parsed = yaml.safe_load(value)
        except yaml.YAMLError:
            parsed = value
        plain = parsed is None or (isinstance(parsed, str) and not value.startswith(("'", '"')))
        found[name.strip()] = value if plain else parsed
    return found
