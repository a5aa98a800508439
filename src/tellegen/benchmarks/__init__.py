"""What is timed: one module a question. `tellegen bench` runs them."""
