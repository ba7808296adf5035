"""Aurora as a server: networks that others talk to over HTTP, WebSocket and Arrow Flight.

``host`` is what all of these go through: it keeps networks by name, each in a ``hosted`` of its own, whose answers are
handed out by ``fanout``. ``routes`` declares what can be asked over HTTP, ``app`` serves it.
"""
