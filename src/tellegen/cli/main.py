"""The `tellegen` command. Layers are imported inside the commands, so that `tellegen --help` stays quick."""

# ruff: noqa: PLC0415

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tellegen.cli import output
from tellegen.cli.pairs import name_list, numbers, pairs
from tellegen.cli.plot_option import with_plot_target
from tellegen.core.errors import TellegenError

app = typer.Typer(
    name="tellegen",
    help="Energy-based modelling: from a network of physical elements to its causality and its equations.",
    epilog="MODEL is a file (YAML, or a POG_Modeler netlist ending in .txt) or the name of a built-in example.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class FormName(StrEnum):
    """Forms of equations."""

    POG = "pog"
    PH = "ph"
    LAGRANGE = "lagrange"
    DAE = "dae"
    TF = "tf"


class NotationName(StrEnum):
    """Notations of model files."""

    NETWORK = "network"
    BOND = "bond"
    POG = "pog"


class SignName(StrEnum):
    """Sign conventions."""

    MINUS = "-"
    PLUS = "+"


class MethodName(StrEnum):
    """Methods of projection."""

    BALANCED = "balanced"
    MOMENTS = "moments"


ModelText = Annotated[str, typer.Argument(help="A model file, or the name of a built-in example.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        from tellegen import __version__

        output.write(f"tellegen {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Energy-based modelling: from a network of physical elements to its causality and its equations."""


@app.command(epilog="Example: tellegen examples")
def examples(as_json: AsJson = False) -> None:
    """List the built-in systems."""
    from tellegen import workflow

    found = workflow.examples()
    if as_json:
        output.write_json({"examples": [{"name": example.name, "about": example.about} for example in found]})
        return
    widest = max(len(example.name) for example in found)
    output.write("\n".join(f"{example.name:<{widest}}  {example.about}" for example in found))


@app.command(epilog="Example: tellegen check dc_motor_pump")
def check(model: ModelText, as_json: AsJson = False) -> None:
    """Find errors, and say what the states are.

    Also lists dependent storages and zero-order causal paths. Exits with 1 when there are errors.
    """
    from tellegen import workflow

    found = workflow.check(model)
    if as_json:
        output.write_json(found.to_json())
    else:
        colours = sys.stdout.isatty()
        output.write("\n\n".join(output.coloured(part, colours) for part in str(found).split("\n\n")))
    if not found.ok:
        raise typer.Exit(output.MODEL_ERRORS)


@app.command(
    epilog="Examples: tellegen derive dc_motor_pump; tellegen derive rlc --form tf --latex; tellegen derive m.yaml --json"
)
def derive(
    model: ModelText,
    form: Annotated[
        FormName | None,
        typer.Option(
            help="pog: L x' = -A x + B u; ph: port-Hamiltonian; lagrange: M q'' + C q' + R q' + G = W tau; dae: descriptor form, "
            "nothing eliminated; tf: transfer matrix."
        ),
    ] = None,
    sign: Annotated[
        SignName, typer.Option(help="The sign of A: '-' for L x' = -A x + B u, '+' for L x' = A x + B u.")
    ] = SignName.MINUS,
    numeric: Annotated[
        bool,
        typer.Option("--numeric", help="Numbers for parameters: the sparse descriptor form, or the form asked for."),
    ] = False,
    eliminate: Annotated[
        bool, typer.Option("--eliminate", help="With --numeric: the matrices L, A, B, C, D instead.")
    ] = False,
    steps: Annotated[
        bool, typer.Option("--steps", help="The derivation step by step: each entry by the paths that make it.")
    ] = False,
    mode: Annotated[
        list[str] | None,
        typer.Option(metavar="S=closed", help="The mode of an element that has modes; once for each element."),
    ] = None,
    closed: Annotated[
        bool,
        typer.Option("--closed", help="The linear closed loop: signals are part of the model, references are inputs."),
    ] = False,
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="omega=100", help="With --closed: the operating point, a value in SI; once for each variable."
        ),
    ] = None,
    outputs: Annotated[
        str | None,
        typer.Option(
            metavar="v,F_K", help="Rows of the transfer matrix: any variables; with --form pog, measured beside y."
        ),
    ] = None,
    as_json: AsJson = False,
    as_latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX (amsmath).")] = False,
) -> None:
    """Derive the equations of a model."""
    if outputs and steps:
        raise typer.BadParameter("--outputs goes with the forms pog and tf, without --steps")
    if at and not closed:
        raise typer.BadParameter("--at goes with --closed")
    if closed and steps:
        raise typer.BadParameter("--steps goes with the power equations, not with --closed")
    if as_json and as_latex:
        raise typer.BadParameter("--json and --latex exclude each other")
    if eliminate and not numeric:
        raise typer.BadParameter("--eliminate goes with --numeric")
    if steps and (numeric or form not in (None, FormName.POG, FormName.LAGRANGE)):
        raise typer.BadParameter("--steps goes with the forms pog and lagrange, and with symbols")
    from tellegen.cli.equations import Wanted, show_equations, show_steps

    modes = pairs(mode or (), "--mode", "S=closed")
    if steps:
        show_steps(model, sign.value, modes, as_json=as_json, as_latex=as_latex, lagrange=form is FormName.LAGRANGE)
        return
    point = numbers(at or (), "--at", "omega=100") if closed else None
    chosen = name_list(outputs) if outputs else None
    wanted = Wanted(
        form.value if form else "pog", sign.value, numeric, eliminate, as_json, as_latex, modes, point, chosen
    )
    show_equations(model, wanted)


@app.command(
    epilog="Examples: tellegen simulate dc_motor_pump --set R_a=0.7 --plot run.png; tellegen simulate m.yaml --until 2 -o run.nc"
)
def simulate(
    model: ModelText,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="K=2e5",
            help="A parameter, an input or an initial value, in SI or with a unit; once for each.",
        ),
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="How long to run: 2, or '20 ms'.")] = None,
    rtol: Annotated[float | None, typer.Option(help="The relative tolerance.")] = None,
    atol: Annotated[float | None, typer.Option(help="The absolute tolerance, in SI.")] = None,
    solver: Annotated[str, typer.Option(help="The solver; the choice is made for you otherwise.")] = "auto",
    samples: Annotated[int | None, typer.Option(help="How many even steps the rows make (1000).")] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="FORM",
            help="Dependent storages as: derivative, residual, parasitic, field, lagrange or hamilton.",
        ),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the run: .csv, .nc (netCDF), .parquet or .mat."),
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="[FILE]", help="Plot it: on the screen, or to .png, .svg or .pdf.")
    ] = None,
    units: Annotated[
        list[str] | None,
        typer.Option(
            "--unit", metavar="omega=rpm", help="Show a variable in this unit: in text, plots and CSV; once for each."
        ),
    ] = None,
    start: Annotated[
        str, typer.Option(metavar="FROM", help="Where to start: initial, or steady (the equilibrium at t = 0).")
    ] = "initial",
    steady: Annotated[
        bool, typer.Option("--steady", help="Only the steady state, with inputs as at the end of the experiment.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Simulate a model: its experiment, or what the options say."""
    from tellegen.cli.runs import SimulateOptions, show_run

    given, shown = pairs(settings or (), "--set", "K=2e5"), pairs(units or (), "--unit", "omega=rpm")
    options = SimulateOptions(
        given, until, rtol, atol, solver, samples, target, plot, as_json, form, shown, start, steady
    )
    show_run(model, options)


@app.command(epilog="Examples: tellegen analyse dc_motor_pump --plot bode.svg; tellegen analyse crank_rod --at theta=1")
def analyse(
    model: ModelText,
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="omega=80", help="Linearise here, not in steady state: a value of a state; once for each."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="K=2e5", help="A parameter or a constant input, in SI or with a unit; once for each."
        ),
    ] = None,
    poles: Annotated[
        int | None, typer.Option(metavar="COUNT", help="Only the poles nearest to a point, for models of any size.")
    ] = None,
    near: Annotated[float, typer.Option(metavar="S", help="With --poles: the point on the real axis.")] = 0.0,
    outputs: Annotated[
        str | None, typer.Option(metavar="v,F_K", help="Variables measured beside the outputs of the sources.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="[FILE]", help="The Bode diagram: on the screen, or to .png, .svg or .pdf.")
    ] = None,
    step: Annotated[str | None, typer.Option(metavar="FILE", help="The step responses, to .png, .svg or .pdf.")] = None,
    as_json: AsJson = False,
) -> None:
    """Poles, zeros, damping, gains, structure and the split of power."""
    from tellegen.cli.runs import AnalyseOptions, show_analysis

    point = pairs(at, "--at", "omega=80") if at else None
    given = pairs(settings or (), "--set", "K=2e5")
    measured = name_list(outputs) if outputs else None
    show_analysis(model, AnalyseOptions(point, given, poles, near, plot, as_json, measured, step))


@app.command(
    epilog="Examples: tellegen reduce dc_motor_pump --limit J_m=0 --steps; tellegen reduce corking_shaft --limit K_se=inf"
)
def reduce(
    model: ModelText,
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="J_m=0", help="A parameter that tends to 0, to inf, or to another one; once for each."),
    ] = None,
    keep: Annotated[str, typer.Option(metavar="x,y", help="States that should remain, by name.")] = "",
    sign: Annotated[
        SignName, typer.Option(help="The sign of A: '-' for L x' = -A x + B u, '+' for L x' = A x + B u.")
    ] = SignName.MINUS,
    steps: Annotated[bool, typer.Option("--steps", help="The reduction step by step.")] = False,
    as_json: AsJson = False,
    as_latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX (amsmath).")] = False,
    target: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="REDUCED.yaml", help="Where to write the reduced model.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")] = False,
    loss: Annotated[bool, typer.Option("--loss", help="Run both models, and tell how far they are apart.")] = False,
    study: Annotated[bool, typer.Option("--study", help="Measure the order of convergence to the limit.")] = False,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Rank elements by their activity, and try the limits that it proposes.")
    ] = False,
    order: Annotated[
        int | None,
        typer.Option(metavar="N", help="A linear model with N states, in numbers, instead of limits (pyMOR)."),
    ] = None,
    method: Annotated[
        MethodName | None, typer.Option(help="How --order finds them; else the one that loses less.")
    ] = None,
) -> None:
    """Reduce a model: parameters at zero or infinity, fewer states."""
    if as_json and as_latex:
        raise typer.BadParameter("--json and --latex exclude each other")
    if loss + study + suggest + (steps or (as_latex and order is None)) + (order is not None) > 1:
        raise typer.BadParameter("choose one of --loss, --study, --suggest, --order, or equations (--steps, --latex)")
    if suggest and (limit or keep or target):
        raise typer.BadParameter("--suggest proposes limits: it takes none, and writes no model")
    if order is not None and (limit or keep):
        raise typer.BadParameter("--order finds states by itself: it takes no limits")
    if method is not None and order is None:
        raise typer.BadParameter("--method goes with --order")
    if not suggest and order is None and not limit:
        raise typer.BadParameter("give a limit, such as --limit J_m=0, or ask for proposals (--suggest)")
    from tellegen.cli.reducing import ReduceOptions, show_projection, show_reduction

    kept = name_list(keep)
    wanted = ReduceOptions(tuple(limit or ()), kept, sign.value, steps, as_json, as_latex, target, force)
    if order is not None:
        show_projection(model, order, None if method is None else method.value, wanted)
        return
    show_reduction(model, wanted._replace(loss=loss, study=study, suggest=suggest))


@app.command(
    epilog="Examples: tellegen draw dc_motor_pump --as pog -o motor.svg; tellegen draw rlc --as bond --theme mono -o rlc.pdf; "
    "tellegen draw dc_motor_pump --as pog --at '20 ms' -o power.svg; tellegen draw rlc --as bond --animate -o rlc.gif"
)
def draw(
    model: ModelText,
    target: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to draw: .svg, .pdf, .png, .tex (TikZ) or .json; an animation: .gif, .svg, .html or .mp4.",
            show_default=False,
        ),
    ],
    notation: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="NOTATION",
            help="bond (bond graph), pog (Power-Oriented Graph), network (schematic), mechanism, equations or sankey (energy).",
        ),
    ] = "pog",
    theme: Annotated[str, typer.Option(help="colour, mono (for print) or dark.")] = "colour",
    labels: Annotated[str, typer.Option(help="symbols, values or both.")] = "symbols",
    numbers_: Annotated[bool, typer.Option("--numbers", help="Number the bonds or the sections.")] = False,
    names: Annotated[bool, typer.Option("--names", help="Name the junctions.")] = False,
    bands: Annotated[bool, typer.Option(help="Show domains as coloured areas.")] = True,
    vectorial: Annotated[
        bool, typer.Option("--vectorial", help="One vector block (pog), or vector bonds for like branches (bond).")
    ] = False,
    derivative: Annotated[
        bool, typer.Option("--derivative", help="Draw dependent storages as derivative blocks (pog).")
    ] = False,
    directions: Annotated[
        bool, typer.Option("--directions", help="Show in which direction power counts as positive (pog).")
    ] = False,
    style: Annotated[
        str, typer.Option(help="flat or solid (mechanism): bodies as lines, or with depth and shade.")
    ] = "flat",
    max_width: Annotated[
        float, typer.Option(help="Where a long figure goes on in a new row, in pixels at 100 %.")
    ] = 1100,
    scale: Annotated[float, typer.Option(help="The size of the whole figure.")] = 1,
    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Simulate, and show powers and energies at this time: 0.2 or '20 ms'."),
    ] = None,
    animated: Annotated[
        bool, typer.Option("--animate", help="Simulate, and show powers and energies as they change.")
    ] = False,
    frames: Annotated[int, typer.Option(help="The pictures of an animation.")] = 60,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")] = False,
) -> None:
    """Draw a model: bond graph, Power-Oriented Graph, schematic or equations, still or with the power of its experiment."""
    from tellegen.cli.drawing import DrawOptions, save_animation, save_figure

    chosen = DrawOptions(
        theme, labels, numbers_, names, bands, vectorial, derivative, directions, style, max_width, scale
    )
    if animated:
        save_animation(model, notation, target, chosen, frames=frames, at=at, force=force)
    else:
        save_figure(model, notation, target, chosen, at=at, force=force)


@app.command(epilog="Example: tellegen export dc_motor_pump --to simulink -o motor")
def export(
    model: ModelText,
    target: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FOLDER", help="The folder of the files.", show_default=False),
    ],
    tool: Annotated[str, typer.Option("--to", metavar="TOOL", help="simulink: programs for MATLAB and Octave.")],
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a model with its experiment as files of another tool."""
    from tellegen.exporting.exports import export_model

    written = [str(path) for path in export_model(model, tool, target, overwrite=force)]
    if as_json:
        output.write_json({"files": written})
    else:
        output.write("\n".join(written))


@app.command(epilog="Example: tellegen stiffen planetary_gear J_s -o elastic.yaml")
def stiffen(
    model: ModelText,
    connection: Annotated[
        str, typer.Argument(help="A storage that follows others, or a node to be cut.", show_default=False)
    ],
    apart: Annotated[str, typer.Option(metavar="a,b", help="The elements that are parted from the node.")] = "",
    value: Annotated[
        float | None, typer.Option(help="The fictitious parameter in SI; without it one is suggested.")
    ] = None,
    undamped: Annotated[bool, typer.Option("--undamped", help="No dissipator beside the fictitious storage.")] = False,
    target: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="ELASTIC.yaml", help="Where to write; else it is printed.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a rigid connection elastic: the reverse of a limit."""
    from tellegen.cli.reducing import StiffenOptions, show_stiffened

    parted = tuple(name.strip() for name in apart.split(",") if name.strip())
    show_stiffened(model, connection, StiffenOptions(parted, value, not undamped, target, force, as_json))


@app.command(
    epilog="Examples: tellegen condition crank_rod; tellegen condition crank_rod --as residual,parasitic --stiffness 1e8"
)
def condition(
    model: ModelText,
    forms: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="FORM,FORM",
            help="derivative, residual, parasitic, field, lagrange, hamilton; without it, all that the model has.",
        ),
    ] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="K=2e5", help="A parameter, an input or an initial value; once for each."),
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="How long to run: 2, or '20 ms'.")] = None,
    rtol: Annotated[float | None, typer.Option(help="The relative tolerance of all runs.")] = None,
    coordinates: Annotated[
        str, typer.Option(metavar="x,theta", help="Displacements, or outputs of storages, that are independent.")
    ] = "",
    stiffness: Annotated[
        float | None, typer.Option(metavar="K", help="The stiffness of parasitic elements, in SI.")
    ] = None,
    error: Annotated[
        float | None, typer.Option(help="Parasitic elements just stiff enough for this error of the coordinates.")
    ] = None,
    equations: Annotated[
        bool, typer.Option("--equations", help="The equations of the forms named with --as, and no runs.")
    ] = False,
    as_json: AsJson = False,
    as_latex: Annotated[bool, typer.Option("--latex", help="With --equations: print LaTeX (amsmath).")] = False,
) -> None:
    """Compare six ways to treat dependent storages: time, error and what each is good for."""
    if stiffness is not None and error is not None:
        raise typer.BadParameter("--stiffness and --error exclude each other")
    if equations and not forms:
        raise typer.BadParameter("--equations goes with --as")
    if as_latex and not equations:
        raise typer.BadParameter("--latex goes with --equations")
    if as_json and as_latex:
        raise typer.BadParameter("--json and --latex exclude each other")
    from tellegen.cli.conditioning import ConditionOptions, show_conditioning

    words, chosen = (tuple(word.strip() for word in text.split(",") if word.strip()) for text in (forms, coordinates))
    given = pairs(settings or (), "--set", "K=2e5")
    wanted = ConditionOptions(words, given, until, rtol, chosen, stiffness, error, equations, as_json, as_latex)
    show_conditioning(model, wanted)


@app.command(epilog="Example: tellegen report dc_motor_pump -o report.html")
def report(
    model: ModelText,
    target: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write: .html, .md or .pdf.")
    ] = Path("report.html"),
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=0,NAME=inf", help="Show a smaller model too; each further --limit leads on from it."
        ),
    ] = None,
) -> None:
    """Show a model whole on one page: figures, equations, properties, its experiment and the energy books."""
    from tellegen.cli.reports import reporting_progress
    from tellegen.reporting.reports import report as make_report

    with reporting_progress() as progress:
        make_report(model, target, limits=[group.split(",") for group in limit or ()], progress=progress)
    output.write(f"written to {target}")


@app.command(epilog="Example: tellegen translate dc_motor_pump bond -o dc_motor_pump_bond.yaml")
def translate(
    model: ModelText,
    notation: Annotated[NotationName, typer.Argument(help="The notation of the new file.", show_default=False)],
    target: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="MODEL.yaml", help="Where to write; else it is printed.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say the same model in another notation: as a network, a bond graph or a Power-Oriented Graph."""
    from tellegen import workflow

    text = workflow.translate(model, notation.value, target, force=force)
    if as_json:
        output.write_json({"model": text, "written": None if target is None else str(target)})
    elif target is None:
        output.write(text)


@app.command("import", epilog="Example: tellegen import example_1.txt -o example_1.yaml")
def import_(
    file: Annotated[Path, typer.Argument(help="A POG_Modeler netlist (.txt).")],
    target: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="MODEL.yaml", help="Where to write; else it is printed.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")] = False,
    as_json: AsJson = False,
) -> None:
    """Turn a file of another tool into a model file."""
    from tellegen import workflow

    text = workflow.import_model(file, target, force=force)
    if as_json:
        output.write_json({"model": text, "written": None if target is None else str(target)})
    elif target is None:
        output.write(text)


@app.command(epilog="Example: tellegen schema > tellegen.schema.json")
def schema() -> None:
    """Print the JSON Schema of model files.

    Editors use it to complete and to check what is typed.
    """
    import json

    from tellegen.description import schema as model_schema

    output.write(json.dumps(model_schema(), indent=2))


@app.command(epilog="Example: tellegen bench mesh_check")
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Benchmarks; without one, all.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="All sizes; takes minutes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Time Tellegen beside the peers that are installed, and check every result.

    Exits with 1 when a result is wrong, never because something is slow.
    """
    from tellegen.benchmarks.running import bench as run_benchmarks

    if not run_benchmarks(*(names or ()), full=full, as_json_text=as_json):
        raise typer.Exit(output.MODEL_ERRORS)


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 errors in the model, 2 wrong usage, 3 a mistake of ours."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and give its exit code. No input leads to a traceback."""
    try:
        app(with_plot_target(arguments), prog_name="tellegen")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else output.MODEL_ERRORS
    except TellegenError as error:
        output.write_findings(error.findings, as_json="--json" in arguments)
        return output.MODEL_ERRORS
    except KeyboardInterrupt:
        return output.INTERRUPTED
    except Exception as mistake:
        if os.environ.get("TELLEGEN_DEBUG"):
            raise
        output.complain(f"internal error, please report it: {type(mistake).__name__}: {mistake}")
        output.complain("(TELLEGEN_DEBUG=1 shows where)")
        return output.INTERNAL_ERROR
    return 0
