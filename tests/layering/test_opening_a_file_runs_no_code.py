"""Nothing in the package can turn a text into running code."""

import ast
import re

from layering.sources import MODULES

CALLS = {
    "eval",
    "exec",
    "sympify",
    "parse_expr",
    "__import__",
    "yaml.load",
    "yaml.unsafe_load",
    "yaml.full_load",
    "os.system",
}
PACKAGES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve"}
VALUES_ONLY = {"tellegen.compiler.code"}
"""Keeps code beside the compiled libraries; restores classes of values alone, which its own tests show."""


WORDS = re.compile(rf"\b({'|'.join(name.split('.')[-1] for name in CALLS)})\b")
"""A file in which none of these words stands makes no such call, and need not be taken apart."""


def test_no_call_runs_a_text() -> None:
    wrong = [
        f"{module.at(node.lineno)}: {called}"
        for module in MODULES
        if WORDS.search(module.path.read_text(encoding="utf-8"))
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        if (called := ast.unparse(node.func)) in CALLS or called.split(".")[-1] in {"sympify", "parse_expr"}
    ]
    assert not wrong, "read texts with our own parser:\n" + "\n".join(wrong)


def test_no_file_is_unpickled() -> None:
    wrong = [
        module.at(i.line)
        for module in MODULES
        for i in module.imports
        if i.top in PACKAGES and module.name not in VALUES_ONLY
    ]
    assert not wrong, "a pickle runs code when it is opened:\n" + "\n".join(wrong)
