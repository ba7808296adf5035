"""Routes for documents that do not run, or not yet: brought into one form, and what deploying them would do."""

from __future__ import annotations

from typing import Any

from aurora.errors import NetworkError
from aurora.model.document import yaml_text
from aurora.model.document.reading import read_document, read_plain
from aurora.server.http_control import DOCUMENT, given_document
from aurora.server.routes import Call, Route


def formatted(call: Call) -> Any:
    """A drawing that is not finished is written as it is, so that nobody has to mend it before it can be kept."""
    plain, doubles = read_plain(given_document(call).document)
    if plain is None:
        raise NetworkError(doubles)
    draft = read_document(plain)
    complete = draft.complete and not doubles
    document = draft.network.to_document() if complete else plain
    return {"yaml": yaml_text.dump(document), "document": document, "complete": complete}


def foresee(call: Call) -> Any:
    return call.host.foresee(call.path["network"], given_document(call).document)


DOCUMENTS = (
    Route(
        "POST",
        "/api/v1/format",
        "read",
        "Bring a document into one form, without hosting it",
        formatted,
        body=DOCUMENT,
        answer="`{yaml, document, complete}`; a document with mistakes comes back as it is, and is not complete",
        refusals=(422,),
    ),
    Route(
        "POST",
        "/api/v1/networks/{network}/foresee",
        "read",
        "What changing a network would do, without doing it",
        foresee,
        body=DOCUMENT,
        answer="what PUT would answer; nothing has taken any time",
        refusals=(409, 422),
    ),
)
