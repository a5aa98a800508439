"""The cache of compiled models, and machines without a compiler, with a broken one, or without a place to write."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tellegen.compiler import NumericModel
from tellegen.compiler.kept_files import SUFFIX, kept_files
from tellegen.compiler.toolchain import build
from tellegen.core.errors import CompilerError

SOURCE = "int tg_rhs(tg_context *c, double t, const double *y, double *yp) { yp[0] = 3.0 * y[0]; (void)c; (void)t; return 0; }\n"
SCRIPT = """
import sys
from tellegen.causality import assign_causality
from tellegen.compiler import compile_model
from tellegen.notations.reading import read_model
from tellegen.graph import lower
lines = ["V: {voltage source: [a, gnd]}", "R: {resistor: [a, b], R: 2}", "C: {capacitor: [b, gnd], C: 4}"]
text = "\\n  ".join(["system: rc\\nnetwork:", *lines]) + "\\n"
model = compile_model(assign_causality(lower(read_model(text))))
import numpy as np
print(model.backend, model.cached, model.rhs(0.0, np.ones(1))[0], [f.code for f in model.findings])
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TELLEGEN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def libraries(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{SUFFIX}"))


def ask(**environment: str) -> str:
    """What a fresh interpreter says about a small model."""
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_a_library_is_compiled_once(cache: Path) -> None:
    first, second = build(SOURCE), build(SOURCE)
    assert (first.cached, second.cached) == (False, True)
    assert len(libraries(cache)) == 1
    assert not build(SOURCE + "/* changed */\n").cached
    assert not build(SOURCE, small=False).cached


def test_a_changed_library_is_made_again(cache: Path) -> None:
    build(SOURCE)
    (path,) = libraries(cache)
    os.unlink(path)  # a loaded library must not be written over
    path.write_bytes(b"no library")
    again = build(SOURCE)
    assert not again.cached
    assert again.library is not None
    assert not again.findings
    (kept,) = libraries(cache)
    assert kept.read_bytes() != b"no library"


def test_processes_share_the_cache(cache: Path) -> None:
    command = [sys.executable, "-c", SCRIPT]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [run.communicate()[0].strip() for run in runs]
    assert all(text.startswith("c ") and text.endswith("-0.125 []") for text in said)
    assert ask() == "c True -0.125 []"
    assert len(libraries(cache)) == 1
    assert not list(cache.glob("making-*"))


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert ask(TELLEGEN_CACHE=str(blocked / "cache")) == "c False -0.125 ['N103']"


def test_a_broken_compiler_leaves_the_model_to_python(cache: Path, tmp_path: Path) -> None:
    assert ask(CC="false") == "python False -0.125 ['N102']"
    assert ask(CC=str(tmp_path / "missing")) == "python False -0.125 ['N102']"
    assert not libraries(cache)


def test_a_compiler_that_writes_rubbish_leaves_the_model_to_python(cache: Path, tmp_path: Path) -> None:
    rubbish = tmp_path / "rubbish"
    rubbish.write_text(
        '#!/bin/sh\nwhile [ $# -gt 1 ]; do if [ "$1" = "-o" ]; then echo rubbish > "$2"; fi; shift; done\n'
    )
    rubbish.chmod(0o755)
    backend, cached, _, codes = ask(CC=str(rubbish)).split(maxsplit=3)
    assert (backend, cached, codes) == ("python", "False", "['N102']")


def test_without_a_compiler_the_model_runs_in_python(tmp_path: Path) -> None:
    said = ask(PATH=str(tmp_path), CC="", TELLEGEN_CACHE=str(tmp_path / "cache"))
    assert said in ("python False -0.125 ['N101']", "c False -0.125 []")  # the second where ziglang is installed


def test_the_message_of_a_broken_compiler_is_passed_on(cache: Path) -> None:
    made = build("this is not C")
    assert made.library is None
    (finding,) = made.findings
    assert finding.code == "N102"
    assert "error" in finding.what
    assert not libraries(cache)


def test_hand_written_source_that_does_not_compile_is_an_error(cache: Path) -> None:
    with pytest.raises(CompilerError) as caught:
        NumericModel.from_c("int tg_rhs(;", states=("x",))
    assert caught.value.code == "N104"


def test_a_hand_written_model_has_the_interface_of_all_others(cache: Path) -> None:
    model = NumericModel.from_c(SOURCE, states=("x",))
    assert model.explicit
    assert model.rhs(0.0, np.array([2.0])).tolist() == [6.0]
    assert set(model.addresses) == {"rhs"}


def test_libraries_not_used_for_longest_are_removed_first(tmp_path: Path) -> None:
    new, middle, old = (f"{k:040x}-0{SUFFIX}" for k in range(3))
    somebodys = f"libsomething{SUFFIX}"  # who sets the cache to a folder with more in it loses nothing
    for age, name in enumerate((new, middle, old, somebodys)):
        path = tmp_path / name
        path.write_bytes(bytes(100))
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    with kept_files(tmp_path) as files:
        files.prune(largest=250)
    assert [path.name for path in libraries(tmp_path)] == [new, middle, somebodys]
    with kept_files(tmp_path) as files:
        files.prune(keep=middle, largest=100)
    assert [path.name for path in libraries(tmp_path)] == [middle, somebodys]


@pytest.mark.parametrize(
    "call", [*(pytest.param(each, marks=pytest.mark.slow) for each in ("{} -m64", "{}")), '"{}" -m64', "env {}"]
)
def test_the_path_of_a_compiler_may_have_spaces(
    cache: Path, tmp_path: Path, call: str, system_tool: Callable[[str], str]
) -> None:
    real = system_tool("cc")
    folder = tmp_path / "my own tools"
    folder.mkdir()
    program = folder / "c compiler"
    program.write_text(f'#!/bin/sh\n[ "$1" = -m64 ] && shift\nexec {real} "$@"\n')
    program.chmod(0o755)
    told = f'"{program}"' if call.startswith("env") else str(program)
    assert ask(CC=call.format(told)) == "c False -0.125 []"
