"""From declarations to what runs. Modules of kinds that nobody declared are never imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aurora.clock import Clock
from aurora.connectors.converters.base import Converter
from aurora.connectors.converters.registry import converter
from aurora.connectors.live.endpoints import Endpoint
from aurora.connectors.live.failures import HopelessError
from aurora.connectors.live.halt import Halt
from aurora.connectors.live.outflow import LiveSink
from aurora.connectors.live.state import Meter
from aurora.connectors.live.worker import LiveSource
from aurora.model import sink_kinds, source_kinds
from aurora.model.addresses import HostPort
from aurora.model.connectors import Connector, Sink, Source
from aurora.model.schema import Schema

SECRETS = "AURORA_SECRET_"
"""Where a document is not the operator's own, it may name only variables that begin with this."""


@dataclass(frozen=True)
class Surroundings:
    """What declarations refer to: paths in ``folder``, variables in ``environment``.

    A document that came from a client is ``confined``: its paths do not leave the folder, and of the environment it
    sees only what is meant for it.
    """

    network: str
    folder: Path
    environment: Mapping[str, str]
    clock: Clock
    confined: bool = False

    def path(self, given: str) -> Path:
        path = Path(self.folder, given).resolve()
        if self.confined and not path.is_relative_to(self.folder.resolve()):
            raise HopelessError(f"{given!r} leads out of the folder that documents may use; give a path inside it")
        return path

    def variables(self) -> Mapping[str, str]:
        if not self.confined:
            return self.environment
        return {name: value for name, value in self.environment.items() if name.startswith(SECRETS)}

    def endpoint(self, given: HostPort | str) -> Endpoint:
        return Endpoint(given if isinstance(given, HostPort) else self.path(given))


def _converter(declared: Connector, schema: Schema) -> Converter:
    return converter(str(declared.format), schema, declared.options)


def make_source(declared: Source, schema: Schema, around: Surroundings) -> LiveSource:
    if isinstance(declared, source_kinds.FileSource):
        from aurora.connectors.sources.files import ConvertedFile, Tail, WholeFile

        path = around.path(declared.path)
        if declared.format is None:
            return WholeFile(path, schema)
        if not declared.tail:
            return ConvertedFile(path, _converter(declared, schema))
        from_end = declared.start == "end"
        return Tail(path, _converter(declared, schema), declared.poll.seconds, from_end=from_end)
    if isinstance(declared, source_kinds.TcpSource | source_kinds.UnixSource):
        from aurora.connectors.sources.sockets import ConnectedSource, ListeningSource

        if declared.listen is not None:
            listen = around.endpoint(declared.listen)
            return ListeningSource(listen, _converter(declared, schema), declared.connections)
        assert declared.connect is not None
        return ConnectedSource(around.endpoint(declared.connect), _converter(declared, schema))
    if isinstance(declared, source_kinds.HttpSource):
        from aurora.connectors.sources.http import HttpSource

        return HttpSource(_converter(declared, schema), declared.max_bytes)
    if isinstance(declared, source_kinds.MqttSource):
        from aurora.connectors.sources.mqtt import MqttSource

        return MqttSource(declared, _converter(declared, schema), around.variables())
    if isinstance(declared, source_kinds.KafkaSource):
        from aurora.connectors.sources.kafka import KafkaSource

        return KafkaSource(declared, _converter(declared, schema), around.variables(), around.network)
    if isinstance(declared, source_kinds.PostgresSource):
        from aurora.connectors.sources.postgres import Notifications, PolledQuery

        if declared.query is not None:
            return PolledQuery(declared, schema, around.variables())
        return Notifications(declared, _converter(declared, schema), around.variables())
    if isinstance(declared, source_kinds.GeneratorSource):
        from aurora.connectors.sources.generator import GeneratorSource

        return GeneratorSource(declared, schema)
    if isinstance(declared, source_kinds.ReplaySource):
        from aurora.connectors.sources.replay import ReplaySource

        return ReplaySource(declared, around.path(declared.path), schema)
    raise HopelessError(f"nothing runs sources of the kind {declared.kind!r}; use another kind")


def make_sink(declared: Sink, schema: Schema, around: Surroundings, meter: Meter, halt: Halt) -> LiveSink:
    if isinstance(declared, sink_kinds.FileSink):
        from aurora.connectors.sinks.files import FileSink

        bytes_of = None if declared.format is None else _converter(declared, schema)
        return FileSink(around.path(declared.path), schema, bytes_of, declared.rotate, around.clock)
    if isinstance(declared, sink_kinds.TcpSink | sink_kinds.UnixSink):
        from aurora.connectors.sinks.sockets import ConnectedSink, ListeningSink

        bytes_of = _converter(declared, schema)
        if declared.listen is not None:
            listen = around.endpoint(declared.listen)
            return ListeningSink(listen, bytes_of, declared.connections, declared.behind, meter)
        assert declared.connect is not None
        return ConnectedSink(around.endpoint(declared.connect), bytes_of, meter)
    if isinstance(declared, sink_kinds.WebhookSink):
        from aurora.connectors.sinks.webhook import WebhookSink

        return WebhookSink(declared, _converter(declared, schema), around.variables(), meter)
    if isinstance(declared, sink_kinds.MqttSink):
        from aurora.connectors.sinks.mqtt import MqttSink

        return MqttSink(declared, _converter(declared, schema), around.variables(), halt, meter)
    if isinstance(declared, sink_kinds.KafkaSink):
        from aurora.connectors.sinks.kafka import KafkaSink

        return KafkaSink(declared, _converter(declared, schema), around.variables(), meter)
    if isinstance(declared, sink_kinds.PostgresSink):
        from aurora.connectors.sinks.postgres import PostgresSink

        return PostgresSink(declared, schema, around.variables())
    raise HopelessError(f"nothing runs sinks of the kind {declared.kind!r}; use another kind")
