"""Elements between nodes, one a line: what a line may say, and the elements that it becomes."""
