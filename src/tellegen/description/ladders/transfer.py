"""Elaboration blocks given by a positive-real transfer function: realised as storages, resistors and one lossless connection.

The coefficients become exact rational numbers, so the test is exact; the realisation is in floating-point numbers, and it is
compared with the function before it is used.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from tellegen.core.domains import Domain, Side, other_side
from tellegen.description import rules as description_rules
from tellegen.description.context import Context
from tellegen.description.document import Scalar
from tellegen.description.ladders import rules
from tellegen.description.ladders.blocks import MATRICES, TransferItem, Way, gives, takes
from tellegen.description.ladders.letters import at_home, field_kind, kinds
from tellegen.description.ladders.polynomials import Polynomial, polynomial, value
from tellegen.description.ladders.positive_real import NotPositiveRealError, positive_real
from tellegen.description.ladders.realisation import Realisation, realise
from tellegen.description.ladders.residues import MOST_STATES, TooManyStatesError, realise_matrix
from tellegen.description.model import Element, Parameter
from tellegen.description.multiports import MULTIPORT
from tellegen.description.relations import Multiport
from tellegen.elements import ElementKind, kinds_of
from tellegen.expressions import Expression, evaluate_exact, number, symbol

MOST_COEFFICIENTS = 30
_ACCURACY = 1e-6
"""The largest relative difference between a function and its realisation."""


def emit_transfer(
    context: Context,
    item: TransferItem,
    domains: Sequence[Domain],
    ways: Sequence[Way],
    ends: Sequence[tuple[str, str]],
) -> None:
    """Add the elements that realise a transfer function or matrix between the nodes of its lanes.

    Lanes may be of several domains: what each is told follows from the letter there, or from `power` and `static` and its way.
    """
    name = item.name.text
    if name in context.elements:
        what = f"'{name}' is described twice"
        raise context.error(description_rules.DESCRIBED_TWICE, item.name, what, fix="rename one of them")
    told = [_told(context, item, domain, way) for domain, way in zip(domains, ways, strict=True)]
    _Assembly(context, item, domains, told, ends).emit(_realised(context, item))


def _told(context: Context, item: TransferItem, domain: Domain, way: Way) -> Side:
    """The variable of a lane that a transfer function is told; it gives the other one."""
    if item.letter in MATRICES:
        return gives(way) if item.letter == "power" else takes(way)
    law = next(iter(kinds(item.letter, domain)), None)
    if law is None:
        what = f"'{item.letter}' stands for no {domain.name} element"
        fix = f"it belongs to {at_home(item.letter)}"
        raise context.error(rules.BAD_LETTER, item.name, what, fix=fix, where=item.name.text)
    return other_side(law.side)


# -- numbers -------------------------------------------------------------------------------------------------------------------


def _realised(context: Context, item: TransferItem) -> Realisation:
    denominator = _polynomial(context, item, item.denominator)
    numerators = [[_polynomial(context, item, entry) for entry in row] for row in item.numerator]
    found: Realisation | None
    try:
        if len(numerators) == 1:
            found = realise(positive_real(numerators[0][0], denominator))
        else:
            found = realise_matrix(numerators, denominator)
    except NotPositiveRealError as reason:
        what = f"'{item.name.text}' is not positive real: {reason}"
        fix = "a passive element takes at least as much energy as it gives: check the signs and the order of the coefficients"
        raise context.error(rules.NOT_POSITIVE_REAL, item.name, what, fix=fix, where=item.name.text) from None
    except TooManyStatesError as reason:
        what = f"'{item.name.text}' has {reason}: more than {MOST_STATES} states"
        fix = "write it as a sum of matrices or elements with fewer poles"
        raise context.error(rules.NO_REALISATION, item.name, what, fix=fix, where=item.name.text) from None
    except ArithmeticError:
        found = None
    if found is None or not _is_accurate(found, numerators, denominator):
        what = f"the realisation of '{item.name.text}' loses too many digits"
        fix = "write it as a sum of elements with fewer poles, or scale its coefficients"
        raise context.error(rules.NO_REALISATION, item.name, what, fix=fix, where=item.name.text)
    return found


def _polynomial(context: Context, item: TransferItem, texts: Sequence[Scalar]) -> Polynomial:
    if not 0 < len(texts) <= MOST_COEFFICIENTS:
        what = f"'{item.name.text}' has {len(texts)} coefficients"
        fix = f"give between 1 and {MOST_COEFFICIENTS}, those of the highest power of s first"
        raise context.error(rules.NO_REALISATION, item.name, what, fix=fix, where=item.name.text)
    return polynomial(reversed([_number(context, item, text) for text in texts]))


def _number(context: Context, item: TransferItem, text: Scalar) -> Fraction:
    reading = context.quantity(text, f"a coefficient of {item.name.text}")
    known: dict[str, Fraction] = {}
    try:
        return _value(context, reading.expression, known, ())
    except KeyError as missing:
        what = f"a coefficient of '{item.name.text}' uses '{missing.args[0]}', which has no constant value"
        fix = "give numbers, or parameters with values: the realisation is made of them"
        raise context.error(rules.NO_REALISATION, text, what, fix=fix, where=item.name.text) from None
    except ArithmeticError:
        what = f"a coefficient of '{item.name.text}' is not a finite number"
        raise context.error(rules.NO_REALISATION, text, what, fix="check its formula", where=item.name.text) from None


def _value(context: Context, expression: Expression, known: dict[str, Fraction], above: tuple[str, ...]) -> Fraction:
    """An exact value; functions and pi are taken as the nearest floating-point number. Raises KeyError for what has none."""
    for name in expression.free_symbols:
        if name not in known:
            parameter = context.parameters.get(name)
            if parameter is None or parameter.expression is None or name in above or name in context.displacements:
                raise KeyError(name)
            known[name] = _value(context, parameter.expression, known, (*above, name))
    try:
        return evaluate_exact(expression, known)
    except ValueError:
        return Fraction(expression.evaluate({name: float(x) for name, x in known.items()}))


def _is_accurate(found: Realisation, numerators: Sequence[Sequence[Polynomial]], denominator: Polynomial) -> bool:
    """Compare the realisation with the function at a few points near the imaginary axis."""
    degree = max(len(denominator) - 1, 1)
    scale = abs(float(denominator[0] / denominator[-1])) ** (1 / degree) if denominator[0] else 1.0
    for factor in (0.03, 0.3, 1.0, 3.0, 30.0):
        s = complex(0.1, 1.0) * factor * scale
        bottom = value([float(c) for c in denominator], s)
        wanted = [[value([float(c) for c in n], s) / bottom for n in row] for row in numerators]
        here = found.at(s)
        size = max(abs(x) for row in wanted for x in row)
        if any(
            abs(a - b) > _ACCURACY * size for r, q in zip(wanted, here, strict=True) for a, b in zip(r, q, strict=True)
        ):
            return False
    return True


# -- elements ------------------------------------------------------------------------------------------------------------------

Port = tuple[tuple[str, str], Side, str]
"""The nodes of a branch, the power variable that the connection relates there, and the domain."""


class _Assembly:
    """Storages z and resistors at nodes of their own, joined to the lanes by one lossless connection."""

    def __init__(
        self,
        context: Context,
        item: TransferItem,
        domains: Sequence[Domain],
        told: Sequence[Side],
        ends: Sequence[tuple[str, str]],
    ) -> None:
        self.context = context
        self.name = item.name.text
        self.at = item.name
        self.domains = domains
        self.told = told
        self.ends = ends

    def emit(self, found: Realisation) -> None:
        """Add all elements."""
        n, ports = len(found.g), len(self.ends)
        connected = bool(n or found.c or found.skewed or found.rates)
        if not connected and not found.rate:
            what = f"the transfer function '{self.name}' is zero"
            raise self.context.error(rules.NO_REALISATION, self.at, what, fix="remove it", where=self.name)
        spots = [
            self._spots(lane, connected=connected, turned=found.is_turned(lane), rate=bool(found.rate))
            for lane in range(ports)
        ]
        if found.rate:
            domain = self.domains[0].name
            kind = next((k for k in kinds_of(domain, "storage") if k.side == self.told[0] and not k.inverse), None)
            if kind is None:
                what = f"'{self.name}' is a storage at high frequencies that the {domain} domain has not"
                raise self.context.error(
                    rules.NO_REALISATION, self.at, what, fix="give a proper function", where=self.name
                )
            self._element(f"{self.name}_s", kind, spots[0]["rate"], found.rate)
        if connected:
            self._connect(found, spots)

    def _spots(self, lane: int, *, connected: bool, turned: bool, rate: bool) -> dict[str, tuple[str, str]]:
        """The nodes of what shares a lane: side by side where it is told the across variable, else one behind the other."""
        words = [word for word, wanted in (("u", connected), ("y", turned), ("rate", rate)) if wanted]
        here, there = self.ends[lane]
        if self.told[lane] == "across":
            return dict.fromkeys(words, (here, there))
        nodes = [here, *(f"{self.name}_{lane + 1}_{word}" for word in words[1:]), there]
        return dict(zip(words, pairwise(nodes), strict=True))

    def _connect(self, found: Realisation, spots: list[dict[str, tuple[str, str]]]) -> None:
        n, ports = len(found.g), len(self.ends)
        domain, storage, resistor = self._inner_kinds()
        reference = domain.reference
        own = [(f"{self.name}_z{k + 1}", reference) for k in range(n)]
        lost = [(f"{self.name}_e{k + 1}", reference) for k in range(len(found.c))]
        following = [(f"{self.name}_f{k + 1}", reference) for k in range(len(found.rates))]
        for k, nodes in enumerate(own):
            self._element(f"{self.name}_x{k + 1}", storage, nodes, 1)
        for k, nodes in enumerate(lost):
            self._element(f"{self.name}_r{k + 1}", resistor, nodes, Fraction(1, 2))
        for k, nodes in enumerate(following):
            self._element(f"{self.name}_s{k + 1}", storage, nodes, 1)
        lanes = list(zip(spots, self.told, self.domains, strict=True))
        given: list[Port] = [(nodes, "across", domain.name) for nodes in own]
        given += [(spot["u"], told, own_domain.name) for spot, told, own_domain in lanes]
        answers: list[Port] = [(nodes, "through", domain.name) for nodes in own]
        answers += [(nodes, "across", domain.name) for nodes in (*lost, *following)]
        rows = [[found.J[i][j] if j < i else 0.0 for j in range(n)] + list(found.g[i]) for i in range(n)]
        rows += [[*c, *d] for c, d in zip(found.c, found.d, strict=True)]
        rows += [[*[0.0] * n, *row] for row in found.rates]
        for lane, (spot, told, own_domain) in enumerate(lanes):
            # The lane takes what this branch does not deliver; told a through variable, it stands in its path.
            if "y" in spot:
                nodes = spot["y"] if told == "across" else spot["y"][::-1]
                answers.append((nodes, other_side(told), own_domain.name))
                rows.append([0.0] * n + [-found.skew[lane][j] if j < lane else 0.0 for j in range(ports)])
        self._multiport(given, answers, rows)

    def _inner_kinds(self) -> tuple[Domain, ElementKind, ElementKind]:
        """The storage and the resistor that the function is made of, in the first domain that has both."""
        for domain in self.domains:
            storage, resistor = (field_kind(word, domain, "parallel") for word in ("energy", "power"))
            if storage is not None and resistor is not None:
                return domain, storage, resistor
        what = (
            f"'{self.name}' is realised by storages and resistors, and the {self.domains[0].name} domain has not both"
        )
        fix = "put a connection before it that leads into a domain that has them"
        raise self.context.error(rules.NO_REALISATION, self.at, what, fix=fix, where=self.name)

    def _multiport(self, given: list[Port], answers: list[Port], rows: list[list[float]]) -> None:
        """The connection, without the ports that its zeros leave out."""
        left = [j for j, (_, side, _) in enumerate(given) if side == "through" or any(row[j] for row in rows)]
        right = [i for i, row in enumerate(rows) if any(row)]
        ports = [given[j] for j in left] + [answers[i] for i in right]
        domains = tuple(domain for _, _, domain in ports)
        kind = ElementKind(
            MULTIPORT, "coupling", domains, "passes power between several ports", "", coupling="transformer"
        )
        relation = Multiport(
            tuple(range(len(left))),
            tuple(range(len(left), len(ports))),
            tuple(given[j][1] for j in left),
            tuple(answers[i][1] for i in right),
            tuple(
                tuple(self._modulus(rows[i][j], a, b) for b, j in enumerate(left, 1)) for a, i in enumerate(right, 1)
            ),
        )
        nodes = tuple(node for ends, _, _ in ports for node in ends)
        self.context.elements[self.name] = Element(
            self.name, kind, nodes, None, multiport=relation, place=self.context.place(self.at)
        )

    def _modulus(self, x: float, row: int, column: int) -> Expression:
        """An entry of the connection: a parameter, so that equations can be read; whole numbers stand for themselves."""
        if x == int(x):
            return number(int(x))
        name = f"{self.name}_k{row}_{column}"
        if name in self.context.parameters:
            what = f"the parameter '{name}' is an entry of '{self.name}' too"
            raise self.context.error(description_rules.DESCRIBED_TWICE, self.at, what, fix="rename one of them")
        self.context.parameters[name] = Parameter(name, number(Fraction(x)), place=self.context.place(self.at))
        return symbol(name)

    def _element(self, name: str, kind: ElementKind, nodes: tuple[str, str], coefficient: float | Fraction) -> None:
        if name in self.context.elements:
            what = f"'{name}', a part of '{self.name}', is described twice"
            raise self.context.error(description_rules.DESCRIBED_TWICE, self.at, what, fix="rename one of them")
        value = number(Fraction(coefficient))
        self.context.elements[name] = Element(name, kind, nodes, value, place=self.context.place(self.at))
