"""`python -m tellegen`: the command line, where the `tellegen` script is not on the path."""

from tellegen.cli.main import main

if __name__ == "__main__":
    main()
