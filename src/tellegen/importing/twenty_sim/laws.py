"""The equations of a submodel of 20-sim as laws: what a port, two ports or a signal do.

Efforts and flows have the words of their domain there (`p.u`, `p.omega`); here they become `p.e` and `p.f`. Integrals and
derivatives become names of their own, so that `p.e = state/c` with `state = int(p.f)` is seen to be a storage.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, final

from tellegen.core.errors import TellegenError
from tellegen.core.units import parse_unit
from tellegen.expressions import HALF, ONE, ZERO, Expression, Macro, call, is_zero, parse, relation, symbol
from tellegen.importing.twenty_sim.parsing import Submodel
from tellegen.importing.twenty_sim.statements import (
    KEPT,
    ONE_BY_ONE,
    Arrays,
    NoLawError,
    ScalarEquation,
    Tokens,
    assigned,
    read_shape,
    scalar_equations,
    scalar_values,
    statements,
)


@final
class PortDomain(NamedTuple):
    """A domain of 20-sim: its name here (empty where it has none), and its words for effort and flow."""

    name: str
    effort: tuple[str, ...]
    flow: tuple[str, ...]


DOMAINS: dict[str, PortDomain] = {
    "power": PortDomain("", ("e",), ("f",)),
    "electric": PortDomain("electrical", ("u",), ("i",)),
    "translation": PortDomain("translational", ("F",), ("v",)),
    "mechanical": PortDomain("translational", ("F",), ("v",)),
    "rotation": PortDomain("rotational", ("T",), ("omega", "v")),
    "hydraulic": PortDomain("hydraulic", ("p",), ("phi",)),
    "thermal": PortDomain("thermal", ("T",), ("dS",)),
    "pseudothermal": PortDomain("heat", ("T",), ("dQ",)),
}
"""The domains that are read, by their words in ports."""

STORAGE_UNITS = {
    "electrical": ("F", "H"),
    "translational": ("m/N", "kg"),
    "rotational": ("rad/(N*m)", "kg*m^2"),
    "hydraulic": ("m^3/Pa", "Pa*s^2/m^3"),
    "thermal": ("J/K^2", ""),
    "heat": ("J/K", ""),
}
"""The units of a linear C and of a linear I, for numbers that have none."""


def is_mechanical(word: str) -> bool:
    """Whether a word of a port is one of mechanics, where nodes share flows."""
    return DOMAINS[word].name in ("translational", "rotational") if word in DOMAINS else False


def written_unit(text: str) -> str:
    """A unit of 20-sim in our words; empty where we have none, as then it counts nothing."""
    words = re.sub(r"([A-Za-z])(-?\d)", r"\1^\2", text.replace(".", "*"))
    try:
        parse_unit(words)
    except TellegenError:
        return ""
    return "" if words in ("none", "1") else words


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SECTION = re.compile(
    r"^[ \t]*(parameters|constants|variables|externals|initialequations|code|equations|parameterrelations)\b",
    re.MULTILINE,
)
_DECLARED = re.compile(
    r"(?:real|integer|boolean)\s+(?P<words>(?:(?:global|hidden|interesting|favorite|private|public)\s+)*)(?P<name>[A-Za-z_]\w*)\s*"
    r"(?P<size>\[[^\]]*\])?\s*(?:\{(?P<unit1>[^}]*)\})?\s*(?:=\s*(?P<value>[^{]*?))?\s*(?:\{(?P<unit>[^}]*)\})?\s*(?:[\"'][^\"']*[\"'])?\s*$"
)
_REFUSED = re.compile(
    r"\b(dll|table|interpol\w*|event\w*|timeevent|resint|dint|effortincausality|delay|tdelay|constraint)\b|'"
)
_SAMPLES = re.compile(r"\b(sampletime|sample|next|previous|hold)\b")
LONGEST = 5000
PRODUCT = "product of "
"""Before the name of a port: the product of all that leads to it."""


@final
class DeclaredParameter(NamedTuple):
    """A parameter of a submodel; a `shared` one has the value that another submodel gives to its name."""

    text: str
    unit: str
    shared: bool


@final
class SampledValue(NamedTuple):
    """What is sampled, its value before, and whether it is the value of the sample `before`: then it begins with the second one."""

    inner: Expression
    start: Expression | None
    before: bool


@final
@dataclass(slots=True)
class SidopsEquations:
    """The equations of a submodel: formulas by what they give, with integrals and derivatives under names of their own."""

    parameters: dict[str, DeclaredParameter] = field(default_factory=dict)
    formulas: dict[str, Expression] = field(default_factory=dict)
    integrals: dict[str, tuple[Expression, Expression | None]] = field(default_factory=dict)
    slopes: dict[str, Expression] = field(default_factory=dict)
    samples: dict[str, "SampledValue"] = field(default_factory=dict)
    """Names of what is taken at each sample."""
    begins: set[str] = field(default_factory=set)
    """Names that initial equations give a value to."""
    junction: str = ""
    """0 or 1 for equations that say only what all ports share."""
    unread: dict[str, str] = field(default_factory=dict)
    """Names whose equations or declarations are no formulas, with the reason: it is told where they are needed."""

    def must_be_read(self, names: Iterable[str]) -> None:
        """Raises: NoLawError for a name that is not read."""
        for name in sorted(set(names) & self.unread.keys()):
            raise NoLawError(self.unread[name])


def read_equations(submodel: Submodel) -> SidopsEquations:
    """The declarations and equations of a submodel.

    Raises: NoLawError for what is no formula.
    """
    found, arrays = SidopsEquations(), Arrays(dict(submodel.shapes))
    text = _COMMENT.sub(" ", submodel.equations)
    marks = list(_SECTION.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)] if marks else []
    sections = [(mark[1], statements(text[mark.end() : end])) for mark, end in zip(marks, ends, strict=True)]
    # Sizes count in equations that stand before them, too.
    for section, listed in sections:
        if section in ("parameters", "constants", "variables"):
            for one, _ in listed:
                _note_shapes(found, arrays, one)
    for section, listed in sections:
        if section in ("parameters", "constants"):
            for one, _ in listed:
                _declare(found, arrays, one)
        elif section in ("code", "externals"):
            told = f"it has a section '{section}'"
            found.unread |= dict.fromkeys((name for _, words in listed for name in assigned(words)), told)
            if section == "externals":
                found.unread |= dict.fromkeys((name for one, _ in listed for name in _LAST_NAME.findall(one)), told)
        elif section in ("equations", "initialequations", "parameterrelations"):
            known = set(found.formulas)
            for one, words in listed:
                _read_equation(found, arrays, submodel, (one, words))
            if section == "initialequations":
                _keep_constants(found, found.formulas.keys() - known)
                found.begins |= found.formulas.keys() - known
    return found


_LAST_NAME = re.compile(r"\b([A-Za-z_]\w*)\s*(?:\[[^\]]*\]|\{[^}]*\}|\([^)]*\))*$")
_SIZED = re.compile(r"\b([A-Za-z_]\w*)\s*\[([^\]]*)\]")


def _note_shapes(found: SidopsEquations, arrays: Arrays, text: str) -> None:
    """The sizes that a declaration tells."""
    for name, size in _SIZED.findall(text.partition("=")[0]):
        shape = read_shape(size)
        if shape is None:
            found.unread[name] = f"'{name} [{size.strip()}]' has a size that is no number, or too large"
        elif shape != ONE_BY_ONE:
            arrays.shapes[name] = shape


def _read_equation(found: SidopsEquations, arrays: Arrays, submodel: Submodel, statement: tuple[str, Tokens]) -> None:
    text, words = statement
    if text == "end":
        return
    equation = _Equation(found, submodel, text)
    try:
        equation.read(words, arrays)
    except NoLawError as problem:
        names = [entry for name in assigned(words) for entry in (name, *equation.entries(name, arrays))]
        if not names and ("name", "stopsimulation") in words:
            return  # a check of its parameters
        if not names:
            raise
        # Most of what stands in a submodel is there to be looked at: it is refused where something needs it.
        for name in names:
            found.formulas.pop(name, None)
        found.unread |= dict.fromkeys(names, str(problem))


def _keep_constants(found: SidopsEquations, names: Iterable[str]) -> None:
    """Initial equations give what parameters decide; what begins with the motion is not read."""
    moving = set(names)
    while True:
        settled = {
            name
            for name in moving
            if found.formulas[name].free_symbols <= found.parameters.keys() | (set(names) - moving)
        }
        if not settled:
            break
        moving -= settled
    for name in moving:
        del found.formulas[name]
        found.unread[name] = "it has initial equations that follow variables"


def _declare(found: SidopsEquations, arrays: Arrays, text: str) -> None:
    text = " ".join(text.split())
    several = re.fullmatch(
        r"(real|integer|boolean)((?:\s+(?:global|hidden|interesting|favorite|private|public))*)\s+(\w+(?:\s*,\s*\w+)+)\s*"
        r"(?:\{([^}]*)\})?",
        text,
    )
    if several is not None:
        for name in several[3].split(","):
            found.parameters[name.strip()] = DeclaredParameter("", several[4] or "", "global" in several[2])
        return
    match = _DECLARED.match(re.sub(r"\s*\('[^)]*\)", "", text))
    name = match["name"] if match is not None else ""
    if name in found.unread:
        return
    if match is None:
        words = re.sub(r"\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|=.*$|'[^']*'", " ", text).split()
        if not words or not words[-1].isidentifier():
            raise NoLawError(f"'{text[:40]}' declares no number")
        entries = arrays.shapes.get(words[-1], ONE_BY_ONE).entries(words[-1])
        found.unread |= dict.fromkeys((words[-1], *entries), f"'{text[:40]}' declares no number")
        return
    unit = (match["unit"] or match["unit1"] or "").strip()
    shape, value, shared = (
        arrays.shapes.get(name, ONE_BY_ONE),
        (match["value"] or "").strip(),
        "global" in match["words"],
    )
    if shape == ONE_BY_ONE and value.startswith("["):
        # A matrix of one entry.
        value = value.strip("[] ")
    entries = shape.entries(name)
    try:
        texts = scalar_values(value, shape, arrays) if value and shape != ONE_BY_ONE else [value] * len(entries)
    except NoLawError as problem:
        found.unread |= dict.fromkeys((name, *entries), str(problem))
        return
    for entry, one in zip(entries, texts, strict=True):
        found.parameters[entry] = DeclaredParameter(one, unit, shared)
        arrays.numbers[entry] = one


@final
class _Equation:
    """One equation being read into formulas."""

    def __init__(self, into: SidopsEquations, submodel: Submodel, text: str) -> None:
        self.into, self.submodel, self.text = into, submodel, " ".join(text.split())
        self.starts: dict[str, Expression] = {}

    def read(self, words: Tokens, arrays: Arrays) -> None:
        plain = self.text.replace(" ", "")
        if match := re.fullmatch(r"sum\(direct\((?:\w+)\.(\w+)\)\)=0", plain):
            # What is summed is not shared: flows at a 0-junction.
            self.into.junction = {"e": "1", "f": "0", "t": "across"}.get(match[1], "")
            return
        if plain.startswith("equal(collect("):
            return
        if _REFUSED.search(self.text) or len(self.text) > LONGEST:
            raise NoLawError(f"'{self.text[:60]}' is no plain formula")
        equations, partial = scalar_equations(words, arrays)
        equations = self._with_memory(equations, partial)
        for left, right in equations:
            name = self._ports(left)
            if name in self.into.begins:
                # What it begins with is no equation of the motion.
                self.into.begins.discard(name)
                self.into.formulas.pop(name)
            if not re.fullmatch(r"[A-Za-z_]\w*(\.[ef])?", name) or name in self.into.formulas:
                raise NoLawError(f"'{self.text[:60]}' gives no variable")
            try:
                self.into.formulas[name] = parse(self._ports(right), macros=self._macros())
            except TellegenError as error:
                raise NoLawError(f"'{self.text[:60]}' cannot be read: {error.what}") from error

    def _with_memory(self, equations: list[ScalarEquation], partial: Mapping[str, str]) -> list[ScalarEquation]:
        """What keeps its value in one branch of a choice does so between samples, from its initial equation on.

        What a choice reads before it gives it a value is the value before.
        """
        sampled = _SAMPLES.search(self.submodel.equations) is not None
        kept = {name: text for name, text in partial.items() if text and sampled and name in self.into.begins}
        for name in partial.keys() - kept.keys():
            self.into.formulas.pop(name, None)
            self.into.unread[name] = (
                f"'{name}' is given in one branch of a choice alone, and keeps what was in the other"
            )
        if not kept:
            return equations
        self.starts = {name: self.into.formulas[name] for name in kept}
        read = re.compile(rf"(?<!{KEPT}\()\b({'|'.join(kept)})\b")
        every = [*equations, *(ScalarEquation(name, text) for name, text in kept.items())]
        return [ScalarEquation(left, read.sub(rf"{KEPT}(\1)", right)) for left, right in every]

    def entries(self, name: str, arrays: Arrays) -> list[str]:
        """The entries of a name, with our words for efforts and flows."""
        try:
            return [self._ports(entry) for entry in arrays.shapes.get(name, ONE_BY_ONE).entries(name)]
        except NoLawError:
            return []

    def _ports(self, text: str) -> str:
        """The text with the variables of ports as efforts and flows."""

        def named(match: re.Match[str]) -> str:
            port = self.submodel.ports.get(match[1])
            domain = DOMAINS.get(port.domain) if port is not None else None
            if domain is None:
                return match[0]
            if match[2] in ("e", *domain.effort):
                return f"{match[1]}.e"
            if match[2] in ("f", *domain.flow):
                return f"{match[1]}.f"
            raise NoLawError(f"'{match[0]}' is no effort and no flow")

        return re.sub(r"\b([A-Za-z_]\w*)(?:_high|_low)?\.([A-Za-z_]\w*)", named, text)

    def _macros(self) -> Mapping[str, Macro]:
        into = self.into

        def integral(inner: Expression, start: Expression | None = None) -> Expression:
            name = f"integral{len(into.integrals) + 1}"
            into.integrals[name] = (inner, start)
            return symbol(name)

        def slope(inner: Expression, start: Expression = ZERO) -> Expression:
            name = f"slope{len(into.slopes) + 1}"
            into.slopes[name] = inner
            return symbol(name)

        def sampled(inner: Expression, start: Expression | None, before: bool) -> Expression:
            value = SampledValue(inner, start, before)
            known = next((name for name, held in into.samples.items() if held == value), "")
            name = known or f"sampled{len(into.samples) + 1}"
            into.samples[name] = value
            return symbol(name)

        def previous(inner: Expression, start: Expression | None = None) -> Expression:
            return sampled(inner, start, before=True)

        same: Callable[[Expression], Expression] = lambda x: x  # noqa: E731
        held: Callable[..., Expression] = lambda x, start=ZERO: x  # noqa: E731  what is sampled holds anyhow
        time = symbol("time")
        return {
            "int": Macro(1, 2, integral),
            "ddt": Macro(1, 2, slope),
            "sample": Macro(1, 1, lambda x: sampled(x, None, before=False)),
            "previous": Macro(1, 2, previous),
            "hold": Macro(1, 2, held),
            KEPT: Macro(1, 1, lambda x: previous(x, self.starts[str(x)])),
            "sum": Macro(1, 1, same),
            "collect": Macro(1, 1, same),
            "direct": Macro(1, 1, same),
            "first": Macro(1, 1, same),
            "limit": Macro(3, 3, lambda x, low, high: call("min", call("max", x, low), high)),
            "mul": Macro(1, 1, lambda x: symbol(f"{PRODUCT}{x}")),
            "sqr": Macro(1, 1, lambda x: x * x),
            "log10": Macro(1, 1, lambda x: call("log", x) / call("log", 10 * ONE)),
            "arctan": Macro(1, 1, lambda x: call("atan", x)),
            "arcsin": Macro(1, 1, lambda x: call("asin", x)),
            "arccos": Macro(1, 1, lambda x: call("acos", x)),
            "step": Macro(1, 1, lambda start: call("if", relation(">=", time, start), ONE, ZERO)),
            "ramp": Macro(1, 1, lambda start: call("max", time - start, ZERO)),
            "round": Macro(1, 1, lambda x: call("floor", x + HALF)),
        }


@final
class PortLaw(NamedTuple):
    """What a component with one port does: R, C, I, or a source Se, Sf, or C and R that share their flow (`more`).

    `formula` gives the effort of R by the flow `F` or the flow by the effort `E` (`gives` tells which); the capacity or inertia of
    a linear storage; the value of a source. `content` is the integral of a storage as the equations call it.
    """

    letters: str
    formula: Expression
    gives: str = "e"
    more: "PortLaw | None" = None


def one_port(found: SidopsEquations, port: str) -> PortLaw:
    """The law of a component with one port.

    Raises: NoLawError.
    """
    effort, flow = f"{port}.e", f"{port}.f"
    found.must_be_read((effort, flow))
    gives = next((name for name in (effort, flow) if name in found.formulas), None)
    if gives is None:
        raise NoLawError("no equation gives the effort or the flow of its port")
    other = flow if gives == effort else effort
    formula = _eliminated(found, found.formulas[gives], {effort, flow})
    memories = formula.free_symbols & (found.integrals.keys() | found.slopes.keys())
    if formula.free_symbols & found.samples.keys():
        raise NoLawError("its effort or flow is sampled")
    if not memories:
        if gives in formula.free_symbols:
            raise NoLawError("its equation gives a variable by itself")
        if other not in formula.free_symbols:
            return PortLaw("Se" if gives == effort else "Sf", formula)
        return PortLaw("R", formula, "e" if gives == effort else "f")
    if len(memories) > 1:
        raise NoLawError("it has more than one state")
    (memory,) = memories
    factor = formula.derivative(memory)
    rest = formula.substitute({memory: ZERO})
    if factor.free_symbols & {memory, effort, flow}:
        raise NoLawError("its storage is not linear")
    inner = found.slopes.get(memory) or found.integrals[memory][0]
    inner = _eliminated(found, inner, {effort, flow})
    by = gives if memory in found.slopes else other
    if memory in found.slopes:
        by = other
    inside = inner.derivative(by)
    if inside.free_symbols & {effort, flow} or not is_zero(inner - inside * symbol(by)) or is_zero(inside):
        raise NoLawError("what it integrates is not proportional to its port")
    # e = a*int(k*f) is a C of 1/(a k); e = a*ddt(k*f) an I of a k; and the same with e and f changed.
    grows = memory in found.integrals
    size = ONE / (factor * inside) if grows else factor * inside
    letters = ("C" if grows else "I") if gives == effort else ("I" if grows else "C")
    made = PortLaw(letters, size, "e" if gives == effort else "f")
    if is_zero(rest):
        return made
    if rest.free_symbols & {gives}:
        raise NoLawError("its equation gives a variable by itself")
    return made._replace(more=PortLaw("R", rest, "e" if gives == effort else "f"))


@final
class TwoPortLaw(NamedTuple):
    """A transformer or gyrator along the arrow from the first port to the second: e_1 = m e_2, or e_1 = r f_2."""

    letters: str
    modulus: Expression


def two_port(found: SidopsEquations, first: str, second: str) -> TwoPortLaw:
    """The coupling of two ports.

    Raises: NoLawError where their equations are none.
    """
    pairs = {
        (f"{first}.e", f"{second}.e"): ("TF", False),
        (f"{second}.e", f"{first}.e"): ("TF", True),
        (f"{second}.f", f"{first}.f"): ("TF", False),
        (f"{first}.f", f"{second}.f"): ("TF", True),
        (f"{first}.e", f"{second}.f"): ("GY", False),
        (f"{second}.f", f"{first}.e"): ("GY", True),
        (f"{second}.e", f"{first}.f"): ("GY", False),
        (f"{first}.f", f"{second}.e"): ("GY", True),
    }
    ports = {name for pair in pairs for name in pair}
    found.must_be_read(ports)
    laws = []
    for left in ports & found.formulas.keys():
        formula = _eliminated(found, found.formulas[left], ports)
        read = formula.free_symbols & ports
        if len(read) != 1:
            raise NoLawError("its ports are not joined as by a transformer or a gyrator")
        (right,) = read
        factor = formula.derivative(right)
        if (left, right) not in pairs or factor.free_symbols & ports or not is_zero(formula.substitute({right: ZERO})):
            raise NoLawError("its ports are not joined as by a transformer or a gyrator")
        letters, turned = pairs[left, right]
        laws.append((letters, ONE / factor if turned else factor))
    if len(laws) != 2 or laws[0][0] != laws[1][0] or not is_zero(laws[0][1] - laws[1][1]):
        raise NoLawError("its equations do not keep the power between its ports")
    return TwoPortLaw(*laws[0])


def signal_formula(found: SidopsEquations, name: str, kept: set[str]) -> Expression:
    """What a signal port gives, by other ports, integrals and parameters.

    Raises: NoLawError where no equation gives it.
    """
    found.must_be_read((name,))
    if name not in found.formulas:
        raise NoLawError(f"no equation gives '{name}'")
    return _eliminated(found, found.formulas[name], kept)


def _eliminated(found: SidopsEquations, formula: Expression, kept: set[str]) -> Expression:
    """The formula without the variables that the equations give."""
    for _ in range(len(found.formulas) + 1):
        inside = {name: found.formulas[name] for name in formula.free_symbols & found.formulas.keys() - kept}
        if not inside:
            found.must_be_read(formula.free_symbols - kept)
            return formula
        formula = formula.substitute(inside)
        if len(str(formula)) > LONGEST:
            raise NoLawError("its formula is too long")
    raise NoLawError("its equations go round")


def in_terms_of(found: SidopsEquations, formula: Expression) -> Expression:
    """What an integral or a sample is of, its variables eliminated down to ports and parameters."""
    return _eliminated(found, formula, set())
