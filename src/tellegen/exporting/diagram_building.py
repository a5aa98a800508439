"""From a model with its experiment to a block diagram."""

from dataclasses import replace

from tellegen.core.names import TIME, listing
from tellegen.description import Model
from tellegen.equations.assembly import derive_equations
from tellegen.equations.system import EquationSystem
from tellegen.experiments.setting_up import set_up
from tellegen.exporting import rules
from tellegen.exporting.diagrams import Diagram, Formula, formula, formula_of, in_order
from tellegen.exporting.ladder_diagrams import ladder_blocks, ladder_columns
from tellegen.exporting.port_formulas import PortFormulas
from tellegen.exporting.starting import Start, begun, first_moment
from tellegen.exporting.vector_diagrams import vector_blocks
from tellegen.graph.signals import External, Table
from tellegen.schemes import pog

Items = list[Formula | Table]


def block_diagram(model: Model, *, until: float | None = None) -> Diagram:
    """The diagram of a model with the inputs, parameters and start of its experiment.

    Raises: ExportError for what a block diagram cannot hold: elements with modes, Python functions.
    """
    setup = set_up(model, until=until)
    if setup.graph.switching:
        name = setup.graph.ports[next(iter(setup.graph.switching))].element
        raise rules.MODES.error(
            f"'{name}' has modes, which one block diagram does not hold",
            where=name,
            fix="replace it by a law with a small and a large resistance",
        )
    system = derive_equations(setup.causal)
    refuse_signals(system)
    start = begun(setup, system, first_moment(setup))
    return _ladder(start) or vector_diagram(start)


def refuse_signals(system: EquationSystem) -> None:
    """Refuse signals that have no block.

    Raises: ExportError (X402).
    """
    for law in system.signals.others:
        if isinstance(law, External):
            what = f"the signal '{law.name}' is a Python function, which is not exported"
            fix = "export a model without it, or describe it by a transfer function or a table"
            raise rules.SIGNALS.error(what, where=law.name, fix=fix)


def _ladder(start: Start) -> Diagram | None:
    """The diagram of a scalar ladder, or None where it cannot be one."""
    scheme = pog(start.setup.causal)
    if scheme.vectorial or start.system.algebraic.unknowns or not start.system.is_zero("B_1"):
        return None
    made = ladder_blocks(scheme, start)
    if made is None:
        return None
    formulas, integrators = made
    further, states = start.further_states()
    items = _wanted([*start.beside(), *formulas, *further], start)
    ordered = in_order(items)
    if ordered is None or _unknown(items, start, {i.name for i in integrators}):
        return None
    plain = _plain(start)
    return replace(
        plain, formulas=ordered, integrators=(*integrators, *states), columns=ladder_columns(scheme), vectorial=False
    )


def vector_diagram(start: Start, further_items: Items | None = None) -> Diagram:
    """The diagram of any model, with further formulas that may read every power variable.

    Raises: ExportError (X402) for signals in a circle, or for one that feeds back the force of a constraint.
    """
    blocks = vector_blocks(start)
    further, states = start.further_states()
    items = _wanted([*start.beside(), *blocks.formulas, *further, *(further_items or [])], start)
    items = _with_forces(items, start, blocks.rates)
    before, after = _split(items, set(blocks.rates.values()))
    first, then = in_order(before), in_order(after)
    needed = {*blocks.inertia.right, *(s.rate for s in states), *start.system.inputs} & {item.name for item in after}
    if first is None or then is None or needed:
        what = f"the signals of '{start.system.name}' go in a circle without a state"
        fix = "put a filter into the loop: a first-order lag is a state"
        raise rules.SIGNALS.error(what, where=start.system.name, fix=fix)
    return replace(
        _plain(start),
        formulas=first,
        readings=then,
        integrators=(*blocks.integrators, *states),
        inertia=blocks.inertia,
        unknowns=blocks.unknowns,
        columns=blocks.columns,
    )


def _plain(start: Start) -> Diagram:
    """A diagram that has no blocks yet."""
    system, setup = start.system, start.setup
    signals = (*system.signals.states, *start.run.signal_names)
    recorded = tuple(dict.fromkeys((*system.states, *system.displacements, *signals, *system.inputs)))
    return Diagram(
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


def _wanted(items: Items, start: Start) -> Items:
    """The items without names of the equations that nothing needs."""
    by_name = {item.name: item for item in items}
    waiting = [item.name for item in items if item.name not in start.system.where]
    reads = [hold.expression for hold in start.holds()] + list(start.system.algebraic.residuals)
    reads += [e for row in start.system.matrices["L"] for e in row]
    waiting += [name for e in reads for name in e.free_symbols if name in by_name]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += formula_of(by_name[name]).free_symbols & by_name.keys()
    return [item for item in items if item.name in found]


def _unknown(items: Items, start: Start, known: set[str]) -> set[str]:
    """Names that the items read and that nothing gives."""
    system = start.system
    given = {*known, *start.setup.parameters, *system.states, *system.displacements, *system.signals.names, TIME}
    given |= {item.name for item in items} | {*system.algebraic.unknowns}
    return set().union(*(formula_of(item).free_symbols for item in items)) - given


def _with_forces(items: Items, start: Start, rates: dict[str, str]) -> Items:
    """The items, and the power variables that signals read beyond states and inputs: forces of constraints.

    Raises: ExportError (X402) for a name that no port has.
    """
    missing = _unknown(items, start, set())
    if not missing:
        return items
    forces = PortFormulas(start.setup.causal, start.system, rates, start.taken)
    if strange := sorted(name for name in missing if name not in forces):
        raise rules.SIGNALS.error(f"signals read {listing(strange)}, which is not exported", where=start.system.name)
    made: Items = [formula(name, forces.of(name), start.setup.parameters) for name in sorted(missing)]
    named: Items = [formula(name, e, start.setup.parameters) for name, e in forces.where.items()]
    start.taken.update(forces.where)
    return [*items, *made, *named]


def _split(items: Items, rates: set[str]) -> tuple[Items, Items]:
    """The items that follow from states and inputs alone, and those that read rates, themselves or through others."""
    late = set(rates)
    while True:
        more = {item.name for item in items if item.name not in late and formula_of(item).free_symbols & late}
        if not more:
            break
        late |= more
    return [i for i in items if i.name not in late], [i for i in items if i.name in late]
