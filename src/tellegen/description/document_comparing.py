"""Whether two documents say the same, wherever their nodes stand and however they are written."""

from collections.abc import Callable
from collections.abc import Mapping as AbstractMapping

from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.edit_texts import Tree

Path = tuple[str | int, ...]
"""Keys and indices (from 0) from the root of a document to a node."""

Check = Callable[[Node, Node], bool]
"""Whether the node after an edit is what the edit should make of the node before."""


def same_but_at(path: Path, old: Node, new: Node, is_as_asked: Check) -> bool:
    """Whether two nodes say the same, except that what `path` leads to has to pass the check."""
    if not path:
        return is_as_asked(old, new)
    if not _same_shape(old, new):
        return False
    step = old.position(str(path[0])) if isinstance(old, Mapping) else path[0]
    pairs = zip(_children(old), _children(new), strict=True)
    return all(same_but_at(path[1:], a, b, is_as_asked) if i == step else same(a, b) for i, (a, b) in enumerate(pairs))


def same(a: Node, b: Node) -> bool:
    """Whether two nodes say the same, wherever they stand and however they are written."""
    return _same_shape(a, b) and all(map(same, _children(a), _children(b)))


def _same_shape(a: Node, b: Node) -> bool:
    if isinstance(a, Scalar):
        return isinstance(b, Scalar) and a.text == b.text
    if isinstance(a, Sequence):
        return isinstance(b, Sequence) and len(a) == len(b)
    return isinstance(b, Mapping) and list(a) == list(b)


def _children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Scalar):
        return ()
    return node.items if isinstance(node, Sequence) else node.values


def stands_for(node: Node, tree: Tree) -> bool:
    """Whether a node says what a tree does."""
    if isinstance(tree, str):
        return isinstance(node, Scalar) and node.text == tree
    if isinstance(tree, AbstractMapping):
        if not isinstance(node, Mapping) or list(node) != list(tree):
            return False
        return all(map(stands_for, node.values, tree.values()))
    return isinstance(node, Sequence) and len(node) == len(tree) and all(map(stands_for, node.items, tree))
