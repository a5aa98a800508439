"""`export_model`: a model as files of another tool."""

import contextlib
import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tellegen.core.files import failure_reason, write_bytes
from tellegen.core.names import did_you_mean
from tellegen.exporting import rules
from tellegen.exporting.diagram import Diagram
from tellegen.exporting.diagram_building import block_diagram
from tellegen.exporting.firmware.source import c_files
from tellegen.exporting.fmu.unit import fmu_files, ssp_files
from tellegen.exporting.matlab_program import hybrid_run_file, modes_file, parameters_file, program_name, run_file
from tellegen.exporting.mode_diagrams import mode_diagrams
from tellegen.exporting.modelica.package import modelica_files
from tellegen.exporting.python.functions import python_files
from tellegen.exporting.simulink import build_file
from tellegen.exporting.simulink_modes import HybridBuilder
from tellegen.exporting.slx import NOTICE, slx_files
from tellegen.expressions.matlab import matlab_name
from tellegen.graph import lower
from tellegen.model.model import Model
from tellegen.notations.loading import AnyModel, as_model

Files = Mapping[str, str | bytes]


def export_model(
    model: AnyModel, to: str, path: str | Path, *, name: str = "", overwrite: bool = False, **options: Any
) -> tuple[Path, ...]:
    """Write a model with its experiment as files of another tool into a folder; gives their paths.

    Files are named after `name`, else after the file or the example, else after the system.

    `to="simulink"` writes three MATLAB programs: `NAME_parameters.m`, `NAME_build.m`, which builds the scheme in Simulink block by
    block, and `NAME_run.m`, which integrates it in MATLAB or Octave without Simulink. A model with modes has a subsystem for each
    of them, and `NAME_modes.m` tells the model which one follows.

    `to="fmu"` writes a functional mock-up unit, `NAME.fmu`, for model exchange and co-simulation. Its options: `fmi` ("2" or "3"),
    `sources` ("open": they become inputs; "experiment": their courses are inside), `variables` that are outputs beside those of
    the experiment, `platforms` to compile for.

    `to="python"` writes `NAME_model.py`: rates and outputs as functions for NumPy, JAX and CasADi; option `sources`, as above.

    `to="c"` writes one step of the model for microcontrollers and hardware in the loop, `NAME.h` and `NAME.c`. Its options: `step`
    in seconds, `method` ("exact", "rk4" or "midpoint"; without it the one that fits), `real` ("double" or "float"), `sources` and
    `variables` as above, `inputs` (signals that come from outside), `controller` (the signals alone, without what they control).

    `to="modelica"` writes a package, `NAME.mo`. Its option: `shape` ("network": a component for each element, joined at nodes;
    "equations": the rows of `derive`; without it a network, unless moving moduli decide which storages follow others).

    `to="ssp"` writes a system structure, `NAME.ssp`, with the unit of the model and its parameters as a set of values;
    options as for "fmu".

    `to="slx"` writes a model file of Simulink, `NAME_model.slx`: experimental, for no MATLAB of ours has opened one.

    Raises: ExportError for an unknown tool (X403) or option (X407), for what the tool cannot hold (X401, X402, X406, X408 to
    X411), for a file that is there already (X405) or cannot be written (X404). Nothing is written then, or what was written is
    whole.
    """
    if to not in TARGETS:
        fix = did_you_mean(to, TARGETS) or f"models are exported to {', '.join(TARGETS)}"
        raise rules.UNKNOWN_TARGET.error(f"models are not exported to '{to}'", fix=fix)
    known = inspect.getfullargspec(TARGETS[to]).kwonlyargs
    for option in options:
        if option not in known:
            fix = did_you_mean(option, known) or (f"it takes {', '.join(known)}" if known else "leave it out")
            raise rules.UNKNOWN_OPTION.error(f"the export to '{to}' has no option '{option}'", fix=fix)
    opened = as_model(model)
    _refuse_units(opened)
    stem = Path(model).stem if isinstance(model, str | Path) else ""
    try:
        files = TARGETS[to](opened, program_name(name or stem or opened.name), **options)
    except OSError as error:  # a compiler writes, too
        what = f"'{opened.name}' cannot be compiled on the way: {failure_reason(error)}"
        raise rules.NOT_WRITTEN.error(what, fix="make room where temporary files go, or set TMPDIR") from error
    # All files are made before the first is written: half an export is worse than none.
    targets = tuple(Path(path) / name for name in files)
    there = next((target for target in targets if os.path.exists(target)), None)
    if there is not None and not overwrite:
        fix = "choose another folder, or force it (overwrite=True, --force)"
        raise rules.WOULD_OVERWRITE.error(f"'{there}' is there already", fix=fix)
    _write_all(dict(zip(targets, files.values(), strict=True)))
    return targets


def simulink_files(model: Model, name: str) -> dict[str, str]:
    """The programs of a model by the names of their files.

    Raises: ExportError for what a block diagram cannot hold (X401, X402).
    """
    if lower(model).switching:
        hybrid = mode_diagrams(model)
        for mode in hybrid.modes:
            _refuse_one_name(mode.diagram)
        return {
            f"{name}_parameters.m": parameters_file(hybrid.first, name),
            f"{name}_run.m": hybrid_run_file(hybrid, name),
            f"{name}_modes.m": modes_file(hybrid, name),
            f"{name}_build.m": build_file(hybrid.first, name, HybridBuilder(hybrid, name).built()),
        }
    diagram = block_diagram(model)
    _refuse_one_name(diagram)
    return {
        f"{name}_parameters.m": parameters_file(diagram, name),
        f"{name}_run.m": run_file(diagram, name),
        f"{name}_build.m": build_file(diagram, name),
    }


TARGETS: dict[str, Callable[..., Files]] = {
    "simulink": simulink_files,
    "fmu": fmu_files,
    "python": python_files,
    "c": c_files,
    "modelica": modelica_files,
    "ssp": ssp_files,
    "slx": slx_files,
}
"""The tools that there are files for."""

NOTICES = {"slx": f"the file is {NOTICE}; NAME_build.m and a functional mock-up unit are the ways that are tried"}
"""What is said with the files of a tool."""


def _refuse_units(model: Model) -> None:
    """Refuse functional mock-up units before anything is set up, which would load their libraries.

    Raises: ExportError (X402).
    """
    for definition in model.signals.values():
        if definition.block == "fmu":
            raise rules.SIGNALS.error(
                f"the signal '{definition.name}' is a functional mock-up unit, whose code lives in its own file",
                where=definition.name,
                fix="give the other tool that unit beside a model of the rest",
            )


def _refuse_one_name(diagram: Diagram | None) -> None:
    """Refuse names that MATLAB cannot tell apart.

    Raises: ExportError (X406).
    """
    known: dict[str, str] = {}
    # MATLAB cuts names and reserves words, so that two names may become one there without any error.
    names = () if diagram is None else (*diagram.parameters, *sorted(diagram.names_given()))
    for name in names:
        other = known.setdefault(matlab_name(name), name)
        if other != name:
            what = f"'{other}' and '{name}' would both be '{matlab_name(name)}' in MATLAB"
            raise rules.ONE_NAME.error(what, where=name, fix=f"give '{name}' another name")


def _write_all(files: Mapping[Path, str | bytes]) -> None:
    """Write all files of a folder or none: where one fails, the others are as they were."""
    folder = next(iter(files)).parent
    made = [place for place in (folder, *folder.parents) if not os.path.exists(place)]
    before: dict[Path, bytes | None] = {}
    try:
        for target, written in files.items():
            before[target] = target.read_bytes() if os.path.exists(target) else None
            _write(target, written)
    # Ctrl-C too: half an export is worse than none.
    except BaseException:
        with contextlib.suppress(OSError):
            for target, content in before.items():
                if content is None:
                    target.unlink(missing_ok=True)
            for target, content in before.items():
                if content is not None and target.read_bytes() != content:
                    write_bytes(Path(os.path.realpath(target)), content)
            for place in made:
                place.rmdir()
        raise


def _write(target: Path, content: str | bytes) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # The file behind a link is replaced, not the link.
        write_bytes(Path(os.path.realpath(target)), content.encode() if isinstance(content, str) else content)
    except (OSError, ValueError) as error:
        what = f"'{target}' cannot be written: {failure_reason(error)}"
        raise rules.NOT_WRITTEN.error(what, fix="choose another folder") from error
