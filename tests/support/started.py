"""Random models of storages that follow others, made so that the start of each storage is known without any equations."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hypothesis import strategies as st

import tellegen as tg
from tellegen.model.model import Model
from tellegen.notations.loading import AnyModel
from tellegen.notations.reading import read_model

FRICTION = 0.5
"""The friction that holds each group."""


@dataclass(frozen=True)
class Member:
    """A storage whose output is `ratio` times the speed of its group: an inertia, or a capacitor behind a machine."""

    name: str
    inertia: float
    ratio: float
    electrical: bool = False
    follows: bool = False

    @property
    def output(self) -> str:
        return f"V_{self.name}" if self.electrical else f"omega_{self.name}"

    @property
    def taken(self) -> str:
        return f"I_{self.name}" if self.electrical else f"tau_{self.name}"

    @property
    def content(self) -> str:
        return f"q_{self.name}" if self.electrical else f"p_{self.name}"


@dataclass(frozen=True)
class Group:
    """What turns as one, with its speed at the start, and the members to which the file gives that start."""

    members: tuple[Member, ...]
    speed: float
    said: tuple[int, ...]
    as_content: bool = False
    in_experiment: bool = True

    @property
    def inertia(self) -> float:
        return sum(m.inertia * m.ratio**2 for m in self.members)

    @property
    def energy(self) -> float:
        return self.inertia * self.speed**2 / 2


@dataclass(frozen=True)
class Train:
    """Groups in a row, joined by springs and held by friction, which has a quadratic part too where there is drag."""

    groups: tuple[Group, ...]
    torque: float = 0.0
    drag: float = 0.0

    def truth(self) -> dict[str, float]:
        """The outputs of all storages at the start."""
        return {m.output: m.ratio * group.speed for group in self.groups for m in group.members}

    def without_choice(self) -> "Train":
        """The same, where nothing asks a storage to keep its state."""
        free = (replace(g, members=tuple(replace(m, follows=False) for m in g.members)) for g in self.groups)
        return replace(self, groups=tuple(free))

    def text(self) -> str:
        lines, initial = ["system: train", "network:"], []
        for g, group in enumerate(self.groups):
            law = f"law: tau = {FRICTION} N*m*s*omega + {self.drag} N*m*s^2*omega*abs(omega)"
            lines.append(f"  F{g}: {{friction: [g{g}, frame], {law if self.drag else f'b: {FRICTION} N*m*s'}}}")
            for k, m in enumerate(group.members):
                value = m.ratio * group.speed
                own = k in group.said and not (group.in_experiment or group.as_content)
                lines += _lines(m, f"g{g}", value if own else None)
                if k in group.said and not own:
                    content = group.as_content
                    initial.append(f"{m.content if content else m.output}: {m.inertia * value if content else value!r}")
            if g:
                lines.append(f"  K{g}: {{torsion spring: [g{g - 1}, g{g}], K: k{g}}}")
        lines.insert(1, f"parameters: {{{', '.join(f'k{g}: {20 * g} N*m/rad' for g in range(1, len(self.groups)))}}}")
        lines.append("  T: {torque source: [frame, g0]}")
        experiment = f"until: 1 s, inputs: {{T: {self.torque} N*m}}, initial: {{{', '.join(initial)}}}"
        return "\n".join([*lines, f"experiment: {{{experiment}}}"]) + "\n"

    def model(self) -> Model:
        return read_model(self.text())


def _lines(m: Member, shaft: str, initial: float | None) -> list[str]:
    follows = ", causality: force integral" if m.follows else ""
    begun = "" if initial is None else f", initial: {initial!r}"
    if m.electrical:
        return [
            f"  M_{m.name}: {{dc machine: [e_{m.name}, gnd, {shaft}, frame], K: {m.ratio!r}}}",
            f"  {m.name}: {{capacitor: [e_{m.name}, gnd], C: {m.inertia!r} F{begun}{follows}}}",
        ]
    if m.ratio == 1:
        return [f"  {m.name}: {{inertia: [{shaft}], J: {m.inertia!r} kg*m^2{begun}{follows}}}"]
    return [
        f"  G_{m.name}: {{gear: [{shaft}, frame, s_{m.name}, frame], gear ratio: {1 / m.ratio!r}}}",
        f"  {m.name}: {{inertia: [s_{m.name}], J: {m.inertia!r} kg*m^2{begun}{follows}}}",
    ]


@st.composite
def trains(draw: st.DrawFn, *, groups: int = 2) -> Train:
    """Trains with one to three storages to a group, of which one is asked to keep the state, and one or more are said."""
    size = st.integers(1, 40).map(lambda n: n / 8)
    found = []
    for g in range(groups):
        count = draw(st.integers(1, 3))
        members = [
            Member(f"J{g}{k}", draw(size), draw(st.sampled_from((1.0, 0.25, 8.0))), k > 0 and draw(st.booleans()))
            for k in range(count)
        ]
        keeps = draw(st.integers(0, count - 1))
        members[keeps] = replace(members[keeps], follows=True)
        said = draw(st.lists(st.integers(0, count - 1), max_size=2, unique=True))
        speed = draw(st.integers(-9, 9)) / 4 if said else 0.0
        found.append(Group(tuple(members), speed, tuple(said), draw(st.booleans()), draw(st.booleans())))
    return Train(tuple(found), draw(st.sampled_from((0.0, 2.0))))


def start_of(model: AnyModel) -> Mapping[str, float]:
    """All power variables and displacements of a model in its first instant, as a run has them."""
    run = tg.simulate(model, until=1e-9, samples=1, progress=False)
    names = {name for port in run.graph.ports for name in (port.across, port.through)}
    names |= {*run.state_names, *run.displacement_names, *run.output_names}
    return {name: float(run.values(name)[0]) for name in names if name in run}
