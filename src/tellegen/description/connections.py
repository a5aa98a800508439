"""Connections: couplings whose kind follows from their domains and the relation of their variables."""

from functools import lru_cache
from typing import NoReturn

from tellegen.core.domains import DOMAINS
from tellegen.core.names import did_you_mean, listing
from tellegen.description import rules
from tellegen.description.context import Context
from tellegen.description.dimensions import names_in
from tellegen.description.document import Mapping, Scalar
from tellegen.description.keys import (
    Form,
    make_form,
)
from tellegen.description.quantities import parse_marked
from tellegen.elements import CouplingType, connection
from tellegen.expressions import Expression


@lru_cache(maxsize=256)
def _form_of_connection(domains: tuple[str, str], coupling: CouplingType, reciprocal: bool) -> Form:
    return make_form(connection(domains, coupling, reciprocal=reciprocal))


_PORT_LETTERS = {
    **{f"{side}_{port}": (side, port) for side in ("across", "through") for port in (1, 2)},
    **{f"{letter}{port}": (side, port) for letter, side in (("E", "across"), ("F", "through")) for port in (1, 2)},
}


def connection_form(context: Context, key: Scalar, node: Mapping) -> Form:
    """The form of a connection, whose kind follows from its `domains` and its `relation`."""
    domains = _domains(context, key, node)
    left, right, _ = relation_of(context, key, node)
    like = left[0] == right[0]
    coupling: CouplingType = "transformer" if like else "gyrator"
    # across_1 = K across_2 is through_2 = K through_1, and through_2 = K across_1 is through_1 = K across_2
    reciprocal = left in (("across", 2), ("through", 1)) if like else left[0] == "across"
    return _form_of_connection(domains, coupling, reciprocal)


def _domains(context: Context, key: Scalar, node: Mapping) -> tuple[str, str]:
    given = node.get("domains")
    if given is None:
        fix = "add 'domains: [electrical, rotational]'"
        raise context.error(
            rules.MISSING_KEY, node, f"the connection {key.text} has no domains", fix=fix, where=key.text
        )
    names = context.texts(given, f"the domains of {key.text}")
    for name in names:
        if name.text not in DOMAINS:
            fix = did_you_mean(name.text, DOMAINS) or f"the domains are {listing(DOMAINS)}"
            raise context.error(rules.BAD_RELATION, name, f"'{name.text}' is not a domain", fix=fix, where=key.text)
    if len(names) != 2:
        what = f"the connection {key.text} has {len(names)} domains, not 2"
        raise context.error(rules.BAD_RELATION, given, what, fix="name the domain of each side", where=key.text)
    return names[0].text, names[1].text


def relation_of(context: Context, key: Scalar, node: Mapping) -> tuple[tuple[str, int], tuple[str, int], Expression]:
    """The variables on both sides of a relation, and the modulus between them."""
    given = node.get("relation")
    if given is None:
        fix = "add a relation such as 'relation: through_2 = K*through_1'"
        raise context.error(
            rules.MISSING_KEY, node, f"the connection {key.text} has no relation", fix=fix, where=key.text
        )
    text = context.scalar(given, f"the relation of {key.text}")
    left, sign, right = text.text.partition("=")
    if not sign or left.strip() not in _PORT_LETTERS:
        refuse_relation(context, key, text, "must give one of across_1, through_1, across_2, through_2")
    marked = parse_marked(right, context.text_place(text, len(left) + 1))
    used = [name for name in names_in(marked) if name in _PORT_LETTERS]
    if len(used) != 1 or _PORT_LETTERS[used[0]][1] == _PORT_LETTERS[left.strip()][1]:
        refuse_relation(context, key, text, "must relate one variable of side 1 to one of side 2")
    modulus = marked.derivative(used[0])
    if used[0] in modulus.free_symbols or marked.substitute({used[0]: 0}) is not marked * 0:
        refuse_relation(context, key, text, f"must be proportional to {used[0]}")
    return _PORT_LETTERS[left.strip()], _PORT_LETTERS[used[0]], modulus


def refuse_relation(context: Context, key: Scalar, text: Scalar, what: str) -> NoReturn:
    """Raises: DescriptionError for a relation that is none."""
    fix = "write a relation such as 'through_2 = K*through_1'"
    raise context.error(rules.BAD_RELATION, text, f"the relation of {key.text} {what}", fix=fix, where=key.text)
