"""Converters: bytes into tuples and back, one file for each format. ``base`` has what every converter offers."""
