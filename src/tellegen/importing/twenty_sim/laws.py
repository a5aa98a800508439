"""The equations of a submodel of 20-sim as laws: what a port, two ports or a signal do.

Efforts and flows have the words of their domain there (`p.u`, `p.omega`); here they become `p.e` and `p.f`. Integrals and
derivatives become names of their own, so that `p.e = state/c` with `state = int(p.f)` is seen to be a storage.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, final

from tellegen.core.errors import TellegenError
from tellegen.expressions import HALF, ONE, ZERO, Expression, Macro, call, is_zero, parse, relation, symbol
from tellegen.importing.twenty_sim.parsing import Submodel


class NoLawError(ValueError):
    """Equations that are no law; the text of the exception says why."""


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

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SECTION = re.compile(
    r"^[ \t]*(parameters|constants|variables|externals|initialequations|code|equations|parameterrelations)\b",
    re.MULTILINE,
)
_DECLARED = re.compile(
    r"(?:real|integer|boolean)\s+(?P<words>(?:(?:global|hidden|interesting|favorite|private|public)\s+)*)(?P<name>[A-Za-z_]\w*)\s*"
    r"(?P<size>\[[^\]]*\])?\s*(?:\{(?P<unit1>[^}]*)\})?\s*(?:=\s*(?P<value>[^{;]*?))?\s*(?:\{(?P<unit>[^}]*)\})?\s*(?:[\"'][^\"']*[\"'])?\s*$"
)
_REFUSED = re.compile(
    r"\b(for|while|repeat|switch|dll|table|interpol\w*|event\w*|timeevent|sample|next|hold|resint|dint|effortincausality|delay|tdelay)\b|\[|'"
)
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
@dataclass(slots=True)
class SidopsEquations:
    """The equations of a submodel: formulas by what they give, with integrals and derivatives under names of their own."""

    parameters: dict[str, DeclaredParameter] = field(default_factory=dict)
    formulas: dict[str, Expression] = field(default_factory=dict)
    integrals: dict[str, tuple[Expression, Expression | None]] = field(default_factory=dict)
    slopes: dict[str, Expression] = field(default_factory=dict)
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
    found = SidopsEquations()
    text = _COMMENT.sub(" ", submodel.equations)
    marks = list(_SECTION.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)] if marks else []
    for mark, end in zip(marks, ends, strict=True):
        section, body = mark[1], text[mark.end() : end]
        statements = [shown for one in _STATEMENT.findall(body) if (shown := _SAID.sub("", one.strip()))]
        if section in ("parameters", "constants"):
            for one in statements:
                _declare(found, one)
        elif section in ("code", "externals"):
            told = f"it has a section '{section}'"
            found.unread |= dict.fromkeys((name for one in statements for name in _ASSIGNED.findall(one)), told)
            if section == "externals":
                found.unread |= dict.fromkeys((name for one in statements for name in _LAST_NAME.findall(one)), told)
        elif section in ("equations", "initialequations", "parameterrelations"):
            known = set(found.formulas)
            for one in statements:
                _read_equation(found, submodel, one)
            if section == "initialequations":
                _keep_constants(found, found.formulas.keys() - known)
    return found


# A matrix has semicolons too; what stands in double quotes before an equation is said about it.
_STATEMENT = re.compile(r"(?:\[[^\]]*\]|'[^']*'|\"[^\"]*\"|[^;\[\"'])+|[\[\"']")
_SAID = re.compile(r'^\s*"[^"]*"\s*')
_ASSIGNED = re.compile(r"\b([A-Za-z_][\w.]*)\s*=(?!=)")
_LAST_NAME = re.compile(r"\b([A-Za-z_]\w*)\s*(?:\[[^\]]*\]|\{[^}]*\}|\([^)]*\))*$")


def _read_equation(found: SidopsEquations, submodel: Submodel, text: str) -> None:
    equation = _Equation(found, submodel, text)
    if text == "end":
        return
    try:
        equation.read()
    except NoLawError as problem:
        names = equation.given()
        if not names:
            raise
        # Most of what stands in a submodel is there to be looked at: it is refused where something needs it.
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


def _declare(found: SidopsEquations, text: str) -> None:
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
    if match is None or match["size"]:
        words = re.sub(r"\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|=.*$|'[^']*'", " ", text).split()
        if not words or not words[-1].isidentifier():
            raise NoLawError(f"'{text[:40]}' declares no number")
        found.unread[words[-1]] = f"'{text[:40]}' declares no number"
        return
    unit = (match["unit"] or match["unit1"] or "").strip()
    found.parameters[match["name"]] = DeclaredParameter(
        (match["value"] or "").strip(), unit, "global" in match["words"]
    )


@final
class _Equation:
    """One equation being read into formulas."""

    def __init__(self, into: SidopsEquations, submodel: Submodel, text: str) -> None:
        self.into, self.submodel, self.text = into, submodel, " ".join(text.split())

    def read(self) -> None:
        plain = self.text.replace(" ", "")
        if match := re.fullmatch(r"sum\(direct\((?:\w+)\.(\w+)\)\)=0", plain):
            # What is summed is not shared: flows at a 0-junction.
            self.into.junction = {"e": "1", "f": "0", "t": "across"}.get(match[1], "")
            return
        if plain.startswith("equal(collect("):
            return
        # A splitter gives the same to all that follow it; of a single number an elementwise product is the product.
        text = re.sub(r"^collect\s*\(\s*(\w+)\s*\)\s*=", r"\1 =", self.text).replace(".*", "*").replace("./", "/")
        left, equals, right = text.partition("=")
        right = with_choices(right)
        if not equals or _REFUSED.search(self.text) or len(self.text) > LONGEST:
            raise NoLawError(f"'{self.text[:60]}' is no plain formula")
        name = self._ports(left.strip())
        if not re.fullmatch(r"[A-Za-z_]\w*(\.[ef])?", name) or name in self.into.formulas:
            raise NoLawError(f"'{self.text[:60]}' gives no variable")
        try:
            self.into.formulas[name] = parse(self._ports(right.strip()), macros=self._macros())
        except TellegenError as error:
            raise NoLawError(f"'{self.text[:60]}' cannot be read: {error.what}") from error

    def given(self) -> list[str]:
        """The names that the equation gives a value to, as far as they are seen."""
        left = self.text.partition("=")[0]
        if _CHOICE.match(self.text):
            return [self._ports(name) for name in _ASSIGNED.findall(self.text)]
        if re.search(r"[^\w.\s,\[\]():]", left):
            return []
        # A vector of the same name is one name.
        left = re.sub(r"(?<=\w)\s*\[[^\]]*\]", "", left)
        names = re.findall(r"[A-Za-z_][\w.]*", left)
        try:
            return [self._ports(name) for name in names if name != "collect"]
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

        def slope(inner: Expression) -> Expression:
            name = f"slope{len(into.slopes) + 1}"
            into.slopes[name] = inner
            return symbol(name)

        same: Callable[[Expression], Expression] = lambda x: x  # noqa: E731
        time = symbol("time")
        return {
            "int": Macro(1, 2, integral),
            "ddt": Macro(1, 1, slope),
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


_CHOICE = re.compile(r"\b(if|then|elseif|elsif|else|end)\b")
_COMPARED = re.compile(r"[<>]|==|!=|\b(and|or|not)\b")


def with_choices(text: str) -> str:
    """The text with `if c then a else b end` as `if(c, a, b)`.

    >>> with_choices("2*if x < 0 then -1 elseif late then 3 else 1 end")
    '2*if(x < 0, -1, if(late != 0, 3, 1))'

    Raises: NoLawError for a choice without an end.
    """
    pieces = [*_CHOICE.split(text), ""]
    at = 0

    def read(stops: tuple[str, ...]) -> str:
        """Up to one of these words."""
        nonlocal at
        found = pieces[at]
        while (word := pieces[at + 1]) not in stops:
            if word != "if":
                raise NoLawError(f"'{text.strip()[:60]}' is no plain formula")
            at += 2
            found += choice() + pieces[at]
        return found.strip() if stops[0] else found

    def choice() -> str:
        nonlocal at
        condition = read(("then",)).replace("<>", "!=")
        at += 2
        first = read(("elseif", "elsif", "else"))
        word = pieces[at + 1]
        at += 2
        second = choice() if word != "else" else read(("end",))
        if word == "else":
            at += 2
        condition = condition if _COMPARED.search(condition) else f"{condition} != 0"
        return f"if({condition}, {first}, {second})"

    return read(("",))


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


def in_terms_of(found: SidopsEquations, name: str) -> Expression:
    """What an integral is of, its variables eliminated down to ports and parameters."""
    return _eliminated(found, found.integrals[name][0], set())
