"""Loops of positions in a file: `closures: {pin: {equations: [...], solves: [phi_2, phi_3]}}`.

A mechanism brings its own. A network whose moduli read displacements may state them, so that a run begins where positions fit.
"""

from collections.abc import Iterable

from tellegen.core.names import did_you_mean, listing
from tellegen.description import experiment_rules, rules
from tellegen.description.context import Context, Pending
from tellegen.description.dimensions import without_marks
from tellegen.description.document import Node, Scalar, Sequence
from tellegen.description.model import Closure, Part
from tellegen.description.parts.instances import Renaming
from tellegen.description.quantities import parse_marked
from tellegen.expressions import Expression, to_text

KEYS = {"equations": "formulas of displacements that are zero", "solves": "the displacements that follow from them"}


def read_closures(context: Context, node: Node) -> tuple[Closure, ...]:
    """The closures of a file, checked when all displacements are known."""
    return tuple(_read(context, key, value) for key, value in context.mapping(node, "'closures'").items())


def _read(context: Context, key: Scalar, node: Node) -> Closure:
    mapping = context.mapping(node, f"the closure {key.text}")
    context.check_keys(mapping, KEYS, f"the closure {key.text}")
    given = mapping.get("equations"), mapping.get("solves")
    if given[0] is None or given[1] is None:
        fix = f"write '{key.text}: {{equations: [...], solves: [...]}}'"
        raise context.error(rules.MISSING_KEY, key, f"the closure {key.text} is not complete", fix=fix)
    equations = tuple(_equation(context, key, text) for text in _items(context, given[0], key))
    solves = context.texts(given[1], f"what {key.text} solves")
    for text in solves:
        if text.text not in context.displacements:
            fix = did_you_mean(text.text, context.displacements) or f"they are {listing(context.displacements)}"
            raise context.error(experiment_rules.UNKNOWN_VARIABLE, text, f"'{text.text}' is no displacement", fix=fix)
    if len(solves) != len(equations) or len(solves) > 3:
        what = f"the closure {key.text} has {len(equations)} equations for {len(solves)} displacements"
        raise context.error(rules.WRONG_SHAPE, node, what, fix="give as many of both, three at most")
    return Closure(context.name(key, "a closure"), equations, tuple(text.text for text in solves))


def _items(context: Context, node: Node, key: Scalar) -> list[Scalar]:
    items = list(node) if isinstance(node, Sequence) else [node]
    return [context.formula(item, f"an equation of {key.text}") for item in items]


def _equation(context: Context, key: Scalar, text: Scalar) -> Expression:
    marked = parse_marked(text.text, context.text_place(text))
    context.pending.append(Pending(marked, None, f"an equation of {key.text}", lambda: context.text_place(text), {}))
    return without_marks(marked)


def closures_of(parts: Iterable[Part]) -> tuple[Closure, ...]:
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
