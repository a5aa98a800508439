"""Without a C compiler: the solvers of the folder `native` in Python. They take the same jobs and do the same, slowly."""
