"""A store in memory behind Arrow's file system interface, with the habits of stores that are hard to have in a test."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
from pyarrow.fs import FileInfo, FileSelector, FileSystemHandler, FileType


class _Upload(io.BytesIO):
    def __init__(self, files: dict[str, bytes], path: str) -> None:
        super().__init__()
        self._files, self._path = files, path

    def close(self) -> None:
        if not self.closed:
            self._files[self._path] = self.getvalue()
        super().close()


class MemoryStore(FileSystemHandler):  # type: ignore[misc]
    """Like HDFS it does not rename onto a file that exists; with ``moves`` off it cannot rename at all."""

    def __init__(self, *, moves: bool = True) -> None:
        self.files: dict[str, bytes] = {}
        self.folders: set[str] = set()
        self.moves = moves

    def get_type_name(self) -> str:
        return "memory"

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: list[str]) -> list[FileInfo]:
        return [FileInfo(path, FileType.File if path in self.files else FileType.NotFound) for path in paths]

    def get_file_info_selector(self, selector: FileSelector) -> list[FileInfo]:
        return [FileInfo(path, FileType.File) for path in self.files if path.startswith(selector.base_dir + "/")]

    def create_dir(self, path: str, recursive: bool) -> None:
        self.folders.add(path)

    def delete_file(self, path: str) -> None:
        if path not in self.files:
            raise FileNotFoundError(path)
        del self.files[path]

    def move(self, src: str, dest: str) -> None:
        if not self.moves or dest in self.files:
            raise OSError(f"cannot rename {src} to {dest}")
        self.files[dest] = self.files.pop(src)

    def open_input_file(self, path: str) -> Any:
        if path not in self.files:
            raise FileNotFoundError(path)
        return pa.PythonFile(io.BytesIO(self.files[path]), mode="r")

    def open_output_stream(self, path: str, metadata: Any) -> Any:
        return pa.PythonFile(_Upload(self.files, path), mode="w")

    open_input_stream = open_input_file

    def _refuse(self, *args: Any) -> None:
        raise NotImplementedError

    copy_file = delete_dir = delete_dir_contents = delete_root_dir_contents = open_append_stream = _refuse
