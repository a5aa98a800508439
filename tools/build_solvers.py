"""Compile the library of the solvers for this machine, or for another one with the compiler of the package ziglang.

    python tools/build_solvers.py [TARGET] [-o FOLDER]

Without a folder the library is put where this checkout looks for it first. The build of wheels (`tools/wheel_hook.py`) calls
`compile_library`; nothing is installed then, so that this file needs the standard library alone.
"""

import argparse
import importlib.util
import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

ROOT: Final = Path(__file__).parents[1]
SOURCES: Final[dict[str, Any]] = runpy.run_path(
    str(ROOT / "src" / "tellegen" / "simulation" / "solvers" / "sources.py")
)
"""What the package itself says of its C texts, without importing the package."""

FLAGS: Final = ("-std=c99", "-O2", "-shared", "-fno-math-errno", "-s")
"""Those of `compiler/toolchain.py`: a library in a wheel computes what one made at first use does. -s: no names for debuggers."""


@final
@dataclass(frozen=True)
class Target:
    """A kind of machine: its name for zig, the platform tag of its wheels, and the system as Python calls it."""

    zig: str
    tag: str
    system: str


TARGETS: Final = {
    # glibc 2.17 and macOS 11 are the oldest that the wheels of NumPy and SciPy serve
    "linux-x86_64": Target("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64.manylinux2014_x86_64", "linux"),
    "linux-aarch64": Target("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64.manylinux2014_aarch64", "linux"),
    "macos-x86_64": Target("x86_64-macos.11.0", "macosx_11_0_x86_64", "darwin"),
    "macos-arm64": Target("aarch64-macos.11.0", "macosx_11_0_arm64", "darwin"),
    # not MSVC: its `long double` has 64 bits, and the exponential needs more
    "windows-x86_64": Target("x86_64-windows-gnu", "win_amd64", "win32"),
}


def compile_library(folder: Path, target: str = "") -> Path:
    """The library of all solvers in a folder: for this machine, or for a target.

    Raises: SystemExit with what the compiler said, or where there is none.
    """
    system = TARGETS[target].system if target else sys.platform
    made = folder / str(SOURCES["library_name"](system))
    with tempfile.TemporaryDirectory() as place:
        for name, text in SOURCES["solver_files"]().items():
            (Path(place) / name).write_text(text, encoding="ascii")
        sources = sorted(str(path) for path in Path(place).glob("*.c"))
        position = () if system == "win32" else ("-fPIC",)  # all code of Windows can be moved
        command = [*_compiler(target), *FLAGS, *position, "-o", str(made), *sources, "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the solvers could not be compiled:\n{' '.join(command)}\n{done.stderr}")
    return made


def needs_ziglang(target: str = "") -> bool:
    """Whether the package ziglang has to be there: for another machine, and where this one has no compiler."""
    return bool(target) or own_compiler() is None


def own_compiler() -> list[str] | None:
    """The compiler of this machine: as a model at its first run would find it."""
    if chosen := os.environ.get("CC", "").split():
        return chosen
    return next(([path] for word in ("cc", "gcc", "clang") if (path := shutil.which(word))), None)


def platform_tag(target: str = "") -> str:
    """For which machines a wheel with the library is: those of a target, or this one."""
    return TARGETS[target].tag if target else sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _compiler(target: str) -> list[str]:
    if not needs_ziglang(target):
        return own_compiler() or []
    if importlib.util.find_spec("ziglang") is None:
        raise SystemExit("there is no C compiler for this: pip install ziglang")
    return [sys.executable, "-m", "ziglang", "cc", *(("-target", TARGETS[target].zig) if target else ())]


def main() -> None:
    """Compile from the command line."""
    parser = argparse.ArgumentParser(description="Compile the solvers.")
    parser.add_argument("target", nargs="?", default="", choices=["", *TARGETS])
    parser.add_argument("-o", dest="folder", type=Path, default=SOURCES["NATIVE"])
    asked = parser.parse_args()
    print(compile_library(asked.folder, asked.target))


if __name__ == "__main__":
    main()
