"""Displacements from their rates."""

from tellegen.core.names import did_you_mean, listing
from tellegen.description import experiment_rules, rules
from tellegen.description.context import Context
from tellegen.description.document import Node, Scalar
from tellegen.description.variables import input_name, sensed_variables, state_variables
from tellegen.expressions import parse


class DisplacementsReader:
    """Reads `displacements:`; what rates use is checked when all elements are known."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.rates: dict[str, Scalar] = {}

    def read(self, node: Node) -> None:
        """Parse every rate."""
        for key, value in self.context.mapping(node, "'displacements'").items():
            name = self.context.name(key, "a displacement")
            rate = self.context.formula(value, f"the rate of {name}")
            self.rates[name] = rate
            self.context.displacements[name] = parse(rate.text, place=self.context.text_place(rate))

    def check_rates(self) -> None:
        """Rates are expressions of parameters, of inputs, of what storages decide and of what ideal sensors read."""
        known = {
            *state_variables(self.context.elements.values()),
            *sensed_variables(self.context.elements.values()),
            *self.context.parameters,
            *self.context.displacements,
        }
        known |= {input_name(e) for e in self.context.elements.values() if e.kind.role == "source"}
        for name in self.rates:  # those of a mechanism are made of its own speeds
            rate = self.context.displacements.get(name)
            if rate is None:  # it could not be read, which is told already
                continue
            if name in self.context.parameters:
                what = f"'{name}' is a displacement and a parameter"
                self.context.collect(
                    self.context.error(rules.VALUE_TWICE, self.rates[name], what, fix="rename one of them")
                )
            for other in sorted(n for n in rate.free_symbols - known if not self.context.may_be_hidden(n)):
                fix = did_you_mean(other, known) or f"some that are: {listing(sorted(known))}"
                what = f"the rate of {name} uses '{other}', which is no variable of a storage or of a sensor"
                self.context.collect(
                    self.context.error(experiment_rules.UNKNOWN_VARIABLE, self.rates[name], what, fix=fix)
                )
