"""POG ladders as the user writes them, and the elements between nodes that they stand for."""
