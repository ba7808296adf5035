"""What takes tuples away while an engine runs: one module for each kind of sink that a document declares."""
