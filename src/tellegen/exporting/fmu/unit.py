"""A functional mock-up unit: description, sources and binaries for its platforms in one zip file."""

import importlib.util
import io
import platform
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final, get_args
from uuid import NAMESPACE_URL, uuid5
from xml.sax.saxutils import quoteattr

from tellegen.compiler.toolchain import CompilerCallError, find_compiler
from tellegen.core.names import did_you_mean
from tellegen.exporting import rules
from tellegen.exporting.exchanged import Exchanged, Sources, exchanged
from tellegen.exporting.fmu.description import Version, description_xml
from tellegen.exporting.fmu.source import source_text
from tellegen.model.model import Model

FLAGS: Final = ("-std=c99", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-math-errno", "-w")
TIMEOUT_S: Final = 900.0
"""The first call of ziglang for a system builds its C library."""


@final
@dataclass(frozen=True)
class Platform:
    """A system: its folders in FMI 2 and in FMI 3, what ziglang calls it, and how libraries end there."""

    folder_2: str
    folder_3: str
    targets: tuple[str, ...]
    suffix: str = ".so"


PLATFORMS: Final = {
    "linux64": Platform("linux64", "x86_64-linux", ("x86_64-linux-gnu.2.17",)),
    "linux-arm64": Platform("aarch64-linux", "aarch64-linux", ("aarch64-linux-gnu.2.17",)),
    "win64": Platform("win64", "x86_64-windows", ("x86_64-windows-gnu",), ".dll"),
    "win32": Platform("win32", "x86-windows", ("x86-windows-gnu",), ".dll"),
    "darwin64": Platform("darwin64", "x86_64-darwin", ("x86_64-macos", "aarch64-macos"), ".dylib"),
}
"""FMI 2 has one word for both kinds of macOS, FMI 3 one for each."""


def present_platform() -> str:
    """The word of the system that this runs on; an empty one where it has none."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    words = {
        ("linux", "x86_64"): "linux64",
        ("linux", "aarch64"): "linux-arm64",
        ("windows", "x86_64"): "win64",
        ("darwin", "x86_64"): "darwin64",
        ("darwin", "aarch64"): "darwin64",
    }
    return words.get((platform.system().lower(), machine), "")


def chosen_platforms(given: Sequence[str]) -> tuple[str, ...]:
    """The platforms asked for; the present one where none is.

    Raises: ExportError (X407) for a word that is none, (X411) where there is no compiler for one.
    """
    names = tuple(PLATFORMS) if "all" in given else tuple(dict.fromkeys(given)) or (present_platform(),)
    for name in names:
        if name not in PLATFORMS:
            fix = did_you_mean(name, PLATFORMS) or f"there are {', '.join(PLATFORMS)}, and 'all'"
            raise rules.UNKNOWN_OPTION.error(f"there is no platform '{name or platform.platform()}'", fix=fix)
        if name != present_platform() and not _has_zig():
            raise rules.PLATFORM.error(f"'{name}' needs a compiler for other systems", fix="pip install ziglang")
    return names


def _has_zig() -> bool:
    return importlib.util.find_spec("ziglang") is not None


def binaries(source: str, name: str, names: Sequence[str], version: Version) -> dict[str, bytes]:
    """The libraries of a source by their places in the unit.

    Raises: ExportError (X411) with what a compiler said.
    """
    found: dict[str, bytes] = {}
    for word in names:
        system = PLATFORMS[word]
        folder = system.folder_2 if version == "2" else system.folder_3
        place = f"binaries/{folder}/{name}{system.suffix}"
        if word == present_platform():
            found[place] = _compiled(source, word, _own_compiler(word), system.suffix)
            continue
        made = [_compiled(source, word, _zig(target), system.suffix) for target in system.targets]
        if len(made) > 1 and version == "3":
            found |= {
                f"binaries/{target.split('-')[0]}-darwin/{name}{system.suffix}": content
                for target, content in zip(system.targets, made, strict=True)
            }
        else:
            found[place] = made[0] if len(made) == 1 else universal_binary(made)
    return found


def _zig(target: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "ziglang", "cc", "-target", target)


def _own_compiler(word: str) -> tuple[str, ...]:
    try:
        compiler = find_compiler()
    except CompilerCallError as trouble:
        raise rules.PLATFORM.error(f"the C compiler failed: {trouble}", fix="set CC to one that works") from trouble
    if compiler is None:
        fix = "install gcc or clang, or 'pip install ziglang'"
        raise rules.PLATFORM.error(f"there is no C compiler for '{word}'", fix=fix)
    return compiler.command


def _compiled(source: str, word: str, command: tuple[str, ...], suffix: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="tellegen-") as folder:
        text, library = Path(folder) / "unit.c", Path(folder) / f"unit{suffix}"
        text.write_text(source, encoding="ascii")
        libraries = () if suffix == ".dll" else ("-lm",)
        call = (*command, *FLAGS, "-o", str(library), str(text), *libraries)
        return compiled_by(call, library, TIMEOUT_S, f"'{word}'", f"'{word}'", "set CC to one that works")


def compiled_by(call: Sequence[str], made: Path, most_s: float, what: str, system: str, fix: str) -> bytes:
    """The file that a compiler makes in its folder.

    Raises: ExportError (X411) with what it said, and `fix` for a compiler that fails.
    """
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=most_s, check=False, cwd=made.parent)
    except (OSError, subprocess.TimeoutExpired) as trouble:
        raise rules.PLATFORM.error(f"{what} was not compiled: {trouble}", fix="try again") from trouble
    if done.returncode or not made.is_file():
        said = (done.stderr or done.stdout).strip()[:600]
        raise rules.PLATFORM.error(f"the compiler for {system} failed: {said}", fix=fix)
    return made.read_bytes()


FAT_MAGIC: Final = 0xCAFEBABE
ALIGNMENT: Final = 14
_PROCESSOR_AT: Final = slice(4, 12)


def universal_binary(parts: Sequence[bytes]) -> bytes:
    """Mach-O libraries of several processors as one file (`mach-o/fat.h`): a table of the parts, which are aligned to pages."""
    offset, table, body = 1 << ALIGNMENT, FAT_MAGIC.to_bytes(4, "big") + len(parts).to_bytes(4, "big"), b""
    for part in parts:
        # Type and subtype of the processor stand in the head of each part, in its own byte order.
        kinds = [int.from_bytes(part[_PROCESSOR_AT][k : k + 4], "little") for k in (0, 4)]
        table += b"".join(value.to_bytes(4, "big") for value in (*kinds, offset, len(part), ALIGNMENT))
        padded = part + b"\0" * (-len(part) % (1 << ALIGNMENT))
        body += padded
        offset += len(padded)
    return table.ljust(1 << ALIGNMENT, b"\0") + body


DATE: Final = (1980, 1, 1, 0, 0, 0)
"""Of every file in the zip, so that one model gives one file."""


def fmu_files(
    model: Model,
    name: str,
    *,
    fmi: Version = "2",
    sources: Sources = "open",
    variables: Sequence[str] = (),
    platforms: Sequence[str] = (),
) -> dict[str, bytes]:
    """The unit of a model, by the name of its file.

    Raises: ExportError for what a unit cannot hold (X401, X402, X409, X410), for a word that is not known (X407), or a platform
        that there is no compiler for (X411).
    """
    made = exchanged_unit(model, fmi, sources, variables)
    return {f"{name}.fmu": unit_bytes(made, name, fmi, platforms)}


def exchanged_unit(model: Model, fmi: Version, sources: Sources, variables: Sequence[str]) -> Exchanged:
    """The model as a unit has it. Raises: ExportError, as `fmu_files`."""
    _check("fmi", fmi, get_args(Version))
    _check("sources", sources, get_args(Sources))
    return exchanged(model, sources, variables, with_delays=True)


def unit_bytes(made: Exchanged, name: str, fmi: Version, platforms: Sequence[str]) -> bytes:
    """The file of a unit. Raises: ExportError (X411)."""
    systems = chosen_platforms(platforms)
    # Who asks for rates in any order, or goes back, cannot be told what was: then the unit makes the steps itself.
    both = not made.code.program.signals.delays
    written = source_text(made, fmi, "", model_exchange=both) + description_xml(
        made, fmi, name, "", model_exchange=both
    )
    # The token follows from what is in the unit: another model never has the same.
    token = f"{{{uuid5(NAMESPACE_URL, written)}}}"
    source = source_text(made, fmi, token, model_exchange=both)
    files: dict[str, bytes] = {
        "modelDescription.xml": description_xml(made, fmi, name, token, model_exchange=both).encode(),
        f"sources/{name}.c": source.encode("ascii"),
    }
    if fmi == "3":
        files["sources/buildDescription.xml"] = _build_description(name).encode()
    files |= binaries(source, name, systems, fmi)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, content in files.items():
            archive.writestr(zipfile.ZipInfo(place, DATE), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _check(option: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        fix = did_you_mean(given, known) or f"give {' or '.join(known)}"
        raise rules.UNKNOWN_OPTION.error(f"'{option}' is '{given}'", fix=fix)


def _build_description(name: str) -> str:
    """How the sources of FMI 3 are built."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiBuildDescription fmiVersion="3.0">
  <BuildConfiguration modelIdentifier={quoteattr(name)}>
    <SourceFileSet language="C99">
      <SourceFile name={quoteattr(name + ".c")}/>
    </SourceFileSet>
    <Library name="m"/>
  </BuildConfiguration>
</fmiBuildDescription>
"""
