"""A client that is connected to an MQTT broker, for sources and sinks alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aurora.connectors.live.failures import optional, secret
from aurora.connectors.live.halt import Halt
from aurora.model.sink_kinds import MqttSink
from aurora.model.source_kinds import MqttSource

_LOOKS = 100
_LOOK_S = 0.1


def connected_client(
    declared: MqttSource | MqttSink,
    environment: Mapping[str, str],
    halt: Halt,
    *,
    session: str | None = None,
    on_message: Callable[[Any, Any, Any], None] | None = None,
    unconfirmed: int = 20,
) -> Any:
    """Comes back when the broker has agreed; raises what it refused with.

    With a session that lasts, messages may come before that; who gets them acknowledges them. So many that are sent may
    be ``unconfirmed`` at the same time.
    """
    mqtt = optional("paho.mqtt.client")
    refused: list[str] = []
    agreed: list[str] = []

    def on_connect(_client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        (refused if reason.is_failure else agreed).append(str(reason))

    client = mqtt.Client(
        mqtt.CallbackAPIVersion.VERSION2,
        client_id=session or "",
        clean_session=session is None,
        manual_ack=on_message is not None,
    )
    client.on_connect = on_connect
    client.on_message = on_message
    client.max_inflight_messages_set(unconfirmed)
    if declared.username is not None:
        client.username_pw_set(declared.username, secret(declared.password_env, environment))
    if declared.tls:
        client.tls_set()
    client.connect(declared.broker.host, declared.broker.port)
    for _ in range(_LOOKS):
        if agreed or halt.stopped:
            return client
        code = client.loop(_LOOK_S)
        if refused:
            raise ConnectionError(f"the broker {declared.broker} refused: {refused[0]}")
        checked(code)
    client.disconnect()
    raise TimeoutError(f"the broker {declared.broker} did not answer")


def checked(code: int) -> None:
    """Raises what one of the client's numbers means, unless it is success."""
    if code != 0:
        raise ConnectionError(
            f"the connection to the broker is lost: {optional('paho.mqtt.client').error_string(code)}"
        )
