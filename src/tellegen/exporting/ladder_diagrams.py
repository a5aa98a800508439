"""A scalar ladder as a block diagram: every block and every summation of the POG scheme stays what it is."""

from tellegen.exporting.diagrams import Column, Formula, FormulaKind, Integrator
from tellegen.exporting.starting import Start
from tellegen.expressions import symbol, total
from tellegen.graph.laws import ResistiveLaw, StorageLaw
from tellegen.schemes import Block, PogScheme, Summation
from tellegen.schemes.pog_scheme import Column as PogColumn
from tellegen.schemes.pog_scheme import Ladder

Blocks = tuple[list[Formula], list[Integrator]]


def ladder_blocks(scheme: PogScheme, start: Start) -> Blocks | None:
    """The blocks of a scalar scheme, or None where an element needs more than its own input."""
    columns = {
        name: title for column, title in _titles(scheme).items() for name in (*column.blocks, *column.summations)
    }
    signals = [name for b in scheme.blocks.values() for name in (b.input, b.output, b.energy)]
    start.taken.update(signals, scheme.summations)
    formulas = [_sum(item, columns.get(item.output, "")) for item in scheme.summations.values()]
    integrators: list[Integrator] = []
    for block in scheme.blocks.values():
        made = _block(block, columns.get(block.name, ""), start)
        if made is None:
            return None
        formulas += made[0]
        integrators += made[1]
    return formulas, integrators


def ladder_columns(scheme: PogScheme) -> tuple[Column, ...]:
    """Where the columns stand: ladders below each other, side ladders below the column from which they branch off."""
    found: list[Column] = []
    titles = _titles(scheme)

    def put(ladder: Ladder, place: int, row: int) -> int:
        below = row
        for k, column in enumerate(ladder.columns, place):
            sections = [scheme.sections[name] for name in (column.left, column.right) if name in scheme.sections]
            found.append(Column(titles[column], k, row, tuple((s.across, s.through) for s in sections)))
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
            title = column.name or (f"{column.junction}_branch" if column.junction else "branch")
            while title in taken:
                title += "_"
            taken.add(title)
            found[column] = title
    return found


def _block(block: Block, column: str, start: Start) -> Blocks | None:
    """The blocks of one element, or None where it needs more than its own input."""
    if block.field or block.terms or block.kind in ("derivative", "transfer"):
        return None
    if block.kind == "storage":
        return _storage(block, column, start)
    input_ = symbol(block.input)
    if block.gain is not None:
        constant = block.gain.free_symbols <= start.setup.parameters.keys()
        kind: FormulaKind = "gain" if constant else "function"
        factor = block.gain if constant else None
        return [Formula(block.output, kind, block.gain * input_, ((block.input, 1),), factor, column)], []
    if isinstance(block.law, ResistiveLaw) and block.law.expression is not None:
        return [Formula(block.output, "function", block.law.value_at(input_), column=column)], []
    return None


def _storage(block: Block, column: str, start: Start) -> Blocks | None:
    values = start.setup.parameters
    if block.gain is not None and block.gain.free_symbols <= values.keys():
        energy = block.energy or start.fresh(f"{block.output}_energy")
        first = start.initial(block.output) / block.gain.evaluate(values)
        gain = Formula(block.output, "gain", block.gain * symbol(energy), ((energy, 1),), block.gain, column)
        return [gain], [Integrator(energy, block.input, first, column)]
    if not isinstance(block.law, StorageLaw) or block.law.keeps_energy_variable:
        return None
    inertia = block.law.inertia_at(symbol(block.output))
    if not inertia.free_symbols <= {block.output, *values}:
        return None  # its content also changes with what moves it, which the vector block knows
    # A storage whose constant moves with its output: output' = input / inertia(output).
    rate = start.fresh(f"{block.output}_rate")
    slope = symbol(block.input) / inertia
    return [Formula(rate, "function", slope, column=column)], [
        Integrator(block.output, rate, start.initial(block.output), column)
    ]


def _sum(item: Summation, column: str) -> Formula:
    expression = total(symbol(name) if sign > 0 else -symbol(name) for name, sign in item.inputs)
    return Formula(item.output, "sum", expression, item.inputs, column=column)
