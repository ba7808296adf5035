"""What every box does, as tables of small cases worked out by hand from the semantics."""
