"""What the user described, as frozen values: elements between nodes, laws, signals, parts, the experiment."""
