"""What holds for the two ends of a socket, whether tuples come in or go out there."""

from __future__ import annotations

from aurora.errors import Report
from aurora.model.addresses import HostPort


def check_ends(listen: object, connect: object, report: Report) -> None:
    """A socket either waits for others or goes to one."""
    if (listen is None) == (connect is None):
        found = "neither 'listen' nor 'connect' is given" if listen is None else "'listen' and 'connect' are given"
        way_out = "give 'listen' to wait for others, or 'connect' to go to them"
        report.add("conflicting-parameters", found, way_out, choices=("listen", "connect"))


def check_exposed(listen: HostPort | None, exposed: bool, report: Report) -> None:
    """A plain socket asks nobody who he is, so that others may reach it only where somebody wanted that."""
    if listen is not None and not listen.loopback and not exposed:
        found = f"everyone who can reach {listen} could connect, and nobody is asked for a token"
        way_out = f"listen on 127.0.0.1:{listen.port}, or add 'exposed: true' if the network around it is trusted"
        report.at("listen").add("exposed-address", found, way_out)
