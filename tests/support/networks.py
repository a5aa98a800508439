"""Networks as tests write them: parts between nodes with numbers, and the models and equations made of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.domains import Side
from tellegen.elements import KINDS
from tellegen.equations.derivation import derive_equations
from tellegen.equations.system import EquationSystem
from tellegen.expressions import Expression, is_zero, number, parse, symbol
from tellegen.graph import lower
from tellegen.model.laws import Law, LawForm
from tellegen.model.model import Element, Model, Parameter


@dataclass(frozen=True)
class Part:
    """An element with its number. `parameter` names the symbol that stands for it; an empty one writes the number itself."""

    name: str
    kind: str
    nodes: tuple[str, ...]
    value: Fraction = Fraction(1)
    parameter: str = ""

    @property
    def is_source(self) -> bool:
        return self.kind.endswith(" source")


@dataclass(frozen=True)
class Network:
    """Parts in the order of description. `valued` tells whether the model knows the numbers behind its parameters."""

    parts: tuple[Part, ...]
    valued: bool = False

    @property
    def values(self) -> dict[str, Fraction]:
        return {part.parameter: part.value for part in self.parts if part.parameter and not part.is_source}

    def model(self) -> Model:
        parameters = {
            name: Parameter(name, number(value) if self.valued else None) for name, value in self.values.items()
        }
        return Model("test", tuple(map(_element, self.parts)), parameters)

    def with_parts(self, parts: Iterable[Part]) -> "Network":
        return replace(self, parts=tuple(parts))

    def __repr__(self) -> str:
        lines = ",\n  ".join(map(repr, self.parts))
        return f"Network((\n  {lines}), valued={self.valued})"


def _element(part: Part) -> Element:
    kind = KINDS[part.kind]
    value: Expression | None = symbol(part.parameter) if part.parameter else number(part.value)
    return Element(part.name, kind, part.nodes, None if part.is_source else value)


def network(*parts: tuple[str, ...], **values: Fraction | int) -> Network:
    """`network(("R", "resistor", "a", "gnd"), R=2)`: each part is its own parameter."""
    return Network(
        tuple(Part(name, kind, tuple(nodes), Fraction(values.get(name, 1)), name) for name, kind, *nodes in parts)
    )


def element(
    name: str,
    kind: str,
    *nodes: str,
    value: str | None = None,
    law: Law | None = None,
    prefer: Side | None = None,
    forced: bool = False,
    **variables: str,
) -> Element:
    """An element whose value is a formula, its own name unless said otherwise; further keywords name its variables."""
    found = KINDS[kind]
    formula = None if found.role == "source" or law is not None else parse(value or name)
    return Element(name, found, nodes, formula, law, variables, prefer=prefer, forced=forced)


def law(form: LawForm, variable: str, formula: str, gives: Side = "across") -> Law:
    """A law as the reader of files would make it."""
    return Law(form, variable, parse(formula), gives, formula)


def model(*elements: Element, **values: Fraction | int | None) -> Model:
    """A model of elements; every name in a value or law that is no variable becomes a parameter."""
    names: dict[str, None] = {}
    for e in elements:
        used = e.value.free_symbols if e.value is not None else frozenset()
        if e.law is not None:
            used = e.law.expression.free_symbols - {e.law.variable}
        names |= dict.fromkeys(sorted(used))
    given = {name: values.get(name) for name in names}
    parameters = {name: Parameter(name, None if v is None else number(v)) for name, v in given.items()}
    return Model("test", elements, parameters)


def causality(of: Model | Network) -> CausalGraph:
    """The causal graph of a model."""
    return assign_causality(lower(of.model() if isinstance(of, Network) else of))


def equations(of: Model | Network) -> EquationSystem:
    """The equations of a model."""
    return derive_equations(causality(of))


def integral(causal: CausalGraph) -> set[str]:
    """The elements that keep a state."""
    return {causal.graph.ports[k].element for k in causal.integral}


def deciding(causal: CausalGraph) -> Mapping[str, Side]:
    """What each element decides, by its name."""
    return {port.element: side for port, side in zip(causal.graph.ports, causal.decides, strict=True)}


def agree(found: Iterable[Iterable[Expression]], expected: Sequence[Sequence[str]]) -> bool:
    """Whether formulas are those expected, however they are written."""
    rows = [list(row) for row in found]
    assert [len(row) for row in rows] == [len(row) for row in expected], f"{rows} has not the shape of {expected}"
    pairs = [pair for row, line in zip(rows, expected, strict=True) for pair in zip(row, line, strict=True)]
    wrong = [(a, b) for a, b in pairs if not is_zero(a - parse(b))]
    assert not wrong, f"found and expected: {wrong}"
    return True
