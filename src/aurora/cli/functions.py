"""Imports the operator's Python code, so that what it registers is known before a network is read."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from aurora.errors import InputError, UserCodeError


def import_all(names: Sequence[str]) -> None:
    """Imports modules by name, or by file. Modules are also looked for in the current folder."""
    if names and "" not in sys.path:
        sys.path.insert(0, "")
    for name in names:
        try:
            if name.endswith(".py"):
                _import_file(Path(name))
            else:
                importlib.import_module(name)
        except InputError:
            raise
        except ModuleNotFoundError as error:
            if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
                raise _failed(name, error) from error
            raise InputError(
                f"--functions {name}: there is no module {error.name!r}; "
                f"give a module that can be imported from here, or the path of a .py file"
            ) from error
        except Exception as error:
            raise _failed(name, error) from error


def _import_file(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"--functions {path}: there is no such file; give a module, or the path of a .py file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Classes and tracebacks find their module by its name, but it must not hide another of the same name.
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)


def _failed(name: str, error: Exception) -> UserCodeError:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return UserCodeError(
        f"--functions {name}: importing it raised {type(error).__name__}: {error} ({last.filename}:{last.lineno}); "
        f"correct the code or leave it out"
    )
