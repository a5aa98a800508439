"""The commands, one module each: its options, and the function that reads them.

What a command needs is imported inside its function, so that `tellegen --help` stays quick.
"""
