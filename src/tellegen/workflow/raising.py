"""A model shown or written in another notation: bond graph, Power-Oriented Graph, network."""

import os

from tellegen import schemes
from tellegen.causality import assign_causality
from tellegen.conditioning import Conditioned
from tellegen.core.names import did_you_mean
from tellegen.description.opening import AnyModel, as_model
from tellegen.graph import lower
from tellegen.schemes import BondGraphScheme, PogScheme
from tellegen.schemes.translation import NOTATIONS, Notation, translation
from tellegen.workflow.files import write_new
from tellegen.workflow.rules import NO_SUCH_NOTATION


def bond_graph(model: AnyModel, *, vectors: bool = True, merge_two_ports: bool = False) -> BondGraphScheme:
    """The bond graph of a model, simplified as an engineer would draw it, with half arrows, strokes and variables.

    With `vectors`, fields and connections with a matrix are one item each, joined by vector bonds; without, all bonds are scalar.
    `merge_two_ports` joins neighbouring TF and GY.

    Raises: TellegenError of the layer that cannot go on.

    >>> print(str(bond_graph("spring_damper")).splitlines()[0].strip())
    1  Sf:v |-> 1:end   (F_t, v)
    """
    shown = model.picture if isinstance(model, Conditioned) else as_model(model)
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
    text = translation(as_model(model), notation)
    return text if output is None else write_new(text, output, force=force)
