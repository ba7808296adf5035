"""The kinds of source that a document can declare, with their parameters."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

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
)
from aurora.model.connectors import Source, source_kind
from aurora.model.element import Declaration, DurationField, Names
from aurora.model.forms import Holds, KeyedBy
from aurora.model.generators import check_columns
from aurora.model.naming import suggestion
from aurora.model.quantities import Duration
from aurora.model.schema import Schema
from aurora.model.sockets import check_ends, check_exposed


@source_kind
class FileSource(Source):
    """Reads a file from its start. With ``tail`` it goes on as the file grows, and follows it when it is rotated.

    Without ``format`` the extension says it, as for ``aurora run``. ``start: end`` leaves out what is there already.
    """

    kind: ClassVar[str] = "file"
    needs_format: ClassVar[bool] = False

    path: Line
    tail: bool = False
    start: Literal["start", "end"] = "start"
    poll: DurationField = Duration(200_000)

    def inspect(self, schema: Schema, report: Report) -> None:
        if self.tail and self.format is None:
            report.add("missing-parameter", "a file that is followed needs a 'format'", "add 'format', such as json")
        if self.start == "end" and not self.tail:
            found = "'start: end' leaves out what is there, and without 'tail' nothing else is read"
            report.at("start").add("conflicting-parameters", found, "add 'tail: true', or remove 'start'")
        check_positive(self.poll, "poll", report)


@source_kind
class TcpSource(Source):
    """Bytes over TCP: from all who connect to ``listen``, or from the one that ``connect`` names.

    Who may connect is not checked, so ``listen`` is a loopback address unless ``exposed`` says that others may too.
    """

    kind: ClassVar[str] = "tcp"

    listen: AddressField | None = None
    connect: AddressField | None = None
    exposed: bool = False
    connections: int = Field(1_000, ge=1)

    def inspect(self, schema: Schema, report: Report) -> None:
        check_ends(self.listen, self.connect, report)
        check_exposed(self.listen, self.exposed, report)


@source_kind
class UnixSource(Source):
    """The same over a Unix socket, whose address is a path."""

    kind: ClassVar[str] = "unix"

    listen: Line | None = None
    connect: Line | None = None
    connections: int = Field(1_000, ge=1)

    def inspect(self, schema: Schema, report: Report) -> None:
        check_ends(self.listen, self.connect, report)


@source_kind
class HttpSource(Source):
    """What others push over HTTP: the server has an endpoint for it, and each body is a message."""

    kind: ClassVar[str] = "http"

    max_bytes: SizeField = 16 << 20


@source_kind
class MqttSource(Source):
    """The messages of MQTT topics, which may have wildcards. ``session`` is the client id of a session that lasts."""

    kind: ClassVar[str] = "mqtt"

    broker: MqttBroker
    topics: Names
    qos: int = Field(1, ge=0, le=2)
    session: Line | None = None
    username: Line | None = None
    password_env: VariableName | None = None
    tls: bool = False

    def inspect(self, schema: Schema, report: Report) -> None:
        check_login(self.username, self.password_env, report)
        if not self.topics or not all(self.topics):
            report.at("topics").add("bad-value", "topics has no topic, or an empty one", "name at least one topic")


@source_kind
class KafkaSource(Source):
    """The messages of a Kafka topic. How far it has been read is kept by the brokers under ``group``."""

    kind: ClassVar[str] = "kafka"

    brokers: KafkaBrokers
    topic: Line
    group: Line | None = None
    start: Literal["earliest", "latest"] = "earliest"
    username: Line | None = None
    password_env: VariableName | None = None
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512"
    tls: bool = False

    def inspect(self, schema: Schema, report: Report) -> None:
        check_login(self.username, self.password_env, report)


@source_kind
class PostgresSource(Source):
    """Rows of a query that is asked again and again, or what others send with NOTIFY.

    The ``cursor`` column grows from row to row; only rows beyond the greatest that was seen are asked for, beginning
    beyond ``start``. With ``notify``, the payloads of that channel are messages in ``format``.
    """

    kind: ClassVar[str] = "postgres"
    needs_format: ClassVar[bool] = False

    url: DatabaseAddress
    password_env: VariableName | None = None
    query: Annotated[str, Holds("sql")] | None = None
    cursor: Annotated[Line, Holds("column")] | None = None
    start: int | float | str | None = None
    poll: DurationField = Duration(1_000_000)
    batch: int = Field(10_000, ge=1)
    notify: Line | None = None

    def inspect(self, schema: Schema, report: Report) -> None:
        if (self.query is None) == (self.notify is None):
            found = "neither 'query' nor 'notify' is given" if self.query is None else "'query' and 'notify' are given"
            report.add("conflicting-parameters", found, "give one of them", choices=("query", "notify"))
        elif self.query is not None:
            if self.cursor is None:
                found = "'query' is asked again and again, and no 'cursor' says what is new"
                report.add("missing-parameter", found, "name a column that grows from row to row")
            elif self.cursor not in schema:
                hint = suggestion(self.cursor, schema, "use one of the choices")
                found = f"there is no column {self.cursor!r}"
                report.at("cursor").add("unknown-column", found, hint, choices=schema)
            if self.format is not None:
                found = "rows of a query have no format"
                report.at("format").add("conflicting-parameters", found, "remove 'format'")
        elif self.format is None:
            report.add("missing-parameter", "'format' is not given", "say what the payloads are, such as json")
        check_positive(self.poll, "poll", report)


class Bursts(Declaration):
    """Every so often the rate is another for a while."""

    every: DurationField
    last: DurationField
    rate: float = Field(gt=0, le=1e9)


@source_kind
class GeneratorSource(Source):
    """Tuples that are made up: ``rate`` per second, other rates in ``bursts``, the same tuples for the same ``seed``.

    ``columns`` says how each column is made; a column that is left out is NULL. Of the tuples only those come for which
    ``where`` holds: so some can fall silent for a while. ``count`` ends it.
    """

    kind: ClassVar[str] = "generator"
    needs_format: ClassVar[bool] = False

    rate: float = Field(gt=0, le=1e9)
    columns: Annotated[dict[str, Annotated[Any, Holds("made", scope="generator")]], KeyedBy("column")] = Field(
        default_factory=dict
    )
    where: Annotated[str, Holds("expression", expect="bool", scope="generator")] | None = None
    bursts: Bursts | None = None
    seed: int = Field(0, ge=0)
    count: int | None = Field(None, ge=0)

    def inspect(self, schema: Schema, report: Report) -> None:
        if self.format is not None:
            found = "tuples that are made up have no format"
            report.at("format").add("conflicting-parameters", found, "remove 'format'")
        check_columns(self.columns, schema, report.at("columns"))
        if self.bursts is not None and not 0 < self.bursts.last.us < self.bursts.every.us:
            found = f"bursts last {self.bursts.last} and come every {self.bursts.every}"
            report.at("bursts").add("bad-value", found, "let them last less long than the time between them")


@source_kind
class ReplaySource(Source):
    """A recorded file at the pace at which it was recorded, or ``speed`` times as fast, by its column ``time``.

    The file's extension says its format. With ``repeat`` it begins anew at its end.
    """

    kind: ClassVar[str] = "replay"
    needs_format: ClassVar[bool] = False

    path: Line
    time: Annotated[Line, Holds("column")]
    speed: float = Field(1.0, gt=0, le=1e9)
    repeat: bool = False

    def inspect(self, schema: Schema, report: Report) -> None:
        if self.format is not None:
            found = "the extension of a recorded file says its format"
            report.at("format").add("conflicting-parameters", found, "remove 'format'")
        legal = [name for name, kind in schema.items() if kind.name in ("timestamp", "int", "double")]
        if self.time not in legal:
            found = f"there is no column {self.time!r} that tells the time"
            hint = suggestion(self.time, legal, "name a timestamp, or a number of seconds")
            report.at("time").add("unknown-column", found, hint, choices=legal)


def check_login(username: str | None, password_env: str | None, report: Report) -> None:
    if password_env is not None and username is None:
        found = "'password_env' is given without 'username'"
        report.add("missing-parameter", found, "add 'username'")


def check_positive(duration: Duration, parameter: str, report: Report) -> None:
    if duration.us <= 0:
        report.at(parameter).add("not-positive", f"{duration} is not greater than 0", "give a time, such as 1s")
