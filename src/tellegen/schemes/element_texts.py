"""How an element of a scheme is written under `elements`: its kind, value, law, names, initial value and causality."""

from collections.abc import Iterable

from tellegen.core.domains import DOMAINS, Domain, Side, Variable, other_side
from tellegen.description.relations import Law, LawForm
from tellegen.elements import ElementKind, kinds_of
from tellegen.expressions import ONE, ZERO, Expression, Pow, symbol, to_text
from tellegen.graph import Port, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.laws import ARGUMENT
from tellegen.schemes import rules


def element_kind(port: Port) -> ElementKind:
    """The kind of element that a port belongs to; a storage whose coefficient is a reciprocal is given by its stiffness."""
    law, domain = port.law, port.domain
    if isinstance(law, SourceLaw):
        return next(k for k in kinds_of(domain, "source") if k.side == law.side)
    if isinstance(law, ResistiveLaw):
        return next(k for k in kinds_of(domain, "resistive") if k.side == law.side)
    kinds = [k for k in kinds_of(domain, "storage") if k.side == law.side]
    return min(kinds, key=lambda k: k.inverse != _is_reciprocal(law.inertia))


def weightless_kind(port: Port) -> ElementKind | None:
    """The kind of a storage that keeps nothing by its nature; None for all other ports."""
    if not isinstance(port.law, StorageLaw) or port.law.inertia is not ZERO:
        return None
    return next((k for k in kinds_of(port.domain, "storage") if k.weightless and k.side == port.law.side), None)


def _is_reciprocal(expression: Expression | None) -> bool:
    return isinstance(expression, Pow) and expression.exponent is -ONE


def element_value(port: Port, kind: ElementKind) -> Expression | None:
    """The parameter of a linear element, as its kind wants it."""
    law = port.law
    if isinstance(law, StorageLaw):
        return law.inertia if law.inertia is None or not kind.inverse else ONE / law.inertia
    return law.coefficient if isinstance(law, ResistiveLaw) else None


def element_law(port: Port) -> Law | None:
    """The law of a nonlinear element in the letters of its domain; None for linear elements and sources.

    Raises: GraphError when its parameters have the names of all letters.
    """
    law = port.law
    if isinstance(law, SourceLaw) or (isinstance(law, ResistiveLaw) and law.linear):
        return None
    if isinstance(law, ResistiveLaw):
        assert law.expression is not None, "a law without coefficient has an expression"
        return _law(port, "resistive", law.side, other_side(law.side), law.expression)
    if law.inertia is not None:
        return None
    if law.energy is not None and law.content is None:
        return _law(port, "energy", None, "energy" if law.keeps_energy_variable else law.side, law.energy)
    if law.output is not None:
        return _law(port, "output", law.side, "energy", law.output)
    assert law.content is not None, "a nonlinear storage has a content, an output or an energy"
    return _law(port, "content", "energy", law.side, law.content)


def _law(port: Port, form: LawForm, left: str | None, argument: str, expression: Expression) -> Law:
    domain = DOMAINS[port.domain]
    side: Side = port.law.side
    used = expression.free_symbols - {ARGUMENT}
    # A parameter that has the name of any letter would be read as the variable.
    reserved = {letter for word in ("across", "through", "energy") for letter in _letters(domain, side, word)}
    if used & reserved:
        name = min(used & reserved)
        raise rules.NO_LAW_TEXT.error(
            f"the law of '{port.element}' uses the parameter '{name}', which is a letter of its variables",
            where=port.element,
            fix=f"rename the parameter '{name}'",
            place=port.place,
        )
    letter = _letters(domain, side, argument)[0]
    written = expression.substitute({ARGUMENT: symbol(letter)})
    text = to_text(written) if left is None else f"{_letters(domain, side, left)[0]} = {to_text(written)}"
    return Law(form, letter, written, side, text)


def _letters(domain: Domain, side: Side, word: str) -> tuple[str, ...]:
    variable: Variable = domain.energy(side) if word == "energy" else domain.power(word)  # type: ignore[arg-type]
    return variable.letters if word == "energy" else (*variable.letters, word)


def element_details(
    port: Port, name: str, decides: Side, *, default: ElementKind | None, ties: bool, named: Iterable[Side] = ()
) -> dict[str, str]:
    """The keys under `elements` that an element of this name needs; empty where the notation says it all.

    `default` is the kind that a reader would take, `ties` tells that causality had a choice among storages, and `named` are the
    power variables that the notation names already.
    """
    kind = element_kind(port)
    details: dict[str, str] = {}
    value, law = element_value(port, kind), element_law(port)
    if law is not None:
        details["energy" if law.form == "energy" else "law"] = law.text
    elif (
        value is ZERO
    ):  # zero by its nature, a sensor or a weightless point: a number could be changed, a law could not
        left = "energy" if isinstance(port.law, StorageLaw) else port.law.side
        details["law"] = f"{_letters(DOMAINS[port.domain], port.law.side, left)[0]} = 0"
    elif value is not None and (value is not symbol(name) or kind is not default):
        assert kind.quantity is not None, "what has a value has a quantity"
        details[kind.quantity.key] = to_text(value)
    details |= _names(port, name, kind, set(named))
    if port.initial is not None:
        details["initial"] = to_text(port.initial)
    causality = _causality(port, decides, ties)
    return details | ({"causality": causality} if causality else {})


def default_name(port: Port, name: str, side: Side) -> str:
    """The name that a variable gets where none is given."""
    if isinstance(port.law, SourceLaw) and port.law.side == side:
        return name
    return f"{DOMAINS[port.domain].power(side).symbol}_{name}"


def _names(port: Port, name: str, kind: ElementKind, named: set[Side]) -> dict[str, str]:
    domain = DOMAINS[port.domain]
    sides: tuple[Side, Side] = ("across", "through")
    found = {
        domain.power(side).word: port.variable(side)
        for side in sides
        if side not in named and port.variable(side) != default_name(port, name, side)
    }
    if isinstance(port.law, StorageLaw) and port.law.keeps_energy_variable:
        energy = domain.energy(kind.side)
        if port.state != f"{energy.symbol}_{name}":
            found[energy.word] = port.state
    return {word: variable for word, variable in found.items() if "[" not in variable}


def _causality(port: Port, decides: Side, ties: bool) -> str:
    if isinstance(port.law, SourceLaw):
        return ""
    if port.prefer is not None and port.forced:
        return f"force {port.prefer}"
    if isinstance(port.law, StorageLaw) and ties and not port.law.keeps_energy_variable:
        return "integral" if decides == port.law.side else "derivative"
    return port.prefer or ""
