"""Friction of rigid joints: viscous, and Coulomb friction by the forces that the joint passes on.

What a rigid joint passes on follows from the accelerations, and these from the friction: one equation of the friction force more,
which is solved along with the motion. Friction is smooth in the sliding speed, and sizes of forces are rounded near zero, so that
this equation has a slope everywhere.
"""

from typing import final

from tellegen.core.domains import DOMAINS
from tellegen.core.errors import TellegenError
from tellegen.description.mechanisms import rules
from tellegen.description.mechanisms.bodies import Bodies
from tellegen.description.mechanisms.forces import SLIP_SPEED, Findings
from tellegen.description.mechanisms.geometry import components, direction, minus, rotated
from tellegen.description.mechanisms.making import FRAME, point
from tellegen.description.mechanisms.values import Joint, Pair
from tellegen.description.relations import Law
from tellegen.expressions import HALF, Expression, call, number, symbol, to_text

ROUNDING = number(1) / 100
"""Sizes of forces are rounded below a hundredth of a newton where nothing else is given."""


@final
class Friction:
    """Makes the friction of revolute and prismatic joints, of those that close loops as well."""

    def __init__(self, bodies: Bodies, findings: Findings) -> None:
        self.bodies = bodies
        self.maker = bodies.maker
        self.tree = bodies.tree
        self.findings = findings

    def make(self, joint: Joint) -> None:
        """The elements of the friction of a joint; nothing for joints without any.

        Raises: DescriptionError (M105) for a pin whose radius is missing.
        """
        if joint.kind not in ("revolute", "prismatic") or not joint.settings.keys() & {
            "friction",
            "friction coefficient",
        }:
            return
        kind, nodes = (
            ("friction", self._turning(joint)) if joint.kind == "revolute" else ("damper", self._sliding(joint))
        )
        viscous, coulomb = joint.settings.get("friction"), joint.settings.get("friction coefficient")
        if viscous is not None:
            self.maker.add(f"{joint.name}.b", kind, nodes, viscous)
        if coulomb is not None:
            law = self._moment(joint) if joint.kind == "revolute" else self._force(joint)
            name, word = (f"{joint.name}.mu", "M_f" if joint.kind == "revolute" else "F_f")
            self.maker.add(name, kind, nodes, None, {"through": f"{joint.name}.{word}"})
            self.maker.give_law(name, Law("resistive", _speed(joint), law, "through", to_text(law)))

    def _turning(self, joint: Joint) -> tuple[str, str]:
        return self.bodies.turning(joint.first.body).node, self.bodies.turning(joint.second.body).node

    def _sliding(self, joint: Joint) -> tuple[str, str]:
        """The node that moves along the axis: that of the slide, or one made for a joint that closes a loop."""
        if joint not in self.tree.closing:
            return joint.name, FRAME
        axis = direction(self.tree.axis(joint))
        ends = (*self.bodies.moving(joint.second), *self.bodies.moving(joint.first))
        factors = (*components(axis), *components(minus(axis)))
        self.maker.connection(f"{joint.name}.along", ends, [point(joint.name)], [factors])
        return joint.name, FRAME

    # -- forces ----------------------------------------------------------------------------------------------------------------

    def _passed_on(self, joint: Joint) -> Pair:
        """The force of the joint: variables of its sensors, or the formulas of a joint that closes a loop."""
        names = (f"{joint.name}.F_x", f"{joint.name}.F_y")
        signals = self.findings.signals
        x, y = (signals[name][0] if name in signals else symbol(name) for name in names)
        return x, y

    def _moment(self, joint: Joint) -> Expression:
        """mu r |F| for a pin of radius r, against the turning."""
        radius = joint.settings.get("radius")
        if radius is None:
            raise _no_radius(joint)
        x, y = self._passed_on(joint)
        rounding = joint.settings.get("rounding", ROUNDING)
        size = call("sqrt", x * x + y * y + rounding * rounding)
        return (
            joint.settings["friction coefficient"] * radius * size * self._sense(joint, radius * symbol(_speed(joint)))
        )

    def _force(self, joint: Joint) -> Expression:
        """mu times the sizes of the normal forces, against the sliding.

        On a slide with a length the moment counts, too: it rests on two contacts at half the length from the second point.
        """
        x, y = self._passed_on(joint)
        across = components(rotated(direction(self.tree.axis(joint))))
        normal = x * across[0] + y * across[1]
        length, rounding = joint.settings.get("length"), joint.settings.get("rounding", ROUNDING)
        contacts = [normal]
        if length is not None:
            lever = symbol(f"{joint.name}.M") / length
            contacts = [normal * HALF - lever, normal * HALF + lever]
        sizes = [call("sqrt", n * n + rounding * rounding) for n in contacts]
        size = sizes[0] if len(sizes) == 1 else sizes[0] + sizes[1]
        return joint.settings["friction coefficient"] * size * self._sense(joint, symbol(_speed(joint)))

    def _sense(self, joint: Joint, speed: Expression) -> Expression:
        return call("tanh", speed / joint.settings.get("slip speed", SLIP_SPEED))


def _speed(joint: Joint) -> str:
    """What laws of friction call the speed of turning or of sliding."""
    return DOMAINS["rotational" if joint.kind == "revolute" else "translational"].across.letters[0]


def _no_radius(joint: Joint) -> TellegenError:
    return rules.NO_SETTING.error(
        f"the revolute {joint.name} has a friction coefficient, but no 'radius'",
        where=joint.name,
        fix="add 'radius: ...', that of its pin: the friction moment is the friction force times this radius",
        place=joint.place,
    )
