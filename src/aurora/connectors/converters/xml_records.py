"""Records out of XML that comes in pieces.

Expat parses. There are no entities beyond XML's own five, because a document type, which alone could declare some, is
refused. What is not well-formed costs the record it stands in: parsing starts anew at the next record.
"""

from __future__ import annotations

import json
import re
from typing import Any
from xml.parsers import expat

from aurora.connectors.converters.xml_mapping import Mapping, Node
from aurora.connectors.rejected import Rejection

_SLICE_BYTES = 64 << 10
MAX_TOKEN_BYTES = 64 << 10
"""A tag or a comment may be so long; expat looks at all of an unfinished one again with every piece."""
_MAX_NAMES = 10_000
"""Expat remembers every name it has met."""
_JUNK_AFTER_DOCUMENT = 9


class Refused(Exception):  # noqa: N818
    """A document that is not parsed any further."""


class _Unfit(Exception):  # noqa: N818
    """As bad as not well-formed."""


class XmlRecords:
    """Gathers the texts of columns, record by record, until they are taken with ``take``."""

    _row: dict[str, Any] | None
    _too_long: bool

    def __init__(self, mapping: Mapping, columns: list[str], max_record_bytes: int, max_depth: int) -> None:
        self._mapping = mapping
        self._names = columns
        self._max_bytes = max_record_bytes
        self._max_depth = max_depth
        self._start = re.compile(rb"<(?:[^\s<>/:]{1,64}:)?" + mapping.record[-1].encode() + rb"(?=[\s/>])")
        self._encoding: str | None = None
        self._records = 0
        self._searching = False
        self._tail = b""
        self._rejected: list[Rejection] = []
        self._places: list[int] = []
        self._columns: dict[str, list[Any]] = {name: [] for name in columns}
        self._begin(b"")

    def take(self) -> tuple[dict[str, list[Any]], list[int], list[Rejection]]:
        taken = self._columns, self._places, self._rejected
        self._columns = {name: [] for name in self._names}
        self._places, self._rejected = [], []
        return taken

    def feed(self, data: bytes) -> None:
        for at in range(0, len(data), _SLICE_BYTES):
            self._feed(data[at : at + _SLICE_BYTES])

    def finish(self) -> None:
        if not self._searching and (self._row is not None or self._tail.strip()):
            self._reject("the document ends in the middle of a record")

    def _feed(self, data: bytes) -> None:
        rest = data
        while rest:
            rest = self._search(rest) if self._searching else self._parse(rest)

    def _parse(self, data: bytes) -> bytes:
        """Parses, and gives back what must be parsed anew."""
        if not self._fed and not self._tail:
            data = data.lstrip()
        if not data:
            return b""
        before = self._fed - len(self._tail)
        seen = self._tail + data
        self._fed += len(data)
        try:
            self._parser.Parse(data, False)
        except expat.ExpatError as error:
            at = max(0, self._parser.ErrorByteIndex - before)
            if error.code == _JUNK_AFTER_DOCUMENT:
                self._begin(b"")
                return seen[at:]
            return self._recover(f"the XML is harmed: {expat.ErrorString(error.code)}", seen[at + 1 :])
        except _Unfit as error:
            return self._recover(str(error), seen[max(0, self._parser.CurrentByteIndex - before) + 1 :])
        except (LookupError, ValueError) as error:  # An encoding that Python does not know.
            raise Refused(f"the document cannot be decoded: {error}; write UTF-8") from None
        if len(self._parser.intern) > _MAX_NAMES:
            raise Refused(f"the document has more than {_MAX_NAMES} different names")
        self._tail = seen[max(0, self._parser.CurrentByteIndex - before) :]
        if len(self._tail) > MAX_TOKEN_BYTES:
            return self._recover(f"a tag or comment is longer than {MAX_TOKEN_BYTES} bytes", self._tail[1:])
        if self._row is not None and self._fed - self._row_start > self._max_bytes + MAX_TOKEN_BYTES:
            self._too_long = True
            self._forget()
        return b""

    def _recover(self, reason: str, rest: bytes) -> bytes:
        self._reject(reason)
        self._searching = True
        self._row = None
        self._tail = b""
        return rest

    def _search(self, data: bytes) -> bytes:
        seen = self._tail + data
        found = self._start.search(seen)
        if found is None:
            last = seen.rfind(b"<", max(0, len(seen) - 256))
            self._tail = seen[last:] if last >= 0 else b""
            return b""
        self._searching = False
        self._begin("".join(f"<{name}>" for name in self._mapping.record[:-1]).encode())
        return seen[found.start() :]

    def _begin(self, prelude: bytes) -> None:
        parser = expat.ParserCreate(self._encoding, intern={})
        if hasattr(parser, "SetReparseDeferralEnabled"):  # Else the end of a record might wait for the next one.
            parser.SetReparseDeferralEnabled(False)
        parser.buffer_text = True
        parser.XmlDeclHandler = self._on_declaration
        parser.StartDoctypeDeclHandler = self._on_doctype
        parser.StartElementHandler = self._on_start
        parser.EndElementHandler = self._on_end
        parser.CharacterDataHandler = self._on_text
        self._parser = parser
        self._fed = 0
        self._tail = b""
        self._depth = 0
        self._matched = 0
        self._row = None
        self._row_start = 0
        self._too_long = False
        self._twice: str | None = None
        self._nodes: list[Node | None] = []
        self._texts: list[list[str] | None] = []
        if prelude:
            parser.Parse(prelude, False)
            self._fed = len(prelude)

    def _on_declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        self._encoding = encoding

    def _on_doctype(self, *_: object) -> None:
        raise Refused("the document has a document type (DOCTYPE), which is refused; leave it out")

    def _on_start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > self._max_depth:
            raise _Unfit(f"elements are nested more than {self._max_depth} deep")
        name = name.rpartition(":")[2]
        if self._row is None:
            record = self._mapping.record
            if self._matched == self._depth - 1 and self._depth <= len(record) and name == record[self._depth - 1]:
                self._matched += 1
                if self._matched == len(record):
                    self._row = {}
                    self._row_start = self._parser.CurrentByteIndex
                    self._open(self._mapping.root, attributes)
            return
        parent = self._nodes[-1]
        self._open(None if parent is None else parent.children.get(name), attributes)

    def _open(self, node: Node | None, attributes: dict[str, str]) -> None:
        self._nodes.append(node)
        if node is None or self._too_long:
            self._texts.append(None)
            return
        nil = False
        for name, value in attributes.items():
            local = name.rpartition(":")[2]
            if column := node.attributes.get(local):
                self._note(column, value)
            nil = nil or (local == "nil" and value in ("true", "1") and "nil" not in node.attributes)
        self._texts.append(None if node.text is None or (nil and not node.repeated) else [])
        if nil and node.repeated and node.text is not None:
            self._texts[-1] = None
            self._note(node.text, None, repeated=True)

    def _on_text(self, text: str) -> None:
        if self._texts and self._texts[-1] is not None:
            self._texts[-1].append(text)

    def _on_end(self, _name: str) -> None:
        self._depth -= 1
        if self._row is None:
            self._matched = min(self._matched, self._depth)
            return
        node, texts = self._nodes.pop(), self._texts.pop()
        if node is not None and texts is not None and node.text is not None:
            self._note(node.text, "".join(texts), repeated=node.repeated)
        if not self._nodes:
            self._matched -= 1
            self._close_record()

    def _note(self, column: str, value: str | None, *, repeated: bool = False) -> None:
        assert self._row is not None
        if repeated:
            self._row.setdefault(column, []).append(value)
        elif column in self._row:
            self._twice = column
        else:
            self._row[column] = value

    def _close_record(self) -> None:
        assert self._row is not None
        if self._too_long or self._parser.CurrentByteIndex - self._row_start > self._max_bytes:
            self._reject(f"the record is longer than {self._max_bytes} bytes")
        elif self._twice is not None:
            self._reject(f"column {self._twice!r}: its path is there more than once; change it, or gather them with []")
        else:
            self._records += 1
            self._places.append(self._records)
            for name, values in self._columns.items():
                values.append(self._row.get(name, [] if name in self._mapping.repeated else None))
        self._row = None
        self._too_long = False
        self._twice = None

    def _forget(self) -> None:
        """Keeps nothing of a record that is too long."""
        self._row = {}
        self._texts = [None] * len(self._texts)

    def _reject(self, reason: str) -> None:
        self._records += 1
        text = json.dumps(self._row, ensure_ascii=False)[:1024] if self._row is not None else ""
        self._rejected.append(Rejection(self._records, reason, text))
