"""Fields of sources and sinks: addresses, sizes, and references to secrets, read and checked once for all kinds."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, PlainSerializer

from aurora.model.forms import Holds

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)?")
_FACTORS = {"": 1, "B": 1}
_FACTORS |= {"kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_FACTORS |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


class HostPort(NamedTuple):
    """A host and a port; an IPv6 address is written in brackets.

    >>> HostPort.parse("127.0.0.1:9000"), str(HostPort("::1", 9000))
    (HostPort(host='127.0.0.1', port=9000), '[::1]:9000')
    """

    host: str
    port: int

    @classmethod
    def parse(cls, text: object, default_port: int | None = None) -> HostPort:
        if isinstance(text, HostPort):
            return text
        wrong = f"{text!r} is no address; write host:port, such as 127.0.0.1:9000"
        if not isinstance(text, str):
            raise ValueError(wrong)
        host, colon, port = text.strip().rpartition(":")
        if default_port is not None and (not colon or text.strip().endswith("]")):
            host, port = text.strip(), str(default_port)
        bracketed = host.startswith("[") and host.endswith("]")
        host = host[1:-1] if bracketed else host
        if not host or (":" in host and not bracketed) or not re.fullmatch(r"[\w.:%-]+", host):
            raise ValueError(wrong)
        if not re.fullmatch(r"\d{1,5}", port) or int(port) > 65535:
            raise ValueError(f"{text!r} has no port from 0 to 65535; write host:port, such as 127.0.0.1:9000")
        return cls(host, int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def loopback(self) -> bool:
        """Whether only programs on this machine reach it."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_size(value: object) -> int:
    """``64MB``, ``1GiB`` or a number of bytes.

    >>> parse_size("64MB"), parse_size(100)
    (64000000, 100)
    """
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    match = _BYTES.fullmatch(value.strip()) if isinstance(value, str) else None
    size = 0 if match is None else round(float(match[1]) * _FACTORS[match[2] or ""])
    if not 0 < size < 2**63:
        raise ValueError(f"{value!r} is no size; write 64MB, 1GiB or a number of bytes")
    return size


def _variable(value: str) -> str:
    if not _VARIABLE.fullmatch(value):
        raise ValueError(
            "this is not the name of an environment variable; write the name here, and put the secret into the variable"
        )
    return value


def _web(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{value!r} is no web address; write https://host/path")
    _check_port(value)
    return _without_password(value)


def _postgres(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("postgresql", "postgres"):
        raise ValueError("this is no address of a database; write postgresql://user@host:5432/database")
    _check_port(value)
    if "password" in parts.query.lower():
        raise ValueError("the address holds a password; remove it, and name a variable with 'password_env'")
    return _without_password(value)


def _check_port(value: str) -> None:
    try:
        urlsplit(value).port  # noqa: B018
    except ValueError:
        raise ValueError(f"{value!r} has no port from 0 to 65535; write https://host:port/path") from None


def _without_password(value: str) -> str:
    if urlsplit(value).password is not None:
        raise ValueError("the address holds a password; remove it, and name a variable with a parameter '..._env'")
    return value


def _one_line(value: str) -> str:
    if not value or any(ord(character) < 32 for character in value):
        raise ValueError("the text is empty or has control characters; write one line")
    return value


def _brokers(value: Any) -> Any:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not listed:
        raise ValueError(f"{value!r} names no broker; write host:port, or a list of them")
    return tuple(HostPort.parse(broker, 9092) for broker in listed)


AddressField = Annotated[HostPort, BeforeValidator(HostPort.parse), PlainSerializer(str), Holds("address")]
MqttBroker = Annotated[
    HostPort, BeforeValidator(lambda text: HostPort.parse(text, 1883)), PlainSerializer(str), Holds("address")
]
KafkaBrokers = Annotated[
    tuple[HostPort, ...],
    BeforeValidator(_brokers),
    PlainSerializer(lambda brokers: [str(broker) for broker in brokers] if len(brokers) > 1 else str(brokers[0])),
    Holds("addresses"),
]
SizeField = Annotated[int, BeforeValidator(parse_size), Holds("size")]
VariableName = Annotated[str, AfterValidator(_variable), Holds("variable")]
"""The name of an environment variable that holds a secret. Documents are shown to many; secrets stay outside."""
WebAddress = Annotated[str, AfterValidator(_web)]
DatabaseAddress = Annotated[str, AfterValidator(_postgres)]
Line = Annotated[str, AfterValidator(_one_line)]
