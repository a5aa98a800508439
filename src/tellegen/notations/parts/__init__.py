"""Systems used as elements of others: where they come from, how their ports are joined, what they are called."""
