"""Change the signs of variables of a POG: minus signs move, power directions flip, loops keep their parity."""

from collections.abc import Iterable
from dataclasses import replace

from tellegen.core.names import did_you_mean
from tellegen.expressions import Expression
from tellegen.graph import ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.laws import ARGUMENT, PortLaw, argument
from tellegen.schemes import rules
from tellegen.schemes.names import listed
from tellegen.schemes.pog_scheme import Block, Output, PogScheme, Section, Summation
from tellegen.schemes.rewriting import Rewriting
from tellegen.schemes.vector import vector_block


def change_sign(scheme: PogScheme, variables: str | Iterable[str]) -> Rewriting:
    """The scheme with a variable, or some, counted the other way.

    The own variable of an element follows the shared one, so that storages and resistive elements keep their sign; a connection
    with one variable changed gets a minus sign in its gain. A section flips when one of its two variables changes.

    Raises: GraphError (G206) for a name that is no variable of the scheme, G201 for part of a field.
    """
    wanted = listed(variables)
    changed = _with_elements(scheme, _known(scheme, wanted))

    def sign(name: str) -> int:
        return -1 if name in changed else 1

    result = replace(
        scheme,
        blocks={name: _block(block, sign(block.input), sign(block.output)) for name, block in scheme.blocks.items()},
        summations={
            name: Summation(name, tuple((i, s * sign(i) * sign(name)) for i, s in summation.inputs))
            for name, summation in scheme.summations.items()
        },
        sections={name: _section(s, sign(s.across) * sign(s.through)) for name, s in scheme.sections.items()},
        outputs=tuple(
            Output(o.signal, o.sign * sign(o.signal) * sign(i))
            for o, i in zip(scheme.outputs, scheme.inputs, strict=True)
        ),
        turned=scheme.turned ^ changed,
    )
    if scheme.vector is not None:
        result = replace(result, vector=vector_block(result), parts=())
    return Rewriting(result, _account(scheme, result, wanted))


def _account(before: PogScheme, after: PogScheme, wanted: list[str]) -> str:
    """What was turned, the sections whose power counts the other way now, and the connections that got a minus sign."""
    flipped = [n for n, s in after.sections.items() if s.direction != before.sections[n].direction]
    minus = [n for n, b in after.blocks.items() if b.sign != before.blocks[n].sign]
    more = [f"power counts the other way in section{'s' * (len(flipped) > 1)} {', '.join(flipped)}"] if flipped else []
    more += [f"the sign of {', '.join(minus)} changes"] if minus else []
    return "; ".join([f"counted {', '.join(wanted) or 'nothing'} the other way", *more])


def _known(scheme: PogScheme, variables: Iterable[str]) -> set[str]:
    wanted, known = list(variables), scheme.signals()
    for name in wanted:
        if name not in known:
            fix = did_you_mean(name, known) or f"the variables are {', '.join(known[:20])}"
            raise rules.NO_SUCH_SIGNAL.error(f"'{name}' is no variable of the scheme", fix=fix)
    return set(wanted)


def _with_elements(scheme: PogScheme, changed: set[str]) -> set[str]:
    shared = scheme.shared
    found = set(changed)
    for block in scheme.blocks.values():
        if block.kind == "connection":
            continue
        ends = {block.input, block.output}
        if ends & shared & changed:
            found |= ends
        if block.gain is None and scheme.elements[block.name].field and ends & found:
            what = f"'{block.name}' is part of a field, whose matrix would change its signs"
            raise rules.NO_SCALAR_BOND.error(what, where=block.name, fix="change the signs in its matrix")
    return found


def _section(section: Section, sign: int) -> Section:
    if sign > 0:
        return section
    return replace(section, direction="left" if section.direction == "right" else "right")


def _block(block: Block, told: int, given: int) -> Block:
    if told == given == 1:
        return block
    gain = None if block.gain is None else block.gain if told == given else -block.gain
    law = block.law if block.gain is not None or block.law is None else _law(block.law, told, given)
    return replace(block, gain=gain, law=law, sign=block.sign * told * given)


def _law(law: PortLaw, told: int, given: int) -> PortLaw:
    """A nonlinear law of the variables as they count now. What a storage is told counts like its energy variable."""
    if isinstance(law, SourceLaw):
        return law
    if isinstance(law, ResistiveLaw):
        return replace(law, expression=_counted(law.expression, given, told))
    return _storage_law(law, told, given)


def _storage_law(law: StorageLaw, energy: int, output: int) -> StorageLaw:
    of_energy = law.keeps_energy_variable
    return replace(
        law,
        content=_counted(law.content, energy, output),
        slope=_counted(law.slope, energy * output, output),
        output=_counted(law.output, output, energy),
        energy=_counted(law.energy, 1, energy if of_energy else output),
    )


def _counted(expression: Expression | None, value: int, at: int) -> Expression | None:
    if expression is None:
        return None
    found = expression.substitute({ARGUMENT: -argument()}) if at < 0 else expression
    return -found if value < 0 else found
