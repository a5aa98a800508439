"""Displacements from their rates, and the loops of positions that they close.

A mechanism brings its own. A network whose moduli read displacements may state them, so that a run begins where positions fit.
"""

from collections.abc import Iterable

from tellegen.core.names import did_you_mean, listing
from tellegen.expressions import Expression, parse, to_text
from tellegen.model.dimensions import without_marks
from tellegen.model.model import Closure, Part
from tellegen.model.variables import input_name, sensed_variables, state_variables
from tellegen.notations import rules
from tellegen.notations.context import PendingCheck, ReadingContext
from tellegen.notations.grammar import CLOSURE
from tellegen.notations.parts.instances import Renaming
from tellegen.notations.quantities import parse_marked
from tellegen.notations.yaml.document import Node, Scalar, SequenceNode


class DisplacementsReader:
    """Reads `displacements:`; what rates use is checked when all elements are known."""

    def __init__(self, context: ReadingContext) -> None:
        self.context = context
        self.rates: dict[str, Scalar] = {}

    def read(self, node: Node) -> None:
        """Parse every rate."""
        for key, value in self.context.mapping(node, "'displacements'").items():
            name = self.context.name(key, "a displacement")
            rate = self.context.formula(value, f"the rate of {name}")
            self.rates[name] = rate
            self.context.displacements[name] = parse(rate.text, place=self.context.text_place(rate))

    def check_rates(self) -> None:
        """Rates are expressions of parameters, of inputs, of what storages decide and of what ideal sensors read."""
        known = {
            *state_variables(self.context.elements.values()),
            *sensed_variables(self.context.elements.values()),
            *self.context.parameters,
            *self.context.displacements,
        }
        known |= {input_name(e) for e in self.context.elements.values() if e.kind.role == "source"}
        for name in self.rates:  # those of a mechanism are made of its own speeds
            rate = self.context.displacements.get(name)
            if rate is None:  # it could not be read, which is told already
                continue
            if name in self.context.parameters:
                what = f"'{name}' is a displacement and a parameter"
                self.context.collect(
                    self.context.error(rules.VALUE_TWICE, self.rates[name], what, fix="rename one of them")
                )
            for other in sorted(n for n in rate.free_symbols - known if not self.context.may_be_hidden(n)):
                fix = did_you_mean(other, known) or f"some that are: {listing(sorted(known))}"
                what = f"the rate of {name} uses '{other}', which is no variable of a storage or of a sensor"
                self.context.collect(self.context.error(rules.UNKNOWN_VARIABLE, self.rates[name], what, fix=fix))


def read_closures(context: ReadingContext, node: Node) -> tuple[Closure, ...]:
    """The closures of a file, checked when all displacements are known."""
    return tuple(_read_closure(context, key, value) for key, value in context.mapping(node, "'closures'").items())


def _read_closure(context: ReadingContext, key: Scalar, node: Node) -> Closure:
    mapping = context.record(node, CLOSURE, f"the closure {key.text}")
    given = mapping.get("equations"), mapping.get("solves")
    if given[0] is None or given[1] is None:
        fix = f"write '{key.text}: {{equations: [...], solves: [...]}}'"
        raise context.error(rules.MISSING_KEY, key, f"the closure {key.text} is not complete", fix=fix)
    equations = tuple(_equation(context, key, text) for text in _items(context, given[0], key))
    solves = context.texts(given[1], f"what {key.text} solves")
    for text in solves:
        if text.text not in context.displacements:
            fix = did_you_mean(text.text, context.displacements) or f"they are {listing(context.displacements)}"
            raise context.error(rules.UNKNOWN_VARIABLE, text, f"'{text.text}' is no displacement", fix=fix)
    if len(solves) != len(equations) or len(solves) > 3:
        what = f"the closure {key.text} has {len(equations)} equations for {len(solves)} displacements"
        raise context.error(rules.WRONG_SHAPE, node, what, fix="give as many of both, three at most")
    return Closure(context.name(key, "a closure"), equations, tuple(text.text for text in solves))


def _items(context: ReadingContext, node: Node, key: Scalar) -> list[Scalar]:
    items = list(node) if isinstance(node, SequenceNode) else [node]
    return [context.formula(item, f"an equation of {key.text}") for item in items]


def _equation(context: ReadingContext, key: Scalar, text: Scalar) -> Expression:
    marked = parse_marked(text.text, context.text_place(text))
    context.pending.append(
        PendingCheck(marked, None, f"an equation of {key.text}", lambda: context.text_place(text), {})
    )
    return without_marks(marked)


def closures_of_parts(parts: Iterable[Part]) -> tuple[Closure, ...]:
    """The closures that parts bring along, under their full names."""
    found: list[Closure] = []
    for part in parts:
        if part.model.closures:
            names = Renaming(part.name, part.model, {}, part.names)
            found += [
                Closure(
                    names.path(closure.name),
                    tuple(map(names.expression, closure.equations)),
                    tuple(map(names.path, closure.solves)),
                )
                for closure in part.model.closures
            ]
    return tuple(found)


def closure_texts(closures: Iterable[Closure]) -> dict[str, dict[str, list[str]]]:
    """Closures as the texts of a file."""
    return {c.name: {"equations": list(map(to_text, c.equations)), "solves": list(c.solves)} for c in closures}
