"""SPICE decks -> model files: a subcircuit becomes a part, every other card an element, a parameter or an experiment."""
