"""The size and shape of the package, and the walks of four commands through it: `python tools/measure_house.py [--json]`.

Of a package elsewhere: `python tools/measure_house.py --root PATH/src`; the walks are those of the package that Python imports.
"""

import ast
import importlib
import io
import json
import pkgutil
import statistics
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Any

WALKS = (
    ("derive", "dc_motor_pump"),
    ("simulate", "corking_machine"),
    ("draw", "crank_rod", "--as", "pog", "-o", "figure.svg"),
    ("report", "dc_motor_pump", "-o", "report.html"),
)
OPTIMIZED = 0x1
"""The flag of code that belongs to a function; bodies of classes and modules have none."""


def shape(root: Path) -> dict[str, Any]:
    """Lines, files, importers and comments of the package below a folder."""
    paths = sorted((root / "tellegen").rglob("*.py"))
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    lengths = [len(text.splitlines()) for text in texts.values()]
    lines = sum(lengths)
    functions = [
        node.end_lineno - node.lineno + 1
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.end_lineno
    ]
    public = sum(
        isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        for tree in trees.values()
        for node in tree.body
    )
    return {
        "lines": lines,
        "files": len(paths),
        "median file": statistics.median(lengths),
        "p90 file": statistics.quantiles(lengths, n=10)[-1],
        "median function": statistics.median(functions),
        "p90 function": statistics.quantiles(functions, n=10)[-1],
        "fullest folder": max(Counter(path.parent for path in paths).values()),
        "single importers": _single_importers(root, trees),
        "import lines %": round(100 * sum(map(_import_lines, trees.values())) / lines, 1),
        "comments per 100 lines": round(100 * sum(map(_comments, texts.values())) / lines, 1),
        "public module functions": public,
        "names of several public classes": _repeated_classes(trees),
        "most positional arguments": max(
            len(node.args) for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.Call)
        ),
    }


def _imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))


def _import_lines(tree: ast.Module) -> int:
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in _imports(tree))


def _comments(text: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(
        token.type == tokenize.COMMENT and not token.string.startswith(("# noqa", "# type:", "# ruff:"))
        for token in tokens
    )


def _single_importers(root: Path, trees: dict[Path, ast.Module]) -> int:
    """Modules that exactly one other module imports."""
    names = {_module(root, path): path for path in trees}
    importers: dict[str, set[str]] = defaultdict(set)
    for name, path in names.items():
        for node in _imports(trees[path]):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    importers[full if full in names else node.module].add(name)
    plain = (name for name, path in names.items() if path.name != "__init__.py")
    return sum(len(importers[name]) == 1 for name in plain)


def _module(root: Path, path: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _repeated_classes(trees: dict[Path, ast.Module]) -> int:
    names = Counter(
        node.name
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return sum(count > 1 for count in names.values())


def walk(words: tuple[str, ...], package: Path) -> dict[str, int]:
    """How many modules and functions of the package a command passes, how deep, and how often it lowers a model."""
    main = importlib.import_module("tellegen.cli.main").main
    seen: Counter[tuple[str, str]] = Counter()
    depth = deepest = 0

    def watch(frame: FrameType, event: str, _: object) -> None:
        nonlocal depth, deepest
        code = frame.f_code
        if not code.co_filename.startswith(str(package)) or not code.co_flags & OPTIMIZED:
            return
        if event == "call":
            depth += 1
            deepest = max(deepest, depth)
            seen[code.co_filename, code.co_qualname] += 1
        elif event == "return":
            depth -= 1

    argv, sys.argv = sys.argv, ["tellegen", *words]
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            chdir(folder),
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()),
        ):
            sys.setprofile(watch)
            try:
                main()
            except SystemExit:
                pass
            finally:
                sys.setprofile(None)
    finally:
        sys.argv = argv
    lowered = sum(
        count for (file, name), count in seen.items() if name == "lower" and Path(file).parent.name == "graph"
    )
    return {"modules": len({file for file, _ in seen}), "functions": len(seen), "depth": deepest, "lowered": lowered}


def walks() -> dict[str, dict[str, int]]:
    """All walks, with everything imported before."""
    package = importlib.import_module("tellegen")
    for module in pkgutil.walk_packages(package.__path__, "tellegen."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    folder = Path(package.__file__ or "").parent
    return {" ".join(words[:2]): walk(words, folder) for words in WALKS}


def main() -> None:
    """Print both as a table or as JSON."""
    here = Path(__file__).parent.parent / "src"
    root = Path(sys.argv[sys.argv.index("--root") + 1]) if "--root" in sys.argv else here
    found = shape(root) | {f"walk {name}": figures for name, figures in walks().items()}
    if "--json" in sys.argv:
        print(json.dumps(found, indent=2))
    else:
        for name, value in found.items():
            print(f"{name:32} {value}")


if __name__ == "__main__":
    main()
