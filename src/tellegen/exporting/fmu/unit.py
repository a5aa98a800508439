"""A functional mock-up unit: description, sources and binaries for its platforms in one zip file; and a system structure (SSP 1.0)
around one, with its parameters as a set of values that others replace.
"""

import importlib.util
import io
import platform
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final, get_args
from uuid import NAMESPACE_URL, uuid5
from xml.sax.saxutils import quoteattr

from tellegen.compiler.toolchain import CompilerCallError, find_compiler
from tellegen.core.names import did_you_mean
from tellegen.core.units import parse_unit
from tellegen.exporting import rules
from tellegen.exporting.exchanged import Exchanged, ExchangedVariable, Sources, exchanged
from tellegen.exporting.fmu.description import Version, base_units, description_xml, whole_unit
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


def _chosen_platforms(given: Sequence[str]) -> tuple[str, ...]:
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
    return {f"{name}.fmu": _unit_bytes(made, name, fmi, platforms)}


def exchanged_unit(model: Model, fmi: Version, sources: Sources, variables: Sequence[str]) -> Exchanged:
    """The model as a unit has it. Raises: ExportError, as `fmu_files`."""
    _check("fmi", fmi, get_args(Version))
    _check("sources", sources, get_args(Sources))
    return exchanged(model, sources, variables, with_delays=True)


def _unit_bytes(made: Exchanged, name: str, fmi: Version, platforms: Sequence[str]) -> bytes:
    """The file of a unit. Raises: ExportError (X411)."""
    systems = _chosen_platforms(platforms)
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


COMMON = "http://ssp-standard.org/SSP1/SystemStructureCommon"
STRUCTURE = "http://ssp-standard.org/SSP1/SystemStructureDescription"
VALUES = "http://ssp-standard.org/SSP1/SystemStructureParameterValues"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'


def ssp_files(
    model: Model,
    name: str,
    *,
    fmi: Version = "2",
    sources: Sources = "open",
    variables: Sequence[str] = (),
    platforms: Sequence[str] = (),
) -> dict[str, bytes]:
    """The package of a model, by the name of its file; its options are those of the unit.

    Raises: ExportError for what a unit cannot hold.
    """
    made = exchanged_unit(model, fmi, sources, variables)
    files = {
        "SystemStructure.ssd": "\n".join([*_structure(made, name), ""]).encode(),
        f"resources/{name}.ssv": "\n".join([*_values(made, name), ""]).encode(),
        f"resources/{name}.fmu": _unit_bytes(made, name, fmi, platforms),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, content in files.items():
            archive.writestr(zipfile.ZipInfo(place, DATE), content, zipfile.ZIP_DEFLATED)
    return {f"{name}.ssp": packed.getvalue()}


def _structure(made: Exchanged, name: str) -> Iterator[str]:
    inputs = made.by_role.get("input", ())
    outputs = [v for v in made.variables if v.is_output]
    ends = [*((v, "input") for v in inputs), *((v, "output") for v in outputs)]
    parameters = [(v, "parameter") for v in _parameters(made)]
    yield HEAD
    yield (
        f"<ssd:SystemStructureDescription xmlns:ssd={quoteattr(STRUCTURE)} xmlns:ssc={quoteattr(COMMON)} "
        f'version="1.0" name={quoteattr(made.name)}>'
    )
    yield '  <ssd:System name="system">'
    yield from _connectors(ends, "    ")
    yield "    <ssd:Elements>"
    source = f"resources/{name}.fmu"
    yield f'      <ssd:Component name={quoteattr(name)} type="application/x-fmu-sharedlibrary" source={quoteattr(source)}>'
    yield from _connectors([*ends, *parameters], "        ")
    if parameters:
        values = f"resources/{name}.ssv"
        yield "        <ssd:ParameterBindings>"
        yield f'          <ssd:ParameterBinding type="application/x-ssp-parameter-set" source={quoteattr(values)}/>'
        yield "        </ssd:ParameterBindings>"
    yield "      </ssd:Component>"
    yield "    </ssd:Elements>"
    if ends:
        yield "    <ssd:Connections>"
        for v, kind in ends:
            own, outer = f"Element={quoteattr(name)}", quoteattr(v.name)
            inner, other = ("end", "start") if kind == "input" else ("start", "end")
            yield f"      <ssd:Connection {inner}{own} {inner}Connector={outer} {other}Connector={outer}/>"
        yield "    </ssd:Connections>"
    yield "  </ssd:System>"
    yield from _units([v for v, _ in (*ends, *parameters)], "ssd")
    yield f'  <ssd:DefaultExperiment startTime="0.0" stopTime={quoteattr(repr(float(made.setup.until)))}/>'
    yield "</ssd:SystemStructureDescription>"


def _connectors(variables: Sequence[tuple[ExchangedVariable, str]], indent: str) -> Iterator[str]:
    if not variables:
        return
    yield f"{indent}<ssd:Connectors>"
    for v, kind in variables:
        unit = f" unit={quoteattr(u)}" if (u := whole_unit(v)) else ""
        yield f'{indent}  <ssd:Connector name={quoteattr(v.name)} kind="{kind}"><ssc:Real{unit}/></ssd:Connector>'
    yield f"{indent}</ssd:Connectors>"


def _values(made: Exchanged, name: str) -> Iterator[str]:
    yield HEAD
    yield f'<ssv:ParameterSet xmlns:ssv={quoteattr(VALUES)} xmlns:ssc={quoteattr(COMMON)} version="1.0" name={quoteattr(name)}>'
    yield "  <ssv:Parameters>"
    for v in _parameters(made):
        unit = f" unit={quoteattr(u)}" if (u := whole_unit(v)) else ""
        yield f"    <ssv:Parameter name={quoteattr(v.name)}><ssv:Real value={quoteattr(repr(v.start))}{unit}/></ssv:Parameter>"
    yield "  </ssv:Parameters>"
    yield from _units(_parameters(made), "ssv")
    yield "</ssv:ParameterSet>"


def _units(variables: Sequence[ExchangedVariable], word: str) -> Iterator[str]:
    """What units mean, in base units."""
    units = dict.fromkeys(u for v in variables if (u := whole_unit(v)))
    if not units:
        return
    yield f"  <{word}:Units>"
    for unit in units:
        powers = base_units(unit, parse_unit(unit).dimension)
        base = "".join(f" {base}={quoteattr(str(power))}" for base, power in powers.items())
        yield f"    <ssc:Unit name={quoteattr(unit)}><ssc:BaseUnit{base}/></ssc:Unit>"
    yield f"  </{word}:Units>"


def _parameters(made: Exchanged) -> Sequence[ExchangedVariable]:
    return made.by_role.get("parameter", ())
