"""Properties that only attacks try; the others are those of the tests."""
