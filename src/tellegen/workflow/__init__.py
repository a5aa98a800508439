"""Several arrows in one call: what each command does, as a Python function, a module for each.

A model may be given as a `Model`, as a `Network` built in Python, as a file (YAML, or a POG_Modeler netlist that ends in
`.txt`), or as the name of a built-in example. `tellegen` exports the functions; nothing is imported here, so that a command
loads what it needs and no more.
"""
