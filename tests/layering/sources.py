"""The modules of the package as the layering tests see them: read with `ast`, never imported."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import tellegen

PACKAGE = Path(tellegen.__file__).parent


@dataclass(frozen=True)
class Import:
    """One name of one import statement: `from module import name`, or `import module` where `name` is empty."""

    module: str
    name: str
    line: int
    inside_function: bool
    for_types_only: bool

    @property
    def top(self) -> str:
        return self.module.split(".")[0]


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    path: Path

    @property
    def name(self) -> str:
        """Its dotted name: `tellegen.graph` for `graph/__init__.py`."""
        parts = self.path.relative_to(PACKAGE).with_suffix("").parts
        return ".".join(("tellegen", *(parts[:-1] if parts[-1] == "__init__" else parts)))

    @property
    def layer(self) -> str:
        """The folder or module directly under `tellegen`; empty for `tellegen/__init__.py`."""
        return ".".join(self.name.split(".")[1:2])

    @property
    def tree(self) -> ast.Module:
        """Parsed anew each time: kept, the trees of all modules would slow the garbage collector in every later test."""
        return ast.parse(self.path.read_text(encoding="utf-8"), str(self.path))

    @cached_property
    def imports(self) -> list[Import]:
        return list(_imports(self.tree, self.name, is_package=self.path.name == "__init__.py"))

    def at(self, line: int) -> str:
        return f"{self.path.relative_to(PACKAGE)}:{line}"


MODULES = [Module(path) for path in sorted(PACKAGE.rglob("*.py"))]
NAMES = {module.name: module for module in MODULES}


def targets(wanted: Import) -> list[str]:
    """The modules of the package that an import loads, the named one last."""
    if wanted.top != "tellegen":
        return []
    deeper = f"{wanted.module}.{wanted.name}"
    return [deeper] if deeper in NAMES else [wanted.module]


def _imports(tree: ast.Module, module: str, *, is_package: bool) -> Iterator[Import]:
    def visit(node: ast.AST, inside: bool, types: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                continue  # no statement stands in an expression
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(alias.name, "", child.lineno, inside, types)
            elif isinstance(child, ast.ImportFrom):
                base = _absolute(child, module, is_package=is_package)
                for alias in child.names:
                    yield Import(base, alias.name, child.lineno, inside, types)
            else:
                is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
                is_for_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
                yield from visit(child, inside or is_function, types or is_for_types)

    return visit(tree, False, False)


def _absolute(node: ast.ImportFrom, module: str, *, is_package: bool) -> str:
    if node.level == 0:
        return node.module or ""
    parts = module.split(".")
    base = parts[: len(parts) - node.level + is_package]
    return ".".join([*base, *([node.module] if node.module else [])])
