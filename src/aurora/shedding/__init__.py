"""Overload: how much work a network makes, whether it fits, and what to do when it does not. Pure decisions."""
