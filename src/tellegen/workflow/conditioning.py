"""A model with its dependent storages in another form, in one call; parasitic elements are sized by runs."""

from collections.abc import Iterable, Mapping

from tellegen.conditioning import Conditioned, Options, Stiffness, condition_model
from tellegen.conditioning.forms import DRIFT
from tellegen.conditioning.rules import BAD_STIFFNESS
from tellegen.conditioning.sizing import DAMPING, ERROR
from tellegen.core.errors import SimulationError
from tellegen.description.model import Model
from tellegen.description.opening import AnyModel, as_model
from tellegen.studies.parasitic_sizing import size_parasitic


def condition(
    model: AnyModel,
    form: str,
    *,
    coordinates: Iterable[str] = (),
    stiffness: float | Mapping[str, float] | None = None,
    error: float | None = None,
    damping: float = DAMPING,
    drift: float = DRIFT,
    canonical: bool = False,
) -> Conditioned:
    """The model with its dependent storages treated in one of six ways; what comes back stands for a model in every other call.

    `form` is "derivative" (implicit equations, for a DAE solver), "residual" (forces of constraints solved for, every storage with
    a state; `drift` is the rate in 1/s at which errors of constraints decay), "parasitic" (springs and dampers, or their duals; one
    `stiffness`, or one for each force, in SI), "field" (an IC-field with momenta), "lagrange" (speeds and a mass matrix) or
    "hamilton" (momenta, slopes of the energy, and the gyroscopic block of constraints that are not holonomic, which `canonical`
    leaves out).
    Without a `stiffness`, parasitic elements are sized by runs of the experiment for a relative `error` (0.001) of coordinates and
    forces, as by `size_parasitic`; where the rigid model does not run, and beside a `stiffness` for some forces only, by the
    duration of the experiment alone, which the `note` of the form says.
    `coordinates` are displacements or outputs of storages that should be independent.

    Raises: ConditioningError for a form that does not exist (C101) or that the model does not have.

    >>> condition("crank_rod", "residual").forces
    ('lambda_m_p',)
    """
    options = Options(tuple(coordinates), Stiffness(stiffness, damping), drift, canonical)
    described = as_model(model)
    if form == "parasitic" and (stiffness is None or error is not None):
        return _sized(described, options, error)
    return condition_model(described, form, options)


def _sized(model: Model, options: Options, error: float | None) -> Conditioned:
    """The parasitic form that meets an error; what the duration suggests where nothing was asked for and nothing runs."""
    if error is None:
        made = condition_model(model, "parasitic", options)
        try:
            return size_parasitic(model, ERROR, options)
        except SimulationError:
            return made
    if options.stiffness.value is not None:
        raise BAD_STIFFNESS.error("a stiffness and an error exclude each other", fix="give one of them")
    return size_parasitic(model, error, options)
