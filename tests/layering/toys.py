"""A toy for each row of the table "Where to add" in ARCHITECTURE.md: what has to be written, and where.

The names of files stand here and nowhere else in the tests. Places are chosen so that they last: the table that gets a row, not the
row above it.
"""

from typing import Final

Edit = tuple[str, str, str]
"""A file of the package, a regular expression for the place in it, and the text that is put behind what that finds."""
NEW: Final = ""
"""The place in a file that is not there yet."""

# Files of several rows.
CATALOGUE = "elements/kinds.py"
DERIVING = "workflow/deriving.py"
FIGURES = "drawing/figures.py"
PICTURES = "scenes/pictures.py"
PUBLIC_NAMES = "__init__.py"

IMPORTS = r'\A""".*?"""\n\n(?=from|import)'
"""Where the imports of a module begin."""

STATE_LIST = '''"""A toy: the states of a model, and how many they are."""

from dataclasses import dataclass
from typing import final

from tellegen.equations.system import EquationSystem


@final
@dataclass(frozen=True)
class StateList:
    """The states of a model."""

    states: tuple[str, ...]

    def to_text(self) -> str:
        """The list for a terminal."""
        return f"{len(self.states)} states: {', '.join(self.states)}"

    def to_latex(self) -> str:
        """The list in LaTeX."""
        return rf"n = {len(self.states)}"

    def to_json(self) -> dict[str, object]:
        """The list as a record."""
        return {"states": list(self.states)}


def state_list(system: EquationSystem) -> StateList:
    """The states of the equations."""
    return StateList(system.states)
'''

CLASSICAL_RUNGE_KUTTA = """/* A toy: the classical method of Runge and Kutta; no step is longer than the one that is given. */
#include "job.h"

static int step(tg_job *j, double h, double *room) {
  int n = j->n;
  double *start = room, *at = room + n, *sum = room + 2 * n, power[5];
  const double reach[] = {0.5, 0.5, 1, 0}, weight[] = {1, 2, 2, 1};
  memcpy(start, j->y, sizeof(double) * (size_t)n);
  memcpy(sum, start, sizeof(double) * (size_t)n);
  memcpy(at, start, sizeof(double) * (size_t)n);
  double t = j->t;
  for (int stage = 0; stage < 4; stage++) {
    if (j->rhs(j->context, t, at, j->yp)) return TG_NOT_FINITE;
    j->rhs_calls++;
    if (j->keep_books && stage != 2) { /* Simpson's rule: the first stage, the better one in the middle, the last */
      if (tg_powers_of(j, t, at, j->yp, power)) return TG_NOT_FINITE;
      for (int b = 0; b < 4; b++) j->books[b] += h / 6 * power[b] * (stage == 1 ? 4 : 1);
    }
    for (int k = 0; k < n; k++) {
      sum[k] += h / 6 * weight[stage] * j->yp[k];
      at[k] = start[k] + h * reach[stage] * j->yp[k];
    }
    t = j->t + h * reach[stage];
  }
  memcpy(j->y, sum, sizeof(double) * (size_t)n);
  j->t += h;
  j->steps++;
  j->last_step = h;
  return j->rhs(j->context, j->t, j->y, j->yp) ? TG_NOT_FINITE : 0;
}

int tg_toy(tg_job *j) {
  size_t row = sizeof(double) * (size_t)j->n;
  double *room = malloc(3 * row + 1);
  int status = room ? j->rhs(j->context, j->t, j->y, j->yp) : TG_NO_MEMORY;
  while (!status) {
    for (; j->next_time < j->n_times && j->times[j->next_time] <= j->t; j->next_time++) {
      memcpy(j->out_y + (size_t)j->n * (size_t)j->next_time, j->y, row);
      memcpy(j->out_yp + (size_t)j->n * (size_t)j->next_time, j->yp, row);
    }
    if (j->t >= j->until) break;
    double end = j->next_time < j->n_times ? j->times[j->next_time] : j->until, left = end - j->t;
    if (left <= j->first_step * (1 + 1e-12)) {
      status = step(j, left, room);
      j->t = end;
    } else {
      status = step(j, j->first_step, room);
    }
  }
  free(room);
  return status;
}
"""

TOY_DOMAIN = """CHEMICAL = Domain(
    name="chemical",
    code="",
    reference="equilibrium",
    across=Variable("chemical potential", "mu", ("mu",), "J/mol"),
    through=Variable("molar flow", "dN", ("dN",), "mol/s"),
    across_energy=Variable("amount", "N", ("N",), "mol"),
    through_energy=Variable("potential impulse", "Lambda", ("Lambda",), "J*s/mol"),
    effort="across",
)
"""

TOY_KINDS = """chemical:
  toy vessel | N = C*mu | C, chemical capacity, mol^2/J | keeps an amount of a substance
  toy membrane | mu = R*dN | R, chemical resistance, J*s/mol^2 | lets a substance pass
  toy reservoir | mu = input | - | imposes a chemical potential
"""

TOY_BLOCK = """    SignalBlock(
        "a toy: its input two times",
        (Key("toy double", INPUT, "what is doubled", required=True),),
        expansions.expand_toy_double,
        _like_of("toy double"),
        "y: {toy double: x}",
    ),
"""

TOY_EXPANSION = '''

def expand_toy_double(given: BlockSettings) -> SignalParts:
    """A toy: the input two times."""
    yield given.formula(given.name, 2 * given.expression("toy double"))
'''

TOY_JOINT = """        JointKind(
            "tether",
            "a toy: dampers between two points, along both axes of the plane",
            (_DAMPING._replace(required=True),),
            JointElements.tether,
        ),
"""

TOY_JOINT_ELEMENTS = '''    def tether(self, joint: Joint) -> None:
        """A toy: dampers along both axes of the plane."""
        for axis, one, two in zip(AXES, self.bodies.moving(joint.first), self.bodies.moving(joint.second), strict=True):
            self.maker.add(f"{joint.name}.b_{axis}", "damper", (one.node, two.node), joint.settings["b"])

'''

TOY_WRITER = '''"""A toy: figures as a list of what they are made of."""

from typing import Any

from tellegen.scenes.scene import Scene


def to_toy(scene: Scene, options: Any) -> str:
    """The elements of a figure, one a line, and whether it is drawn as figures are where nothing is said."""
    elements = sorted({shape.origin.element for shape in scene.shapes if shape.origin.element})
    return "\\n".join([*elements, "as asked for" if options.playful else "as usual"])
'''

TOY_TOOL = '''"""A toy: models as lists of their elements."""

from collections.abc import Mapping

from tellegen.model.model import Model


def toy_files(model: Model, name: str) -> Mapping[str, str]:
    """One file with an element a line."""
    return {f"{name}.toy": "\\n".join(element.name for element in model.elements)}
'''

TOY_FIGURE = '''"""A toy: the name of a model as a figure."""

from tellegen.drawing.options import Options
from tellegen.scenes.scene import MARGIN, Label, Origin, Scene, label_box
from tellegen.notations.loading import AnyModel, as_model


def toy_scene(model: AnyModel, options: Options) -> Scene:
    """The name of the model, in words."""
    name = as_model(model).name
    label = Label(name, (0.0, 0.0), math=False, origin=Origin(name, "name"))
    return Scene(f"Toy: {name}", name, label_box(label).grown(MARGIN), (label,))
'''

TOY_COMMAND = '''"""The toy command `count`."""

from dataclasses import dataclass

from tellegen.cli import output
from tellegen.cli.options import OfModel, command
from tellegen.workflow.counting import count as counted


@dataclass(frozen=True, kw_only=True)
class CountOptions(OfModel):
    """What `count` is asked for."""


@command("tellegen count rlc")
def count(options: CountOptions) -> None:
    """Count the elements of a model."""
    output.write(str(counted(options.model)))
'''

TOY_FUNCTION = '''"""A toy: `count`."""

from tellegen.notations.loading import AnyModel, as_model


def count(model: AnyModel) -> int:
    """How many elements a model has."""
    return len(as_model(model).elements)
'''

TOY_RUN_WRITER = """def _write_toy(run: "Run", path: Path) -> None:
    path.write_text(" ".join(run.names))


"""

TOY_VALVE = """register(
    ElementKind(
        "toy valve",
        "switching",
        ("electrical",),
        "lets current pass beyond a voltage",
        "i = 0 and v <= V_z, or v = V_z and i >= 0",
        behaviour="toy",
        settings=(Setting("V_z", "threshold", "V", "threshold"),),
        modes=("blocking", "passing"),
    )
)
"""

ADDITIONS: dict[str, tuple[Edit, ...]] = {
    "an element kind": (
        (CATALOGUE, r"^electrical:\n", "  toy resistor | v = R*i | R, resistance, ohm | a resistor once more\n"),
    ),
    "an element with modes": (
        (CATALOGUE, r"\Z", TOY_VALVE),
        ("elements/kinds.py", r"^Behaviour = Literal\[", '"toy", '),
        ("graph/switching.py", r"^_BEHAVIOURS: .*?= \{\n", '    "toy": _one_way,\n'),
    ),
    "a domain": (
        ("core/domains.py", r"(?=^DOMAINS: )", TOY_DOMAIN),
        ("core/domains.py", r"^DOMAINS: .*?for d in \(", "CHEMICAL, "),
        (CATALOGUE, r'^_TABLE = """\n', TOY_KINDS),
    ),
    "a signal block": (
        ("notations/signals/expansions.py", r"^LARGE_STEP = .*?\n", TOY_EXPANSION),
        ("notations/signals/blocks.py", r"^_ROWS = \(\n", TOY_BLOCK),
    ),
    "a joint of mechanisms": (
        ("notations/mechanism/joints.py", r"^class JointElements:.*?(?=    def pad)", TOY_JOINT_ELEMENTS),
        ("notations/mechanism/joints.py", r"^JOINTS: .*?for kind in \(\n", TOY_JOINT),
        (
            "drawing/mechanism/scene.py",
            r"^        match joint\.kind:\n",
            '            case "tether":\n                self._add(parts.PIN_MARK, at, (1, 0), origin)\n',
        ),
    ),
    "a form of equations": (
        ("equations/forms/toy.py", NEW, STATE_LIST),
        (DERIVING, IMPORTS, "from tellegen.equations.forms.toy import StateList, state_list\n"),
        (DERIVING, r"^Derived = ", "StateList | "),
        (
            DERIVING,
            r"^FORMS: .*?= \{\n",
            '    "toy": EquationForm("a list", lambda model, options: state_list(_measured(model, options))),\n',
        ),
    ),
    "a solver": (
        ("simulation/native/toy.c", NEW, CLASSICAL_RUNGE_KUTTA),
        ("simulation/problem.py", r"^SOLVERS: .*?= \{\n", '    "toy": Solver(keeps_step=True, explicit=True),\n'),
    ),
    "a format of figures": (
        ("scenes/writers/toy.py", NEW, TOY_WRITER),
        (PICTURES, IMPORTS, "from tellegen.scenes.writers.toy import to_toy\n"),
        (
            PICTURES,
            r"^FORMATS: .*?= \{\n",
            '    ".toy": lambda figure: to_toy(figure.scene, figure.options).encode(),\n',
        ),
    ),
    "a tool to export to": (
        ("exporting/toy.py", NEW, TOY_TOOL),
        ("exporting/exports.py", IMPORTS, "from tellegen.exporting.toy import toy_files\n"),
        ("exporting/exports.py", r"^TARGETS: .*?= \{", '"toy": toy_files, '),
    ),
    "an option of a command": (
        (
            DERIVING,
            r'^class DeriveOptions:\n    """.*?"""\n\n',
            '    instead: str = option("", "A toy: derive this model instead.", metavar="MODEL")\n',
        ),
        (DERIVING, r"^def _derived\(.*?:\n", "    model = options.instead or model\n"),
        (
            "drawing/options.py",
            r'^class Options:\n    """.*?"""\n\n',
            '    playful: bool = option(False, "A toy: draw for play.")\n',
        ),
        (
            "cli/commands/experiments.py",
            r'^class SimulateOptions.*?:\n    """.*?"""\n\n',
            '    brief: bool = option(False, "A toy: a run of one second.")\n',
        ),
        ("experiments/simulating.py", r"^def simulate\(.*?\*,\n", "    brief: bool = False,\n"),
        ("experiments/simulating.py", r'^def simulate\(.*?\n    """.*?"""\n', "    until = 1.0 if brief else until\n"),
    ),
    "a unit": (("core/units.py", r"^PLAIN = \{\n", '    "daalder": ("2", "V"),\n'),),
    "a function in formulas": (
        (
            "expressions/functions.py",
            r"^_ROWS = \(\n",
            '    _row("log2", math.log2, lambda x: 1 / (x * call("log", canonical.number(2))),'
            ' _at(1, canonical.ZERO), latex=r"\\log_2"),\n',
        ),
    ),
    "a shape over time": (
        (
            "notations/signals/formulas.py",
            r"^SHAPES: .*?= \{\n",
            '    "still": _shape("a toy: always so", 1, lambda x: x, "value u"),\n',
        ),
        (
            "experiments/input_signals.py",
            r"^# Shapes\n\n\n",
            'def still(value: Quantity) -> Signal:\n    """A toy: always so."""\n    return _shape("still", value)\n\n\n',
        ),
        (PUBLIC_NAMES, r"from tellegen.experiments.input_signals import ", "still, "),
        (PUBLIC_NAMES, r"^__all__ = \[\n", '    "still",\n'),
        (PUBLIC_NAMES, r'"experiments.input_signals": "', "still "),
    ),
    "a kind of figure": (
        ("drawing/toy.py", NEW, TOY_FIGURE),
        (FIGURES, IMPORTS, "from tellegen.drawing.toy import toy_scene\n"),
        (FIGURES, r"^NOTATIONS: .*?= \{\n", '    "toy": toy_scene,\n'),
    ),
    "a format of runs": (
        ("results/records.py", r"(?=^WRITERS: )", TOY_RUN_WRITER),
        ("results/records.py", r"^WRITERS: .*?= \{\n", '    ".toy": _write_toy,\n'),
    ),
    "a command": (
        ("workflow/counting.py", NEW, TOY_FUNCTION),
        ("cli/commands/count.py", NEW, TOY_COMMAND),
        ("cli/main.py", r"^COMMANDS = \{\n", '    "count": CommandPlace("count", "Count the elements of a model."),\n'),
        (PUBLIC_NAMES, r"(?=    from tellegen.workflow)", "    from tellegen.workflow.counting import count\n"),
        (PUBLIC_NAMES, r"^__all__ = \[\n", '    "count",\n'),
        (PUBLIC_NAMES, r"^_NAMES_OF_MODULE = \{\n", '    "workflow.counting": "count",\n'),
    ),
}
"""By row of the table: what is put into which file of the package."""

MODELS = {
    "circuit.yaml": """
system: Toy circuit
network:
  V: {voltage source: [a, gnd], signal: u}
  R: {toy resistor: [a, b], R: 2 ohm}
  C: {capacitor: [b, gnd], C: 0.5 F, voltage: v_C}
signals:
  u: {toy double: log2(8)*0.5 daalder}
experiment:
  until: 2 s
""",
    "valve.yaml": """
system: Toy valve
network:
  V: {voltage source: [a, gnd]}
  D: {toy valve: [a, b], V_z: 1 V}
  R: {resistor: [b, c], R: 2 ohm}
  C: {capacitor: [c, gnd], C: 0.5 F, voltage: v_C}
experiment:
  until: 2 s
  inputs: {V: 7 V}
""",
    "vessel.yaml": """
system: Toy vessel
network:
  mu: {toy reservoir: [a, equilibrium]}
  R: {toy membrane: [a, b], R: 2 J*s/mol^2}
  C: {toy vessel: [b, equilibrium], C: 0.5 mol^2/J, chemical potential: mu_C}
experiment:
  until: 2 s
  inputs: {mu: "still(6 J/mol)"}
""",
    "sledge.yaml": """
system: Toy sledge
mechanism:
  bodies:
    ground: {points: {post: [0 m, 1 m]}}
    sledge: {mass: 2 kg, inertia: 1 kg*m^2, velocity: [v_x, v_y], position: [x, y]}
  joints:
    T: {tether: [ground.post, sledge], b: 4 N*s/m}
experiment:
  until: 1 s
  initial: {v_x: 3 m/s}
""",
}
