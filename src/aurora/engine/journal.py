"""The journal: how far a run has come, as a series of commit records, and whose run it is.

A commit record is a small sealed file, ``journal/000000000123``, which tells everything needed to go on from there; it
does not build on the records before it. The last few are kept: if the newest turns out to be harmed, or the
states it names are, the run goes on from the one before.

The file ``identity`` says what the folder belongs to (network, options that change results), so that a run never goes
on from the state of a different one. When a network is changed while it runs, so does that file; the commit that comes
first has the new fingerprint as well, and it is the newest commit's that counts. The network itself is then in the file
``network.json``. ``attempts/000000000003`` says by its name how often a run has been begun on the
folder, so that what the attempts write can be kept apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from aurora.errors import StateError
from aurora.storage.folder import Folder, LocalFolder, Lock
from aurora.storage.sealed import seal, unseal

KEPT = 2
FORMAT = 1

_IDENTITY = "identity"
_LOCK = "lock"
_NETWORK = "network.json"
_JOURNAL = "journal"
_ATTEMPTS = "attempts"
_NUMBERED = re.compile(r"[a-z]+/(\d{12,})")
_SHOWN = 80
_SHOWN_DIFFERENCES = 5
_ABSENT = object()
_FINGERPRINT = "fingerprint"
_EARLIER = "earlier"
_MOST_EARLIER = 100


@dataclass(frozen=True)
class Commit:
    """A point from which a run can go on. The content is JSON."""

    number: int
    content: Mapping[str, Any]


class Journal:
    """The journal of a state folder that this process owns. Use ``Journal.open``."""

    def __init__(self, folder: Folder, durable: bool, lock: Lock | None) -> None:
        self.skipped: list[str] = []
        self.attempt = _next_attempt(folder)
        self._folder = folder
        self._durable = durable
        self._lock = lock
        self._kept: list[Commit] = []
        self._numbers = _numbers(folder, _JOURNAL)
        """On record, in order. Records older than those kept are there if a run died before it deleted them."""
        self._ready = not self._numbers

    @classmethod
    def open(cls, folder: Folder, identity: Mapping[str, Any], *, durable: bool = True) -> Journal:
        """Takes the folder for a run with this identity; StateError if it belongs to another, or is in use.

        With ``durable`` commits hold even if the power fails, else only if the process dies.
        """
        # First without the lock, which is a file too: nothing is put into folders of other people.
        _check_identity(folder, identity)
        lock = folder.lock() if isinstance(folder, LocalFolder) else None
        try:
            if _check_identity(folder, identity):
                text = json.dumps({"format": FORMAT, "identity": dict(identity)})
                folder.write(_IDENTITY, seal(text.encode()), durable=True)
            folder.clear_temporaries()
            journal = cls(folder, durable, lock)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        return journal

    def modify(self, identity: Mapping[str, Any], document: str, content: Mapping[str, Any]) -> Commit:
        """Commits to a changed network. From now on the folder belongs to a run of that."""
        before = _read_json(self._folder, _IDENTITY, f"the file {_IDENTITY} in {self._folder.address}")
        # Until the commit is there the file is of no use to anybody, and does no harm.
        self._folder.write(_NETWORK, document.encode(), durable=True)
        commit = self.commit({**content, _FINGERPRINT: identity[_FINGERPRINT]})
        earlier = [*before.get(_EARLIER, []), before["identity"].get(_FINGERPRINT)]
        text = json.dumps({"format": FORMAT, "identity": dict(identity), _EARLIER: earlier[-_MOST_EARLIER:]})
        self._folder.write(_IDENTITY, seal(text.encode()), durable=True)
        return commit

    def latest(self, usable: Callable[[Commit], None] | None = None) -> Commit | None:
        """The newest commit that can be used, or None where there is none at all.

        ``usable`` raises StateError for a commit whose states are harmed; then the one before is tried, and the newer
        records are deleted. ``skipped`` tells why. StateError if there are commits and none can be used.
        """
        refused: list[str] = []
        for place in reversed(range(len(self._numbers))):
            number = self._numbers[place]
            try:
                commit = self._read(number)
                if usable is not None:
                    usable(commit)
            except StateError as error:
                refused.append(f"commit {number}: {error}")
                continue
            for newer in self._numbers[place + 1 :]:
                self._folder.delete(_record(newer))
            del self._numbers[place + 1 :]
            self._kept = [*self._older(place), commit]
            self._forget_old()
            # What a refusal would advise comes after a semicolon; here the run goes on.
            self.skipped += [reason.partition("; ")[0] for reason in refused]
            self._ready = True
            return commit
        if refused:
            raise StateError(
                f"none of the commits in {self._folder.address} can be used:\n  "
                + "\n  ".join(refused)
                + "\n  way out: put back a copy of the folder, or begin anew with another --state folder"
            )
        return None

    def _older(self, place: int) -> list[Commit]:
        """The intact commits before a place, oldest first, as many as are kept beside the latest."""
        intact: list[Commit] = []
        for number in reversed(self._numbers[:place]):
            if len(intact) == KEPT - 1:
                break
            try:
                intact.append(self._read(number))
            except StateError:
                continue
        return intact[::-1]

    def commit(self, content: Mapping[str, Any]) -> Commit:
        """Records how far the run has come. What the content names must have been written before."""
        if not self._ready:
            raise RuntimeError("the journal is closed, or its latest commit has not been asked for")
        if self._lock is None:
            self._check_nobody_took_over()
        number = self._numbers[-1] + 1 if self._numbers else 1
        text = json.dumps({"number": number, "content": dict(content)})
        self._folder.write(_record(number), seal(text.encode()), durable=self._durable)
        commit = Commit(number, json.loads(text)["content"])
        self._kept = [*self._kept, commit][-KEPT:]
        self._numbers.append(number)
        self._forget_old()
        return commit

    def _forget_old(self) -> None:
        while self._numbers[0] < self._kept[0].number:
            self._folder.delete(_record(self._numbers[0]))
            del self._numbers[0]

    def _check_nobody_took_over(self) -> None:
        """Where there are no locks, the run that began last has the folder, and the one before finds out here."""
        newest = max(_numbers(self._folder, _ATTEMPTS), default=0)
        if newest > self.attempt:
            raise StateError(
                f"another run has taken over the state folder {self._folder.address}: it is attempt {newest}, and this "
                f"is attempt {self.attempt}; let one of them go on, and give the other another --state folder"
            )

    def kept(self) -> list[Commit]:
        """The commits on record, oldest first. A run may be taken up from each, so their states must stay."""
        return list(self._kept)

    def close(self) -> None:
        """Lets others have the folder."""
        self._ready = False
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, number: int) -> Commit:
        what = f"the record {_record(number)} in {self._folder.address}"
        record = _read_json(self._folder, _record(number), what)
        if record.get("number") != number or not isinstance(record.get("content"), dict):
            raise StateError(f"{what} is not of commit {number}; put the files back where they were")
        return Commit(number, record["content"])


def _check_identity(folder: Folder, identity: Mapping[str, Any]) -> bool:
    """Whether the folder is new. StateError if it is somebody else's."""
    where = folder.address
    try:
        found = _read_json(folder, _IDENTITY, f"the file {_IDENTITY} in {where}")
    except FileNotFoundError:
        strange = [name for name in folder.names() if name != _LOCK]
        if strange:
            shown = ", ".join(strange[:3]) + (f" and {len(strange) - 3} more" if len(strange) > 3 else "")
            raise StateError(
                f"the folder {where} is not empty and has no file {_IDENTITY}, so it is no state folder of Aurora's "
                f"(it holds {shown}); give a new or an empty folder as --state"
            ) from None
        return True
    if found.get("format") != FORMAT:
        raise StateError(
            f"the journal in {where} has the format {found.get('format')}, and this Aurora knows format {FORMAT}; "
            "run the Aurora that wrote it, or give another --state folder"
        )
    its = dict(found.get("identity", {}))
    committed = _committed_fingerprint(folder)
    earlier = found.get(_EARLIER, [])
    if committed is not None and committed != its.get(_FINGERPRINT):
        # The run died after it had committed to a changed network, and before it could note whose folder this is.
        earlier = [*earlier, its.get(_FINGERPRINT)]
        its[_FINGERPRINT] = committed
    differences = list(_differences(its, json.loads(json.dumps(dict(identity)))))
    if differences and its.get(_FINGERPRINT) != identity.get(_FINGERPRINT) and identity.get(_FINGERPRINT) in earlier:
        raise StateError(
            f"the network was modified while it ran with the state folder {where}, and this is the network as it was "
            f"before; go on with the network as it is now, which is in the file {_NETWORK} of the folder, or give "
            "another --state folder"
        )
    if differences:
        more = len(differences) - _SHOWN_DIFFERENCES
        lines = differences[:_SHOWN_DIFFERENCES] + ([f"and {more} more"] if more > 0 else [])
        raise StateError(
            f"the state folder {where} belongs to another run:\n  "
            + "\n  ".join(lines)
            + "\n  way out: run the same network with the same options, give another --state folder, or remove this one"
        )
    return False


def _committed_fingerprint(folder: Folder) -> str | None:
    """The fingerprint in the newest commit that can be read; None where that has none."""
    for number in reversed(_numbers(folder, _JOURNAL)):
        try:
            record = _read_json(folder, _record(number), "a commit")
        except (StateError, OSError):
            continue
        content = record.get("content")
        found = content.get(_FINGERPRINT) if isinstance(content, dict) else None
        return found if isinstance(found, str) else None
    return None


def _differences(found: Any, given: Any, path: str = "") -> Iterator[str]:
    if isinstance(found, dict) and isinstance(given, dict):
        for key in [*found, *(key for key in given if key not in found)]:
            deeper = f"{path}.{key}" if path else key
            yield from _differences(found.get(key, _ABSENT), given.get(key, _ABSENT), deeper)
    elif found != given:
        has, gives = _shown(found, given)
        yield f"{path}: the folder has {has}, this command has {gives}"


def _shown(found: Any, given: Any) -> tuple[str, str]:
    """Both as text; of long ones, the part where they begin to differ."""
    texts = ["nothing" if value is _ABSENT else json.dumps(value, ensure_ascii=False) for value in (found, given)]
    same = next((at for at, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    start = max(0, same - _SHOWN // 2) if max(map(len, texts)) > _SHOWN else 0
    cut = [
        ("..." if start else "") + text[start : start + _SHOWN] + ("..." if len(text) > start + _SHOWN else "")
        for text in texts
    ]
    return cut[0], cut[1]


def _read_json(folder: Folder, name: str, what: str) -> dict[str, Any]:
    payload = unseal(folder.read(name), what)
    try:
        content = json.loads(payload.to_pybytes())
    except ValueError as error:
        raise StateError(f"{what} is no JSON: {error}; begin anew with another --state folder") from error
    if not isinstance(content, dict):
        raise StateError(f"{what} is no record of the journal; begin anew with another --state folder")
    return content


def _next_attempt(folder: Folder) -> int:
    before = _numbers(folder, _ATTEMPTS)
    attempt = before[-1] + 1 if before else 1
    folder.write(_numbered(_ATTEMPTS, attempt), b"", durable=True)
    for number in before:
        folder.delete(_numbered(_ATTEMPTS, number))
    return attempt


def _numbers(folder: Folder, under: str) -> list[int]:
    found = map(_NUMBERED.fullmatch, folder.names(under))
    return sorted(int(name[1]) for name in found if name)


def _numbered(under: str, number: int) -> str:
    return f"{under}/{number:012}"


def _record(number: int) -> str:
    return _numbered(_JOURNAL, number)
