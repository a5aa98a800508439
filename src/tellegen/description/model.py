"""What the user described: elements between nodes, parameters, inputs and the experiment. The first value of the pipeline."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, final

from tellegen.core.domains import Side
from tellegen.core.errors import Finding, Place
from tellegen.core.units import Dimension
from tellegen.elements import ElementKind
from tellegen.expressions import Expression

NOTHING: Mapping[str, str] = MappingProxyType({})
"""Shared by the many elements that leave something out."""


def nothing() -> Mapping[str, str]:
    """The shared empty mapping."""
    return NOTHING


LawForm = Literal["resistive", "content", "output", "energy", "coenergy"]
"""How a law was written.

- resistive: one power variable of the other, `F = b*v*abs(v)`
- content: the energy variable of a storage of its output, `q = C*v`
- output: the output of a storage of its energy variable, `F = K*x + k3*x^3`
- energy: the stored energy, of the energy variable or of the output
- coenergy: the co-energy, of the output
"""


@final
@dataclass(frozen=True, slots=True)
class Law:
    """A law that the user wrote: `expression` gives the left side in terms of `variable` and of parameters.

    For `resistive`, `gives` is the power variable on the left side. `variable` is the letter that stands for the argument.
    """

    form: LawForm
    variable: str
    expression: Expression
    gives: Side
    text: str


@final
@dataclass(frozen=True, slots=True)
class Multiport:
    """The relation of a connection of several ports: z_2 = K z_1, and for the conjugates w_1 = K^T w_2.

    `given` and `gives` number the ports (from 0) of z_1 and z_2; the sides say which power variables these are. Power enters at the
    given ports and leaves at the others.
    """

    given: tuple[int, ...]
    gives: tuple[int, ...]
    given_sides: tuple[Side, ...]
    gives_sides: tuple[Side, ...]
    K: tuple[tuple[Expression, ...], ...]


@final
@dataclass(frozen=True, slots=True)
class MatrixField:
    """Elements whose laws are coupled by a matrix; their own values are its diagonal."""

    name: str
    members: tuple[str, ...]
    matrix: tuple[tuple[Expression, ...], ...]
    place: Place | None = None


@final
@dataclass(frozen=True, slots=True)
class Element:
    """One element between nodes. `value` is the expression of its parameter; None for sources and elements with a law."""

    name: str
    kind: ElementKind
    nodes: tuple[str, ...]
    value: Expression | None = None
    law: Law | None = None
    variables: Mapping[str, str] = field(default_factory=nothing)
    initial: Expression | None = None
    prefer: Side | None = None
    forced: bool = False
    place: Place | None = None
    notes: Mapping[str, str] = field(default_factory=nothing)
    multiport: Multiport | None = None

    # `variables` maps "across" / "through" (a coupling: "across_1", ...; a storage: "energy" too) to names that the user chose.
    # `prefer` is the power variable that the element should decide; `forced` makes that a demand.
    # `notes` keeps what other tools wrote about the element, such as the geometry of a netlist.


@final
@dataclass(frozen=True, slots=True)
class Parameter:
    """A named constant. `expression` is its value in SI units, None where it has none and stays a symbol.

    `dimension` is None when the value was a bare number, which fits any unit.
    """

    name: str
    expression: Expression | None
    dimension: Dimension | None = None
    unit: str = ""
    place: Place | None = None


@final
@dataclass(frozen=True, slots=True)
class Signal:
    """What an input does over time: a constant, or a named shape such as `step(24 V)` with its arguments in SI units."""

    shape: str
    arguments: tuple[Expression, ...]
    text: str


@final
@dataclass(frozen=True, slots=True)
class Experiment:
    """How long to run, from where, with which inputs; all optional."""

    until: Expression | None = None
    inputs: Mapping[str, Signal] = field(default_factory=dict)
    initial: Mapping[str, Expression] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    rtol: float | None = None
    atol: float | None = None


@final
@dataclass(frozen=True, slots=True)
class Model:
    """A described system. `findings` are the notices and warnings met while reading it; errors are raised instead.

    `displacements` are states of their own that parameters, laws and moduli may read: name and rate.
    """

    name: str
    elements: tuple[Element, ...]
    parameters: Mapping[str, Parameter]
    experiment: Experiment = Experiment()
    findings: tuple[Finding, ...] = ()
    source: str = ""
    about: str = ""
    displacements: Mapping[str, Expression] = field(default_factory=dict)
    fields: tuple[MatrixField, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs: one a source, in order of description."""
        return tuple(e.variables.get(e.kind.side, e.name) for e in self.elements if e.kind.role == "source")
