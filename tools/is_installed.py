"""Exit 0 when this environment holds everything that pyproject.toml asks for, the `dev` part included; print nothing."""

import json
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

try:
    from packaging.requirements import Requirement
except ImportError:  # a fresh environment: nothing is there yet
    Requirement = None  # type: ignore[assignment, misc]

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """0 when all is there, 1 when something has to be installed."""
    if Requirement is None:
        return 1
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = map(Requirement, [*project["dependencies"], *project["optional-dependencies"]["dev"]])
    return 0 if _tellegen_is_here(project["scripts"]) and all(map(_is_there, wanted)) else 1


def _is_there(requirement: Any) -> bool:
    if requirement.marker is not None and not requirement.marker.evaluate():
        return True
    try:
        return bool(requirement.specifier.contains(version(requirement.name), prereleases=True))
    except PackageNotFoundError:
        return False


def _tellegen_is_here(scripts: dict[str, str]) -> bool:
    """Whether Tellegen is installed from this folder, editable, with all its commands."""
    try:
        installed = distribution("tellegen")
    except PackageNotFoundError:
        return False
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    commands = {e.name: e.value for e in installed.entry_points if e.group == "console_scripts"}
    return (
        origin.get("url") == ROOT.as_uri() and bool(origin.get("dir_info", {}).get("editable")) and commands == scripts
    )


if __name__ == "__main__":
    sys.exit(main())
