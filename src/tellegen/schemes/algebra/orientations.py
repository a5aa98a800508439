"""The equivalent schemes of one model: variables counted the other way, one loop or one input path inverted, upside-down."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.domains import other_side
from tellegen.core.errors import GraphError
from tellegen.core.names import did_you_mean
from tellegen.expressions import Expression
from tellegen.graph import ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.power_graph import ARGUMENT, PortLaw, argument
from tellegen.schemes import rules
from tellegen.schemes.algebra.inversion import invert_path
from tellegen.schemes.algebra.signal_paths import SignalPath, elementary_loops, port_paths, read_path
from tellegen.schemes.gains import vector_block
from tellegen.schemes.names import each_once
from tellegen.schemes.pog_scheme import Block, Output, PogScheme, Rewriting, Section, Summation


def change_sign(scheme: PogScheme, variables: str | Iterable[str]) -> Rewriting:
    """The scheme with a variable, or some, counted the other way.

    The own variable of an element follows the shared one, so that storages and resistive elements keep their sign; a connection
    with one variable changed gets a minus sign in its gain. A section flips when one of its two variables changes.

    Raises: GraphError (G206) for a name that is no variable of the scheme, G201 for part of a field.
    """
    wanted = each_once(variables)
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


MOST_LOOPS = 200


@final
@dataclass(frozen=True, slots=True)
class Orientation:
    """One way to draw a scheme. Where its path may not be inverted there is no scheme, and `why_not` tells the reason."""

    path: str
    signals: tuple[str, ...]
    scheme: PogScheme | None
    why_not: str = ""

    @property
    def upside_down(self) -> PogScheme | None:
        """The same with the upper and lower line exchanged."""
        return None if self.scheme is None else flip(self.scheme).scheme

    def __str__(self) -> str:
        return f"{self.path}: {self.why_not or 'may be drawn'}"


def orientations(scheme: PogScheme, *, most: int = MOST_LOOPS) -> tuple[Orientation, ...]:
    """The scheme itself, then what the inversion of each loop and of each path from an input to its own output gives.

    Two connected elements have four: as they are, with the inner loop inverted, with the path of the left section, with that of the
    right one. A storage allows none that would put it into derivative causality.

    Raises: GraphError (G208) when there are more than `most` loops.
    """
    first = Orientation("as it is", (), scheme)
    return (first, *(_orientation(scheme, name, path) for name, path in _candidates(scheme, most)))


def _candidates(scheme: PogScheme, most: int) -> Iterator[tuple[str, SignalPath]]:
    for loop in elementary_loops(scheme, most=most):
        path = read_path(scheme, loop)
        names = dict.fromkeys(block.element for block in path.blocks)
        yield f"loop through {', '.join(names)}", path
    for name, path in port_paths(scheme):
        yield f"path from {name} to {path.signals[-1]}", path


def _orientation(scheme: PogScheme, name: str, path: SignalPath) -> Orientation:
    try:
        return Orientation(name, path.signals, invert_path(scheme, path.signals).scheme)
    except GraphError as problem:
        return Orientation(name, path.signals, None, f"{problem.what}; {problem.finding.why}")


def flip(scheme: PogScheme) -> Rewriting:
    """The scheme upside-down: what was on the upper line is on the lower one."""
    sections = {name: replace(s, upper=other_side(s.upper)) for name, s in scheme.sections.items()}
    return Rewriting(replace(scheme, sections=sections), "turned upside-down")


def switch_signs(scheme: PogScheme, summation: str) -> Rewriting:
    """The scheme with all signs of a summation switched, that of its output too, which counts the other way from there on.

    Raises: GraphError (G206) where no summation has this output.
    """
    if summation not in scheme.summations:
        known = list(scheme.summations)
        fix = did_you_mean(summation, known) or f"the summations give {', '.join(known[:20]) or 'nothing'}"
        raise rules.NO_SUCH_SIGNAL.error(f"no summation gives '{summation}'", where=summation, fix=fix)
    account = f"switched all signs of the summation of {summation}"
    return Rewriting(change_sign(scheme, [summation]).scheme, account)
