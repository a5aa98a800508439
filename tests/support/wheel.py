"""The wheel of this machine, installed beside nothing of the checkout: what people get who install Tellegen."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]


def quietly(*command: str, **environment: str) -> str:
    """What a command says; one that fails fails the test."""
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment or None)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def installed_wheel(place: Path) -> tuple[Path, Path]:
    """The Python of an environment that has the wheel, and where the wheel's files are."""
    quietly(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(place / "dist"), str(ROOT))
    (wheel,) = (place / "dist").glob("*.whl")
    assert wheel.stem.endswith(sysconfig.get_platform().replace("-", "_").replace(".", "_")), "not for any machine"
    quietly(sys.executable, "-m", "venv", "--without-pip", str(place / "venv"))
    (site,) = (place / "venv").glob("**/site-packages")
    quietly(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel))
    # what Tellegen needs is taken from here; an editable Tellegen is not, for its own .pth is not read again
    (site / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (python,) = (path for path in (place / "venv").glob("*/python*") if path.stem == "python")
    return python, site / "tellegen"


def bare_environment(place: Path, **words: str) -> dict[str, str]:
    """An environment that knows nothing of the checkout."""
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    return {"HOME": str(place), "TELLEGEN_CACHE": str(place / "cache"), **kept, **words}
