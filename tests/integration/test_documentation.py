"""Every example in README, ARCHITECTURE and docs is executed, and every link leads somewhere.

On a page, blocks belong together: files that blocks show are written to one folder, and names of Python blocks stay.
"""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

import pytest
import yaml

from aurora.cli.app import app
from aurora.model.box import KINDS
from aurora.model.check import check
from aurora.model.connectors import SINKS, SOURCES
from aurora.model.declare import parameters
from docs.sources.problem_page import entries, example, found
from tests.architecture.source import modules
from tests.integration.pages import ROOT, Block, Page, pages
from tests.integration.shell import commands, differs, nothing_left_behind, run_command, run_doctest, run_python

PAGES = pages()
LANGUAGES = {"python", "yaml", "console", "sh", "csv", "json", "text"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a page's files are. The case studies can be seen from there as from the project's folder."""
    os.symlink(ROOT / "case_studies", tmp_path / "case_studies")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if not page.needs_spark and not page.needs_broker], ids=str)
def test_examples_do_what_the_page_says(page: Page) -> None:
    check_examples(page)


def check_examples(page: Page) -> None:
    """Runs the page in the current folder."""
    names: dict[str, Any] = {"__name__": "page"}
    with nothing_left_behind():
        for number, block in enumerate(page.blocks):
            following = page.blocks[number + 1] if number + 1 < len(page.blocks) else None
            if block.file is not None:
                Path(block.file).parent.mkdir(parents=True, exist_ok=True)
                Path(block.file).write_text(block.text, encoding="utf-8")
            wrong = _wrong(page, block, following, names)
            assert not wrong, f"{page}:{block.line}: {wrong}"


def _wrong(page: Page, block: Block, following: Block | None, names: dict[str, Any]) -> str:
    if block.language not in LANGUAGES:
        return f"a block of {block.language or 'no language'}; use one of {sorted(LANGUAGES)}"
    if block.language == "console":
        told = [(command, differs(output, run_command(command))) for command, output in commands(block.text)]
        return "\n".join(f"$ {command}\n{difference}" for command, difference in told if difference)
    if block.language == "sh":
        for command in block.text.splitlines():
            run_command(command)
    if block.language == "yaml":
        return _wrong_yaml(page, block)
    if block.language != "python":
        return ""
    where = f"{page}:{block.line}"
    if ">>>" in block.text:
        return run_doctest(block.text, names, where)
    if block.file is not None:
        return ""
    printed = run_python(block.text, names, where)
    shown = following.text if following is not None and following.language == "text" else ""
    return differs(shown, printed) if shown or printed else ""


def _wrong_yaml(page: Page, block: Block) -> str:
    """A network has no problems, unless the page goes on to check it. Of a part, the boxes' parameters must exist."""
    document = yaml.safe_load(block.text)
    if not isinstance(document, dict) or "aurora" not in document:
        return _unknown_parameters(document)
    if block.file is not None and f"$ aurora check {block.file}" in page.text:
        return ""
    Path("shown.yaml").write_text(block.text, encoding="utf-8")
    return "\n".join(map(str, check("shown.yaml")))


def _unknown_parameters(part: object) -> str:
    if isinstance(part, list):
        return "".join(map(_unknown_parameters, part))
    if not isinstance(part, dict):
        return ""
    kind = part.get("kind")
    if kind is None:
        return "".join(map(_unknown_parameters, part.values()))
    declarations: list[Any] = [registry[kind] for registry in (KINDS, SOURCES, SINKS) if kind in registry]
    unknown = [sorted(part.keys() - {"kind", *parameters(declaration)}) for declaration in declarations]
    return "" if [] in unknown else f"{kind} has no {unknown[0] if unknown else 'meaning'}"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Page) -> None:
    by_path = {other.path: other for other in PAGES}
    broken = []
    for link in page.links():
        address, anchor = urldefrag(link)
        if re.match(r"https?://", address):
            continue
        target = (page.path.parent / address).resolve() if address else page.path
        known = by_path.get(target)
        if not target.exists() or (anchor and (known is None or anchor not in known.anchors)):
            broken.append(link)
    assert not broken


def test_every_page_can_be_reached_from_the_readme() -> None:
    by_path = {page.path: page for page in PAGES}
    seen, ahead = set(), [ROOT / "README.md"]
    while ahead:
        path = ahead.pop()
        if path in seen or path not in by_path:
            continue
        seen.add(path)
        ahead += [(path.parent / urldefrag(link)[0]).resolve() for link in by_path[path].links()]
    assert not [str(page) for page in PAGES if page.path not in seen]


def test_every_kind_of_source_and_sink_is_shown() -> None:
    """With its parameters as they are: ``test_examples_do_what_the_page_says`` looks at them."""
    page = Page(ROOT / "docs" / "how-to" / "sources-and-sinks.md")
    shown: dict[str, set[str]] = {"sources": set(), "sinks": set()}
    for block in page.blocks:
        document = yaml.safe_load(block.text) if block.language == "yaml" else None
        for section in shown.keys() & (document or {}).keys():
            shown[section] |= {one["kind"] for one in document[section].values()}
    assert shown == {"sources": SOURCES.keys(), "sinks": SINKS.keys()}


def test_what_the_paper_map_names_is_there() -> None:
    text = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
    folders = (ROOT, ROOT / "src" / "aurora", ROOT / "tests" / "conformance")
    named = re.findall(r"`([\w./]+(?:/|\.py)[\w./]*)`", text)
    assert len(named) > 40
    assert not [name for name in named if not any((folder / name).exists() for folder in folders)]


def _ids_in_the_source() -> set[str]:
    """The first argument of every call that makes a problem. An id of a pattern counts for what the pattern matches."""
    makers = {"add", "Problem", "MalformedError"}
    known = set()
    for module in modules():
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Call) or len(node.args) < 3:
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            first = node.args[0]
            if name in makers and isinstance(first, ast.Constant) and isinstance(first.value, str):
                known.add(first.value)
            elif name in makers and isinstance(first, ast.JoinedStr):
                parts = [re.escape(p.value) if isinstance(p, ast.Constant) else r"[\w-]+" for p in first.values]
                known |= {id for id in entries() if re.fullmatch("".join(parts), id)}
    return known


def test_the_page_of_problems_has_every_id_and_no_other() -> None:
    assert _ids_in_the_source() == entries().keys()


@pytest.mark.parametrize("id", [id for id, entry in entries().items() if example(entry) is not None])
def test_the_example_of_a_problem_has_the_problem(id: str) -> None:
    text = example(entries()[id])
    assert text is not None
    assert found(id, text).id == id


def test_the_page_of_the_command_line_has_every_option_and_no_other() -> None:
    import typer

    text = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    group = typer.main.get_command(app)
    everything = [group, *group.commands.values()]  # type: ignore[attr-defined]
    options = {name for command in everything for option in command.params for name in option.opts if "-" in name}
    shown = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", re.sub(r"```.*?```", "", text, flags=re.DOTALL)))
    assert shown - {"--help", "-h"} == options - {"--help", "-h"}
    assert all(f"## aurora {command}" in text for command in group.commands)  # type: ignore[attr-defined]
