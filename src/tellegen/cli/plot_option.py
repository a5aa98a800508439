"""`--plot` with and without a file name."""

from itertools import zip_longest

SCREEN = "-"
"""Stands for a plot without a file name: a window where there is one, else a file named like the model."""

MODELS = (".yaml", ".yml", ".txt")


def with_plot_target(arguments: list[str]) -> list[str]:
    """The arguments with a target for each `--plot` that names no file: the parser wants a value for every such option."""
    return [
        f"--plot={SCREEN}" if word == "--plot" and not _names_file(after) else word
        for word, after in zip_longest(arguments, arguments[1:], fillvalue="")
    ]


def _names_file(word: str) -> bool:
    return "." in word and not word.startswith("-") and not word.lower().endswith(MODELS)
