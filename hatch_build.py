"""A build hook: the page of the server is built before it is packed, also for editable installs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _build_page(root: str) -> ModuleType:
    path = Path(root) / "web" / "build_page.py"
    spec = importlib.util.spec_from_file_location("build_page", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["build_page"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        page = _build_page(self.root)
        try:
            page.build()
        except page.CannotBuildError as error:
            # Everything but the page works without it, and the server says how to build it.
            self.app.display_warning(f"The page could not be built: {error}\nAurora runs without it.")
