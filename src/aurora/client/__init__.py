"""A server as a Python program uses it: ``connect`` gives a ``Client``, with HTTP for control and Flight for tuples."""
