"""Equations as JSON: names, numbers and formulas in Python syntax."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, final

from tellegen.core.names import identifier, unused
from tellegen.equations.matrices import Matrix, Sparse, Vector
from tellegen.equations.printing import explanation as shown
from tellegen.equations.printing.explanation import Sign, vanishes
from tellegen.expressions import ZERO, Expression, Number, symbol, to_python
from tellegen.expressions.elimination import used_names
from tellegen.graph.signals import Delayed, Sampled, Table

if TYPE_CHECKING:
    from tellegen.equations.forms.descriptor import DescriptorSystem
    from tellegen.equations.forms.hamiltonian import HamiltonianSystem
    from tellegen.equations.forms.state_space import StateSpaceForm
    from tellegen.equations.forms.transfer import TransferMatrix
    from tellegen.equations.signal_equations import SignalEquations
    from tellegen.equations.steps import Explanation
    from tellegen.equations.system import EquationSystem, Measured, OperatingPoint


def equations_to_record(equations: "EquationSystem", sign: Sign = "-", *, numeric: bool = False) -> dict[str, object]:
    """The record that `derive --json` prints.

    Names are identifiers: `drive.motor.L_a` is `drive__motor__L_a` everywhere in the record. Formulas are texts in
    Python syntax over the names listed, over those of `where` and over sin, cos, ... With sign "+" the equations are
    L x' = A x + B u: A is negated, and everything else (N and f too, on the left) is as with sign "-".
    With `numeric`, entries that are numbers are written as numbers instead of texts.
    A linearised form has its `point`, and in `linearised` what that is.
    `where`, `N`, `f`, `B_1`, `D_1`, `f_y`, `algebraic`, `dependent`, `modes`, `signals`, `signal_states`, `driven`, `sampled`,
    `delayed`, `tables` and `functions` are present only where not zero or empty.
    """
    variables = (*equations.states, *equations.inputs, *equations.outputs, *equations.algebraic.unknowns)
    variables = (*variables, *equations.displacements, *(law for law in sorted(equations.signals.names)))
    # Parameters first: they keep their identifier where two names meet.
    names = [*equations.parameters, *variables, *equations.dependent, *equations.where, *equations.measured.names]
    writer = _Writer(names, numeric)
    record: dict[str, object] = {
        "sign": sign,
        "states": writer.names(equations.states),
        "inputs": writer.names(equations.inputs),
        "outputs": writer.names(equations.outputs),
        "parameters": writer.values(equations.parameters, equations.values()),
    }
    record["displacements"] = writer.definitions(equations.displacements)
    m = equations.matrices
    entries = [e for matrix in m.values() for row in matrix for e in row]
    entries += [e for v in equations.vectors.values() for e in v]
    further = [*equations.algebraic.residuals, *equations.dependent.values(), *equations.signals.entries()]
    measured = equations.measured
    further += [e for m in (measured.C, measured.D, measured.D_1, (measured.rest,)) for row in m for e in row]
    # A program that reads the record should find no name that nothing uses.
    needed = used_names([*entries, *further], equations.where)
    if needed:
        record["where"] = writer.definitions({name: e for name, e in equations.where.items() if name in needed})
    record |= {"L": writer.matrix(m["L"]), "A": writer.matrix(shown.signed_power_matrix(equations, sign))}
    record |= {name: writer.matrix(m[name]) for name in ("B", "C", "D")}
    return record | _further_terms(equations, writer)


def hamiltonian_to_record(form: "HamiltonianSystem", *, numeric: bool = False) -> dict[str, object]:
    """The record that `derive --form ph --json` prints.

    `H` is a formula of the states and of names under `where`, with `integral(lambda q: ..., 0, q_C)` where none is known.
    `grad_H` has one formula for each state. `P`, `S`, `N`, `E`, `E_1`, `co_energy`, `multipliers`, `H_heat`, `f`, `f_y`,
    `algebraic`, `displacements`, signals and `where` are present only where not zero or empty.
    """
    variables = (*form.states, *form.inputs, *form.outputs, *form.algebraic.unknowns, *form.displacements)
    variables = (*variables, *sorted(form.signals.names))
    power_variables = sorted({name for e in form.energy_variables.values() for name in e.free_symbols})
    writer = _Writer([*form.parameters, *variables, *power_variables, *form.where], numeric)
    m = form.matrices
    record: dict[str, object] = {
        "x": writer.names(form.states),
        "H": None if form.H is None else writer.formula(form.H),
        "grad_H": [writer.formula(e) for e in form.grad_H],
        "J": writer.matrix(m["J"]),
        "R": writer.matrix(m["R"]),
        "g": writer.matrix(m["g"]),
        "u": writer.names(form.inputs),
        "y": writer.names(form.outputs),
        "parameters": writer.values(form.parameters, form.values()),
    }
    record |= {
        name: writer.matrix(m[name]) for name in ("P", "S", "N", "E", "E_1") if name in m and not vanishes(m[name])
    }
    record |= {name: writer.vector(v) for name, v in (("f", form.f), ("f_y", form.f_y)) if not vanishes((v,))}
    if form.co_energy:
        record["co_energy"] = writer.names(form.co_energy)
    if form.multipliers:
        record["multipliers"] = writer.names(form.multipliers)
    if form.H_heat is not ZERO:
        record["H_heat"] = None if form.H_heat is None else writer.formula(form.H_heat)
    if form.algebraic.unknowns:
        residuals = [writer.formula(e) for e in form.algebraic.residuals]
        record["algebraic"] = {"w": writer.names(form.algebraic.unknowns), "residual": residuals}
    if form.displacements:
        record["displacements"] = writer.definitions(form.displacements)
    record |= _signals(form.signals, writer)
    if form.where:
        record["where"] = writer.definitions(form.where)
    return record


def state_space_to_record(form: "StateSpaceForm", *, numeric: bool = False) -> dict[str, object]:
    """The record that `derive --form ss --json` prints: x' = A x + B u, so the sign is "+".

    `where`, `B_1`, `f`, `D_1`, `f_y`, `algebraic`, signals and `point` are present only where not zero or empty.
    """
    variables = (*form.states, *form.inputs, *form.outputs, *form.algebraic.unknowns, *form.displacements)
    writer = _Writer([*form.parameters, *variables, *sorted(form.signals.names), *form.where], numeric)
    m, v = form.matrices, form.vectors
    record: dict[str, object] = {
        "sign": "+",
        "states": writer.names(form.states),
        "inputs": writer.names(form.inputs),
        "outputs": writer.names(form.outputs),
        "parameters": writer.values(form.parameters, form.values()),
        "displacements": writer.definitions(form.displacements),
    }
    record |= {"where": writer.definitions(form.where)} if form.where else {}
    record |= {name: writer.matrix(m[name]) for name in ("A", "B", "C", "D")}
    record |= {name: writer.matrix(m[name]) for name in ("B_1", "D_1") if not vanishes(m[name])}
    record |= {name: writer.vector(v[name]) for name in ("f", "f_y") if not vanishes((v[name],))}
    if form.algebraic.unknowns:
        residuals = [writer.formula(e) for e in form.algebraic.residuals]
        record["algebraic"] = {"w": writer.names(form.algebraic.unknowns), "residual": residuals}
    return record | _signals(form.signals, writer) | _point(form.point)


def steps_to_record(steps: "Explanation") -> dict[str, object]:
    """The record that `derive --steps --json` prints.

    Each step has its `text`, and where it has them `relations`, `matrices`, `loops` and `entries`. An entry of a matrix is counted
    from 1 and lists its `paths`: the `gain` of each, over the names of the record and the determinants of `loops`, and the names
    that the path goes `through`.
    """
    names = [name for section in steps.sections for item in section.items for name in _names_in(item)]
    variables = (*steps.states, *steps.inputs, *steps.outputs)
    writer = _Writer([*steps.parameters, *variables, *steps.where, *names], False)
    record: dict[str, object] = {
        "sign": steps.sign,
        "states": writer.names(steps.states),
        "inputs": writer.names(steps.inputs),
        "outputs": writer.names(steps.outputs),
        "parameters": writer.values(steps.parameters, steps.values()),
        "steps": [_step(section, writer) for section in steps.sections],
    }
    if steps.where:
        record["where"] = writer.definitions(steps.where)
    return record


def _names_in(item: shown.Item) -> list[str]:
    if isinstance(item, shown.NamedFormula):
        return [item.name, *sorted(item.value.free_symbols)]
    return [item.name] if isinstance(item, shown.AlgebraicLoop) else []


def _step(section: shown.ExplanationSection, writer: "_Writer") -> dict[str, object]:
    of: dict[str, object] = {"title": section.title}
    of["text"] = [item.plain for item in section.items if isinstance(item, shown.Sentence)]
    relations = {i.name: i.value for i in section.items if isinstance(i, shown.NamedFormula)}
    matrices = {i.name: writer.matrix(i.rows) for i in section.items if isinstance(i, shown.ShownMatrix)}
    loops = [_loop(i, writer) for i in section.items if isinstance(i, shown.AlgebraicLoop)]
    entries = [_entry(i, writer) for i in section.items if isinstance(i, shown.ExplainedEntry)]
    of |= {"relations": writer.definitions(relations)} if relations else {}
    of |= {"matrices": matrices} if matrices else {}
    of |= {"loops": loops} if loops else {}
    return of | ({"entries": entries} if entries else {})


def _loop(loop: shown.AlgebraicLoop, writer: "_Writer") -> dict[str, object]:
    return {
        "members": list(map(identifier, loop.members)),
        "loops": [_path(path, writer) for path in loop.rounds],
        "name": writer.name(loop.name),
        "determinant": writer.formula(loop.determinant),
    }


def _entry(entry: shown.ExplainedEntry, writer: "_Writer") -> dict[str, object]:
    place = {"row": entry.row, "column": entry.column} if entry.column else {"row": entry.row}
    paths = [_path(path, writer) for path in entry.paths]
    return {"matrix": entry.matrix, **place, "value": writer.formula(entry.value), "paths": paths}


def _path(path: shown.CausalPath, writer: "_Writer") -> dict[str, object]:
    found: dict[str, object] = {"gain": writer.formula(path.gain)}
    if path.delta:
        found |= {
            "forward": writer.formula(path.forward),
            "cofactor": writer.formula(path.cofactor),
            "delta": writer.name(path.delta),
        }
    if path.eliminated:
        found["eliminated"] = list(map(identifier, path.eliminated))
    return found | {"through": [identifier(stop) for stop in path.stops if not stop.startswith("(")]}


def transfer_to_record(form: "TransferMatrix") -> dict[str, object]:
    """The transfer matrix: `G` has one row an output and one column an input, in Python syntax over `variable`."""
    writer = _Writer([form.variable, *form.parameters, *form.inputs, *form.outputs, *form.where], False)
    record: dict[str, object] = {
        "variable": writer.name(form.variable),
        "inputs": writer.names(form.inputs),
        "outputs": writer.names(form.outputs),
        "parameters": writer.values(form.parameters, form.values()),
    }
    if form.where:
        record["where"] = writer.definitions(form.where)
    return record | {"G": writer.matrix(form.entries)} | _point(form.point)


def descriptor_to_record(form: "DescriptorSystem", *, numeric: bool = False) -> dict[str, object]:
    """The descriptor form `E w' = F w + G u + h`, `y = H w + D u`.

    Each matrix is a list of its nonzero entries `[row, column, entry]`, counted from 0 in the order of `w`, `inputs` and
    `outputs`; `h` lists `[row, entry]` and is present only for nonlinear models. An entry is a text in Python syntax;
    with `numeric` those that are numbers are written as numbers.
    """
    writer = _Writer([*form.parameters, *form.unknowns, *form.inputs, *form.outputs], numeric)
    record: dict[str, object] = {
        "w": writer.names(form.unknowns),
        "inputs": writer.names(form.inputs),
        "outputs": writer.names(form.outputs),
        "parameters": writer.values(form.parameters, form.values()),
    }
    record |= {name: writer.sparse(getattr(form, name)) for name in ("E", "F", "G", "H", "D")}
    if form.h:
        record["h"] = [[k, writer.entry(form.h[k])] for k in sorted(form.h)]
    return record


def _further_terms(equations: "EquationSystem", writer: "_Writer") -> dict[str, object]:
    """What most models do not have."""
    m, v = equations.matrices, equations.vectors
    found: dict[str, object] = {}
    for name, rows in (("N", m["N"]), ("f", (v["f"],)), ("B_1", m["B_1"]), ("D_1", m["D_1"]), ("f_y", (v["f_y"],))):
        if not vanishes(rows):
            found[name] = writer.vector(rows[0]) if name in v else writer.matrix(rows)
    if equations.algebraic.unknowns:
        residuals = [writer.formula(e) for e in equations.algebraic.residuals]
        found["algebraic"] = {"w": writer.names(equations.algebraic.unknowns), "residual": residuals}
    if equations.dependent:
        found["dependent"] = writer.definitions(equations.dependent)
    if equations.measured.names:
        found["measured"] = _measured(equations.measured, writer)
    found |= _signals(equations.signals, writer)
    found |= _point(equations.point)
    if equations.modes:
        found["modes"] = {
            identifier(name): {"modes": list(of.words), "now": of.now} for name, of in equations.modes.items()
        }
    return found


def _point(point: "OperatingPoint | None") -> dict[str, object]:
    """The operating point of a linearised form."""
    if point is None:
        return {}
    return {"point": {identifier(name): value for name, value in point.values.items()}, "linearised": point.origin}


def _measured(rows: "Measured", writer: "_Writer") -> dict[str, object]:
    """What detectors read, as rows over states and inputs."""
    found: dict[str, object] = {
        "names": writer.names(rows.names),
        "C": writer.matrix(rows.C),
        "D": writer.matrix(rows.D),
    }
    if not vanishes(rows.D_1):
        found["D_1"] = writer.matrix(rows.D_1)
    return found if vanishes((rows.rest,)) else found | {"f": writer.vector(rows.rest)}


def _signals(signals: "SignalEquations", writer: "_Writer") -> dict[str, object]:
    """Signals by kind, where there are any: formulas, states, samples, delays, tables and functions, and what drives inputs."""
    found: dict[str, dict[str, object]] = {
        "signals": dict(writer.definitions(signals.values)),
        "signal_states": dict(writer.definitions(signals.states)),
        "driven": dict(writer.definitions(signals.drivers)),
    }
    for law in signals.others:
        name = writer.name(law.name)
        if isinstance(law, Sampled) and law.is_latch:
            found.setdefault("latches", {})[name] = writer.formula(law.expression)
        elif isinstance(law, Sampled):
            of, every, offset = (writer.formula(e) for e in (law.expression, law.period, law.offset))
            found.setdefault("sampled", {})[name] = {"of": of, "every": every, "offset": offset}
        elif isinstance(law, Delayed):
            found.setdefault("delayed", {})[name] = {"of": writer.formula(law.expression), "by": writer.formula(law.by)}
        elif isinstance(law, Table):
            points = [list(pair) for pair in zip(law.points, law.values, strict=True)]
            table = {"at": writer.formula(law.argument), "points": points, "interpolation": law.interpolation}
            found.setdefault("tables", {})[name] = table
        else:
            found.setdefault("functions", {})[name] = [writer.formula(e) for e in law.arguments]
    return {kind: of_kind for kind, of_kind in found.items() if of_kind}


@final
class _Writer:
    """Writes names as identifiers, each name as its own: where `x[1]` and `x_1` meet, the later one gets a trailing underscore."""

    def __init__(self, names: Iterable[str], numeric: bool) -> None:
        self.numeric = numeric
        self._written: dict[str, str] = {}
        self._formulas: dict[Expression, str] = {}  # most entries of a large matrix are the same zero
        taken: set[str] = set()
        for name in dict.fromkeys(names):
            self._written[name] = unused(identifier(name), taken)
            taken.add(self._written[name])
        self._changed: dict[str, Expression] = {
            name: symbol(written) for name, written in self._written.items() if written != identifier(name)
        }

    def name(self, name: str) -> str:
        return self._written[name]

    def names(self, names: Iterable[str]) -> list[str]:
        return [self._written[name] for name in names]

    def values(self, parameters: Iterable[str], values: Mapping[str, float]) -> dict[str, float | None]:
        return {self._written[name]: values.get(name) for name in parameters}

    def definitions(self, names: Mapping[str, Expression]) -> dict[str, str]:
        return {self._written[name]: self.formula(e) for name, e in names.items()}

    def formula(self, expression: Expression) -> str:
        found = self._formulas.get(expression)
        if found is None:
            found = self._formulas[expression] = self._formula(expression)
        return found

    def _formula(self, expression: Expression) -> str:
        # Substituting walks through the whole formula; nearly none holds a name that was changed.
        if self._changed and not self._changed.keys().isdisjoint(expression.free_symbols):
            expression = expression.substitute(self._changed)
        return to_python(expression)

    def entry(self, entry: Expression) -> str | float:
        return float(entry.rational) if self.numeric and isinstance(entry, Number) else self.formula(entry)

    def vector(self, entries: Vector) -> list[str | float]:
        return [self.entry(e) for e in entries]

    def matrix(self, rows: Matrix) -> list[list[str | float]]:
        return [self.vector(row) for row in rows]

    def sparse(self, matrix: Sparse) -> list[list[int | str | float]]:
        return [[i, j, self.entry(matrix[i, j])] for i, j in sorted(matrix)]
