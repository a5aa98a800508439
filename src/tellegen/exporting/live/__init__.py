"""Models that run inside of a page: WebAssembly, and what can be set and read there."""
