"""Elements from their lines: `L_a: {inductor: [a, b], L: 2 mH, current: I_a}`."""

from tellegen.core.errors import Place, TellegenError
from tellegen.core.names import NAME
from tellegen.description import rules
from tellegen.description.connections import connection_form
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar
from tellegen.description.indexing import read_name
from tellegen.description.keys import (
    CONNECTION,
    VALUE,
    Form,
    form_of,
)
from tellegen.description.line_keys import read_keys
from tellegen.description.lines import Indices, Line, reserved
from tellegen.description.moving import let_read_states
from tellegen.description.node_lists import read_nodes
from tellegen.description.quantities import Reading, read_plain
from tellegen.description.switching import SwitchingLine
from tellegen.elements import KINDS
from tellegen.elements.other_words import kind_advice
from tellegen.expressions import RESERVED_WORDS


def read_line(context: Context, key: Scalar, node: Node, indices: Indices) -> Line:
    """The line of one element."""
    if not isinstance(node, Mapping) or not node.keys:
        fix = f"write '{key.text}: {{kind: [nodes], key: value}}'"
        raise context.error(
            rules.WRONG_SHAPE, node, f"the element '{key.text}' is not a mapping", fix=fix, where=key.text
        )
    name = key.text if NAME.fullmatch(key.text) else read_name(context, key, indices, "an element")
    if key.text in RESERVED_WORDS:
        raise reserved(context, key, "an element")
    form = connection_form(context, key, node) if node.keys[0].text == CONNECTION else form_of(node.keys[0].text)
    if form is None:
        raise _unknown_kind(context, key, node)
    place = Place(context.file, key.line, key.column, key.text)
    line = Line(key, place, form, name, read_nodes(context, key, node.values[0], form.kind, indices))
    if form.kind.role == "switching":
        line.switching = SwitchingLine(context, key.text, form.kind, indices)
    if len(node.keys) == 2 and (quick := _quick_value(form, node)) is not None:
        line.value, line.value_node = quick
    elif len(node.keys) > 1:
        first = len(context.pending)
        read_keys(context, line, node, indices)
        if form.kind.role in ("coupling", "resistive"):
            let_read_states(context, first)
    return line


def read_details(context: Context, line: Line, node: Mapping) -> None:
    """Read keys of an element whose kind is known already: values, laws, initial values."""
    read_keys(context, line, node, (), first=0)


def _quick_value(form: Form, node: Mapping) -> tuple[Reading, Scalar] | None:
    """The value of a line that has only a value, a plain one of the right unit: most lines of a large network."""
    text = node.values[1]
    if type(text) is not Scalar or form.keys.get(node.keys[1].text) != VALUE:
        return None
    reading = read_plain(text.text)
    if reading is None or (reading.dimension is not None and reading.dimension != form.dimension):
        return None
    return reading, text


def _unknown_kind(context: Context, key: Scalar, node: Mapping) -> TellegenError:
    word = node.keys[0]
    named = [other.text for other in node.keys[1:] if other.text in KINDS]
    fix = f"write '{named[0]}' first: the kind is the first key" if named else kind_advice(word.text, (CONNECTION,))
    return context.error(rules.UNKNOWN_KIND, word, f"'{word.text}' is not a kind of element", fix=fix, where=key.text)
