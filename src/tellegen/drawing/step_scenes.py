"""Which steps a figure shows side by side: those of a reduction, those of operations on a scheme, or the ways to draw it."""

from collections.abc import Sequence

from tellegen.drawing import rules
from tellegen.drawing.naming import name_latex
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.pog_steps import Panel, reduction_panels, scheme_panel, side_by_side
from tellegen.drawing.pog_texts import matrix_latex, size
from tellegen.drawing.scene import Scene
from tellegen.expressions import ZERO
from tellegen.reduction import Reduction, scheme_pictures
from tellegen.schemes import Orientation, PogScheme, Rewriting
from tellegen.schemes.pog_scheme import Matrix

STEPS = "steps"
"""The notation that shows how a model was reduced."""
Step = PogScheme | Rewriting
Steps = list[Step | Orientation] | tuple[Step | Orientation, ...]
"""What is drawn side by side."""
MOST_ROWS, LONGEST = 8, 120
"""A larger congruence is in the equations of the reduction only."""


def steps_scene(what: object, options: Options = DEFAULTS) -> Scene:
    """The steps of a reduction, of a list of schemes and operations on them, or all orientations of a scheme.

    Raises: FigureError (F190) for what has no steps.
    """
    if isinstance(what, Reduction):
        return _reduction(what, options)
    found = what if isinstance(what, list | tuple) else ()
    orientations = [item for item in found if isinstance(item, Orientation)]
    steps = [item for item in found if isinstance(item, Step)]
    if found and len(orientations) == len(found):
        return _orientations(orientations, options)
    if found and len(steps) == len(found):
        return _steps(steps, options)
    strange = [item for item in found if not isinstance(item, Step)]
    told = f"what is of the kind '{type(strange[0]).__name__}' is no step" if strange else "a model alone has no steps"
    fix = "give a limit: --limit J_m=0, or draw(reduce(model, {'J_m': 0}), 'steps'); or a list: draw([scheme, step])"
    raise rules.NO_STEPS.error("there are no steps in an empty list" if what in ([], ()) else told, fix=fix)


def _steps(steps: Sequence[Step], options: Options) -> Scene:
    """Schemes, each with the account of the step that made it."""
    panels = [
        scheme_panel(step.scheme, step.account, options)
        if isinstance(step, Rewriting)
        else scheme_panel(step, "" if k else "as it is", options)
        for k, step in enumerate(steps)
    ]
    return side_by_side(_scheme(steps[0]).name, panels, options)


def _scheme(step: Step) -> PogScheme:
    return step.scheme if isinstance(step, Rewriting) else step


def _orientations(found: Sequence[Orientation], options: Options) -> Scene:
    """The orientations that may be drawn, each with the path that was inverted; of the others it is told why not."""
    panels = [scheme_panel(o.scheme, o.path, options) for o in found if o.scheme is not None]
    notes = [f"Not drawn: {o.path}, because {o.why_not}." for o in found if o.scheme is None]
    name = next((o.scheme.name for o in found if o.scheme is not None), "orientations")
    return side_by_side(name, panels, options, arrows=False, notes=notes)


def _reduction(reduction: Reduction, options: Options) -> Scene:
    """The pictures of every element that goes, a row for each, and the congruence."""
    pictures = scheme_pictures(reduction)
    if not pictures.stages:
        what = pictures.why_not or "the limits take no element out of the scheme"
        raise rules.NO_STEPS.error(what, where=reduction.original.name, fix="look at its equations: reduce --steps")
    panels: list[Panel] = []
    for stage in pictures.stages:
        panels += reduction_panels(stage, options, starts_row=bool(panels))
    notes = [f"{note}." for note in (*pictures.notes, pictures.why_not) if note]
    return side_by_side(reduction.original.name, panels, options, beside=_congruence(reduction), notes=notes)


def _congruence(reduction: Reduction) -> str:
    """x = T z + T_u u, with the names of all three; empty where it is too large for a figure."""
    T, T_u = reduction.transformation, reduction.input_transformation
    terms = [(T, reduction.equations.states), (T_u, reduction.equations.inputs)]
    shown = [(matrix, names) for matrix, names in terms if _any(matrix)]
    entries = [entry for matrix, _ in shown for row in matrix for entry in row]
    if not shown or len(T) > MOST_ROWS or max(len(names) for _, names in shown) > MOST_ROWS:
        return ""
    if sum(map(size, entries)) > LONGEST:
        return ""
    told = " + ".join(rf"{_brackets(matrix)}\,{_column(names)}" for matrix, names in shown)
    return f"{_column(reduction.full.states)} = {told}"


def _any(matrix: Matrix) -> bool:
    return any(entry is not ZERO for row in matrix for entry in row)


def _brackets(matrix: Matrix) -> str:
    alone = len(matrix) == len(matrix[0]) == 1
    return rf"\left({matrix_latex(matrix)}\right)" if alone else matrix_latex(matrix)


def _column(names: Sequence[str]) -> str:
    if len(names) == 1:
        return name_latex(names[0])
    body = r" \\ ".join(map(name_latex, names))
    return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"
