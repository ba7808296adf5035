"""Sources and sinks: where tuples come from and where they go."""
