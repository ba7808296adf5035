"""The commands and their options, as the shell sees them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from aurora.cli.catalog import CatalogFile
from aurora.cli.catalog import app as catalog_app
from aurora.cli.failure import reported
from aurora.cli.remote import COMMANDS

app = typer.Typer(
    help="Aurora: a network of boxes and arrows over streams, kept on time by quality of service.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(catalog_app, name="catalog")
for command in COMMANDS:
    app.command()(command)

NetworkFile = Annotated[
    Path, typer.Argument(metavar="NETWORK", exists=True, dir_okay=False, help="The network document, YAML or JSON.")
]
Functions = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODULE_OR_FILE",
        help="A Python module, or a .py file, that registers functions, aggregates or boxes. May be repeated.",
    ),
]


def _version(wanted: bool) -> None:
    if not wanted:
        return
    from importlib import metadata

    try:
        typer.echo(f"aurora {metadata.version('aurora-streams')}")
    except metadata.PackageNotFoundError:
        typer.echo("aurora, run from its sources")
    raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Aurora: a network of boxes and arrows over streams, kept on time by quality of service."""


@app.command()
def run(
    network: NetworkFile,
    input: Annotated[
        list[str] | None,
        typer.Option(
            "--input", "-i", metavar="STREAM=FILE", help="The file of a stream, or of static data; - is standard input."
        ),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option("--output", "-o", metavar="NAME=FILE", help="Where an output goes; - is standard output."),
    ] = None,
    processor: Annotated[
        str,
        typer.Option(
            metavar="spark|local", envvar="AURORA_PROCESSOR", help="What runs the boxes: Spark, or this process alone."
        ),
    ] = "spark",
    master: Annotated[
        str | None,
        typer.Option(
            metavar="URL", envvar="AURORA_MASTER", help="Any Spark master; local[*], this machine, if none is given."
        ),
    ] = None,
    train: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The most tuples that are processed in one go.")
    ] = None,
    clock: Annotated[
        str, typer.Option(metavar="wall|COLUMN", help="What drives time: the wall clock or a column of the inputs.")
    ] = "wall",
    at_end: Annotated[
        str,
        typer.Option(metavar="flush|hold", help="Close open value windows and sort buffers at the end, or leave them."),
    ] = "flush",
    scheduler: Annotated[str, typer.Option(metavar="NAME", help="How the next train is chosen.")] = "fifo",
    state: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Keep state here; the same command given again goes on where the run was killed."
        ),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="How much memory tuples on their way may take, such as 2GB.")
    ] = None,
    ui: Annotated[bool, typer.Option("--ui", help="Show Spark's own page of jobs while the run lasts.")] = False,
    stats: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the statistics of the run as JSON.")] = None,
    rejected: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where rejected rows go; else STREAM.rejected.jsonl beside the output."),
    ] = None,
    functions: Functions = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")] = False,
) -> None:
    """Run a network over finite files, to their end.

    Files are .csv (with a header), .jsonl, .parquet or .arrow, by extension. Outputs that are not named are counted
    but not written; a network with a single output, and no --output at all, writes it to standard output as CSV.
    """
    from aurora.cli.run import Request, run_files

    request = Request(
        network=network,
        inputs=tuple(input or ()),
        outputs=tuple(output or ()),
        processor=processor,
        master=master,
        train=train,
        clock=clock,
        at_end=at_end,
        scheduler=scheduler,
        state=state,
        memory=memory,
        ui=ui,
        stats=stats,
        rejected=rejected,
        functions=tuple(functions or ()),
        quiet=quiet,
    )
    raise typer.Exit(reported(lambda: run_files(request)))


@app.command()
def check(
    network: NetworkFile,
    functions: Functions = None,
    json: Annotated[bool, typer.Option("--json", help="Print the problems as JSON.")] = False,
) -> None:
    """Check a network: every problem with its place and a way out. Exits with 1 if there is an error."""
    from aurora.cli.check import check_file

    raise typer.Exit(reported(lambda: check_file(network, tuple(functions or ()), as_json=json)))


@app.command()
def draw(
    network: NetworkFile,
    output: Annotated[str, typer.Option("--output", "-o", metavar="X.svg", help="The picture; - is standard output.")],
    functions: Functions = None,
) -> None:
    """Draw a network's boxes and arrows as a picture."""
    from aurora.cli.draw import draw_file

    raise typer.Exit(reported(lambda: draw_file(network, output, tuple(functions or ()))))


@app.command()
def capacity(
    network: NetworkFile,
    rates: Annotated[
        list[str] | None,
        typer.Option(
            "--rates", metavar="STREAM=N", help="How many tuples of a stream come per second. May be repeated."
        ),
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(metavar="STATS.json", help="What boxes cost: a file that aurora run --stats wrote."),
    ] = None,
    input: Annotated[
        list[str] | None,
        typer.Option(
            "--input", "-i", metavar="STREAM=FILE", help="Instead of costs, samples: they are run for a few seconds."
        ),
    ] = None,
    clock: Annotated[
        str, typer.Option(metavar="wall|COLUMN", help="What drives time while samples are run, as for run.")
    ] = "wall",
    headroom: Annotated[
        float, typer.Option(metavar="SHARE", help="Which share of the machine may be used, above 0 and up to 1.")
    ] = 0.8,
    cores: Annotated[
        float | None, typer.Option(metavar="N", help="The cores of the machine; those of this one, if not given.")
    ] = None,
    processor: Annotated[
        str,
        typer.Option(
            metavar="spark|local", envvar="AURORA_PROCESSOR", help="What is going to run the boxes, as for run."
        ),
    ] = "spark",
    draw: Annotated[
        str | None, typer.Option("--draw", metavar="X.svg", help="Draw the network, its boxes coloured by load.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    functions: Functions = None,
) -> None:
    """Tell whether a machine is large enough for a network at given rates, and what to do if not.

    Exits with 1 if the load does not fit.
    """
    from aurora.cli.capacity import Request, size_machine

    request = Request(
        network=network,
        rates=tuple(rates or ()),
        costs=costs,
        inputs=tuple(input or ()),
        clock=clock,
        headroom=headroom,
        cores=cores,
        processor=processor,
        draw=draw,
        json=json,
        functions=tuple(functions or ()),
    )
    raise typer.Exit(reported(lambda: size_machine(request)))


@app.command()
def find(
    catalog: CatalogFile,
    text: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="Words that the element has, or their beginnings.")
    ] = None,
    tag: Annotated[str | None, typer.Option(metavar="TAG", help="It has this tag.")] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND", help="A kind of box, or box, stream, output, superbox, connection_point, network."
        ),
    ] = None,
    network: Annotated[str | None, typer.Option(metavar="NAME", help="It is in this network.")] = None,
    column: Annotated[str | None, typer.Option(metavar="NAME", help="It carries this column.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print what is found as JSON.")] = False,
) -> None:
    """Find elements of the networks in a catalog: by words, tag, kind, network and column."""
    from aurora.cli.find import find

    words = " ".join(text or ())
    search = partial(find, catalog, words, tag=tag, kind=kind, network=network, column=column, as_json=json)
    raise typer.Exit(reported(search))


@app.command()
def convert(
    source: Annotated[str, typer.Option("--from", metavar="FORMAT", help="What the bytes are: csv, json, xml, ...")],
    target: Annotated[str, typer.Option("--to", metavar="FORMAT", help="What they become.")],
    input: Annotated[str, typer.Argument(metavar="[FILE]", help="What is read; - is standard input.")] = "-",
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="What is written; - is standard output.")
    ] = "-",
    schema: Annotated[
        str | None, typer.Option(metavar="COLUMNS", help="The columns, such as 'ticker: string, price: double'.")
    ] = None,
    network: Annotated[
        Path | None,
        typer.Option(metavar="NETWORK", exists=True, dir_okay=False, help="A network whose stream has the columns."),
    ] = None,
    stream: Annotated[
        str | None, typer.Option(metavar="NAME", help="The stream of the network, if it has several.")
    ] = None,
    from_option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of what is read. May be repeated.")
    ] = None,
    to_option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of what is written. May be repeated.")
    ] = None,
    rejected: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where rejected records go; else the first are shown.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing if nothing was rejected.")] = False,
) -> None:
    """Try a converter: turn the bytes of one format into tuples, and these into another format."""
    from aurora.cli.convert import Request
    from aurora.cli.convert import convert as convert_bytes

    request = Request(
        input=input,
        output=output,
        source=source,
        target=target,
        schema=schema,
        network=network,
        stream=stream,
        source_options=tuple(from_option or ()),
        target_options=tuple(to_option or ()),
        rejected=rejected,
        quiet=quiet,
    )
    raise typer.Exit(reported(lambda: convert_bytes(request)))


@app.command()
def serve(
    networks: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[NETWORK]...", exists=True, dir_okay=False, help="Network documents, YAML or JSON."),
    ] = None,
    catalog: Annotated[
        Path | None,
        typer.Option(
            "--catalog",
            "-c",
            metavar="FILE",
            envvar="AURORA_CATALOG",
            help="Serve its networks too, and keep all there.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; other machines reach it only with a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="For HTTP; 0 takes a free one.")] = 8642,
    flight_port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="For Arrow Flight; 0 takes a free one.")
    ] = 8643,
    no_flight: Annotated[bool, typer.Option("--no-flight", help="Serve HTTP only.")] = False,
    token: Annotated[
        str | None, typer.Option(metavar="TOKEN", envvar="AURORA_TOKEN", help="Who brings it may do everything.")
    ] = None,
    read_token: Annotated[
        str | None, typer.Option(metavar="TOKEN", envvar="AURORA_READ_TOKEN", help="Who brings it may look only.")
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", exists=True, dir_okay=False, help="A certificate, as PEM.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Its key, as PEM.")
    ] = None,
    processor: Annotated[
        str, typer.Option(metavar="spark|local", envvar="AURORA_PROCESSOR", help="What runs the boxes, as for run.")
    ] = "spark",
    master: Annotated[
        str | None, typer.Option(metavar="URL", envvar="AURORA_MASTER", help="Any Spark master, as for run.")
    ] = None,
    clock: Annotated[
        str, typer.Option(metavar="wall|COLUMN", help="What drives time: the wall clock or a column of the inputs.")
    ] = "wall",
    scheduler: Annotated[
        str | None, typer.Option(metavar="NAME", help="How the next boxes are chosen on the local processor.")
    ] = None,
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Threads that run boxes, per network.")] = 1,
    headroom: Annotated[
        float, typer.Option(metavar="SHARE", help="The share of their time that boxes should take for long.")
    ] = 0.9,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="How much memory waiting tuples may take, per network.")
    ] = None,
    disk: Annotated[
        str | None, typer.Option(metavar="SIZE", help="And how much disk beyond that, per network.")
    ] = None,
    when_full: Annotated[
        str, typer.Option(metavar="block|reject|shed", help="What happens to tuples for which there is no room.")
    ] = "block",
    shedding: Annotated[
        str,
        typer.Option(metavar="MODE", help="What is dropped under overload: auto, random, semantic, uniform or off."),
    ] = "auto",
    state: Annotated[
        str | None, typer.Option(metavar="DIR", help="Keep state here; the next server goes on where this one ended.")
    ] = None,
    files: Annotated[
        Path | None,
        typer.Option(metavar="DIR", exists=True, file_okay=False, help="Where networks of clients may use files."),
    ] = None,
    max_body: Annotated[
        str, typer.Option(metavar="SIZE", help="The largest request that is taken over HTTP.")
    ] = "32MiB",
    functions: Functions = None,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser; then networks may be drawn there.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Log errors only.")] = False,
) -> None:
    """Serve networks over HTTP, WebSocket and Arrow Flight, and a page to work on them, until Ctrl-C or SIGTERM."""
    from aurora.cli.serve import Request
    from aurora.cli.serve import serve as serve_networks

    request = Request(
        networks=tuple(networks or ()),
        catalog=catalog,
        host=host,
        port=port,
        flight_port=None if no_flight else flight_port,
        token=token,
        read_token=read_token,
        tls_cert=tls_cert,
        tls_key=tls_key,
        processor=processor,
        master=master,
        clock=clock,
        scheduler=scheduler,
        workers=workers,
        headroom=headroom,
        memory=memory,
        disk=disk,
        when_full=when_full,
        shedding=shedding,
        state=state,
        files=files,
        max_body=max_body,
        functions=tuple(functions or ()),
        open_page=open_page,
        quiet=quiet,
    )
    raise typer.Exit(reported(lambda: serve_networks(request)))


@app.command()
def demo(
    processor: Annotated[
        str, typer.Option(metavar="spark|local", envvar="AURORA_PROCESSOR", help="What runs the boxes, as for run.")
    ] = "spark",
    master: Annotated[
        str | None, typer.Option(metavar="URL", envvar="AURORA_MASTER", help="Any Spark master, as for run.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(metavar="FACTOR", help="How many times as many ticks come; 1 is 6,460 per second.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(metavar="N", min=1, help="End after so long; else with Ctrl-C, or after 60 s without a terminal."),
    ] = None,
    port: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=65535, help="For the page; 8642 or a free one if not given.")
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the page in a browser.")] = False,
) -> None:
    """Show the feed-alarms case study live, with its page: alarms, quality of service, and overload."""
    from aurora.cli.demo import Request, demonstrate

    request = Request(processor, master, rate, seconds, port, not no_open)
    raise typer.Exit(reported(lambda: demonstrate(request)))
