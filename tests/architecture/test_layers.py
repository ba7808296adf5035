"""A module imports only from layers below its own, so that each layer can be read and tested without those above."""

from __future__ import annotations

import pytest

from tests.architecture.source import Module, modules

LAYERS = [
    {"cli"},
    {"server"},
    {"engine", "client"},
    {"processors", "connectors", "drawing"},
    {"shedding", "optimizer", "scheduler"},
    {"storage", "catalog"},
    {"qos"},
    {"boxes"},
    {"expressions"},
    {"model"},
    {"errors", "clock"},
]
"""Top to bottom. Packages on one line do not import each other."""

OVER_ALL_BUT_CLI = {"testing", ""}
"""The public testing tools and the package's own public names may use everything but the command line."""

HEIGHT = {part: len(LAYERS) - depth for depth, parts in enumerate(LAYERS) for part in parts}
HEIGHT |= dict.fromkeys(OVER_ALL_BUT_CLI, HEIGHT["cli"] - 0.5)


def _wrong_imports(module: Module) -> list[str]:
    wrong = []
    for name, line in module.imports():
        root, _, rest = name.partition(".")
        part = rest.partition(".")[0]
        if root != "aurora" or part == module.part:
            continue
        if part in OVER_ALL_BUT_CLI or part not in HEIGHT:
            if not (module.part == "cli" and part not in OVER_ALL_BUT_CLI):
                wrong.append(f"{module.at(line)} imports {name}: import it from the module that defines it")
        elif HEIGHT[part] >= HEIGHT[module.part]:
            wrong.append(f"{module.at(line)} imports {name}, but {part} does not lie below {module.part or 'aurora'}")
    return wrong


def test_every_part_of_the_package_has_a_layer() -> None:
    missing = sorted({module.part for module in modules()} - HEIGHT.keys())
    assert not missing, f"put these in LAYERS: {missing}"


def test_modules_import_only_from_below() -> None:
    wrong = [line for module in modules() for line in _wrong_imports(module)]
    assert not wrong, "\n".join(wrong)


def test_only_the_spark_processor_and_spark_connectors_import_pyspark() -> None:
    def may(module: Module) -> bool:
        return module.name.startswith("aurora.processors.spark") or (
            module.part == "connectors" and "spark" in module.name.rpartition(".")[2]
        )

    wrong = [
        f"{module.at(line)} imports {name}"
        for module in modules()
        if not may(module)
        for name, line in module.imports()
        if name.partition(".")[0] in ("pyspark", "py4j")
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("importer", "text", "allowed"),
    [
        ("model/schema.py", "from aurora.errors import Report", True),
        ("model/schema.py", "from aurora.boxes import filter", False),
        ("model/schema.py", "from aurora import Network", False),
        ("boxes/filter.py", "def f():\n    import aurora.engine.run", False),
        ("connectors/files.py", "from aurora.processors.local import LocalProcessor", False),
        ("testing/__init__.py", "from aurora.engine.run import Run", True),
        ("engine/run.py", "from aurora.testing import run_rows", False),
    ],
)
def test_the_rule_itself(importer: str, text: str, allowed: bool) -> None:
    from tests.architecture.source import PACKAGE

    module = Module(PACKAGE / importer)
    module.__dict__["text"] = text
    assert (_wrong_imports(module) == []) is allowed
