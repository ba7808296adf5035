"""Which file belongs to which stream, static data or output, from what was given on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aurora.connectors.bytes_in import STANDARD
from aurora.connectors.files import file_format
from aurora.errors import InputError, did_you_mean
from aurora.model.typed import TypedNetwork


@dataclass(frozen=True)
class Wiring:
    """The files of a run: streams and static data that are read, outputs that are written."""

    streams: Mapping[str, str]
    statics: Mapping[str, str]
    outputs: Mapping[str, str]
    unwritten: tuple[str, ...]

    @property
    def files(self) -> list[Path]:
        """Every file that is read or written."""
        named = (*self.streams.values(), *self.statics.values(), *self.outputs.values())
        return [Path(file) for file in named if file != STANDARD]

    @property
    def folder(self) -> Path:
        """The folder of the first output that is a file: what belongs to the run goes there too."""
        return next((Path(file).parent for file in self.outputs.values() if file != STANDARD), Path())


def wire(
    typed: TypedNetwork, folder: Path, inputs: Sequence[str], outputs: Sequence[str], *, resumable: bool = False
) -> Wiring:
    """``folder`` is the network document's: files that the document names are relative to it.

    What is written to standard output cannot be taken back, so a ``resumable`` run does not write there.
    """
    network = typed.network
    points = [name for name, point in network.connection_points.items() if point.dangling]
    read = {producer.name for producers in typed.inputs.values() for producer in producers}
    given = _pairs("--input", "STREAM=FILE", inputs, [*network.streams, *points], "stream or static connection point")
    statics: dict[str, str] = {}
    for name in points:
        file = network.connection_points[name].file
        if name in given:
            statics[name] = given[name]
        elif file is not None:
            statics[name] = str(folder / file)
    missing = [name for name in network.streams if name not in given]
    missing += [name for name in points if name not in statics and name in read]
    if missing:
        raise InputError(
            f"no input is given for {', '.join(missing)}; add "
            + " ".join(f"--input {name}=FILE" for name in missing)
            + " (.csv, .jsonl, .parquet or .arrow; - is standard input)"
        )
    streams = {name: given[name] for name in network.streams}
    chosen = _pairs("--output", "NAME=FILE", outputs, list(network.outputs), "output")
    if not chosen and len(network.outputs) == 1 and not resumable:
        chosen = dict.fromkeys(network.outputs, STANDARD)
    if resumable and STANDARD in chosen.values():
        raise InputError(
            "a run with --state cannot write to standard output (-), because what was written there cannot be taken "
            "back when the run goes on after a kill; name a file"
        )
    _check_files(streams | statics, chosen)
    return Wiring(streams, statics, chosen, tuple(name for name in network.outputs if name not in chosen))


def _pairs(option: str, form: str, texts: Iterable[str], legal: list[str], what: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        name, equals, file = text.partition("=")
        if not equals or not name or not file:
            raise InputError(f"{option} {text}: this is not of the form {form}; write for example {_example(legal)}")
        if name not in legal:
            hint = did_you_mean(name, legal)
            raise InputError(
                f"{option} {text}: the network has no {what} {name!r}; "
                f"it has {', '.join(legal) or 'none'}" + (f"; {hint}" if hint else "")
            )
        if name in pairs:
            raise InputError(f"{option} {text}: {name!r} is given twice; give it once")
        pairs[name] = file
    return pairs


def _example(legal: list[str]) -> str:
    return f"{legal[0] if legal else 'name'}=file.csv"


def _check_files(inputs: Mapping[str, str], outputs: Mapping[str, str]) -> None:
    """Refuses what would read or write one file twice, before anything is opened and emptied."""
    for file in (*inputs.values(), *outputs.values()):
        file_format(file)
    if list(inputs.values()).count(STANDARD) > 1:
        raise InputError("standard input (-) is given for more than one input; give files for the others")
    read = {Path(file).resolve(): name for name, file in inputs.items() if file != STANDARD}
    written: dict[str | Path, str] = {}
    for name, file in outputs.items():
        place = file if file == STANDARD else Path(file).resolve()
        if place in written:
            raise InputError(f"the outputs {written[place]!r} and {name!r} both go to {file}; give each its own file")
        if place in read:
            raise InputError(f"{file} is read for {read[place]!r} and would be overwritten by {name!r}; name another")
        written[place] = name
