"""Running the sources and sinks of a document: threads, waiting and trying again, and what is known of each."""
