"""What the architecture tests read: the modules of the package as syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "aurora"


@dataclass(frozen=True)
class Module:
    """A source file of the package, with its dotted name."""

    path: Path

    @property
    def name(self) -> str:
        parts = self.path.relative_to(PACKAGE.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def part(self) -> str:
        """The package or module right under ``aurora``; empty for ``aurora`` itself."""
        return self.name.partition(".")[2].partition(".")[0]

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, str(self.path))

    def imports(self) -> Iterator[tuple[str, int]]:
        """Dotted names of what is imported, at module level or inside functions, with the line."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, node.lineno) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                package = self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]
                above = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
                base = ".".join(part for part in (above if node.level else "", node.module or "") if part)
                yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)

    def at(self, line: int) -> str:
        return f"{self.path.relative_to(ROOT)}:{line}"


def modules() -> list[Module]:
    return [Module(path) for path in sorted(PACKAGE.rglob("*.py"))]
