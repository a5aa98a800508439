"""`symbols:` of a file: how names are written in figures, formulas and plots."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tellegen.core.domains import DOMAINS
from tellegen.core.errors import Place
from tellegen.core.names import did_you_mean
from tellegen.expressions.printing import usual_latex
from tellegen.expressions.symbols import NoSymbolError, read_symbol
from tellegen.model.model import Model, known_variables
from tellegen.notations import rules
from tellegen.notations.context import ReadingContext
from tellegen.notations.yaml.document import Node

_LETTERS = {v.symbol for domain in DOMAINS.values() for v in (domain.across, domain.through)}
OF_FIGURES = re.compile(rf"(?:[LRGKqat]|{'|'.join(sorted(_LETTERS))})_[1-9]\d*")
"""Names that figures give to vectors and matrices that nobody named, by counting: `K_1`, `omega_2`. A figure says how far."""


class ReadSymbols(NamedTuple):
    """Symbols of what has a name, and of what figures count."""

    named: Mapping[str, str]
    counted: Mapping[str, str]


def read_symbols(context: ReadingContext, node: Node) -> ReadSymbols:
    """The symbols by name, each checked."""
    found: dict[str, str] = {}
    known = _named(context)
    written: dict[str, str] = {}
    places: dict[str, Place] = {}
    for key, value in context.mapping(node, "'symbols'").items():
        with context.collecting():
            if key.text not in known and not OF_FIGURES.fullmatch(key.text):
                fix = did_you_mean(key.text, known) or "name an element, a parameter, a variable, a signal or a matrix"
                what = f"the symbol of '{key.text}' is given, and nothing has this name"
                raise context.error(rules.SYMBOL_OF_NOTHING, key, what, fix=fix)
            text = context.scalar(value, f"the symbol of {key.text}")
            try:
                latex = read_symbol(text.text.strip()).latex
            except NoSymbolError as wrong:
                what = f"the symbol of '{key.text}' cannot be read: {wrong}"
                fix = r"write letters, Greek letters such as \tau, and marks such as \dot{x}, x_{a,1}, x^*, x'"
                raise context.error(rules.BAD_SYMBOL, text, what, fix=fix) from None
            if (other := written.setdefault(latex, key.text)) != key.text:
                what = f"'{key.text}' and '{other}' have one symbol"
                raise context.error(rules.SYMBOL_TAKEN, text, what, fix="give each a symbol of its own")
            found[key.text] = text.text.strip()
            places[key.text] = context.place(text)
    usual = {usual_latex(name): name for name in known if name not in found} if found else {}
    for latex, name in written.items():
        # The symbol of an element and its parameter is one, and so may be that of a source and its variable. What a
        # figure counts is bold, and no scalar.
        if latex in usual and usual[latex] != name and name in known:
            what = f"the symbol of '{name}' is how '{usual[latex]}' is written"
            fix = "choose another symbol"
            context.add_errors([rules.SYMBOL_TAKEN.finding(what, where=name, fix=fix, place=places[name])])
    counted = {name: text for name, text in found.items() if name not in known}
    return ReadSymbols({name: text for name, text in found.items() if name in known}, counted)


def _named(context: ReadingContext) -> dict[str, None]:
    """Everything that has a name in figures and equations."""
    fields = (field.name for field in context.fields)
    groups: tuple[Iterable[str], ...] = (
        context.elements,
        context.parameters,
        known_variables(context.elements.values()),
        context.displacements,
        context.signals,
        context.vectors,
        fields,
    )
    return dict.fromkeys(name for group in groups for name in group)


def symbols_still_named(model: Model) -> Mapping[str, str]:
    """The symbols of a model for what it still has: transformations leave names behind."""
    if not model.symbols:
        return {}
    named = {*model.parameters, *model.displacements, *model.signals, *model.vectors}
    named |= {element.name for element in model.elements} | {field.name for field in model.fields}
    named |= known_variables(model.elements).keys()
    return {name: text for name, text in model.symbols.items() if name in named}
