"""What the catalog hands out: versions, changes, candidates, and what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from aurora.errors import Problem
from aurora.model.document import loads
from aurora.model.network import Network
from aurora.model.typed import TypedNetwork

State = Literal["proposed", "accepted", "refused", "removed"]


@dataclass(frozen=True)
class Version:
    """One document of a network, and who brought it, when and why. ``number`` counts from 1 for each network."""

    id: int
    network: str
    number: int
    state: State
    document: str
    author: str
    at_us: int
    why: str

    def read(self) -> Network:
        """The network that the document describes; raises NetworkError if it is wrong, as that of a refused one is."""
        return loads(self.document)


@dataclass(frozen=True)
class Change:
    """One line of the catalog's log.

    ``edited``: a program changed tables of the network's parts (``detail`` names the table); ``proposed``: it
    inserted a version; ``accepted``, ``refused``, ``removed``: what became of a version (``detail`` is its number);
    ``layout``, ``bookmarks``: those were changed.
    """

    id: int
    at_us: int
    network: str
    what: Literal["edited", "proposed", "accepted", "refused", "removed", "layout", "bookmarks"]
    detail: str


@dataclass(frozen=True)
class Candidate:
    """A document that another program brought, checked, and not yet accepted or refused.

    ``typed`` is there if no problem is an error and it is not a ``removal``. ``version`` is the id of the proposed
    version; None if the document was put together from edited tables. ``change`` is the last change that it includes.
    ``unchanged`` says that the tables were edited, but the network is still the current one.
    """

    name: str
    document: str
    typed: TypedNetwork | None
    problems: tuple[Problem, ...]
    version: int | None
    change: int
    why: str
    author: str = ""
    removal: bool = False
    unchanged: bool = False

    @property
    def network(self) -> Network | None:
        return None if self.typed is None else self.typed.network

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "error")


@dataclass(frozen=True)
class Found:
    """An element of a current version. ``kind`` is the kind of a box, else what the element is, such as ``stream``."""

    network: str
    section: str
    element: str
    kind: str
    description: str
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Bookmark:
    """A place in a network's picture that people come back to.

    ``scope`` names the superboxes that one has to go into, outermost first: ``detect/late``.
    """

    network: str
    name: str
    x: float = 0.0
    y: float = 0.0
    zoom: float = 1.0
    note: str = ""
    author: str = ""
    at_us: int = 0
    scope: str = ""


@dataclass(frozen=True)
class Sample:
    """A value of a metric at a time. ``what`` and ``element`` say of which thing: ``box`` and its name, and so on."""

    what: str
    element: str
    metric: str
    at_us: int
    value: float
