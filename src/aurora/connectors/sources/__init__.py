"""What brings tuples while an engine runs: one module for each kind of source that a document declares."""
