"""A part of the library among elements of a network, and its parameters."""

from tellegen.model.model import Model
from tellegen.notations.parameters import parameter_values
from tellegen.notations.reading import read_model


def use(part: str, ports: str, network: str, more: str = "") -> Model:
    """The part `p` of the library between elements of a network."""
    return read_model(
        f"system: Test\nparts: {{p: {{use: {part}, ports: {{{ports}}}{more}}}}}\nnetwork: {{{network}}}\n"
    )


class values:  # noqa: N801  # reads like the parameters that it stands for
    """The parameters of the part as attributes."""

    def __init__(self, model: Model) -> None:
        self.known = parameter_values(model)

    def __getattr__(self, name: str) -> float:
        return self.known[f"p.{name}"]
