"""A slow, obvious Aurora, written from the semantics alone, and the tests that hold the engine against it."""
