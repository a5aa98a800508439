"""Names of the variables of ports: what the user chose, else `<symbol>_<element>`."""

from tellegen.core.errors import Finding
from tellegen.core.names import named_after
from tellegen.description.model import Element, Model
from tellegen.graph import rules
from tellegen.graph.laws import PortLaw, StorageLaw


class Names:
    """Hands out one name for each variable and watches that no name stands for two things."""

    def __init__(self, model: Model) -> None:
        self.findings: list[Finding] = []
        self._taken: dict[str, str] = {name: f"the parameter '{name}'" for name in model.parameters}
        for element in model.elements:
            chosen = dict(element.variables)
            if element.kind.role == "source":
                chosen.setdefault(element.kind.side, element.name)
            for name in chosen.values():
                self._choose(name, element)

    def of(self, element: Element, law: PortLaw) -> tuple[str, str, str]:
        """The names of the across and through variables, and of the state where the element stores energy."""
        kind, chosen = element.kind, element.variables
        domain = kind.domain
        across = chosen.get("across") or (
            element.name if _imposes(element, "across") else self._default(domain.across.symbol, element)
        )
        through = chosen.get("through") or (
            element.name if _imposes(element, "through") else self._default(domain.through.symbol, element)
        )
        if not isinstance(law, StorageLaw):
            return across, through, ""
        if law.keeps_energy_variable:
            return across, through, chosen.get("energy") or self._default(domain.energy(kind.side).symbol, element)
        return across, through, across if kind.side == "across" else through

    def input_of(self, element: Element) -> str:
        """The name of a source's input: the variable that it imposes."""
        return element.variables.get(element.kind.side, element.name)

    def _choose(self, name: str, element: Element) -> None:
        holder = self._taken.get(name)
        if holder is not None:
            own = f"{name}_{element.name.rpartition('.')[2]}"
            self.findings.append(
                rules.NAME_TAKEN.finding(
                    f"'{element.name}' names a variable '{name}', which is {holder}",
                    where=element.name,
                    fix=f"give the variable another name, such as '{own}'",
                    place=element.place,
                    members=[element.name],
                )
            )
        self._taken[name] = f"a variable of '{element.name}'"

    def _default(self, symbol: str, element: Element) -> str:
        name = named_after(symbol, element.name)
        while name in self._taken:
            name += "_"
        self._taken[name] = f"a variable of '{element.name}'"
        return name


def _imposes(element: Element, side: str) -> bool:
    return element.kind.role == "source" and element.kind.side == side
