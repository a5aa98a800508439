"""The rules that a file of BondGraphTools keeps; examples here are such files."""

from tellegen.core.errors import Rulebook


def _loop(resistor: str = "R1 base/R r=100", bond: str = "R1 kcl") -> str:
    """A source with a resistor and a capacitor, with one line exchanged."""
    return f"""\
version: 0.1
root: RC
models:
  /:
    components:
    - {resistor}
    - C1 base/C C=0.01
    - S base/Sf
    - kcl base/0
    netlist:
    - {bond}
    - kcl C1
    - S kcl
"""


RULES = Rulebook("D", _loop())

NOT_READ = RULES.rule(
    "D320",
    "component of BondGraphTools that is not read",
    meaning="A component is of a library that there is nothing for, such as the biochemical one, or has a law of its own.",
    why="basic components and the diode have counterparts here; chemical potentials and port-Hamiltonian blocks have none",
    example=_loop("R1 biochem/Re k=1"),
)
WRONG_FILE = RULES.rule(
    "D321",
    "file of BondGraphTools that makes no sense",
    meaning="A part of the file is missing, a name is used that no component has, or a value is no number.",
    why="a file of version 0.1 has models, each with components (`NAME library/KIND values`) and a netlist (`TAIL HEAD`)",
    example=_loop(bond="R2 kcl"),
)
