"""The law of a port: what a storage, a resistive element or a source asks of its two power variables."""

from dataclasses import dataclass
from typing import final

from tellegen.core.domains import Side
from tellegen.expressions import ZERO, Expression, symbol

ARGUMENT = "@"
"""Stands for the argument of a nonlinear law; no user can write it."""


def argument() -> Expression:
    """The symbol that stands for the argument of a nonlinear law."""
    return symbol(ARGUMENT)


@final
@dataclass(frozen=True, slots=True)
class StorageLaw:
    """A storage whose output is the power variable `side`, and whose energy variable is the integral of the other one.

    Linear: `inertia` (energy variable = inertia * output). Otherwise one of
    `content` (energy variable of the output), `slope` (its derivative, where only that is known) or
    `output` (output of the energy variable), each in terms of ARGUMENT. `energy` is the stored energy of the same argument
    where the user gave it.
    """

    side: Side
    inertia: Expression | None = None
    content: Expression | None = None
    slope: Expression | None = None
    output: Expression | None = None
    energy: Expression | None = None

    @property
    def keeps_energy_variable(self) -> bool:
        """Whether the state is the energy variable, because the law cannot be solved for it."""
        return self.output is not None

    def inertia_at(self, output: Expression) -> Expression:
        """The derivative of the energy variable with respect to the output."""
        if self.inertia is not None:
            return self.inertia
        slope = self.slope if self.slope is not None else self._content().derivative(ARGUMENT)
        return slope.substitute({ARGUMENT: output})

    def content_at(self, state: Expression) -> Expression | None:
        """The energy variable at a value of the state; None where only its derivative is known."""
        if self.output is not None:
            return state
        if self.inertia is not None:
            return self.inertia * state
        return None if self.content is None else self.content.substitute({ARGUMENT: state})

    def _content(self) -> Expression:
        assert self.content is not None, "a storage law without inertia, slope or output has a content"
        return self.content


@final
@dataclass(frozen=True, slots=True)
class ResistiveLaw:
    """A static law that gives the power variable `side` of the other one.

    Linear: `coefficient`. Otherwise `expression` in terms of ARGUMENT. `invertible` says whether the other variable may be
    asked for too; a law that is not fixes its causality right after the sources. `coupled` tells that the matrix of a field adds
    what other ports are told, so a coefficient of zero does not make the variable zero.
    """

    side: Side
    coefficient: Expression | None = None
    expression: Expression | None = None
    invertible: bool = True
    coupled: bool = False

    @property
    def linear(self) -> bool:
        """Whether one coefficient says it all."""
        return self.coefficient is not None

    @property
    def ideal(self) -> bool:
        """Whether the law makes its variable zero whatever the other one is: a closed or an open switch."""
        return self.coefficient is ZERO and not self.coupled

    @property
    def free_symbols(self) -> frozenset[str]:
        """The names in the law, ARGUMENT among them."""
        law = self.coefficient if self.coefficient is not None else self.expression
        return frozenset() if law is None else law.free_symbols

    def value_at(self, argument: Expression) -> Expression:
        """The power variable `side` at a value of the other one."""
        if self.coefficient is not None:
            return self.coefficient * argument
        assert self.expression is not None, "a resistive law has a coefficient or an expression"
        return self.expression.substitute({ARGUMENT: argument})


@final
@dataclass(frozen=True, slots=True)
class SourceLaw:
    """A source that imposes the power variable `side`, named `input`.

    `signal` is what drives it, where the model says so; for the equations it is an input all the same.
    """

    side: Side
    input: str
    signal: Expression | None = None


PortLaw = StorageLaw | ResistiveLaw | SourceLaw
