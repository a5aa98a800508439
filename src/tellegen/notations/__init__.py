"""How a model is written and read: YAML with its network, bond graph, POG and mechanism, netlists, and Python calls."""
