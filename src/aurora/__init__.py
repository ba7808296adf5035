"""Aurora: a stream data manager that keeps the answers that matter on time.

Draw a network of boxes and arrows over streams, say with QoS graphs how much lateness and loss each output can stand,
and run it.

>>> net = Network("example")
>>> ticks = net.stream("ticks", ticker="string", price="double")
>>> _ = net.output("dear", ticks.filter("above", "price > 50"))
>>> run(net, {"ticks": [{"ticker": "IBM", "price": 40.0}, {"ticker": "MSF", "price": 60.0}]}).rows("dear")
[('MSF', 60.0)]
"""

import aurora.boxes
import aurora.connectors.live.checks  # noqa: F401  (lets checks know formats)
from aurora.boxes.python import python_box
from aurora.boxes.spark import spark_box
from aurora.client.client import connect
from aurora.drawing import draw
from aurora.engine.engine import Engine
from aurora.engine.in_memory import RunResult, run
from aurora.errors import (
    AuroraError,
    ExpressionError,
    InputError,
    NetworkError,
    Problem,
    StateError,
    UserCodeError,
)
from aurora.expressions.registry import function, register_aggregate, register_function
from aurora.model.arc import Arc
from aurora.model.check import check, typecheck
from aurora.model.document import load, loads
from aurora.model.network import Network
from aurora.model.qos import QoS
from aurora.model.schema import Schema
from aurora.model.typed import TypedNetwork
from aurora.model.window import Window, span, tuples

__version__ = "0.1.0"

__all__ = [
    "Arc",
    "AuroraError",
    "Engine",
    "ExpressionError",
    "InputError",
    "Network",
    "NetworkError",
    "Problem",
    "QoS",
    "RunResult",
    "Schema",
    "StateError",
    "TypedNetwork",
    "UserCodeError",
    "Window",
    "__version__",
    "check",
    "connect",
    "draw",
    "function",
    "load",
    "loads",
    "python_box",
    "register_aggregate",
    "register_function",
    "run",
    "span",
    "spark_box",
    "tuples",
    "typecheck",
]
