"""The Spark box processor: Java, the session, and where its tasks run."""
