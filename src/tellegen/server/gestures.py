"""Gestures on figures, each an edit of the text that keeps comments and order: insert, join, delete, rename, set, move, limit,
rotate, forms of dependent storages.

A gesture gets the document and what it needs, and gives another text with words for it. It proves nothing about physics: the
structure pass that follows says what the new text means. What would tear the file itself is refused.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from typing import final

from tellegen.core.domains import DOMAINS, REFERENCES
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, is_name, listing
from tellegen.drawing.schematic.symbols import can_turn
from tellegen.elements import KINDS, ElementKind, kind_names
from tellegen.model.bond_graph import ITEMS
from tellegen.model.model import Model
from tellegen.notations.layout import PLACED_FIGURES, QUARTERS, TURNED, with_positions
from tellegen.notations.reading import model_of_document
from tellegen.notations.writing import to_yaml
from tellegen.notations.yaml.document import Document, MappingNode, Node, Scalar, SequenceNode, read_document
from tellegen.notations.yaml.writing import (
    NodePath,
    add_entry,
    add_item,
    find,
    remove,
    scalar_source,
    set_scalar,
    tree_of,
)
from tellegen.reduction import reduce_model
from tellegen.server import rules
from tellegen.studies.conditioning import condition as conditioned

Arguments = Mapping[str, object]


@final
@dataclass(frozen=True, slots=True)
class Edit:
    """Another text, the words of the step, what is worth knowing, and the element that is selected next."""

    text: str
    label: str
    note: str = ""
    selected: str = ""


@final
class Page:
    """A document with the folder of its parts: what gestures look at."""

    def __init__(self, text: str, file: str, folder: Path) -> None:
        self.document = read_document(text, file)
        self.folder = folder

    @cached_property
    def model(self) -> Model:
        """The model that the text describes. Raises: DescriptionError."""
        return model_of_document(self.document, folder=self.folder)

    def section(self, key: str) -> Node | None:
        """What stands under a key of the file."""
        return self.document.root.get(key) if isinstance(self.document.root, MappingNode) else None

    def entries(self, key: str) -> Iterator[tuple[str, Node]]:
        """The entries under a key of the file."""
        found = self.section(key)
        if isinstance(found, MappingNode):
            yield from ((name.text, node) for name, node in found.items())

    @property
    def notation(self) -> str:
        """The section in which elements are written."""
        return next((key for key in ("network", "bond graph", "pog") if self.section(key) is not None), "network")

    def taken(self) -> set[str]:
        """Names that a new element must not have."""
        found = {name for key in ("network", "elements", "parameters", "parts") for name, _ in self.entries(key)}
        return found | {word for line in self.bonds() for word in re.findall(r"\w+", line)} | set(self.nodes())

    def bonds(self) -> list[str]:
        """The lines of a bond graph."""
        found = self.section("bond graph")
        return [item.text for item in found if isinstance(item, Scalar)] if isinstance(found, SequenceNode) else []

    def terminals(self) -> Iterator[tuple[NodePath, str]]:
        """Where nodes of elements and of parts are written."""
        for name, entry in self.entries("network"):
            if isinstance(entry, MappingNode) and entry.keys:
                kind = entry.keys[0].text
                value = entry.values[0]
                if isinstance(value, SequenceNode):
                    yield from (
                        (("network", name, kind, k), item.text)
                        for k, item in enumerate(value)
                        if isinstance(item, Scalar)
                    )
        for name, entry in self.entries("parts"):
            ports = entry.get("ports") if isinstance(entry, MappingNode) else None
            for port, node in ports.items() if isinstance(ports, MappingNode) else ():
                if isinstance(node, Scalar):
                    yield ("parts", name, "ports", port.text), node.text

    def nodes(self) -> Counter[str]:
        """The nodes of the network, and how many terminals each joins."""
        return Counter(text for _, text in self.terminals())


Act = Callable[[Page, Arguments], Edit]


def gesture(text: str, file: str, folder: str, name: str, arguments: Arguments) -> Edit:
    """What a gesture makes of a text.

    Raises: DescriptionError (D723, D724, or D073 of the edit itself); ReductionError for a limit that does not exist.
    """
    page = Page(text, file, Path(folder))
    if name not in GESTURES:
        raise rules.NO_SUCH_GESTURE.error(f"there is no gesture '{name}'", fix=did_you_mean(name, GESTURES))
    return GESTURES[name](page, arguments)


def _text(arguments: Arguments, key: str, default: str | None = None) -> str:
    value = arguments.get(key, default)
    if not isinstance(value, str) or len(value) > 10_000:
        raise rules.NO_SUCH_GESTURE.error(f"the gesture has no text '{key}'", fix=f"give it '{key}'")
    return value


def _texts(arguments: Arguments, key: str) -> list[str]:
    value = arguments.get(key, [])
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise rules.NO_SUCH_GESTURE.error(f"the gesture has no list '{key}'", fix=f"give it '{key}'")
    return [str(item) for item in value]


def _unfit(what: str, fix: str) -> TellegenError:
    return rules.GESTURE_DOES_NOT_FIT.error(what, fix=fix)


# -- Values ------------------------------------------------------------------------------------------------------------------------


def set_value(page: Page, arguments: Arguments) -> Edit:
    """Another text at a path of the file: a parameter, a setting of an element, an input, the end of the experiment."""
    path, text = _texts(arguments, "path"), _text(arguments, "text")
    if not path:
        raise rules.NO_SUCH_GESTURE.error("the gesture has no path", fix="give it the keys that lead to the value")
    return Edit(_set(page.document, path, text).text, f"{path[-1]} = {text}", selected=_text(arguments, "selected", ""))


def _set(document: Document, path: Sequence[str], text: str) -> Document:
    """The document with a value at a path of keys; sections that are missing are made."""
    node: Node = document.root
    for depth, key in enumerate(path):
        below = node.get(key) if isinstance(node, MappingNode) else None
        if below is None:
            value: object = text
            for later in reversed(path[depth + 1 :]):
                value = {later: value}
            if depth == 0:
                return _with_section(document, key, path[1:], text)
            return add_entry(document, tuple(path[:depth]), key, value)  # type: ignore[arg-type]  # a tree of texts
        node = below
    return set_scalar(document, tuple(path), text)


SECTIONS = ("parameters", "network", "bond graph", "pog", "elements", "signals", "experiment")
"""The order in which sections that are missing are put into a file."""


def _with_section(document: Document, key: str, rest: Sequence[str], text: str) -> Document:
    """A new section, before those that usually follow it."""
    root = document.root
    assert isinstance(root, MappingNode)
    later = SECTIONS[SECTIONS.index(key) + 1 :] if key in SECTIONS else ()
    following = next((root.key(word) for word in later if word in root), None)
    lines = f"{key}:\n"
    flow = document.text[document.start(root)] == "{"
    if flow or following is None:
        tail = document.text if document.text.endswith("\n") else document.text + "\n"
        if flow:
            value: object = text
            for later_key in reversed(rest):
                value = {later_key: value}
            return add_entry(document, (), key, value)  # type: ignore[arg-type]  # a tree of texts
        made = read_document(f"{tail}\n{lines}", document.file)
    else:
        at = document.line_starts[following.line - 1]
        made = read_document(document.text[:at] + lines + "\n" + document.text[at:], document.file)
    return _set_first(made, [key, *rest], text)


def _set_first(document: Document, path: Sequence[str], text: str) -> Document:
    if len(path) == 1:
        return set_scalar(document, tuple(path), text)
    value: object = text
    for key in reversed(path[2:]):
        value = {key: value}
    return add_entry(document, (path[0],), path[1], value)  # type: ignore[arg-type]  # a tree of texts


def set_text(page: Page, arguments: Arguments) -> Edit:
    """Another text at a place, as a remedy proposes it; what stands there must be what the remedy was for."""
    line, column = arguments.get("line"), arguments.get("column")
    old, new = _text(arguments, "old"), _text(arguments, "new")
    document = page.document
    if not isinstance(line, int) or not isinstance(column, int) or not 1 <= line < len(document.line_starts):
        raise rules.NO_SUCH_GESTURE.error("the gesture has no place", fix="give it a line and a column")
    at = document.line_starts[line - 1] + column - 1
    text = document.text
    found = text.find(old, at, at + len(old) + 400)
    if not old or found < 0:
        raise _unfit(f"'{old}' does not stand there any more", "look at the finding again")
    return Edit(text[:found] + new + text[found + len(old) :], f"'{new}' instead of '{old}'")


# -- Elements ----------------------------------------------------------------------------------------------------------------------


def insert(page: Page, arguments: Arguments) -> Edit:
    """A new element. `kind` is its word; `nodes` those that it joins, from the first on; `name` and `value` may be chosen.

    `beside` names an element that it is put in `way` "parallel" or "series" to. What is not said is made up: free nodes, the
    reference of the domain, a free name, one unit of its parameter, a step for a source.
    """
    if page.notation == "bond graph":
        return _insert_bond(page, arguments)
    if page.notation == "pog":
        raise _unfit("the ladder of a POG is edited as text", "write the element into 'pog:'")
    word = _text(arguments, "kind")
    if word not in KINDS:
        fix = did_you_mean(word, KINDS) or f"the kinds are {listing(kind_names(), 12)}"
        raise rules.NO_SUCH_GESTURE.error(f"there is no kind of element '{word}'", fix=fix)
    kind = KINDS[word]
    name = _new_name(page, _text(arguments, "name", ""), _symbol(kind))
    document, nodes = _nodes_for(page, kind, _texts(arguments, "nodes"), arguments)
    entry = {kind.name: nodes}
    document = _in_section(document, "network", name, entry)
    document = _with_value(document, kind, name, _text(arguments, "value", ""))
    return Edit(document.text, f"insert {name}", f"{kind.name} {name} at {', '.join(nodes)}", name)


def _new_name(page: Page, wanted: str, symbol: str) -> str:
    taken = page.taken()
    if wanted:
        if not is_name(wanted):
            raise _unfit(f"'{wanted}' is no name", "a name is a letter, then letters, digits and underscores")
        if wanted in taken:
            raise _unfit(f"the name '{wanted}' is taken", "choose another one")
        return wanted
    return next(name for k in range(1, len(taken) + 3) if (name := f"{symbol}_{k}") not in taken)


def _symbol(kind: ElementKind) -> str:
    if kind.quantity is not None:
        return kind.quantity.key
    if kind.role == "source":
        return kind.law.partition(" ")[0]
    return kind.name.split()[-1][:1].upper()


def _nodes_for(page: Page, kind: ElementKind, given: list[str], arguments: Arguments) -> tuple[Document, list[str]]:
    """The nodes of a new element, and the document, in which another element made room where it stands in series."""
    document = page.document
    beside, way = _text(arguments, "beside", ""), _text(arguments, "way", "parallel")
    if beside and kind.terminals == 2:
        at = [(path, text) for path, text in page.terminals() if path[:2] == ("network", beside)]
        if at and kind.grounded:
            return document, [at[0][1]]
        if len(at) < 2:
            raise _unfit(f"'{beside}' has no two nodes of its own in this file", "choose nodes instead")
        if way != "series":
            return document, [at[0][1], at[1][1]]
        fresh = _free_node(page, ())
        return set_scalar(document, at[1][0], fresh), [fresh, at[1][1]]
    nodes: list[str] = []
    for k, domain in enumerate(kind.domains):
        first = given[2 * k] if len(given) > 2 * k else _free_node(page, nodes)
        nodes.append(first)
        if not kind.grounded:
            nodes.append(given[2 * k + 1] if len(given) > 2 * k + 1 else DOMAINS[domain].reference)
    if kind.terminals == 2 and len(given) == 1 and kind.role == "source":
        nodes = [DOMAINS[kind.domains[0]].reference, given[0]] if kind.side == "through" else nodes
    bad = next((node for node in nodes if not re.fullmatch(r"[\w.\[\]]+", node)), None)
    if bad is not None:
        raise _unfit(f"'{bad}' is no name of a node", "a name is a letter, then letters, digits and underscores")
    return document, nodes


def _free_node(page: Page, others: Iterable[str]) -> str:
    taken = page.taken() | set(others)
    return next(name for k in range(1, len(taken) + 3) if (name := f"n{k}") not in taken)


def _in_section(document: Document, section: str, name: str, value: Mapping[str, Sequence[str]] | str) -> Document:
    root = document.root
    assert isinstance(root, MappingNode)
    if section not in root:
        made = _with_section(document, section, ["x"], "1")
        # The section is there now; what made it goes again.
        document = remove(made, (section, "x"))
    return add_entry(document, (section,), name, value)


def _with_value(document: Document, kind: ElementKind, name: str, value: str) -> Document:
    """A parameter with the name of an element, or the input of a source."""
    if kind.role == "source":
        unit = DOMAINS[kind.domains[0]].power(kind.side).unit
        return _set(document, ["experiment", "inputs", name], value or f"step(1 {unit})")
    if kind.quantity is None:
        return document
    unit = "" if kind.quantity.unit == "1" else f" {kind.quantity.unit}"
    return _set(document, ["parameters", name], value or f"1{unit}")


def _insert_bond(page: Page, arguments: Arguments) -> Edit:
    """A line of a bond graph: written out (`Se:V -> 1:i`), or a one-port at the junction that is selected."""
    word, value = _text(arguments, "kind"), _text(arguments, "value", "")
    document = page.document
    if "->" in word:
        return Edit(add_item(document, ("bond graph",), word).text, f"insert {word}")
    if word not in ITEMS:
        raise rules.NO_SUCH_GESTURE.error(f"there is no '{word}' in bond graphs", fix=did_you_mean(word, ITEMS))
    near = next(iter(_texts(arguments, "nodes")), "")
    name = _new_name(page, _text(arguments, "name", ""), "j" if word in {"0", "1"} else word)
    item = f"{word}:{name}"
    junction = near or f"1:{_new_name(page, '', 'j')}"
    if not page.bonds():
        # The domain follows from units later; the first line must say it.
        item += f" ({_text(arguments, 'domain', 'electrical')})"
    chain = f"{item} -> {junction}" if word in {"Se", "Sf"} else f"{junction} -> {item}"
    document = add_item(document, ("bond graph",), chain)
    if word in {"R", "C", "I"}:
        document = _set(document, ["parameters", name], value or "1")
    elif word in {"Se", "Sf"}:
        document = _set(document, ["experiment", "inputs", name], value or "step(1)")
    return Edit(document.text, f"insert {name}", chain, name)


def delete(page: Page, arguments: Arguments) -> Edit:
    """Without an element. One in series leaves its two nodes as one, as it leaves its junction in a bond graph."""
    name = _text(arguments, "name")
    if page.notation == "bond graph":
        document, note = _without_bonds(page, name), ""
    else:
        document, note = _without_element(page, name)
    document = _without_leftovers(document, name)
    return Edit(document.text, f"delete {name}", note)


def _without_element(page: Page, name: str) -> tuple[Document, str]:
    document = page.document
    entry = next((node for key, node in page.entries("network") if key == name), None)
    if entry is None:
        what = f"'{name}' is not written as a line of its own in this file"
        raise _unfit(what, "it comes from a part, a repeated line or a mechanism: change that in the text")
    own = [text for path, text in page.terminals() if path[:2] == ("network", name)]
    rest = page.nodes() - Counter(own)
    document = remove(document, ("network", name))
    # In series: behind it both nodes would end at one terminal.
    alone = len(own) == 2 and own[0] != own[1] and not REFERENCES & set(own) and all(rest[node] == 1 for node in own)
    if not alone:
        return document, f"{name} removed"
    smaller = Page(document.text, document.file, page.folder)
    return _joined(smaller, own[0], own[1]), f"{name} removed; {own[1]} and {own[0]} are one node now"


def _without_bonds(page: Page, name: str) -> Document:
    document = page.document
    lines = page.bonds()
    touched = [k for k, line in enumerate(lines) if name in _items(line)]
    if not touched:
        raise _unfit(f"'{name}' is not written in the bond graph of this file", "change it in the text")
    for k in reversed(touched):
        items = [item.strip() for item in lines[k].split("->")]
        kept = [item for item in items if _name_of(item) != name]
        inside = len(items) - len(kept) != 1 or _name_of(items[0]) != name != _name_of(items[-1])
        if inside and _name_of(items[-1]) != name:
            raise _unfit(f"'{name}' stands inside the chain '{lines[k]}'", "take the chain apart in the text first")
        if len(kept) < 2:
            document = remove(document, ("bond graph", k))
        else:
            document = set_scalar(document, ("bond graph", k), " -> ".join(kept))
    return document


def _items(line: str) -> list[str]:
    return [_name_of(item) for item in line.split("->")]


def _name_of(item: str) -> str:
    return item.partition("(")[0].rpartition(":")[2].strip()


def _without_leftovers(document: Document, name: str) -> Document:
    """Without the value and the input of an element that is gone, where nothing else uses them."""
    signals = document.root.get("signals")
    for signal in list(signals) if isinstance(signals, MappingNode) else ():
        # The name of a power section that ended at the element; what it is a formula of stays.
        ends = "signals", signal, "between"
        if _has(document, ends) and name in _words(tree_of(find(document, ends))):
            document = remove(document, ends)
    places = [("layout", kind, name) for kind in (*PLACED_FIGURES, TURNED)]
    for path in (("experiment", "inputs", name), ("experiment", "initial", name), ("elements", name), *places):
        document = _without_entry(document, path)
    if _has(document, ("parameters", name)):
        without = remove(document, ("parameters", name))
        used = any(name in re.findall(r"\w+", text) for text in _words(tree_of(without.root)))
        document = document if used else without
    return document


def _without_entry(document: Document, path: NodePath) -> Document:
    """Without an entry, where it is there, and without what holds nothing then."""
    if not _has(document, path):
        return document
    document = remove(document, path)
    if path[0] != "layout" or len(path) == 1:
        return document
    above = find(document, path[:-1])
    return document if isinstance(above, MappingNode) and above.keys else _without_entry(document, path[:-1])


def _has(document: Document, path: NodePath) -> bool:
    node: Node | None = document.root
    for key in path:
        node = node.get(str(key)) if isinstance(node, MappingNode) else None
    return node is not None


def _words(tree: object) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, Mapping):
        for key, value in tree.items():
            yield str(key)
            # What a system is about is no use of a name.
            yield from _words(value) if key not in {"system", "about"} else ()
    elif isinstance(tree, list):
        for item in tree:
            yield from _words(item)


# -- Nodes and names ---------------------------------------------------------------------------------------------------------------


def join(page: Page, arguments: Arguments) -> Edit:
    """Two nodes as one. Of a bond graph: a bond between two junctions."""
    first, second = _text(arguments, "first"), _text(arguments, "second")
    if first == second:
        raise _unfit("a node is not joined to itself", "choose two")
    if page.notation == "bond graph":
        chain = f"{first} -> {second}"
        return Edit(add_item(page.document, ("bond graph",), chain).text, f"join {first} and {second}", chain)
    if second in REFERENCES:
        first, second = second, first
    nodes = page.nodes()
    missing = next((node for node in (first, second) if node not in nodes and node not in REFERENCES), None)
    if missing is not None:
        raise _unfit(
            f"there is no node '{missing}' in this file", did_you_mean(missing, nodes) or "choose one that is there"
        )
    return Edit(_joined(page, first, second).text, f"join {first} and {second}", f"{second} is {first} now", first)


def _joined(page: Page, kept: str, gone: str) -> Document:
    document = page.document
    for path, text in page.terminals():
        if text == gone:
            document = set_scalar(document, path, kept)
    return document


def connect(page: Page, arguments: Arguments) -> Edit:
    """A terminal of an element at another node."""
    name, node = _text(arguments, "name"), _text(arguments, "node")
    terminal = arguments.get("terminal")
    at = [path for path, _ in page.terminals() if path[:2] == ("network", name)]
    if not isinstance(terminal, int) or isinstance(terminal, bool) or not 0 <= terminal < len(at):
        raise _unfit(f"'{name}' has no such terminal in this file", "choose one of its nodes")
    if not re.fullmatch(r"[\w.\[\]]+", node):
        raise _unfit(f"'{node}' is no name of a node", "a name is a letter, then letters, digits and underscores")
    document = set_scalar(page.document, at[terminal], node)
    return Edit(document.text, f"{name} to {node}", selected=name)


def turn(page: Page, arguments: Arguments) -> Edit:
    """An element the other way round: its two nodes change places, and with them the way in which its variables count."""
    name = _text(arguments, "name")
    at = [(path, text) for path, text in page.terminals() if path[:2] == ("network", name)]
    if len(at) != 2:
        what = f"'{name}' has no two nodes of its own in this file"
        raise _unfit(what, "turn an element between two nodes; others are joined anew at their nodes")
    (first, start), (second, end) = at
    document = set_scalar(set_scalar(page.document, first, end), second, start)
    return Edit(document.text, f"turn {name}", f"{name} goes from {end} to {start} now", name)


def rotate(page: Page, arguments: Arguments) -> Edit:
    """A symbol of the schematic a quarter further: across its line, across it the other way round, along it again.

    The model stays as it is; the layout of the file keeps what is turned.
    """
    name = _text(arguments, "name")
    element = next((one for one in page.model.elements if one.name == name), None)
    if element is None or not can_turn(element.kind):
        what = f"the symbol of '{name}' has no two ends" if element is not None else f"there is no element '{name}'"
        raise _unfit(what, "rotate what stands between two nodes: a resistor, a spring, a capacitor")
    path, angle = ("layout", TURNED, name), page.model.turned.get(name, 0)
    following = next((quarter for quarter in QUARTERS if quarter > angle), None)
    document = _without_entry(page.document, path) if following is None else _set(page.document, path, str(following))
    return Edit(document.text, f"rotate {name}", selected=name)


def rename(page: Page, arguments: Arguments) -> Edit:
    """Another name for an element, a parameter or a node, wherever it is written."""
    old, new = _text(arguments, "name"), _text(arguments, "new").strip()
    if not is_name(new):
        raise _unfit(f"'{new}' is no name", "a name is a letter, then letters, digits and underscores")
    nodes = page.nodes()
    keys = {name for key in ("network", "parameters", "elements", "parts", "signals") for name, _ in page.entries(key)}
    names = keys | {name for line in page.bonds() for name in _items(line)}
    if new in names or (old in nodes and old not in names and new in nodes):
        raise _unfit(f"the name '{new}' is taken", "choose another one")
    if old not in names:
        if old not in nodes:
            raise _unfit(
                f"'{old}' is not written in this file", did_you_mean(old, [*names, *nodes]) or "look into the text"
            )
        return Edit(_joined(page, new, old).text, f"rename {old} to {new}", selected=new)
    at_nodes = {path for path, _ in page.terminals()}
    document = page.document
    pattern = re.compile(rf"(?<![\w.]){re.escape(old)}(?![\w.])")
    changes: list[tuple[int, int, str]] = []
    for path, node, in_flow in _scalars(document, document.root, (), flow=False):
        head_only = path[:1] in {("system",), ("about",), ("symbols",)} and path != ("symbols", old, "key")
        if path in at_nodes or head_only or _is_word(path):
            continue
        if pattern.search(node.text):
            text = pattern.sub(new, node.text)
            start = document.start(node)
            end = start + len(document.source(node).rstrip())
            quoted = node.quoted and document.text[start] in "'\""
            changes.append((start, end, scalar_source(text, in_flow, quoted)))
    text = document.text
    for start, end, source in sorted(changes, reverse=True):
        text = text[:start] + source + text[end:]
    _refuse_worse(page, text, old, new)
    return Edit(text, f"rename {old} to {new}", selected=new)


NAMED = ("network", "elements", "signals", "parts", "mechanism", "geometry")
"""Sections with an entry for each name, whose keys are words of the grammar."""


def _is_word(path: NodePath) -> bool:
    """Whether a text is a key that the grammar knows: `b` of a damper is no name, whatever else is called so."""
    if path[-1] != "key":
        return False
    return (
        len(path) == 2
        or (len(path) == 3 and path[0] in {"experiment", "layout"})
        or (len(path) == 4 and path[0] in NAMED)
    )


def _scalars(document: Document, node: Node, path: NodePath, *, flow: bool) -> Iterator[tuple[NodePath, Scalar, bool]]:
    """All texts of a document, keys too, with the path that leads to each."""
    if isinstance(node, Scalar):
        yield path, node, flow
        return
    flow = flow or document.text[document.start(node)] in "{["
    if isinstance(node, SequenceNode):
        for k, item in enumerate(node):
            yield from _scalars(document, item, (*path, k), flow=flow)
        return
    for key, value in node.items():
        yield (*path, key.text, "key"), key, flow
        yield from _scalars(document, value, (*path, key.text), flow=flow)


def _refuse_worse(page: Page, text: str, old: str, new: str) -> None:
    """Refuse a name that made a file wrong which was right: something else refers to it in another way."""
    try:
        before = page.model
    except TellegenError:
        return
    try:
        after = Page(text, page.document.file, page.folder).model
    except TellegenError as error:
        what = f"'{old}' cannot be renamed here: {error.what}"
        raise _unfit(what, "give its variables names of their own first, or rename it in the text") from error
    if len(before.elements) != len(after.elements):
        raise _unfit(f"'{new}' would change the model", "choose another name")


def move(page: Page, arguments: Arguments) -> Edit:
    """An item of a figure at another place, kept in the `layout` of the file."""
    notation, name = _text(arguments, "notation"), _text(arguments, "name")
    x, y = arguments.get("x"), arguments.get("y")
    if notation not in PLACED_FIGURES or not isinstance(x, int | float) or not isinstance(y, int | float):
        raise rules.NO_SUCH_GESTURE.error("the gesture has no place in a figure", fix="give notation, x and y")
    if not (abs(x) < 1e5 and abs(y) < 1e5):
        raise rules.NO_SUCH_GESTURE.error("the place lies outside of any figure", fix="stay near the others")
    document = with_positions(page.document, notation, {name: (float(x), float(y))})
    return Edit(document.text, f"move {name}", selected=name)


def unlock(page: Page, _arguments: Arguments) -> Edit:
    """The figures as they are laid out by themselves."""
    if page.section("layout") is None:
        raise _unfit("nothing was moved in this file", "drag an item of a figure first")
    return Edit(remove(page.document, ("layout",)).text, "lay out again")


# -- Limits ------------------------------------------------------------------------------------------------------------------------


def limit(page: Page, arguments: Arguments) -> Edit:
    """The reduced model, with the comments and the order of what remains."""
    given = arguments.get("limits")
    if not isinstance(given, Mapping) or not given or not all(isinstance(value, str) for value in given.values()):
        raise rules.NO_SUCH_GESTURE.error("the gesture has no limits", fix="give it {parameter: '0' or 'inf'}")
    limits = {str(name): str(value) for name, value in given.items()}
    found = reduce_model(page.model, limits)
    written = ", ".join(f"{name} \N{RIGHTWARDS ARROW} {_sign(value)}" for name, value in limits.items())
    return Edit(with_comments_of(page.document, _as_written(page, found.model)), f"limit {written}")


def condition(page: Page, arguments: Arguments) -> Edit:
    """The model with its dependent storages in another form, with the comments and the order of what remains."""
    form = _text(arguments, "form")
    made = conditioned(page.model, form)
    return Edit(with_comments_of(page.document, _as_written(page, made.model)), f"{form} form", made.note)


def _as_written(page: Page, model: Model) -> str:
    """The text of a model, its parameters with the words that the document has for the same values."""
    document = read_document(to_yaml(model), page.document.file)
    for name, item in model.parameters.items():
        known = page.model.parameters.get(name)
        path = "parameters", name
        if (
            known is not None
            and known.expression is item.expression
            and _has(document, path)
            and _has(page.document, path)
        ):
            old = find(page.document, path)
            document = set_scalar(document, path, old.text) if isinstance(old, Scalar) else document
    return document.text


def _sign(value: str) -> str:
    return "\N{INFINITY}" if value == "inf" else value


_COMMENT = re.compile(r"\s+#.*$")


def with_comments_of(old: Document, text: str) -> str:
    """A text written anew, with the lines of an old one wherever they say the same: their comments and their spaces."""
    lines, new = old.text.split("\n"), text.replace("\r\n", "\n").split("\n")
    bare = [re.sub(r"\s+", " ", _COMMENT.sub("", line)).strip() for line in lines]
    wanted = [re.sub(r"\s+", " ", line).strip() for line in new]
    made: list[str] = []
    for tag, a, b, c, d in SequenceMatcher(None, bare, wanted, autojunk=False).get_opcodes():
        if tag == "equal":
            made += lines[a:b]
            continue
        # Lines of comments alone stay with what follows them.
        made += [line for line in lines[a:b] if line.lstrip().startswith("#")]
        made += new[c:d]
    merged = "\n".join(made)
    try:
        same = tree_of(read_document(merged, old.file).root) == tree_of(read_document(text, old.file).root)
    except TellegenError:
        same = False
    return merged if same else text


GESTURES: Mapping[str, Act] = {
    "set": set_value,
    "replace": set_text,
    "insert": insert,
    "delete": delete,
    "join": join,
    "connect": connect,
    "turn": turn,
    "rotate": rotate,
    "rename": rename,
    "move": move,
    "unlock": unlock,
    "limit": limit,
    "condition": condition,
}
"""Every edit that a figure can ask for, by its word."""
