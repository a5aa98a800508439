"""Physical schematics: from the elements between nodes to symbols, wires and labels on a page."""
