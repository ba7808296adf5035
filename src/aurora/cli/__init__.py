"""The ``aurora`` command. Each command has its own module, which imports what it needs only when it runs."""

from __future__ import annotations


def main() -> None:
    """The entry point of the command."""
    from aurora.cli.app import app

    app(prog_name="aurora")
