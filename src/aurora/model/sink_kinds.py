"""The kinds of sink that a document can declare, with their parameters."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from aurora.errors import Report
from aurora.model.addresses import (
    AddressField,
    DatabaseAddress,
    KafkaBrokers,
    Line,
    MqttBroker,
    SizeField,
    VariableName,
    WebAddress,
)
from aurora.model.connectors import Sink, sink_kind
from aurora.model.element import Declaration, DurationField
from aurora.model.forms import Holds
from aurora.model.naming import suggestion
from aurora.model.quantities import Duration
from aurora.model.schema import Schema
from aurora.model.sockets import check_ends, check_exposed
from aurora.model.source_kinds import check_login, check_positive


class Rotation(Declaration):
    """When a file is finished and the next one begun: at so many bytes, or so long after its first tuple."""

    size: SizeField | None = None
    age: DurationField | None = None


@sink_kind
class FileSink(Sink):
    """Writes a file; without ``format`` the extension says it, as for ``aurora run``.

    With ``rotate`` there are many, ``alarms-000001.parquet`` and so on. One that is being written begins with a dot.
    """

    kind: ClassVar[str] = "file"
    needs_format: ClassVar[bool] = False

    path: Line
    rotate: Rotation | None = None

    def inspect(self, schema: Schema, report: Report) -> None:
        if self.rotate is not None and self.rotate.size is None and self.rotate.age is None:
            found = "'rotate' says neither 'size' nor 'age'"
            report.at("rotate").add("missing-parameter", found, "give one of them", choices=("size", "age"))
        if self.rotate is not None and self.rotate.age is not None:
            check_positive(self.rotate.age, "age", report.at("rotate"))


@sink_kind
class TcpSink(Sink):
    """Bytes over TCP: to all who connect to ``listen``, from then on, or to the one that ``connect`` names."""

    kind: ClassVar[str] = "tcp"

    listen: AddressField | None = None
    connect: AddressField | None = None
    exposed: bool = False
    connections: int = Field(1_000, ge=1)
    behind: SizeField = 8 << 20

    def inspect(self, schema: Schema, report: Report) -> None:
        check_ends(self.listen, self.connect, report)
        check_exposed(self.listen, self.exposed, report)


@sink_kind
class UnixSink(Sink):
    """The same over a Unix socket, whose address is a path."""

    kind: ClassVar[str] = "unix"

    listen: Line | None = None
    connect: Line | None = None
    connections: int = Field(1_000, ge=1)
    behind: SizeField = 8 << 20

    def inspect(self, schema: Schema, report: Report) -> None:
        check_ends(self.listen, self.connect, report)


@sink_kind
class WebhookSink(Sink):
    """Posts tuples to an address, up to ``batch`` in a request.

    A request that fails is tried ``attempts`` times; then its tuples are dead letters, which are counted.
    ``headers_env`` has headers whose values stand in environment variables, such as ``Authorization``.
    """

    kind: ClassVar[str] = "webhook"

    url: WebAddress
    batch: int = Field(1_000, ge=1)
    attempts: int = Field(5, ge=1)
    timeout: DurationField = Duration(10_000_000)
    headers: dict[Line, Line] = Field(default_factory=dict)
    headers_env: dict[Line, VariableName] = Field(default_factory=dict)

    def inspect(self, schema: Schema, report: Report) -> None:
        check_positive(self.timeout, "timeout", report)
        for name in self.headers:
            if name.lower() in ("authorization", "proxy-authorization", "cookie"):
                found = f"the header {name} holds a secret"
                report.at("headers", name).add("bad-value", found, "name a variable that holds it under 'headers_env'")


@sink_kind
class MqttSink(Sink):
    """Publishes a message for each tuple to an MQTT topic."""

    kind: ClassVar[str] = "mqtt"

    broker: MqttBroker
    topic: Line
    qos: int = Field(1, ge=0, le=2)
    retain: bool = False
    username: Line | None = None
    password_env: VariableName | None = None
    tls: bool = False

    def inspect(self, schema: Schema, report: Report) -> None:
        check_login(self.username, self.password_env, report)
        if "#" in self.topic or "+" in self.topic:
            found = f"{self.topic!r} has a wildcard"
            report.at("topic").add("bad-value", found, "name one topic to publish to")


@sink_kind
class KafkaSink(Sink):
    """Produces a message for each tuple to a Kafka topic; tuples with the same ``key`` go to the same partition."""

    kind: ClassVar[str] = "kafka"

    brokers: KafkaBrokers
    topic: Line
    key: Annotated[Line, Holds("column")] | None = None
    username: Line | None = None
    password_env: VariableName | None = None
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512"
    tls: bool = False

    def inspect(self, schema: Schema, report: Report) -> None:
        check_login(self.username, self.password_env, report)
        if self.key is not None and self.key not in schema:
            hint = suggestion(self.key, schema, "use one of the choices")
            report.at("key").add("unknown-column", f"there is no column {self.key!r}", hint, choices=schema)


@sink_kind
class PostgresSink(Sink):
    """Inserts tuples into a table whose columns have the same names, up to ``batch`` at once."""

    kind: ClassVar[str] = "postgres"
    needs_format: ClassVar[bool] = False

    url: DatabaseAddress
    password_env: VariableName | None = None
    table: Line
    batch: int = Field(10_000, ge=1)

    def inspect(self, schema: Schema, report: Report) -> None:
        if self.format is not None:
            found = "rows of a table have no format"
            report.at("format").add("conflicting-parameters", found, "remove 'format'")
