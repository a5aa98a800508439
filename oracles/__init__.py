"""Other ways to the same results, which tests and benchmarks compare with. Nothing in the package uses them."""
