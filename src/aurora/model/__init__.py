"""What a network is: elements and their declarations, arcs and their types, QoS, the document, and the check.

``network`` holds a network and builds one, ``document`` reads and writes its text, ``check`` finds what is wrong with
it and gives its arcs their types. Nothing here knows a particular kind of box; those put themselves on the list in
``box``.
"""

import aurora.model.sink_kinds  # noqa: F401  (puts the kinds of source and sink on their lists)
from aurora.model.arc import Arc
from aurora.model.check import check, typecheck
from aurora.model.document import load, loads
from aurora.model.elements import ConnectionPoint, Output, Stream, Superbox
from aurora.model.network import Network
from aurora.model.qos import QoS
from aurora.model.typed import TypedNetwork, resolve

__all__ = [
    "Arc",
    "ConnectionPoint",
    "Network",
    "Output",
    "QoS",
    "Stream",
    "Superbox",
    "TypedNetwork",
    "check",
    "load",
    "loads",
    "resolve",
    "typecheck",
]
