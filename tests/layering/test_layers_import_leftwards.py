"""Imports point one way: a layer may import the layers to its left. Read from the files, not from what happened to be loaded."""

import tellegen
from layering.sources import MODULES, NAMES, PACKAGE, targets

LAYERS = [
    "core",
    "expressions",
    "elements",
    "model",
    "synthesis",
    "notations",
    "importing",
    "graph",
    "causality",
    "schemes",
    "equations",
    "reduction conditioning",
    "compiler",
    "simulation",
    "scenes",
    "plots",
    "results",
    "analysis",
    "experiments",
    "studies",
    "drawing",
    "exporting",
    "reporting",
    "workflow",
    "teaching",
    "server",
    "cli",
]
RANK = {name: i for i, names in enumerate(LAYERS) for name in names.split()}

DATA = {"languages", "library", "systems"}
"""Folders of files that are read and hold no code."""

WITHOUT_NUMBERS = {name for name in RANK if RANK[name] <= RANK["equations"]}

FUNCTION_IMPORTS: dict[tuple[str, str], str] = {
    (
        "tellegen.notations.signals.tables",
        "pyarrow",
    ): "pyarrow takes a while to load and is needed for tables in Parquet files alone",
    (
        "tellegen.expressions.sympy_view",
        "sympy",
    ): "SymPy takes seconds to load and is a view: it is loaded when asked for",
    ("tellegen.reduction.account", "numpy"): "poles are compared when asked for; equations do without numbers",
    (
        "tellegen.workflow.deriving",
        "tellegen.experiments.linearising",
    ): "an operating point is looked for with numbers; equations with symbols do without",
    (
        "tellegen.workflow.deriving",
        "tellegen.experiments.setup",
    ): "other values of parameters are checked with numbers; equations with symbols do without",
    (
        "tellegen.scenes.writers.raster",
        "matplotlib",
    ): "SVG and TikZ do without matplotlib, which takes a second to load",
    ("tellegen.drawing.overlay.animation", "PIL"): "pictures are read when a GIF or a video is written",
    ("tellegen.results.records", "xarray"): "labelled arrays are made when asked for; a run does without",
    (
        "tellegen.studies.runs.variation",
        "scipy",
    ): "SciPy takes a while to load and is needed by who draws values",
    (
        "tellegen.studies.runs.influence",
        "scipy",
    ): "SciPy takes a while to load and is needed by who draws",
    (
        "tellegen.studies.runs.fit",
        "scipy",
    ): "SciPy takes a while to load and is needed by who fits",
    (
        "tellegen.studies.runs.measurements",
        "scipy",
    ): "SciPy takes a while to load and is needed by who fits",
    (
        "tellegen.studies.runs.optimise",
        "scipy",
    ): "SciPy takes a while to load and is needed by who searches",
    (
        "tellegen.studies.runs.table",
        "scipy",
    ): "SciPy takes a while to load and is needed by who draws values",
    (
        "tellegen.studies.runs.table",
        "pyarrow",
    ): "pyarrow is an extra, needed for tables in Parquet files alone",
    (
        "tellegen.studies.runs.study",
        "xarray",
    ): "labelled arrays are made when asked for",
    (
        "tellegen.studies.runs.study",
        "pandas",
    ): "tables of data frames are made when asked for; pandas comes with xarray",
    (
        "tellegen.experiments.sensitivities",
        "xarray",
    ): "labelled arrays are made when asked for; importing needs none",
    ("tellegen.simulation.solvers.stretch", "scipy"): "only large meshes ask SciPy for an order of elimination",
    ("tellegen.scenes.typesetting", "ziamath"): "a font is read when the first label is set",
    ("tellegen.scenes.typesetting", "ziafont"): "a font is read when the first label is set",
    ("tellegen.reporting.formulas", "latex2mathml"): "its tables of symbols are read when a page has formulas",
    ("tellegen.reporting.reports", "tellegen.reporting.live"): "it brings the exports, and most reports stand still",
    ("tellegen.reporting.reports", "tellegen.reporting.study_reports"): "a model's report does without studies",
    ("tellegen.reporting.reports", "tellegen.studies.runs.study"): "a model's report does without studies",
    ("tellegen.reporting.reports", "tellegen.studies.runs.sweep"): "a model's report does without studies",
    ("tellegen.experiments.simulating", "IPython"): "there only in a notebook",
    (
        "tellegen.exporting.python.libraries",
        "numpy",
    ): "it stands in written files, whose users have one of the libraries",
    ("tellegen.exporting.python.libraries", "jax"): "it stands in written files, whose users have one of the libraries",
    (
        "tellegen.exporting.python.libraries",
        "casadi",
    ): "it stands in written files, whose users have one of the libraries",
    ("tellegen.experiments.simulating", "rich"): "most runs are over before there is progress to show",
}
"""(module, imported top-level package or module): why the import stands inside a function."""

LAZY_LAYERS = {
    "": "importing tellegen does nothing: names are loaded when first used",
    "cli": "a command loads what it needs, so that --help is quick",
}
"""Layers in which functions may import layers to their left."""


def test_every_module_belongs_to_a_layer() -> None:
    stray = sorted(
        path.name
        for path in PACKAGE.iterdir()
        if (path.suffix == ".py" and path.stem not in {"__init__", "__main__"})
        or (path.is_dir() and path.name not in RANK.keys() | DATA and any(path.rglob("*.py")))
    )
    assert not stray, f"every module lies in the folder of a layer: {stray}"


def test_folders_of_data_hold_no_code() -> None:
    assert not [m.name for m in MODULES if m.layer in DATA]


def test_layers_import_leftwards() -> None:
    wrong = [
        f"{module.at(wanted.line)}: {module.layer} imports {layer}"
        for module in MODULES
        if module.layer in RANK
        for wanted in module.imports
        for target in targets(wanted)
        if (layer := NAMES[target].layer if target in NAMES else target)
        if layer != module.layer and RANK.get(layer, len(LAYERS)) >= RANK[module.layer]
    ]
    assert not wrong, "a layer may only import layers to its left:\n" + "\n".join(wrong)


def test_layers_do_not_import_the_package_itself() -> None:
    wrong = [
        module.at(wanted.line)
        for module in MODULES
        if module.layer not in {"", "workflow", "server", "cli"}
        for wanted in module.imports
        if "tellegen" in targets(wanted)
    ]
    assert not wrong, "import the layer that makes a thing, not the list of public names:\n" + "\n".join(wrong)


def test_layers_up_to_equations_know_no_numeric_library() -> None:
    wrong = [
        f"{module.at(wanted.line)}: {wanted.module}"
        for module in MODULES
        if module.layer in WITHOUT_NUMBERS
        for wanted in module.imports
        if wanted.top in {"numpy", "scipy"}
    ]
    assert not wrong, "numbers begin after equations:\n" + "\n".join(wrong)


def test_one_module_imports_sympy() -> None:
    users = {module.name for module in MODULES for wanted in module.imports if wanted.top == "sympy"}
    assert users <= {"tellegen.expressions.sympy_view"}


def test_imports_stand_at_the_top_of_the_file() -> None:
    wrong = [
        f"{module.at(wanted.line)}: {wanted.module}"
        for module in MODULES
        if module.layer not in LAZY_LAYERS
        for wanted in module.imports
        if wanted.inside_function
        and not {(module.name, wanted.top), (module.name, wanted.module)} & FUNCTION_IMPORTS.keys()
    ]
    assert not wrong, "move the code instead of hiding the import in a function:\n" + "\n".join(wrong)


def test_list_of_imports_inside_functions_is_current() -> None:
    used = {
        (module.name, name)
        for module in MODULES
        for wanted in module.imports
        if wanted.inside_function
        for name in (wanted.top, wanted.module)
    }
    assert not FUNCTION_IMPORTS.keys() - used


def test_modules_of_a_layer_form_no_ring() -> None:
    needs = {
        module.name: {
            target
            for wanted in module.imports
            if not wanted.inside_function and not wanted.for_types_only
            for target in targets(wanted)
            if target in NAMES and NAMES[target].layer == module.layer and target != module.name
        }
        for module in MODULES
        if module.layer
    }
    # The list of names in a layer's __init__ imports all its modules; a module that imports the list back is a ring.
    rings = [ring for ring in _rings(needs) if len(ring) > 1]
    assert not rings, "these modules import each other:\n" + "\n".join(", ".join(sorted(ring)) for ring in rings)


def test_no_module_has_the_name_of_a_public_function() -> None:
    names = {path.stem for path in PACKAGE.iterdir()}
    assert not names & set(tellegen.__all__)


def _rings(needs: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of a graph (Tarjan 1972); modules are few, so recursion is fine."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in sorted(needs[name]):
            if other not in order:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], order[other])
        if low[name] == order[name]:
            cut = stack.index(name)
            found.append(stack[cut:])
            del stack[cut:]

    for name in sorted(needs):
        if name not in order:
            visit(name)
    return found
