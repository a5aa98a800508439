"""From a model with its experiment to a block diagram: a scalar ladder as it is drawn, or the vector block row by row.

A storage that follows others decides how fast its content changes. So what it asks of the rest, and with it the force in a joint
or in a clutch that sticks, is a formula of the rates of states and inputs.

A vector scheme is told twice: as rows, which the m-file integrates, and as the blocks of its figure, which Simulink draws.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import final

from tellegen.causality import CausalGraph
from tellegen.core.names import TIME, listing
from tellegen.equations.derivation import derive_equations
from tellegen.equations.outputs import PortVariables
from tellegen.equations.signal_equations import SignalRates
from tellegen.equations.structure import causal_structure, solve_resistive
from tellegen.equations.system import EquationSystem
from tellegen.experiments.steady_state import set_up_at_start
from tellegen.exporting import diagram, rules
from tellegen.exporting.diagram_start import DiagramStart, diagram_start, initial_run
from tellegen.exporting.matrix_blocks import matrix_blocks
from tellegen.expressions import ONE, ZERO, Expression, symbol, total
from tellegen.expressions.elimination import NamedEntries, with_definitions
from tellegen.graph.power_graph import ResistiveLaw, StorageLaw
from tellegen.graph.signals import External, Sampled, SignalLaw, Table
from tellegen.model.model import Model
from tellegen.schemes import PogScheme, SchemeBlock, Summation, pog
from tellegen.schemes.pog_scheme import Column as PogColumn
from tellegen.schemes.pog_scheme import Ladder


@final
class PortFormulas(PortVariables):
    """Formulas over states, inputs, displacements and signals, over the names in `where` and over rates.

    `rate_names` gives the names that the rates of states have. Names of `where` begin otherwise than those of the equations.
    """

    def __init__(
        self, causal: CausalGraph, system: EquationSystem, rate_names: Mapping[str, str], taken: Iterable[str]
    ) -> None:
        # Large parts of formulas get names of their own, or a mesh would be written out again in each of its branches.
        field = NamedEntries(causal.graph.parameters, taken, prefix="k")
        structure = causal_structure(causal, field)
        super().__init__(structure, solve_resistive(structure, field), rates=True)
        self.where: Mapping[str, Expression] = field.where
        self.system = system
        self.rate_symbols = {name: symbol(rate) for name, rate in rate_names.items()}
        known = {*causal.graph.parameters}
        self._signals = SignalRates(system.signals, system.displacements, causal.graph.position_dependent, known)

    def of(self, name: str) -> Expression:
        """The formula of a power variable.

        Raises: EquationError where it reads the rate of something that jumps.
        """
        port, decided = self.port_of_variable[name]
        return self._decided(port) if decided else self._told(port)

    def rate(self, expression: Expression) -> Expression:
        """The derivative of a formula along the motion.

        Raises: EquationError where it reads something that jumps.
        """
        # The chain rule goes through names too: written out, only states, inputs and time are left.
        written = with_definitions(expression, self.system.where)
        return total(written.derivative(name) * self._rate_of(name) for name in sorted(written.free_symbols))

    def _rate_of(self, name: str) -> Expression:
        if name in self.rate_symbols:
            return self.rate_symbols[name]
        if name == TIME:
            return ONE
        if name in self.system.inputs:
            driver = self.system.signals.drivers.get(name)
            return ZERO if driver is None else self.rate(driver)
        if name in self.causal.graph.parameters:
            return ZERO
        return self._signals.of(name)

    def _decided(self, k: int) -> Expression:
        return self._content_rate(k) if k in self.following else super()._decided(k)

    def _content_rate(self, k: int) -> Expression:
        """How fast the content of a storage that follows others changes."""
        for coupled in self.causal.graph.fields:
            if k in coupled.ports:
                row = coupled.matrix[coupled.ports.index(k)]
                return self.rate(total(e * self.output(j) for e, j in zip(row, coupled.ports, strict=True)))
        law, output = self.causal.graph.ports[k].storage, self.output(k)
        # The rate of the content itself where there is a formula of it: that counts also what moves the storage.
        content = law.content_at(output)
        return law.inertia_at(output) * self.rate(output) if content is None else self.rate(content)

    def output(self, k: int) -> Expression:
        """The output of a storage: a state, or what others make it."""
        port = self.causal.graph.ports[k]
        return self.system.dependent[port.variable(port.storage.side)] if k in self.following else symbol(port.state)


Blocks = tuple[list[diagram.Formula], list[diagram.Integrator]]


def ladder_blocks(scheme: PogScheme, start: DiagramStart) -> Blocks | None:
    """The blocks of a scalar scheme, or None where an element needs more than its own input."""
    columns = {
        name: title for column, title in _titles(scheme).items() for name in (*column.blocks, *column.summations)
    }
    signals = [name for b in scheme.blocks.values() for name in (b.input, b.output, b.energy)]
    # The blocks keep the names of the figure; what is made beside them has to take others.
    start.taken.update(signals, scheme.summations)
    formulas = [_sum(item, columns.get(item.output, "")) for item in scheme.summations.values()]
    integrators: list[diagram.Integrator] = []
    for block in scheme.blocks.values():
        made = _block(block, columns.get(block.name, ""), start)
        if made is None:
            return None
        formulas += made[0]
        integrators += made[1]
    return formulas, integrators


def ladder_columns(scheme: PogScheme) -> tuple[diagram.DiagramColumn, ...]:
    """Where the columns stand: ladders below each other, side ladders below the column from which they branch off."""
    found: list[diagram.DiagramColumn] = []
    titles = _titles(scheme)

    def put(ladder: Ladder, place: int, row: int) -> int:
        below = row
        for k, column in enumerate(ladder.columns, place):
            sections = [scheme.sections[name] for name in (column.left, column.right) if name in scheme.sections]
            found.append(diagram.DiagramColumn(titles[column], k, row, tuple((s.across, s.through) for s in sections)))
            if column.branch is not None:
                below = put(column.branch, k, below + 1)
        return below

    row = 0
    for ladder in scheme.ladders:
        row = put(ladder, 0, row) + 1
    return tuple(found)


def _titles(scheme: PogScheme) -> dict[PogColumn, str]:
    """A name for every column: that of its element, and for a branch that of its junction."""
    found: dict[PogColumn, str] = {}
    taken: set[str] = set()
    for ladder in scheme.ladders:
        for column in ladder.all_columns():
            found[column] = diagram.fresh(
                column.name or (f"{column.junction}_branch" if column.junction else "branch"), taken
            )
    return found


def _block(block: SchemeBlock, column: str, start: DiagramStart) -> Blocks | None:
    """The blocks of one element, or None where it needs more than its own input."""
    if block.field or block.terms or block.kind in ("derivative", "transfer"):
        return None
    if block.kind == "storage":
        return _storage(block, column, start)
    input_ = symbol(block.input)
    if block.gain is not None:
        # A modulus that moves with a state is no gain: Simulink would take its first value for good.
        constant = block.gain.free_symbols <= start.setup.parameters.keys()
        kind: diagram.FormulaKind = "gain" if constant else "function"
        factor = block.gain if constant else None
        return [diagram.Formula(block.output, kind, block.gain * input_, ((block.input, 1),), factor, column)], []
    if isinstance(block.law, ResistiveLaw) and block.law.expression is not None:
        return [diagram.Formula(block.output, "function", block.law.value_at(input_), column=column)], []
    return None


def _storage(block: SchemeBlock, column: str, start: DiagramStart) -> Blocks | None:
    values = start.setup.parameters
    # As in the figure: the integrator keeps the content, and the gain behind it gives the output.
    if block.gain is not None and block.gain.free_symbols <= values.keys():
        energy = block.energy or start.fresh(f"{block.output}_energy")
        # Initial values are those of outputs; the integrator begins with the content that gives them.
        first = start.initial(block.output) / block.gain.evaluate(values)
        gain = diagram.Formula(block.output, "gain", block.gain * symbol(energy), ((energy, 1),), block.gain, column)
        return [gain], [diagram.Integrator(energy, block.input, first, column)]
    # Such a law reads its content, which one block of output and input does not have.
    if not isinstance(block.law, StorageLaw) or block.law.keeps_energy_variable:
        return None
    inertia = block.law.inertia_at(symbol(block.output))
    if not inertia.free_symbols <= {block.output, *values}:
        return None  # its content also changes with what moves it, which the vector block knows
    # A storage whose constant moves with its output: output' = input / inertia(output).
    rate = start.fresh(f"{block.output}_rate")
    slope = symbol(block.input) / inertia
    return [diagram.Formula(rate, "function", slope, column=column)], [
        diagram.Integrator(block.output, rate, start.initial(block.output), column)
    ]


def _sum(item: Summation, column: str) -> diagram.Formula:
    expression = total(symbol(name) if sign > 0 else -symbol(name) for name, sign in item.inputs)
    return diagram.Formula(item.output, "sum", expression, item.inputs, column=column)


DRIVING, STATES, TAKING = "B", "L", ("N", "f", "A")
"""The columns: what brings power, the states, and what takes it, as the letters of the figure say."""


def vector_blocks(start: DiagramStart) -> diagram.Diagram:
    """The rows of the equations: what arrives at each integrator, the integrators, and how their rates follow.

    Raises: EquationError where a dependent storage would need the rate of something that jumps.
    """
    system = start.system
    # Only inputs whose rates matter get a block for these: the rate of a jump exists nowhere.
    slopes = {name: start.fresh(f"{name}_slope") for name in _met_by_storages(system)}
    start.slopes.update(slopes)
    rates = {name: start.fresh(f"{name}_rate") for name in system.states}
    sums = {name: start.fresh(f"{name}_sum") for name in system.states}
    formulas = [
        diagram.formula(slope, rate_of_input(name, start), start.setup.parameters) for name, slope in slopes.items()
    ]
    for k, name in enumerate(system.states):
        parts = [
            _part(start.fresh(f"{name}_{letter}"), terms, letter, start)
            for letter, terms in _arriving(system, k, slopes).items()
        ]
        # The signs are those of L x' = -A x - N x - f + B u, which the figure shows at its sums.
        signed = tuple((part.name, -1 if part.column in TAKING else 1) for part in parts)
        arriving = total(symbol(part) if sign > 0 else -symbol(part) for part, sign in signed)
        formulas += [*parts, diagram.Formula(sums[name], "sum", arriving, signed, column=STATES)]
    return replace(
        _plain(start),
        formulas=tuple(formulas),
        integrators=tuple(diagram.Integrator(name, rates[name], start.initial(name), STATES) for name in system.states),
        inertia=diagram.Inertia(tuple(rates.values()), system.matrices["L"], tuple(sums.values()), STATES),
        unknowns=_unknowns(start),
    )


def _part(name: str, terms: list[tuple[Expression, str]], letter: str, start: DiagramStart) -> diagram.Formula:
    """What a matrix brings to one state."""
    expression = total(factor * symbol(signal) if signal else factor for factor, signal in terms)
    return replace(diagram.formula(name, expression, start.setup.parameters), column=letter)


def _unknowns(start: DiagramStart) -> diagram.DiagramUnknowns:
    algebraic = start.system.algebraic
    if not algebraic.unknowns:
        return diagram.NO_UNKNOWNS
    return diagram.DiagramUnknowns(algebraic.unknowns, algebraic.residuals, tuple(map(start.guess, algebraic.unknowns)))


def _arriving(system: EquationSystem, k: int, slopes: dict[str, str]) -> dict[str, list[tuple[Expression, str]]]:
    """What arrives at one integrator by the letter of what brings it: factors with the signals that they multiply."""
    m = system.matrices
    # B_1 u' arrives with B u: both bring what the inputs do.
    rates = [(b, slopes[name]) for b, name in zip(m["B_1"][k], system.inputs, strict=True) if name in slopes]
    found = {
        DRIVING: [*zip(m["B"][k], system.inputs, strict=True), *rates],
        "N": [*zip(m["N"][k], system.states, strict=True)],
        "f": [(system.vectors["f"][k], "")],
        "A": [*zip(m["A"][k], system.states, strict=True)],
    }
    shown = {letter: [term for term in terms if term[0] is not ZERO] for letter, terms in found.items()}
    return {letter: terms for letter, terms in shown.items() if terms}


def _met_by_storages(system: EquationSystem) -> list[str]:
    """The inputs whose rates matter: a dependent storage meets them."""
    rows = system.matrices["B_1"]
    return [name for j, name in enumerate(system.inputs) if any(row[j] is not ZERO for row in rows)]


def rate_of_input(name: str, start: DiagramStart) -> Expression:
    """How fast an input changes."""
    system, parameters = start.system, start.setup.parameters
    driver = system.signals.drivers.get(name)
    if driver is None:
        return ZERO
    known = SignalRates(system.signals, system.displacements, start.setup.graph.position_dependent, set(parameters))
    return total(driver.derivative(n) * known.of(n) for n in sorted(driver.free_symbols) if n not in parameters)


Items = list[diagram.Formula | Table]


def block_diagram(model: Model, *, until: float | None = None) -> diagram.Diagram:
    """The diagram of a model with the inputs, parameters and start of its experiment.

    Raises: ExportError for what a block diagram cannot hold: elements with modes, Python functions.
    """
    setup = set_up_at_start(model, until=until)
    # One causality for all modes is what a single diagram has; `mode_diagrams` makes one for each.
    if setup.graph.switching:
        name = setup.graph.ports[next(iter(setup.graph.switching))].element
        raise rules.MODES.error(
            f"'{name}' has modes, which one block diagram does not hold",
            where=name,
            fix="replace it by a law with a small and a large resistance",
        )
    system = derive_equations(setup.causal)
    refuse_signals(system)
    start = diagram_start(setup, system, initial_run(setup))
    # The ladder first: it is the scheme that a reader knows from the figure.
    return _ladder(start) or _with_scheme(vector_diagram(start), start)


def _with_scheme(made: diagram.Diagram, start: DiagramStart) -> diagram.Diagram:
    """The diagram with the blocks of its vector figure."""
    read = frozenset[str]().union(*(diagram.formula_of(item).free_symbols for item in made.readings))
    rates = made.inertia.rates if made.inertia is not None else ()
    asked = dict(zip(start.system.states, rates, strict=True)) if read.intersection(rates) else {}
    scheme = matrix_blocks(start, asked)
    return replace(made, formulas=_with_names_of(scheme, made, start), scheme=scheme)


def _with_names_of(
    scheme: tuple[diagram.MatrixBlock, ...], made: diagram.Diagram, start: DiagramStart
) -> tuple[diagram.Formula | Table, ...]:
    """The formulas with the names of the equations that only outputs read."""
    where, there = start.system.where, {item.name for item in made.formulas}
    waiting = [e for block in scheme for e in (*block.rows, *(e for row in block.matrix for e in row))]
    more: dict[str, diagram.Formula] = {}
    while waiting:
        for name in waiting.pop().free_symbols & where.keys() - there - more.keys():
            more[name] = diagram.formula(name, where[name], start.setup.parameters)
            waiting.append(where[name])
    return diagram.in_evaluation_order((*made.formulas, *more.values())) or made.formulas


def refuse_signals(system: EquationSystem) -> None:
    """Refuse signals that have no block.

    Raises: ExportError (X402).
    """
    for law in system.signals.others:
        if isinstance(law, External):
            what = f"the signal '{law.name}' is a Python function, which is not exported"
            fix = "export a model without it, or describe it by a transfer function or a table"
            raise rules.SIGNALS.error(what, where=law.name, fix=fix)
        refuse_latch(law)


def refuse_latch(law: SignalLaw) -> None:
    """Refuse what changes at instants that no clock tells.

    Raises: ExportError (X402).
    """
    if isinstance(law, Sampled) and law.is_latch:
        what = f"the signal '{law.name}' changes as soon as its condition does, which is not exported there"
        fix = "export it to fmu or c, or sample it: {sample: ..., every: 1 ms}"
        raise rules.SIGNALS.error(what, where=law.name, fix=fix)


def _ladder(start: DiagramStart) -> diagram.Diagram | None:
    """The diagram of a scalar ladder, or None where it cannot be one."""
    scheme = pog(start.setup.causal)
    # The vector block says all that remains, at the price of one matrix instead of elements.
    if scheme.vectorial or start.system.algebraic.unknowns or not start.system.is_zero("B_1"):
        return None
    made = ladder_blocks(scheme, start)
    if made is None:
        return None
    formulas, integrators = made
    further, states = start.further_states()
    items = _wanted([*start.beside(), *formulas, *further], start)
    ordered = diagram.in_evaluation_order(items)
    # A circle without a state, or a name that only the vector block knows: not a ladder after all.
    if ordered is None or _unknown(items, start, {i.name for i in integrators}):
        return None
    plain = _plain(start)
    return replace(
        plain, formulas=ordered, integrators=(*integrators, *states), columns=ladder_columns(scheme), vectorial=False
    )


def vector_diagram(start: DiagramStart, further_items: Items | None = None) -> diagram.Diagram:
    """The diagram of any model, with further formulas that may read every power variable.

    Raises: ExportError (X402) for signals in a circle, or for one that feeds back the force of a constraint.
    """
    blocks = vector_blocks(start)
    assert blocks.inertia is not None, "a vector block has its matrix"
    rates = dict(zip(start.system.states, blocks.inertia.rates, strict=True))
    further, states = start.further_states()
    items = _wanted([*start.beside(), *blocks.formulas, *further, *(further_items or [])], start)
    # Forces read rates, so that they come after the states; what reads them in turn comes after them.
    items = _with_forces(items, start, rates)
    before, after = _split(items, {*blocks.inertia.rates})
    first, then = diagram.in_evaluation_order(before), diagram.in_evaluation_order(after)
    # A late signal that a rate needs would be an algebraic loop through the matrix of inertias.
    needed = {*blocks.inertia.right, *(s.rate for s in states), *start.system.inputs} & {item.name for item in after}
    if first is None or then is None or needed:
        what = f"the signals of '{start.system.name}' go in a circle without a state"
        fix = "put a filter into the loop: a first-order lag is a state"
        raise rules.SIGNALS.error(what, where=start.system.name, fix=fix)
    return replace(blocks, formulas=first, readings=then, integrators=(*blocks.integrators, *states))


def _plain(start: DiagramStart) -> diagram.Diagram:
    """A diagram that has no blocks yet."""
    system, setup = start.system, start.setup
    signals = (*system.signals.states, *start.run.signal_names)
    recorded = tuple(dict.fromkeys((*system.states, *system.displacements, *signals, *system.inputs)))
    return diagram.Diagram(
        system.name,
        setup.parameters,
        (),
        (),
        recorded,
        setup.until,
        holds=start.holds(),
        delays=start.delays(),
        stops=start.stops(),
        stiff=start.is_stiff(),
        vectorial=True,
    )


def _wanted(items: Items, start: DiagramStart) -> Items:
    """The items without names of the equations that nothing needs."""
    by_name = {item.name: item for item in items}
    # Names of the equations are only a means: those that nobody reads would be blocks without a line.
    waiting = [item.name for item in items if item.name not in start.system.where]
    reads = [hold.expression for hold in start.holds()] + list(start.system.algebraic.residuals)
    reads += [e for row in start.system.matrices["L"] for e in row]
    waiting += [name for e in reads for name in e.free_symbols if name in by_name]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += diagram.formula_of(by_name[name]).free_symbols & by_name.keys()
    return [item for item in items if item.name in found]


def _unknown(items: Items, start: DiagramStart, known: set[str]) -> set[str]:
    """Names that the items read and that nothing gives."""
    system = start.system
    given = {*known, *start.setup.parameters, *system.states, *system.displacements, *system.signals.names, TIME}
    given |= {item.name for item in items} | {*system.algebraic.unknowns}
    return set().union(*(diagram.formula_of(item).free_symbols for item in items)) - given


def _with_forces(items: Items, start: DiagramStart, rates: dict[str, str]) -> Items:
    """The items, and the power variables that signals read beyond states and inputs: forces of constraints.

    Raises: ExportError (X402) for a name that no port has.
    """
    missing = _unknown(items, start, set())
    if not missing:
        return items
    # Made only where it is needed: it solves the resistive part of the model once more.
    forces = PortFormulas(start.setup.causal, start.system, rates, start.taken)
    if strange := sorted(name for name in missing if name not in forces.port_of_variable):
        raise rules.SIGNALS.error(f"signals read {listing(strange)}, which is not exported", where=start.system.name)
    made: Items = [diagram.formula(name, forces.of(name), start.setup.parameters) for name in sorted(missing)]
    named: Items = [diagram.formula(name, e, start.setup.parameters) for name, e in forces.where.items()]
    start.taken.update(forces.where)
    return [*items, *made, *named]


def _split(items: Items, rates: set[str]) -> tuple[Items, Items]:
    """The items that follow from states and inputs alone, and those that read rates, themselves or through others."""
    late = set(rates)
    while True:
        more = {item.name for item in items if item.name not in late and diagram.formula_of(item).free_symbols & late}
        if not more:
            break
        late |= more
    return [i for i in items if i.name not in late], [i for i in items if i.name in late]
