"""A folder of small and large files, on this machine or in a store that many machines reach.

A file appears under its name whole or not at all as long as the machine stays up: it is written under a temporary name
and then renamed. Only a durable write is promised to be whole after the power failed as well; what was written
otherwise may then be cut off or hold rubbish, so files are sealed (``sealed.py``) and a reader can tell.

Folders hold no open files, and so they can be pickled and used by other processes.
"""

from __future__ import annotations

import os
import re
import sys
import uuid
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar, Protocol, TypeAlias
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.fs

from aurora.errors import InputError, StateError

if sys.platform != "win32":
    import fcntl

Piece: TypeAlias = pa.Buffer | bytes
Data: TypeAlias = Piece | Sequence[Piece]

_TEMPORARY = re.compile(r"\.[0-9a-f]{32}\.tmp")
_ATOMIC_PUT = frozenset({"s3", "gcs", "abfs"})
"""Stores in which an object appears when its upload ends; there a rename would be a copy."""


class Folder(Protocol):
    """Names may have sub-folders (``states/late-0-17``), which come into being by themselves."""

    @property
    def address(self) -> str:
        """What people know the folder by."""

    def write(self, name: str, data: Data, *, durable: bool = False) -> int:
        """Puts a file there, in place of any that has the name; returns its size in bytes."""

    def secure(self, names: Sequence[str]) -> None:
        """Makes files durable that were not written so."""

    def read(self, name: str) -> pa.Buffer:
        """The file's bytes; FileNotFoundError if there is none."""

    def delete(self, name: str) -> None:
        """Removes the file, if there is one."""

    def names(self, under: str = "") -> list[str]:
        """All files in the folder or in a sub-folder of it, sorted; each by its name in the whole folder."""

    def clear_temporaries(self) -> None:
        """Removes what writers left behind that died. Only the one who owns the folder may do it."""


def pieces(data: Data) -> Sequence[Piece]:
    """The data as a sequence of buffers, whichever way it was given."""
    return [data] if isinstance(data, (bytes, bytearray, memoryview, pa.Buffer)) else data


class LocalFolder:
    """A folder in this machine's file system."""

    def __init__(self, path: str | Path) -> None:
        # Other processes may have another working directory.
        self.path = Path(path).absolute()
        self._anchored: set[Path] = set()

    def __reduce__(self) -> tuple[type[LocalFolder], tuple[Path]]:
        return LocalFolder, (self.path,)

    def __repr__(self) -> str:
        return f"LocalFolder({self.address!r})"

    @property
    def address(self) -> str:
        return str(self.path)

    def write(self, name: str, data: Data, *, durable: bool = False) -> int:
        target = self.path / _checked(name)
        temporary = target.parent / _temporary()
        with _reported("write", name, self.address):
            try:
                written = self._write_new(temporary, pieces(data), durable)
                temporary.replace(target)
            except BaseException:
                with suppress(OSError):
                    temporary.unlink()
                raise
            if durable:
                self._sync_folders(target.parent)
        return written

    def secure(self, names: Sequence[str]) -> None:
        with _reported("secure", ", ".join(names), self.address):
            for name in names:
                _sync(self.path / _checked(name))
            for parent in {(self.path / name).parent for name in names}:
                self._sync_folders(parent)

    def _write_new(self, path: Path, parts: Sequence[Piece], durable: bool) -> int:
        try:
            file = path.open("xb")
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._anchored.clear()
            file = path.open("xb")
        with file:
            written = sum(file.write(part) for part in parts)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        return written

    def _sync_folders(self, folder: Path) -> None:
        """Makes the names in a sub-folder durable, and the first time those of the folders that lead to it."""
        _sync_folder(folder)
        if folder in self._anchored:
            return
        if folder == self.path:
            # The folder above is not ours, and may not be readable.
            with suppress(PermissionError):
                _sync_folder(folder.parent)
        else:
            self._sync_folders(folder.parent)
        self._anchored.add(folder)

    def read(self, name: str) -> pa.Buffer:
        with _reported("read", name, self.address), pa.memory_map(str(self.path / _checked(name))) as file:
            return file.read_buffer()

    def delete(self, name: str) -> None:
        with _reported("delete", name, self.address):
            (self.path / _checked(name)).unlink(missing_ok=True)

    def names(self, under: str = "") -> list[str]:
        return sorted(
            path.relative_to(self.path).as_posix() for path in self._files(under) if not _TEMPORARY.fullmatch(path.name)
        )

    def clear_temporaries(self) -> None:
        for path in self._files(""):
            if _TEMPORARY.fullmatch(path.name):
                with _reported("delete", path.name, self.address):
                    path.unlink(missing_ok=True)

    def _files(self, under: str) -> Iterator[Path]:
        for folder, _, files in os.walk(self.path / _checked(under) if under else self.path):
            yield from (Path(folder, file) for file in files)

    def lock(self) -> Lock:
        """Takes the folder for this process; StateError when another has it."""
        self.path.mkdir(parents=True, exist_ok=True)
        return Lock(self.path / "lock")


class Lock:
    """An exclusive lock on a file, which holds the owner's process id. The system frees it when the process dies.

    Windows has no such lock; there nothing keeps a second process away.
    """

    _held: ClassVar[weakref.WeakSet[Lock]] = weakref.WeakSet()

    def __init__(self, path: Path) -> None:
        folder = path.parent
        with _reported("write", path.name, str(folder)):
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            if sys.platform != "win32":
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._file, 0)
            os.write(self._file, f"{os.getpid()}\n".encode())
        except BlockingIOError as error:
            owner = os.read(self._file, 32).decode("ascii", "replace").strip()
            self.release()
            raise StateError(
                f"the state folder {folder} is in use by {f'process {owner}' if owner else 'another process'}; "
                "wait for it to end or stop it, or give another --state folder"
            ) from error
        except OSError as error:
            self.release()
            raise InputError(
                f"cannot lock the state folder {folder}: {error.strerror or error}; "
                "give a --state folder in a file system that has locks"
            ) from error
        Lock._held.add(self)

    def release(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _drop_inherited_locks() -> None:
    """A forked child shares the open file; were it to keep it, the lock would outlive the owner."""
    for lock in list(Lock._held):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_inherited_locks)


@dataclass(frozen=True)
class RemoteFolder:
    """A folder in any file system that Arrow can reach. A write is as durable as the store makes it."""

    filesystem: pa.fs.FileSystem
    path: str
    address: str

    def write(self, name: str, data: Data, *, durable: bool = False) -> int:
        target = self._at(_checked(name))
        with _reported("write", name, self.address):
            if self.filesystem.type_name in _ATOMIC_PUT:
                return self._put(target, data)
            folder, slash, _ = target.rpartition("/")
            if folder:
                self.filesystem.create_dir(folder, recursive=True)
            temporary = f"{folder}{slash}{_temporary()}"
            try:
                written = self._put(temporary, data)
                self._move(temporary, target)
            except BaseException:
                with suppress(OSError):
                    self.filesystem.delete_file(temporary)
                raise
            return written

    def _put(self, path: str, data: Data) -> int:
        with self.filesystem.open_output_stream(path) as stream:
            return sum(stream.write(part) for part in pieces(data))

    def _move(self, source: str, target: str) -> None:
        try:
            self.filesystem.move(source, target)
        except OSError:
            # HDFS does not rename onto a file that exists. Files are replaced only when a task is repeated, with
            # the same content, so the moment without a file is one that recovery can stand.
            if self.filesystem.get_file_info(target).type == pa.fs.FileType.NotFound:
                raise
            self.filesystem.delete_file(target)
            self.filesystem.move(source, target)

    def secure(self, names: Sequence[str]) -> None:
        """Nothing is to be done: such stores keep what they have taken."""

    def read(self, name: str) -> pa.Buffer:
        with (
            _reported("read", name, self.address),
            self.filesystem.open_input_file(self._at(_checked(name))) as file,
        ):
            return file.read_buffer()

    def delete(self, name: str) -> None:
        with _reported("delete", name, self.address), suppress(FileNotFoundError):
            self.filesystem.delete_file(self._at(_checked(name)))

    def names(self, under: str = "") -> list[str]:
        return sorted(name for name in self._files(under) if not _TEMPORARY.fullmatch(PurePosixPath(name).name))

    def clear_temporaries(self) -> None:
        for name in self._files(""):
            if _TEMPORARY.fullmatch(PurePosixPath(name).name):
                with _reported("delete", name, self.address), suppress(FileNotFoundError):
                    self.filesystem.delete_file(self._at(name))

    def _files(self, under: str) -> list[str]:
        where = self._at(_checked(under)) if under else self.path
        with _reported("list", under or "the files", self.address):
            found = self.filesystem.get_file_info(pa.fs.FileSelector(where, recursive=True, allow_not_found=True))
        skip = len(self.path.strip("/")) + 1 if self.path.strip("/") else 0
        return [info.path.lstrip("/")[skip:] for info in found if info.type == pa.fs.FileType.File]

    def _at(self, name: str) -> str:
        return f"{self.path}/{name}" if self.path else name


def open_folder(address: str | Path) -> Folder:
    """The folder at a path or URI: ``/var/aurora``, ``file:///var/aurora``, ``s3://bucket/aurora``, ``hdfs://...``."""
    text = str(address)
    scheme, separator, _ = text.partition("://")
    if isinstance(address, Path) or not separator:
        return _local(Path(address))
    if scheme.lower() == "file":
        parts = urlsplit(text)
        if parts.netloc not in ("", "localhost"):
            raise InputError(f"{text} names the machine {parts.netloc}; write file:///PATH for a folder of this one")
        return _local(Path(unquote(parts.path)))
    return _remote(text)


def _local(path: Path) -> LocalFolder:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make the folder {path}: {error.strerror or error}; give a folder that you may write to"
        ) from error
    return LocalFolder(path)


def _remote(address: str) -> RemoteFolder:
    try:
        filesystem, path = pa.fs.FileSystem.from_uri(address)
    except pa.ArrowInvalid as error:
        filesystem, path = _by_fsspec(address, str(error))
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"cannot reach {address}: {error}; check the address, the network and the access") from error
    return RemoteFolder(filesystem, path.rstrip("/"), address)


def _by_fsspec(address: str, reason: str) -> tuple[pa.fs.FileSystem, str]:
    """Many more kinds of stores, for those who have installed the package that reaches them."""
    known = "a path, or an address such as file://, s3://, gs://, abfs:// or hdfs://"
    try:
        from fsspec.core import url_to_fs  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise InputError(
            f"cannot use {address} as a folder: {reason}; give {known}, or install fsspec for more kinds"
        ) from error
    try:
        filesystem, path = url_to_fs(address)
    except (ValueError, ImportError, OSError) as error:
        raise InputError(f"cannot use {address} as a folder: {error}; give {known}, or what fsspec knows") from error
    return pa.fs.PyFileSystem(pa.fs.FSSpecHandler(filesystem)), path


def _checked(name: str) -> str:
    parts = name.split("/")
    if any(part in ("", ".", "..") or _TEMPORARY.fullmatch(part) for part in parts) or "\\" in name:
        raise ValueError(f"{name!r} is no name for a file in a folder")
    return name


def _temporary() -> str:
    return f".{uuid.uuid4().hex}.tmp"


def _sync_folder(path: Path) -> None:
    if sys.platform != "win32":
        _sync(path)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


@contextmanager
def _reported(doing: str, name: str, address: str) -> Iterator[None]:
    """A full disk or a lost connection is told in words; that a file is missing is for the caller to judge."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"cannot {doing} {name} in {address}: {reason}; check that there is room and that you may write there"
        ) from error
