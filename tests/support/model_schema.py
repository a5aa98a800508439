"""Model files against the JSON Schema that is published for them."""

from pathlib import Path
from typing import Any

import jsonschema

from tellegen.notations.schema import schema
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode, read_document

VALIDATOR = jsonschema.Draft202012Validator(schema())


def plain(source: str | Path) -> Any:
    """The document as JSON, every scalar a text, as the reader sees it."""
    return _plain(read_document(source).root)


def is_valid(source: str | Path) -> bool:
    """Whether the schema takes a file."""
    return bool(VALIDATOR.is_valid(plain(source)))


def _plain(node: Node) -> Any:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, SequenceNode):
        return [_plain(item) for item in node]
    assert isinstance(node, MappingNode)
    return {key.text: _plain(value) for key, value in node.items()}
