"""The models that come with the package: parts of the library and built-in systems, one file each, named like it."""

from pathlib import Path

PACKAGE = Path(__file__).parent.parent
LIBRARY = PACKAGE / "library"
"""The component library."""
SYSTEMS = PACKAGE / "systems"
"""The built-in examples; those that offer ports can be parts too."""
SUFFIX = ".yaml"


def part_names() -> list[str]:
    """The parts of the library, by name."""
    return sorted(path.stem for path in LIBRARY.glob(f"*{SUFFIX}"))


def example_names() -> list[str]:
    """The names of the built-in examples."""
    return sorted(path.stem for path in SYSTEMS.glob(f"*{SUFFIX}"))


def example_file(name: str) -> Path:
    """Where the built-in example of a name stands, if there is one."""
    return SYSTEMS / f"{name}{SUFFIX}"
