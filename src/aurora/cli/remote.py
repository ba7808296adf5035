"""Commands that talk to a server, such as ``aurora start``, ``enqueue`` and ``stats``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aurora.cli.failure import CANNOT_USE, reported, say

if TYPE_CHECKING:
    from aurora.client.client import Client
    from aurora.connectors.rejected import Rejected
    from aurora.model.schema import Schema

DEFAULT_URL = "http://127.0.0.1:8642"
_BATCH_TUPLES = 65_536

Url = Annotated[str, typer.Option(metavar="URL", envvar="AURORA_URL", help="The server.")]
Token = Annotated[
    str | None,
    typer.Option(metavar="TOKEN", envvar="AURORA_TOKEN", help="What the server wants to see, if it wants any."),
]
Ca = Annotated[Path | None, typer.Option("--ca", metavar="FILE", help="Certificates to trust, as PEM.")]
NetworkName = Annotated[
    str | None, typer.Option("--network", "-n", metavar="NAME", help="The network; not needed if there is only one.")
]
NoDrain = Annotated[bool, typer.Option("--no-drain", help="Leave what is enqueued and has not been taken.")]


def _with(url: str, token: str | None, ca: Path | None, work: Callable[[Client], int]) -> None:
    def command() -> int:
        from aurora.client.client import connect

        with connect(url, token=token, ca=ca) as client:
            return work(client)

    raise typer.Exit(reported(command))


def start(
    network: Annotated[str, typer.Argument(metavar="NETWORK", help="A document, or the name of a stopped network.")],
    url: Url = DEFAULT_URL,
    token: Token = None,
    ca: Ca = None,
) -> None:
    """Have a server host and start a network, or start one again that was stopped."""

    def work(client: Client) -> int:
        path = Path(network)
        known = client.start(path if path.is_file() else network)
        say(f"{known['name']}: {known['stage']}")
        return 0

    _with(url, token, ca, work)


def stop(
    network: Annotated[
        str | None, typer.Argument(metavar="[NETWORK]", help="Its name; without it the server ends, with all networks.")
    ] = None,
    no_drain: NoDrain = False,
    url: Url = DEFAULT_URL,
    token: Token = None,
    ca: Ca = None,
) -> None:
    """Stop a network on a server, or the server."""

    def work(client: Client) -> int:
        client.shutdown(network, drain=not no_drain)
        say(f"{network}: stopped" if network else "the server is stopping")
        return 0

    _with(url, token, ca, work)


def modify(
    network: Annotated[Path, typer.Argument(metavar="NETWORK", exists=True, dir_okay=False)],
    why: Annotated[str, typer.Option(metavar="TEXT", help="Why there is a new version.")] = "",
    author: Annotated[str, typer.Option(metavar="NAME", help="Who brings it.")] = "",
    url: Url = DEFAULT_URL,
    token: Token = None,
    ca: Ca = None,
) -> None:
    """Change a network while it runs, all of it or nothing; every reason against it is listed."""
    _with(url, token, ca, lambda client: _print(client.modify_network(network, why=why, author=author)))


def enqueue(
    stream: Annotated[str, typer.Argument(metavar="STREAM")],
    file: Annotated[str, typer.Argument(metavar="FILE", help="Its extension says the format; - is CSV as input.")],
    network: NetworkName = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    ca: Ca = None,
) -> None:
    """Send the tuples of a file to a stream on a server. Lines that are no tuples are listed, and not sent."""

    def work(client: Client) -> int:
        from aurora.connectors.files import open_source

        rejected: list[Rejected] = []
        schema = _schema(client, network, "streams", stream)
        source = open_source(file, schema, stream=stream, on_reject=rejected.append)
        sent = 0
        try:
            for frame in source.batches(_BATCH_TUPLES):
                client.enqueue(stream, frame, network=network)
                sent += frame.height
        finally:
            source.close()
        say(f"{stream}: {sent:,} tuples sent" + (f", {len(rejected):,} rejected" if rejected else ""))
        for one in rejected[:10]:
            say(f"  {one.line}: {one.reason}: {one.text}")
        return CANNOT_USE if rejected else 0

    _with(url, token, ca, work)


def dequeue(
    output: Annotated[str, typer.Argument(metavar="OUTPUT", help="An output.")],
    to: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="- is CSV as standard output.")] = "-",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")] = False,
    network: NetworkName = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    ca: Ca = None,
) -> None:
    """Take what has come out on an output of a server, and what comes of all that was enqueued."""

    def work(client: Client) -> int:
        from aurora.connectors.files import open_sink

        sink = open_sink(to, _schema(client, network, "outputs", output))
        try:
            frames = client.subscribe(output, network=network) if follow else client.dequeue(output, network=network)
            for frame in frames:
                sink.write(frame)
                if follow:
                    sink.position()  # with it everything is with the reader, not in a buffer
        except KeyboardInterrupt:
            if not follow:
                raise
        finally:
            sink.close()
        return 0

    _with(url, token, ca, work)


def describe(
    network: NetworkName = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    ca: Ca = None,
) -> None:
    """Print what a server says of a network, as JSON: its document, stage and columns, and what waits."""
    _with(url, token, ca, lambda client: _print(client.describe(network)))


def entities(
    kind: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Only those of a kind: stream, box, output, filter, join and so on."),
    ] = None,
    network: Annotated[str | None, typer.Option("--network", "-n", metavar="NAME", help="Only those of one.")] = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    ca: Ca = None,
) -> None:
    """List streams, boxes, outputs and all other elements of the networks on a server."""

    def work(client: Client) -> int:
        for one in client.list_entities(network=network, kind=kind):
            described = f"  {one['description']}" if one["description"] else ""
            print(f"{one['network']}  {one['section']}  {one['name']}  {one['kind']}{described}")
        return 0

    _with(url, token, ca, work)


def stats(
    network: NetworkName = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    ca: Ca = None,
) -> None:
    """Print the statistics of a network on a server as JSON."""
    _with(url, token, ca, lambda client: _print(client.get_perf_stats(network)))


def _print(found: dict[str, Any]) -> int:
    print(json.dumps(found, indent=2, ensure_ascii=False))
    return 0


def _schema(client: Client, network: str | None, section: str, name: str) -> Schema:
    from aurora.errors import InputError, did_you_mean
    from aurora.model.schema import Schema

    known = client.describe(network)[section]
    if name not in known:
        hint = did_you_mean(name, known)
        raise InputError(
            f"the network has no {name!r}; its {section} are {', '.join(known) or 'none'}; {hint}".rstrip("; ")
        )
    found = known[name]
    return Schema.of(**(found["columns"] if section == "outputs" else found))


COMMANDS = (start, stop, modify, enqueue, dequeue, describe, entities, stats)
