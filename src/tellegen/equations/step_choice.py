"""The first section of a derivation: what are states, inputs and outputs."""

from collections.abc import Iterator
from typing import final

from tellegen.core.domains import DOMAINS
from tellegen.equations.explanation import Item, Relation, Section, Sentence
from tellegen.equations.hamiltonian import storage_law
from tellegen.equations.lessons import AbstractTeller, Lesson
from tellegen.graph import SourceLaw


def choice_section(lesson: Lesson) -> Section:
    """Section 1: states, inputs and outputs."""
    return _ChoiceTeller(lesson).choice()


@final
class _ChoiceTeller(AbstractTeller):
    """Tells which variables are states, inputs and outputs, and what else the equations read."""

    def choice(self) -> Section:
        items: list[Item] = list(self._modes())
        if self.causal.integral:
            items.append(Sentence("The states are the output power variables of the storages in integral causality:"))
        for n, k in enumerate(self.causal.integral, 1):
            items.append(Sentence(f"$x_{n}$ = `{self.ports[k].state}`, {self._meaning(k)}", listed=True))
        items += self._followers()
        items += self._displacements()
        if self.causal.sources:
            items.append(
                Sentence(
                    "The inputs are what the sources impose, the outputs what answers them, so that $y^T u$ is the power supplied:"
                )
            )
        for n, (k, u, y) in enumerate(
            zip(self.causal.sources, self.system.inputs, self.system.outputs, strict=True), 1
        ):
            items.append(
                Sentence(f"$u_{n}$ = `{u}`, $y_{n}$ = `{y}`, at the source `{self.ports[k].element}`", listed=True)
            )
        items += self._signals()
        items += self._heat()
        return Section("States, inputs and outputs", tuple(items))

    def _modes(self) -> Iterator[Item]:
        """The mode in which causality, and so all that follows, holds."""
        modes = [f"`{element}`: {modes.now}" for element, modes in self.system.modes.items()]
        if modes:
            yield Sentence(f"Every mode has equations of its own. These hold in the mode {', '.join(modes)}.")

    def _heat(self) -> Iterator[Item]:
        """What is told of power and dissipation does not hold where the through variable is a heat flow."""
        hot = [self.ports[k].state for k in self.causal.integral if DOMAINS[self.ports[k].domain].heat_books]
        if hot:
            names = ", ".join(f"`{name}`" for name in hot)
            yield Sentence(
                f"With {names} it is otherwise: temperature times heat flow is no power. What conducts there loses no energy, "
                "and the part of $A$ that it makes evens out temperatures."
            )

    def _displacements(self) -> Iterator[Item]:
        """The displacements, whose rates are no power equations."""
        if self.system.displacements:
            yield Sentence("Laws and ratios read these displacements, which are states beside $x$:")
        for name, rate in self.system.displacements.items():
            yield Relation(f"{name}'", rate)

    def _signals(self) -> Iterator[Item]:
        """Signals carry no power: what they drive is an input here, and what reads them moves with time."""
        driven = [
            p.law.input
            for p in self.ports
            if isinstance(p.law, SourceLaw) and p.law.signal is not None and not p.transferred
        ]
        if hot := [p.law.input for p in self.ports if isinstance(p.law, SourceLaw) and p.transferred]:
            names = ", ".join(f"`{name}`" for name in hot)
            yield Sentence(
                f"What resistive elements lose as heat comes back through {names}, inputs that the model gives itself."
            )
        if driven:
            names = ", ".join(f"`{name}`" for name in driven)
            yield Sentence(f"Signals drive {names}; controllers carry no power, so these are inputs all the same.")
        used = {
            name for matrix in self.system.matrices.values() for row in matrix for e in row for name in e.free_symbols
        }
        read = [f"`{signal.name}`" for signal in self.causal.graph.signals if signal.name in used]
        if len(read) == 1:
            yield Sentence(f"The signal {read[0]} stands in the matrices, which move with it.")
        elif read:
            yield Sentence(f"The signals {', '.join(read)} stand in the matrices, which move with them.")

    def _meaning(self, k: int) -> str:
        port, law = self.ports[k], storage_law(self.ports[k])
        domain = DOMAINS[port.domain]
        if law.keeps_energy_variable:
            word = domain.energy(law.side).word
            return f"the {word} of `{port.element}`, whose law gives its {domain.power(law.side).word}"
        return f"the {domain.power(law.side).word} of `{port.element}`"

    def _followers(self) -> Iterator[Item]:
        if self.causal.dependent:
            yield Sentence(
                "Other elements decide the outputs of these, which are in derivative causality and no states:"
            )
        for dependence, (name, value) in zip(self.causal.dependent, self.system.dependent.items(), strict=True):
            element = self.ports[dependence.port].element
            on = ", ".join(f"`{self.ports[k].element}`" for k in dependence.on)
            text = f"`{name}` of `{element}` depends on {on}" if on else f"`{name}` of `{element}` is always zero"
            yield Sentence(text, listed=True)
            yield Relation(name, value)
