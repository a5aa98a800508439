"""Packages that not every installation has, and those that take long to load: brought in when they are needed."""

from importlib import import_module
from typing import Any

from tellegen.core.errors import Rulebook

RULES = Rulebook("X")

MISSING_PACKAGE = RULES.rule(
    "X001",
    "package that is not installed",
    meaning="Something was asked for that an optional package does, and the package is not installed.",
    why="a core installation stays small; what few people need comes with an extra",
)


def load_package(package: str, *, purpose: str, extra: str = "") -> Any:
    """The module of a package; `extra` names the extra that brings it, where it is no part of a core installation.

    Raises: ExportError (X001) with the command that installs it.
    """
    # A submodule is asked for, and the package is what one installs.
    name = package.partition(".")[0]
    try:
        return import_module(package)
    except ImportError:
        raise MISSING_PACKAGE.error(
            f"{purpose} needs the package '{name}'",
            fix=f"pip install 'tellegen[{extra}]'" if extra else f"pip install {name}",
        ) from None
