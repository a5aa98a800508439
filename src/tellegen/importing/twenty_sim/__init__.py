"""Models of 20-sim (`.emx`) -> bond graphs."""
