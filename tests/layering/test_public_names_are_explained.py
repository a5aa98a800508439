"""Every public module, class, function and method says in a docstring what it gives back.

The methods that an `Abstract...` class asks for are explained there, once.
"""

import ast
from collections.abc import Iterator

import pytest

from layering.sources import MODULES, Module

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_public_names_are_explained(module: Module) -> None:
    silent = [
        name for name, node in _public(module.tree, module.name) if len((ast.get_docstring(node) or "").strip()) < 3
    ]
    assert not silent, f"without a docstring: {silent}"


def _public(node: Documented, name: str) -> Iterator[tuple[str, Documented]]:
    """The node and the public definitions in it; what stands inside a function is nobody's business."""
    yield name, node
    fills_in = isinstance(node, ast.ClassDef) and any("Abstract" in ast.unparse(base) for base in node.bases)
    if fills_in or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            is_overload = any("overload" in ast.unparse(d) for d in child.decorator_list)
            if not child.name.startswith("_") and not is_overload:
                yield from _public(child, f"{name}.{child.name}")
