"""Models made from a model in one call: smaller, or elastic."""

from collections.abc import Iterable

from tellegen.description.opening import AnyModel, as_model
from tellegen.reduction import Limits, Reduction, Stiffened, reduce_model, stiffen_model


def reduce(model: AnyModel, limits: Limits, *, keep: Iterable[str] = ()) -> Reduction:
    """The model with parameters at zero, at infinity, or at a value that makes the energy matrix singular, all at once.

    `limits` is a mapping, `{"J_m": 0, "K": inf, "M_0": "L_e"}`, or texts, `["J_m=0"]`. `keep` names states that should remain.
    What comes back stands for the reduced model in every other call.

    Raises: ReductionError when a limit names nothing, does not exist, contradicts another or leaves no solution.

    >>> reduce("dc_motor_pump", {"J_m": 0}).equations.states
    ('I_a', 'P_0')
    """
    return reduce_model(as_model(model), limits, keep=keep)


def stiffen(
    model: AnyModel, connection: str, *, apart: Iterable[str] = (), value: float | None = None, damped: bool = True
) -> Stiffened:
    """The model with a fictitious storage in a rigid connection: the reverse of a limit.

    `connection` is a storage that follows others, which then gets a state of its own, or a node, at which the elements of `apart`
    are parted from the others. A spring (an inductance, ...) goes between what shares a velocity (a voltage); a mass (a
    capacitance, ...) goes beside what shares a force (a current). Without `value`, in SI, the fictitious resonance is made much
    faster than the poles of the model and the experiment. `damped` adds a dissipator so that it settles. What comes back stands
    for the model in every other call; its `limit` gives the rigid equations back.

    Raises: ReductionError for no such connection (T111), a value that does not follow (T112), a domain with one storage (T113).

    >>> stiffen("planetary_gear", "J_s").limit
    'K_J_s=inf'
    """
    return stiffen_model(as_model(model), connection, apart=apart, value=value, damped=damped)
