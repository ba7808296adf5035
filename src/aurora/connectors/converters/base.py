"""What a converter is: it is made from a schema and options, and turns bytes into tuples of the schema and back.

A connector never looks into bytes. It takes the converter that a document names (``registry.converter``) and then

- for bytes in pieces (a socket, a file): ``converter.decoder()``, ``feed`` for each piece, ``finish`` at the end;
- for a message that is whole (a request): ``converter.decode(message)``;
- for many messages (a broker): ``converter.decode_each(messages)``, which is faster than one by one;
- for a stream of bytes out: ``converter.encoder()``, its ``header``, ``encode`` for each frame, its ``footer``;
- for messages out: ``converter.encode_each(frame)``, one for each tuple, or ``converter.encode(frame)``, one for all.

Every call has a price of its own, so the larger the pieces the better: read all that is there, up to a MiB or so.
No bytes make a converter raise: what is no tuple is in ``rejected``, and what cannot be followed any further is
``broken``. Options that are wrong raise InputError when the converter is made. A converter may be shared by threads; a
decoder or encoder belongs to one stream of bytes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl

from aurora.connectors.rejected import Rejection
from aurora.model.schema import Schema

MAX_RECORD_BYTES = 1 << 20
"""How long a record may be unless options say otherwise. A decoder never holds much more than one such record."""


@dataclass(frozen=True)
class Decoded:
    """What became of some bytes: a frame with exactly the schema's columns, perhaps empty, and what was no tuple.

    A rejection's place is a line or a record, counted from 1 over all that the decoder was given. ``broken`` says why
    nothing that follows can be understood. The decoder then ignores what it is fed: close the connection, or go on
    with a new decoder.
    """

    frame: pl.DataFrame
    rejected: Sequence[Rejection] = ()
    broken: str = ""


@dataclass(frozen=True)
class Encoded:
    """The bytes of a frame. A tuple that the format has no room for is not in them, but in ``rejected``.

    A rejection's place is then the row of the frame, counted from 1.
    """

    data: bytes
    rejected: Sequence[Rejection] = ()


class Decoder(Protocol):
    """Decodes one stream of bytes, cut anywhere. It holds the bytes of a record that is not complete, and no more."""

    def feed(self, data: bytes) -> Decoded:
        """What is complete now."""

    def finish(self) -> Decoded:
        """What is left when no more bytes come. The decoder is used up then."""


class Encoder(Protocol):
    """Encodes one stream: the header, each frame, the footer."""

    def header(self) -> bytes: ...

    def encode(self, frame: pl.DataFrame) -> Encoded: ...

    def footer(self) -> bytes: ...


class Converter(ABC):
    """Base of converters. A plug-in offers a subclass under the entry point group ``aurora.converters``.

    It must have ``decoder`` and ``encoder``. The rest follows from these, and is there to be done faster.
    """

    def __init__(self, schema: Schema, options: Mapping[str, Any]) -> None:
        """Raises InputError where options are wrong or do not fit the schema."""
        self.schema = schema

    @abstractmethod
    def decoder(self) -> Decoder: ...

    @abstractmethod
    def encoder(self) -> Encoder: ...

    def decode(self, message: bytes) -> Decoded:
        """The tuples of a message that is whole. It is never broken: what it is broken by is a rejection."""
        decoder = self.decoder()
        first, last = decoder.feed(message), decoder.finish()
        rejected = [*first.rejected, *last.rejected]
        if broken := first.broken or last.broken:
            rejected.append(Rejection(1, broken, shown(message)))
        frames = [frame for frame in (first.frame, last.frame) if frame.height]
        return Decoded(pl.concat(frames) if frames else first.frame, rejected)

    def decode_each(self, messages: Sequence[bytes]) -> Decoded:
        """The tuples of several messages. A rejection's place is the number of its message, from 1."""
        frames: list[pl.DataFrame] = []
        rejected: list[Rejection] = []
        for number, message in enumerate(messages, 1):
            decoded = self.decode(message)
            rejected += [Rejection(number, one.reason, one.text) for one in decoded.rejected]
            if decoded.frame.height:
                frames.append(decoded.frame)
        return Decoded(pl.concat(frames) if frames else pl.DataFrame(schema=self.schema.to_polars()), rejected)

    def encode(self, frame: pl.DataFrame) -> Encoded:
        """One message with all tuples of the frame, which ``decode`` reads back."""
        encoder = self.encoder()
        encoded = encoder.encode(frame)
        return Encoded(encoder.header() + encoded.data + encoder.footer(), encoded.rejected)

    def encode_each(self, frame: pl.DataFrame) -> tuple[list[bytes], Sequence[Rejection]]:
        """One message for each tuple, in order, without those that are rejected."""
        messages: list[bytes] = []
        rejected: list[Rejection] = []
        for row in range(frame.height):
            encoded = self.encode(frame.slice(row, 1))
            if encoded.rejected:
                rejected += [Rejection(row + 1, one.reason, one.text) for one in encoded.rejected]
            else:
                messages.append(encoded.data)
        return messages, rejected


_SHOWN_BYTES = 1024


def shown(data: bytes) -> str:
    """Bytes as a person may read them, cut where they are many.

    >>> shown(b"caf\\xc3\\xa9 \\xff")
    'café \\\\xff'
    """
    text = data[:_SHOWN_BYTES].decode("utf-8", "backslashreplace")
    return text if len(data) <= _SHOWN_BYTES else text + "…"
