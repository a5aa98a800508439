"""The relations of a connection of several ports: `through_3 = K_1*through_1 + K_2*through_2`."""

import re
from typing import NoReturn, final

from tellegen.core.domains import Side
from tellegen.description import rules
from tellegen.description.context import Context, Pending
from tellegen.description.dimensions import without_marks
from tellegen.description.document import Scalar
from tellegen.description.keys import port_dimension
from tellegen.description.quantities import parse_marked
from tellegen.description.relations import Multiport
from tellegen.expressions import Expression, is_zero, symbol

_PORT = re.compile(r"(across|through)_(\d+)")


@final
class MultiportRelations:
    """Reads `through_3 = K_1*through_1 + ...`: the ports on the left give power, those on the right take it."""

    def __init__(self, context: Context, key: Scalar, domains: tuple[str, ...], texts: list[Scalar]) -> None:
        self.context = context
        self.key = key
        self.domains = domains
        self.texts = texts
        self.left: dict[str, Expression] = {}

    def read(self) -> Multiport:
        """The matrix of the relations.

        Raises: DescriptionError for a relation that is not linear, or that names a port twice or never.
        """
        for text in self.texts:
            name, equals, right = text.text.partition("=")
            if not equals or not _PORT.fullmatch(name.strip()) or name.strip() in self.left:
                self._refuse(text, "has no variable of its own on the left side")
            self.left[name.strip()] = self._right(text, right, len(name) + 1)
        given = sorted({n for e in self.left.values() for n in e.free_symbols if _PORT.fullmatch(n)}, key=self._port)
        ports = [self._port(name) for name in (*given, *self.left)]
        if sorted(ports) != list(range(len(self.domains))):
            self._refuse(self.texts[0], "must name each port once, on one side")
        K = tuple(tuple(e.derivative(name) for name in given) for e in self.left.values())
        for row, expression, text in zip(K, self.left.values(), self.texts, strict=True):
            rest = expression
            for name, entry in zip(given, row, strict=True):
                rest = rest - entry * symbol(name)
            if not is_zero(rest):
                self._refuse(text, "is not linear in the variables of its ports")
        return Multiport(
            tuple(self._port(n) for n in given),
            tuple(self._port(n) for n in self.left),
            tuple(self._side(n) for n in given),
            tuple(self._side(n) for n in self.left),
            K,
        )

    def _right(self, text: Scalar, right: str, at: int) -> Expression:
        marked = parse_marked(right, self.context.text_place(text, at))
        variables = {n: port_dimension(self.domains, n) for n in marked.free_symbols if self._is_port(n)}
        wanted = port_dimension(self.domains, text.text.partition("=")[0].strip())
        pending = Pending(
            marked, wanted, f"the relation of {self.key.text}", lambda: self.context.text_place(text), variables
        )
        self.context.pending.append(pending)
        return without_marks(marked)

    def _is_port(self, name: str) -> bool:
        found = _PORT.fullmatch(name)
        return found is not None and 1 <= int(found[2]) <= len(self.domains)

    @staticmethod
    def _port(name: str) -> int:
        return int(name.rpartition("_")[2]) - 1

    @staticmethod
    def _side(name: str) -> Side:
        return "across" if name.startswith("across") else "through"

    def _refuse(self, text: Scalar, what: str) -> NoReturn:
        fix = "write a relation such as 'through_3 = K_1*through_1 + K_2*through_2', each port on one side"
        raise self.context.error(rules.BAD_RELATION, text, f"the relation of {self.key.text} {what}", fix=fix)
