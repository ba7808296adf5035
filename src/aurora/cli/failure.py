"""How commands end when they cannot go on: one clear message on standard error, and an exit code.

0 all is well, 1 the network has errors or its code failed, 2 a file or an option cannot be used, 130 interrupted,
141 nobody reads standard output any more.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

NETWORK_WRONG = 1
CANNOT_USE = 2
INTERRUPTED = 130
NO_READER = 141


def reported(command: Callable[[], int]) -> int:
    """The command's exit code; errors that Aurora raises on purpose are printed, not shown as tracebacks."""
    from aurora.errors import AuroraError, ExpressionError, InputError, NetworkError

    try:
        return command()
    except (NetworkError, ExpressionError) as error:
        from aurora.cli.problems import show

        show(error.problems)
        return NETWORK_WRONG
    except InputError as error:
        say(f"error: {error}")
        return CANNOT_USE
    except AuroraError as error:
        say(f"error: {error}")
        return NETWORK_WRONG
    except BrokenPipeError:
        # What is still buffered for standard output has nowhere to go; without this, Python complains at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_READER
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED


def say(line: str) -> None:
    """A line to the person at the terminal; standard output is for tuples."""
    print(line, file=sys.stderr, flush=True)
