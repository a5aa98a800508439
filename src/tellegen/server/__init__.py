"""The studio: one model and all its views in a browser, served on this machine alone."""
