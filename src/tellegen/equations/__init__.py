"""Which equations follow from a causal graph: the POG form with symbols, and the forms made from it."""
