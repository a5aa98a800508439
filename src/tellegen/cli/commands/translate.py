"""The commands `translate` and `export`: a model in another notation, or as files of another tool."""

from dataclasses import dataclass
from pathlib import Path

from tellegen.cli import output
from tellegen.cli.options import OfModel, as_json, command, force, model_file, printed_or_written
from tellegen.core.options import required
from tellegen.schemes.translation import Notation
from tellegen.workflow.transforming import translate as translated


@dataclass(frozen=True, kw_only=True)
class ExportOptions(OfModel):
    """What `export` is asked for."""

    target: Path = required("The folder of the files.", flag="--output", short="-o", metavar="FOLDER")
    tool: str = required("simulink: programs for MATLAB and Octave.", flag="--to", metavar="TOOL")
    force: bool = force()
    as_json: bool = as_json()


@command("tellegen export dc_motor_pump --to simulink -o motor")
def export(options: ExportOptions) -> None:
    """Write a model with its experiment as files of another tool."""
    from tellegen.exporting.exports import export_model  # brings the numbers that the other commands here do without

    written = export_model(options.model, options.tool, options.target, overwrite=options.force)
    if options.as_json:
        output.write_json({"files": [str(path) for path in written]})
    else:
        output.say_written(*written)


@dataclass(frozen=True, kw_only=True)
class TranslateOptions(OfModel):
    """What `translate` is asked for."""

    notation: Notation = required("The notation of the new file.", metavar="NOTATION")
    target: Path | None = model_file()
    force: bool = force()
    as_json: bool = as_json()


@command("tellegen translate dc_motor_pump bond -o dc_motor_pump_bond.yaml")
def translate(options: TranslateOptions) -> None:
    """Say the same model in another notation: as a network, a bond graph or a Power-Oriented Graph."""
    target = printed_or_written(options.target)
    text = translated(options.model, options.notation, target, force=options.force)
    output.show_model(text, target, as_json=options.as_json)
