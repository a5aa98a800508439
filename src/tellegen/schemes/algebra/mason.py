"""Mason's rule on a scheme: a loop becomes one block, 1/(F s)/(1 + G/(F s)) = 1/(F s + G)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.expressions import ONE, Expression, is_zero, product, split_coefficient, symbol
from tellegen.schemes import rules
from tellegen.schemes.algebra.signal_paths import Loop, SignalPath, read_path
from tellegen.schemes.bond_graph_scheme import OnePort
from tellegen.schemes.names import UniqueNames
from tellegen.schemes.pog_scheme import Block, Column, Ladder, PogScheme, Rewriting, Summation, ladder_with, with_ladder


def reduce_loop(scheme: PogScheme, loop: Loop | Sequence[str]) -> Rewriting:
    """The scheme with a loop replaced by one transfer block from what comes in to the variable that is used outside.

    A loop is a `Loop`, or its variables with the first one again at the end. Transfer blocks show no states: equations come from
    the model behind the scheme.

    Raises: GraphError (G209) where there is no such loop, G211 where it is no transfer function from one input to one output.
    """
    path = read_path(scheme, loop)
    if not path.closed:
        raise _refused(f"{path} is no loop: it does not end where it starts", path)
    if not scheme.ladders:
        raise _refused(f"'{scheme.name}' is one vector block", path, "its loops share variables with each other")
    return _Reduction(scheme, path).rewriting()


def _refused(what: str, path: SignalPath, why: str | None = None) -> TellegenError:
    return rules.NO_MASON.error(
        what,
        where=path.signals[0],
        why=why,
        fix="reduce an inner loop first, or one between the elements of a junction",
    )


@final
@dataclass(frozen=True)
class _Entry:
    """A variable that comes into the loop: its sign at the summation, and the gain from there to the output."""

    name: str
    sign: int
    gain: Expression


class _Reduction:
    def __init__(self, scheme: PogScheme, path: SignalPath) -> None:
        self.scheme = scheme
        self.inside = {step.name if isinstance(step, Block) else step.output for step in path.steps}
        self.on = set(path.signals)
        self.path = path
        self.output = self._output()
        # The loop once round, ending at its output.
        k = path.signals.index(self.output)
        self.signals = (*path.signals[k:-1], *path.signals[: k + 1])
        self.steps = (*path.steps[k:], *path.steps[:k])
        self.variable = UniqueNames((*scheme.causal.graph.parameters, *scheme.signals())).take("s")

    def rewriting(self) -> Rewriting:
        gains = [self._gain(k) for k in range(len(self.steps))]
        entries = self._entries(gains)
        first = entries[0].gain
        if split_coefficient(first)[0] < 0:  # minus signs belong to the summation
            first = -first
        signs = [self._ratio(entry, first) for entry in entries]
        transfer = ONE / (ONE / first - product(gains) / first)
        self._refuse_moving(transfer)
        names = [block.name for block in self.path.blocks if block.kind != "connection"]
        names.sort(key=lambda name: self.scheme.blocks[name].kind != "storage")
        block = self._block("_".join(names), transfer)
        net = Summation(block.input, tuple((e.name, e.sign * s) for e, s in zip(entries, signs, strict=True)))
        return Rewriting(self._scheme(block, net), f"reduced the loop through {', '.join(names)} to {block.gain}")

    def _refuse_moving(self, transfer: Expression) -> None:
        """A storage and a gain that moves do not change places, so that they make no transfer function; without storage they do."""
        graph = self.scheme.causal.graph
        moving = {*graph.displacements, *graph.moving, *self.scheme.signals(), *(s.name for s in graph.signals)}
        read = sorted(transfer.free_symbols & (moving - {self.variable}))
        if read and self.variable in transfer.free_symbols:
            what = f"a gain of the loop moves with {', '.join(read)}"
            raise _refused(what, self.path, "a transfer function has constant coefficients")

    # -- what comes in and goes out -----------------------------------------------------------------------------------------------

    def _output(self) -> str:
        scheme = self.scheme
        used = {name for name in self.on if name in {o.signal for o in scheme.outputs}}
        for block in scheme.blocks.values():
            if block.name not in self.inside:
                used |= self.on & {block.input, *(name for name, _ in block.terms)}
        for summation in scheme.summations.values():
            if summation.output not in self.on:
                used |= self.on & {name for name, _ in summation.inputs}
        if len(used) > 1:
            raise _refused(f"{', '.join(sorted(used))} of the loop are all used outside", self.path)
        storages = [block.output for block in self.path.blocks if block.kind == "storage"]
        return next(iter(used), (storages or self.path.signals)[0])

    def _gain(self, k: int) -> Expression:
        step, start, s = self.steps[k], self.signals[k], symbol(self.variable)
        if isinstance(step, Summation):
            return ONE if next(sign for name, sign in step.inputs if name == start) > 0 else -ONE
        if step.gain is None or step.terms:
            raise _refused(f"'{step.name}' has no linear law of its own", self.path, "a transfer function is linear")
        if step.kind == "transfer":
            return step.gain.substitute({step.variable: s})
        return step.gain / s if step.kind == "storage" else step.gain * s if step.kind == "derivative" else step.gain

    def _entries(self, gains: Sequence[Expression]) -> list[_Entry]:
        found: list[_Entry] = []
        for k, step in enumerate(self.steps):
            if not isinstance(step, Summation):
                continue
            onwards = product(gains[k + 1 :])
            for name, sign in step.inputs:
                if name == self.signals[k]:
                    continue
                if name in self.on:
                    raise _refused(f"'{name}' comes back into the loop at '{step.output}' as well", self.path)
                found.append(_Entry(name, sign, onwards))
        if not found:
            raise _refused("nothing comes into the loop", self.path, "what nothing drives stays zero")
        return found

    def _ratio(self, entry: _Entry, first: Expression) -> int:
        for sign in (1, -1):
            if is_zero(entry.gain - sign * first):
                return sign
        raise _refused(f"'{entry.name}' comes into the loop by another gain than the rest", self.path)

    # -- the new scheme -----------------------------------------------------------------------------------------------------------

    def _block(self, name: str, transfer: Expression) -> Block:
        scheme = self.scheme
        last = next((b for b in reversed(self.path.blocks) if b.output == self.output), None)
        unique = UniqueNames(scheme.blocks).take(name)
        dynamic = self.variable in transfer.free_symbols
        return Block(
            unique,
            "transfer" if dynamic else "static",
            UniqueNames(scheme.signals()).take(f"{last.input if last is not None else self.output}_net"),
            self.output,
            transfer,
            False,
            unique,
            input_unit="" if last is None else last.input_unit,
            output_unit="" if last is None else last.output_unit,
            variable=self.variable if dynamic else "",
        )

    def _scheme(self, block: Block, net: Summation) -> PogScheme:
        scheme = self.scheme
        blocks = {name: b for name, b in scheme.blocks.items() if name not in self.inside}
        sums = {name: s for name, s in scheme.summations.items() if name not in self.on}
        result = replace(
            scheme,
            blocks={**blocks, block.name: block},
            summations={**sums, net.output: net},
            states=tuple(name for name in scheme.states if name not in self.inside),
            elements=self._elements(block),
        )
        ladder, columns, gone = self._columns(block, net)
        sections = {name: s for name, s in scheme.sections.items() if name not in gone}
        return replace(with_ladder(result, ladder, columns), sections=sections)

    def _elements(self, block: Block) -> dict[str, OnePort]:
        """The elements of the loop as one, which stands where the first of them stood."""
        known = self.scheme.elements
        members = {name: known[name] for name in known if name in self.inside}
        if not members:
            return dict(known)
        main = next((item for item in members.values() if item.causality), next(iter(members.values())))
        parts = tuple(part for item in members.values() for part in (item.parts or (item,)))
        whole = replace(main, name=block.name, letters="", parts=parts)
        first = next(iter(members))
        return {
            block.name if name == first else name: whole if name == first else item
            for name, item in known.items()
            if name == first or name not in members
        }

    def _columns(self, block: Block, net: Summation) -> tuple[Ladder, list[Column], set[str]]:
        """The ladder with the columns of the loop as one, and the sections that were between them."""

        def touched(column: Column) -> bool:
            return bool(self.inside & {*column.blocks, *column.summations})

        found = ladder_with(self.scheme, touched)
        if found is None:
            raise _refused("the loop runs through several ladders", self.path)
        ladder, places = found
        first, last = places[0], places[-1]
        among = ladder.columns[first : last + 1]
        own = [column for column in among if column.shared == self.output]
        others = [n for column in among for n in column.blocks if n not in self.inside]
        others += [column.name for column in among if column.branch is not None]
        if others or not own:
            raise _refused(f"{', '.join(others) or self.output} stands between its columns", self.path)
        merged = Column(
            own[0].kind,
            block.name,
            among[0].left,
            among[-1].right,
            (block.name,),
            (net.output,),
            own[0].shared,
            own[0].junction,
        )
        columns = [*ladder.columns[:first], merged, *ladder.columns[last + 1 :]]
        return ladder, columns, {column.right for column in among[:-1]}
