"""The outputs of a live engine: where what comes out waits, is handed to subscribers, or is written to a log."""

from __future__ import annotations

from aurora.connectors.source import Sink
from aurora.engine.delivery import rejected_by
from aurora.engine.naming import unknown
from aurora.engine.outlets import Outlet
from aurora.errors import InputError
from aurora.model.schema import Schema
from aurora.model.typed import TypedNetwork
from aurora.processors.poison import REJECTED, runs_user_code


def output_schemas(typed: TypedNetwork) -> dict[str, Schema]:
    """The columns of all that can be dequeued: the outputs, and what boxes with the operator's code reject."""
    schemas = {name: typed.arcs[producer].schema for name, producer in typed.outputs.items()}
    users = [name for name, box in typed.network.boxes.items() if runs_user_code(box)]
    return schemas | {rejected_by(name): REJECTED for name in users}


class Outputs:
    """``sinks`` has where every output goes. An output that is no more stays until what waits there was dequeued."""

    def __init__(self, typed: TypedNetwork) -> None:
        self.schemas = output_schemas(typed)
        self._outlets = {name: Outlet(name) for name in self.schemas}
        self._retired: dict[str, Outlet] = {}
        self.sinks: dict[str, Sink] = {**self._outlets}

    def outlet(self, name: str) -> Outlet:
        retired = self._retired.get(name)
        if retired is not None:
            if len(retired):
                return retired
            del self._retired[name]
        if name not in self.schemas:
            raise InputError(unknown("output", name, list(self.schemas)))
        if name not in self._outlets:
            raise InputError(f"the output {name} is published, and its tuples go to the log; read them there")
        return self._outlets[name]

    def published_schema(self, name: str) -> Schema:
        """The columns of an output that is to be published."""
        self.outlet(name)
        if name not in self.schemas:
            raise InputError(f"the output {name} was removed; dequeue what waits there")
        return self.schemas[name]

    def is_published(self, name: str) -> bool:
        return name in self.schemas and name not in self._outlets

    def publish(self, name: str, sink: Sink) -> None:
        """What waits goes to the sink, and so does everything from now on."""
        for train in self._outlets.pop(name):
            sink.write(train)
        self.sinks[name] = sink

    def follow(self, typed: TypedNetwork) -> None:
        """From now on the outputs are those of another network.

        Who subscribed to one that is no more, or has other columns, is told the end. What waits stays.
        """
        before, self.schemas = self.schemas, output_schemas(typed)
        for name, schema in before.items():
            outlet = self._outlets.get(name)
            if outlet is not None and self.schemas.get(name) != schema:
                outlet.end()
            if name not in self.schemas:
                sink = self.sinks.pop(name)
                if outlet is None:
                    sink.close()
                elif len(self._outlets.pop(name)):
                    self._retired[name] = outlet
        for name in self.schemas:
            if name not in before:
                outlet = self._retired.pop(name) if name in self._retired else Outlet(name)
                self.sinks[name] = self._outlets[name] = outlet

    def waiting(self) -> dict[str, int]:
        """How many tuples wait at each."""
        outlets = {**self._retired, **self._outlets}
        return {name: len(outlet) for name, outlet in outlets.items() if name in self.schemas or len(outlet)}

    @property
    def bytes(self) -> int:
        return sum(outlet.bytes for outlet in [*self._outlets.values(), *self._retired.values()])

    def close(self) -> None:
        """Those who subscribed, and asked to be told, are told the end."""
        for outlet in list(self._outlets.values()):
            outlet.end()
        for sink in self.sinks.values():
            sink.close()
