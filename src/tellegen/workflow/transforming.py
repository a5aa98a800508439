"""Models made from a model in one call: smaller, elastic, or shown and written in another notation."""

import os
from collections.abc import Iterable

from tellegen import schemes
from tellegen.causality import assign_causality
from tellegen.conditioning import Conditioned
from tellegen.core.names import did_you_mean
from tellegen.graph import lower
from tellegen.notations.loading import AnyModel, as_model
from tellegen.reduction import Limits, Reduction, Stiffened, reduce_model, stiffen_model
from tellegen.schemes import BondGraphScheme, PogScheme
from tellegen.schemes.residual_sinks import with_free_sinks
from tellegen.schemes.translation import NOTATIONS, Notation, translation
from tellegen.workflow.files import write_new
from tellegen.workflow.rules import NO_SUCH_NOTATION


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


def bond_graph(model: AnyModel, *, vectors: bool = True, merge_two_ports: bool = False) -> BondGraphScheme:
    """The bond graph of a model, simplified as an engineer would draw it, with half arrows, strokes and variables.

    With `vectors`, fields and connections with a matrix are one item each, joined by vector bonds; without, all bonds are scalar.
    `merge_two_ports` joins neighbouring TF and GY.

    Raises: TellegenError of the layer that cannot go on.

    >>> print(str(bond_graph("spring_damper")).splitlines()[0].strip())
    1  Sf:v |-> 1:end   (F_t, v)
    """
    # A conditioned model runs by equations that have no bonds; its picture has.
    shown = model.picture if isinstance(model, Conditioned) else with_free_sinks(as_model(model))
    causal = assign_causality(lower(shown))
    return schemes.bond_graph(causal, vectors=vectors, merge_two_ports=merge_two_ports)


def pog(model: AnyModel, *, derivative: bool = False, vectorial: bool = False) -> PogScheme:
    """The Power-Oriented Graph of a model: a ladder of sections, elaboration and connection blocks, or one vector block.

    Meshed models and those with dependent storages are one vector block; with `derivative`, these are derivative blocks of a
    ladder. `vectorial` asks for the vector block in any case.

    Raises: TellegenError of the layer that cannot go on.

    >>> print(str(pog("spring_damper")).splitlines()[0])
    | v, F_t | ->
    """
    return schemes.pog(assign_causality(lower(as_model(model))), derivative=derivative, vectorial=vectorial)


def translate(
    model: AnyModel, notation: Notation, output: str | os.PathLike[str] | None = None, *, force: bool = False
) -> str:
    """The text of a model file that says the same in another notation; written to `output` where that is given.

    `notation` is "network" (elements between nodes), "bond" (a bond graph) or "pog" (a Power-Oriented Graph). Parameters with their
    units, signals and the experiment stay as they are, and so do the equations. A mechanism is written as what it is made of.

    Raises: GraphError for a network where the junction structure is no graph; DescriptionError when `output` is there already and
    `force` is off (D302).

    >>> print(translate("rlc", "pog").split("pog:")[1].splitlines()[1].strip())
    - domain: electrical
    """
    if notation not in NOTATIONS:
        raise NO_SUCH_NOTATION.error(f"'{notation}' is not a notation", fix=did_you_mean(notation, NOTATIONS))
    # Made whole before the file is touched.
    text = translation(as_model(model), notation)
    return text if output is None else write_new(text, output, force=force)
