"""The power through the sections of a Power-Oriented Graph, row by row of a run.

Variables of sections are those of elements, sums of them, or such behind a connection block: sums and blocks are evaluated as the
scheme says. Both follow from the way in which elements are joined, so that they hold in all modes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.domains import DOMAINS
from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.expressions import Expression
from tellegen.results import rules
from tellegen.results.channels import Channels
from tellegen.schemes.pog_scheme import PogScheme, PowerSection

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class SectionPowers:
    """Powers by the number of the section, positive to the right, which in a side ladder is away from its branch.

    Between temperature and heat flow it is the heat flow, a power by itself.
    `left_out` says of the other sections which of their variables cannot be computed.
    """

    scheme: PogScheme = field(repr=False)
    channels: Channels = field(repr=False)

    @cached_property
    def left_out(self) -> Mapping[str, str]:
        """The sections without a power, each with the variable that is not known."""
        found: dict[str, str] = {}
        for name, section in self._sections.items():
            missing = [v for v in (section.across, section.through) if not self._signals.known(v)]
            if missing:
                found[name] = missing[0]
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The sections whose power is known, in the order of the scheme."""
        return tuple(name for name in self._sections if name not in self.left_out)

    def power(self, section: int | str) -> Array:
        """The power through a section.

        Raises: SimulationError when there is no such section (S207), or one of its variables cannot be computed (S208).
        """
        name = str(section)
        if name not in self._sections:
            raise self._no_section(name)
        if name in self.left_out:
            raise rules.NO_SECTION_POWER.error(
                f"'{self.left_out[name]}' of section {name} cannot be computed from this run",
                where=self.channels.name,
                fix=f"ask for one of the sections {listing(self.names, 20)}",
            )
        found = self._sections[name]
        sign = 1.0 if found.direction == "right" else -1.0
        through = sign * self._signals.values(found.through)
        return through if DOMAINS[found.domain].heat_books else through * self._signals.values(found.across)

    def _no_section(self, name: str) -> TellegenError:
        if self.scheme.vectorial:
            return rules.NO_SUCH_SECTION.error(
                f"the scheme of '{self.channels.name}' is one vector block, without sections in a row",
                where=self.channels.name,
                fix="ask for the powers of elements: run.power(element)",
            )
        return rules.NO_SUCH_SECTION.error(
            f"there is no section '{name}'",
            where=self.channels.name,
            fix=f"the sections are {listing(list(self._sections), 20)}",
        )

    @property
    def _sections(self) -> Mapping[str, PowerSection]:
        """Those of ladders: in a vector block no order says what is to the right."""
        return {} if self.scheme.vectorial else self.scheme.sections

    @cached_property
    def _signals(self) -> "_Signals":
        return _Signals(self.scheme, self.channels)


@final
@dataclass(frozen=True, slots=True)
class _Connection:
    """output = gain * input."""

    input: str
    gain: Expression


@final
class _Signals:
    """The signals of a scheme as rows: read from the run where it has them, else summed or passed through connections."""

    def __init__(self, scheme: PogScheme, channels: Channels) -> None:
        self.channels = channels
        self.sums = {s.output: s.inputs for s in scheme.summations.values()}
        self.connections = _connections(scheme)
        ports = scheme.causal.graph.ports
        self.observed = {name for p in ports for name in (p.across, p.through) if channels.knows(name)}
        self._order: dict[str, tuple[str, ...]] = {}
        self._rows: dict[str, Array] = {}

    def known(self, name: str) -> tuple[str, ...]:
        """All that is needed for a signal, itself last; nothing where something is not known."""
        if name not in self._order:
            self._order[name] = self._walk(name)
        return self._order[name]

    def values(self, name: str) -> Array:
        """The rows of a signal that is known."""
        for needed in self.known(name):
            if needed not in self._rows:
                self._rows[needed] = self._evaluated(needed)
        return self._rows[name]

    def _walk(self, name: str) -> tuple[str, ...]:
        done: dict[str, None] = {}
        stack, open_ = [name], set[str]()
        while stack:
            here = stack[-1]
            needs = self._needs(here)
            if needs is None or (here in open_ and any(n not in done for n in needs)):
                return ()
            waiting = [n for n in needs if n not in done]
            if waiting:
                open_.add(here)
                stack += waiting
            else:
                done[stack.pop()] = None
        return tuple(done)

    def _needs(self, name: str) -> list[str] | None:
        """The signals behind one; None where it leads nowhere."""
        if name in self.observed:
            return []
        if name in self.sums:
            return [inner for inner, _ in self.sums[name]]
        connection = self.connections.get(name)
        if connection is None or not all(map(self.channels.knows, self._variables(connection.gain))):
            return None
        return [connection.input]

    def _evaluated(self, name: str) -> Array:
        if name in self.observed:
            return self.channels.table([name])[:, 0]
        if name in self.sums:
            terms = (sign * self._rows[inner] for inner, sign in self.sums[name])
            return sum(terms, start=np.zeros(len(self.channels.trajectory.t)))
        connection = self.connections[name]
        return self._gain(connection.gain) * self._rows[connection.input]

    def _gain(self, gain: Expression) -> Array:
        variables, constants = self._variables(gain), self.channels.parameters
        if not variables:
            return np.asarray(gain.evaluate(constants))
        rows = self.channels.table(variables).tolist()
        return np.array([gain.evaluate({**constants, **dict(zip(variables, row, strict=True))}) for row in rows])

    def _variables(self, gain: Expression) -> list[str]:
        return sorted(gain.free_symbols - self.channels.parameters.keys())


def _connections(scheme: PogScheme) -> dict[str, _Connection]:
    """The connection blocks with a gain by their output, with formulas for the moduli that move."""
    moving, found = scheme.causal.graph.moving, {}
    for block in scheme.blocks.values():
        if block.kind == "connection" and block.gain is not None:
            gain = block.gain
            while gain.free_symbols & moving.keys():
                gain = gain.substitute(moving)
            found[block.output] = _Connection(block.input, gain)
    return found
