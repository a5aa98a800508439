"""What is timed: one module a question. `python -m benchmarks` runs them."""
