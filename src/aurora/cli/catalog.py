"""``aurora catalog``: what is in a catalog, what became of it, and YAML in and out."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aurora.cli.failure import NETWORK_WRONG, reported, say

if TYPE_CHECKING:
    from aurora.catalog import Catalog

CatalogFile = Annotated[
    Path, typer.Option("--catalog", "-c", metavar="FILE", envvar="AURORA_CATALOG", help="The catalog, an SQLite file.")
]
Functions = Annotated[list[str] | None, typer.Option(metavar="MODULE_OR_FILE", help="As for run.")]

app = typer.Typer(help="Networks in a catalog: import, export, list, history, review.", no_args_is_help=True)


def _with(catalog: Path, create: bool, work: Callable[[Catalog], int]) -> None:
    def command() -> int:
        from aurora.catalog import Catalog

        with Catalog.open(catalog, create=create) as opened:
            return work(opened)

    raise typer.Exit(reported(command))


@app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", exists=True, dir_okay=False)],
    catalog: CatalogFile,
    why: Annotated[str, typer.Option(metavar="TEXT", help="Why there is a new version.")] = "",
    author: Annotated[str | None, typer.Option(metavar="NAME", help="Who brings it; you, if not given.")] = None,
    functions: Functions = None,
) -> None:
    """Make network documents the current versions, or take in what export wrote. Makes the catalog if there is none."""

    def work(opened: Catalog) -> int:
        from aurora.cli.functions import import_all

        import_all(functions or [])
        for file in files:
            _import_file(opened, file, why, _user() if author is None else author)
        return 0

    _with(catalog, True, work)


def _import_file(catalog: Catalog, file: Path, why: str, author: str) -> None:
    from aurora.errors import InputError
    from aurora.model.document import load

    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {file}: {error}; give a YAML or JSON file in UTF-8") from error
    if text.startswith("aurora_catalog:"):
        names = catalog.import_yaml(text)
        say(f"{file}: {', '.join(names) or 'no networks'}")
        return
    network = load(file)
    # The text as it is written keeps its comments; JSON becomes YAML.
    version = catalog.save(network if file.suffix.lower() == ".json" else text, why, author=author)
    say(f"{file}: {version.network}, version {version.number}")


@app.command("export")
def export(
    catalog: CatalogFile,
    network: Annotated[
        str | None, typer.Option(metavar="NAME", help="The document of this network only, not the whole catalog.")
    ] = None,
    version: Annotated[
        int | None, typer.Option(metavar="N", help="With --network: this version, not the current one.")
    ] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="- is standard output.")] = "-",
) -> None:
    """Write the whole catalog, or the document of a network, as YAML."""

    def work(opened: Catalog) -> int:
        from aurora.errors import InputError

        if network is None and version is not None:
            raise InputError("--version is of a network; give --network as well")
        text = opened.export_yaml() if network is None else _document(opened, network, version)
        if output == "-":
            sys.stdout.write(text)
            return 0
        try:
            Path(output).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot write {output}: {error.strerror}; give a path in an existing folder") from error
        return 0

    _with(catalog, False, work)


def _document(catalog: Catalog, network: str, number: int | None) -> str:
    from aurora.errors import InputError

    found = catalog.current(network) if number is None else catalog.version(network, number)
    if found is None:
        wanted = f"network {network!r}" if number is None else f"version {number} of network {network!r}"
        there = ", ".join(catalog.networks()) or "none"
        raise InputError(f"{catalog.path} has no {wanted}; its networks are: {there}")
    return found.document


@app.command("list")
def list_(catalog: CatalogFile) -> None:
    """List the networks, with their current versions."""

    def work(opened: Catalog) -> int:
        from aurora.cli.find import print_table

        rows = []
        for name in opened.networks():
            version = opened.current(name)
            if version is not None:
                rows.append((name, str(version.number), _time(version.at_us), version.author, version.why))
        if rows:
            print_table(("network", "version", "since", "by", "why"), rows)
        else:
            say("the catalog has no networks")
        return 0

    _with(catalog, False, work)


@app.command("history")
def history(
    network: Annotated[str, typer.Argument(metavar="NETWORK")],
    catalog: CatalogFile,
    problems: Annotated[
        int | None, typer.Option(metavar="N", help="Instead, show what was found wrong with version N.")
    ] = None,
) -> None:
    """List all versions of a network, refused ones too. With --problems, exits with 1 if the version has errors."""

    def work(opened: Catalog) -> int:
        from aurora.cli.find import print_table
        from aurora.errors import InputError

        versions = opened.versions(network)
        if not versions:
            raise InputError(f"{catalog} has no network {network!r}; it has {', '.join(opened.networks()) or 'none'}")
        if problems is not None:
            return _show_problems(opened, network, problems)
        now = opened.current(network)
        rows = [(str(v.number), "current" if v == now else v.state, _time(v.at_us), v.author, v.why) for v in versions]
        print_table(("version", "state", "at", "by", "why"), rows)
        return 0

    _with(catalog, False, work)


def _show_problems(catalog: Catalog, network: str, number: int) -> int:
    from aurora.cli.problems import show
    from aurora.errors import InputError

    version = catalog.version(network, number)
    if version is None:
        raise InputError(f"{catalog.path} has no version {number} of network {network!r}")
    found = catalog.problems(version)
    show(found, stderr=False)
    return NETWORK_WRONG if any(problem.severity == "error" for problem in found) else 0


@app.command("review")
def review(catalog: CatalogFile, functions: Functions = None) -> None:
    """Decide on what other programs brought, as a running server does. Exits with 1 if something is refused."""

    def work(opened: Catalog) -> int:
        from aurora.cli.functions import import_all
        from aurora.cli.problems import show

        import_all(functions or [])
        decided = opened.review()
        for version in decided:
            say(f"{version.network}, version {version.number}: {version.state}")
            if version.state == "refused":
                show(opened.problems(version))
        if not decided:
            say("nothing to decide on")
        return NETWORK_WRONG if any(version.state == "refused" for version in decided) else 0

    _with(catalog, False, work)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def _time(at_us: int) -> str:
    """In UTC, to the second; a time that no calendar has is shown as the number it is."""
    try:
        return datetime.fromtimestamp(at_us / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return str(at_us)
