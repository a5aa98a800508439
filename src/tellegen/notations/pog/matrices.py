"""Blocks with several lanes as elements: fields by a matrix, positive-real transfer functions, and the K of connections.

The coefficients become exact rational numbers, so the test is exact; the realisation is in floating-point numbers, and it is
compared with the function before it is used.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import final

from tellegen.core.domains import Domain, Side, other_side
from tellegen.core.errors import Rule, TellegenError
from tellegen.core.names import did_you_mean
from tellegen.core.units import Dimension, parse_unit
from tellegen.elements import ElementKind, kinds_of, multiport_kind
from tellegen.expressions import ZERO, Expression, evaluate_exact, is_zero, number, symbol
from tellegen.model.laws import Multiport
from tellegen.model.model import Element, Parameter
from tellegen.notations import rules as notations_rules
from tellegen.notations.context import ReadingContext
from tellegen.notations.network.fields import FieldLaw, FieldReader, initial_value
from tellegen.notations.network.keys import SIDES, variable_words
from tellegen.notations.parameters import finite_value
from tellegen.notations.pog import ladder, rules
from tellegen.notations.pog.lanes import domain_words, field_kind, letter_kinds
from tellegen.notations.yaml.document import Scalar, SequenceNode
from tellegen.synthesis import realisation
from tellegen.synthesis.algebra import Polynomial, polynomial, value
from tellegen.synthesis.positive_real import NotPositiveRealError, positive_real

OUTPUTS = "outputs"
"""Names the variable that each member of a field gives, of whichever kind it is."""

Matrix = tuple[tuple[Expression, ...], ...]
LaneEnds = tuple[Sequence[Domain], Sequence[Side], Sequence[str]]
"""Domains, the related power variables and the nodes of the lanes on one side of a connection."""


def _power(domain: Domain, side: Side) -> Dimension:
    return parse_unit(domain.power(side).unit).dimension


# -- fields --------------------------------------------------------------------------------------------------------------------


@final
class FieldEmitter:
    """Adds the elements of a field: one a lane, coupled by the matrix or by laws."""

    def __init__(self, context: ReadingContext, item: ladder.LadderField[Scalar]) -> None:
        self.context, self.item, self.name = context, item, item.name.text

    def emit(
        self,
        domains: Sequence[Domain],
        ways: Sequence[ladder.Way],
        ends: Sequence[tuple[str, str]],
        variables: Sequence[dict[str, str]],
    ) -> None:
        """Add the elements between these ends; `variables` are names that sections give them."""
        context, item = self.context, self.item
        lossless = [d for d, way in zip(domains, ways, strict=True) if field_kind(item.word, d, way) is None]
        if lossless and item.matrix and item.word in ("power", "static"):
            self._emit_lossless(lossless[0].name, domains, ways, ends)
            return
        kinds = [self._kind(domain, way) for domain, way in zip(domains, ways, strict=True)]
        if self.name in {field.name for field in context.fields} or self.name in context.elements:
            what = f"'{self.name}' is described twice"
            raise context.error(notations_rules.DESCRIBED_TWICE, item.name, what, fix="rename one of them")
        reader = FieldReader(context, item.name, kinds)
        law = reader.laws(_listed(item.laws)) if item.laws else reader.matrix_of(item.matrix)
        names = [dict(found) for found in variables]
        self._choose(kinds, names)
        starts, preferred = self._initial(kinds, law), self._preferred(kinds)
        for lane, chosen in enumerate(names, start=1):
            for name in chosen.values():
                owner = context.variables.setdefault(name, member := f"{self.name}[{lane}]")
                if owner is not member:
                    what, rule = f"{owner} and {member} both name a variable '{name}'", notations_rules.VARIABLE_TWICE
                    raise context.error(rule, item.name, what, fix="choose another name", where=self.name)
        reader.add(law, ends, names, [s for s, _ in starts], preferred, [held for _, held in starts])

    def _kind(self, domain: Domain, way: ladder.Way) -> ElementKind:
        word = self.item.word
        kind = field_kind(word, domain, way)
        if kind is None:
            what = f"'{word}' stands for no field of {domain.name} elements"
            fix = f"'{word}' belongs to {domain_words(word)}; write 'energy' or 'power' for lanes of several domains"
            raise self.context.error(rules.BAD_LETTER, self.item.name, what, fix=fix, where=self.name)
        return kind

    def _emit_lossless(
        self, word: str, domains: Sequence[Domain], ways: Sequence[ladder.Way], ends: Sequence[tuple[str, str]]
    ) -> None:
        """Add a matrix as a connection, which only redistributes: elements of the domain `word` lose no energy."""
        context, item, lanes = self.context, self.item, range(len(domains))
        context.require_new(item.name)
        told = [ladder.given_side(way) if item.word == "power" else ladder.taken_side(way) for way in ways]
        answers = [(domain, other_side(side)) for domain, side in zip(domains, told, strict=True)]
        subject, reads = f"an entry of {self.name}", list(zip(domains, told, strict=True))
        S = [
            [
                context.checked_quantity(item.matrix[i][j], modulus_dimension(reads[j], answers[i]), subject)
                for j in lanes
            ]
            for i in lanes
        ]
        for i in lanes:
            for j in range(i + 1):
                if not is_zero(S[i][j].expression + S[j][i].expression):
                    what = f"the matrix of '{self.name}' gives or takes power, and no {word} element does"
                    fix = f"make its entries ({i + 1},{j + 1}) and ({j + 1},{i + 1}) opposite, or write what loses as elements"
                    raise context.error(rules.BAD_LETTER, item.name, what, fix=fix, where=self.name)
        # Its lower half K is told by one port of a lane and answered by another: S = K - K^T, where K^T is how conjugates pass.
        rows = [i for i in lanes if not is_zero_row([S[i][j].expression for j in range(i)])]
        columns = [j for j in lanes if not is_zero_row([S[i][j].expression for i in range(j + 1, len(lanes))])]
        if not rows:
            what = f"the matrix of '{self.name}' is zero"
            raise context.error(
                rules.LOOSE_CONNECTION, item.name, what, fix="remove it: it joins nothing", where=self.name
            )
        # What a through variable passes without an across variable is a short.
        rows += [i for i in lanes if told[i] == "through" and i not in (*rows, *columns)]
        ports: list[tuple[str, str, str]] = []
        for lane in (*columns, *rows):
            here, there = ends[lane]
            if told[lane] == "through":  # both ports stand in the path of the lane, the second one against it
                middle = f"{self.name}_{lane + 1}" if lane in rows and lane in columns else ""
                here, there = (here, middle or there) if len(ports) < len(columns) else (there, middle or here)
            ports.append((domains[lane].name, here, there))
        K = [[-S[i][j].expression if j < i else ZERO for j in columns] for i in rows]
        sides = [told[j] for j in columns], [other_side(told[i]) for i in rows]
        context.elements[self.name] = Element(
            self.name,
            multiport_kind(tuple(domain for domain, _, _ in ports)),
            tuple(node for _, *nodes in ports for node in nodes),
            multiport=Multiport.of_sides(*sides, K),
            place=context.place(item.name),
        )

    def _choose(self, kinds: list[ElementKind], names: list[dict[str, str]]) -> None:
        """Take the names that the item itself gives to power variables; they come before those of sections."""
        words = {word: side for side in SIDES for kind in kinds for word in (*variable_words(kind.domain, side), side)}
        for word, texts in self.item.variables:
            if word not in words and word != OUTPUTS:
                known = ["matrix", "lanes", "initial", "causality", OUTPUTS, *words]
                key = Scalar(word, self.item.name.line, self.item.name.column, len(word), False)
                raise self.context.unknown_key(key, known, f"the field {self.name}")
            self._check_count(texts, len(kinds), f"names of the {word}")
            for lane, text in enumerate(texts):
                side = kinds[lane].side if word == OUTPUTS else words[word]
                if text.text != ladder.NONE:
                    names[lane][side] = self.context.name(text, "a variable")

    def _initial(self, kinds: list[ElementKind], law: FieldLaw) -> Sequence[tuple[Expression | None, bool]]:
        if not self.item.initial:
            return [(None, False)] * len(kinds)
        self._check_count(self.item.initial, len(kinds), "initial values")
        subject, pairs = f"an initial value of {self.name}", zip(self.item.initial, kinds, strict=True)
        return [initial_value(self.context, kind, text, law, subject) for text, kind in pairs]

    def _preferred(self, kinds: list[ElementKind]) -> list[Side | None]:
        """What the members should decide, where causality has a choice: integral or derivative, or a power variable."""
        if not self.item.causality:
            return [None] * len(kinds)
        self._check_count(self.item.causality, len(kinds), "words for causality")
        found: list[Side | None] = []
        for text, kind in zip(self.item.causality, kinds, strict=True):
            sides: dict[str, Side] = {side: side for side in SIDES}
            if kind.role == "storage":
                sides |= {"integral": kind.side, "derivative": other_side(kind.side)}
            if text.text not in sides:
                fix = did_you_mean(text.text, sides) or f"the words are {', '.join(sides)}"
                what = f"'{text.text}' is no causality of '{self.name}'"
                raise self.context.error(rules.BAD_BLOCK, text, what, fix=fix)
            found.append(sides[text.text])
        return found

    def _check_count(self, texts: Sequence[Scalar], count: int, what: str) -> None:
        if len(texts) != count:
            what = f"'{self.name}' has {len(texts)} {what}, not {count}"
            fix = "give one for each lane"
            raise self.context.error(rules.WRONG_WIDTH, self.item.name, what, fix=fix, where=self.name)


def _listed(texts: tuple[Scalar, ...]) -> SequenceNode:
    return SequenceNode(texts, texts[0].line, texts[0].column, texts[0].length)


# -- connections ---------------------------------------------------------------------------------------------------------------


def read_connection(
    context: ReadingContext, block: ladder.LadderConnection[Scalar], left: LaneEnds, right: LaneEnds
) -> Matrix:
    """The matrix K of a connection."""
    subject = f"an entry of {block.name.text}"
    return tuple(
        tuple(
            context.checked_quantity(text, modulus_dimension((a, x), (b, y)), subject).expression
            for text, a, x in zip(row, left[0], left[1], strict=True)
        )
        for row, b, y in zip(block.K, right[0], right[1], strict=True)
    )


def modulus_dimension(one: tuple[Domain, Side], two: tuple[Domain, Side]) -> Dimension:
    """The dimension of K in x_2 = K x_1."""
    return _power(*two).over(_power(*one))


def emit_connection(
    context: ReadingContext, block: ladder.LadderConnection[Scalar], left: LaneEnds, right: LaneEnds, K: Matrix
) -> None:
    """Add the element of a connection by a matrix. Lanes that its zeros leave out are not among its ports."""
    context.require_new(block.name)
    # A lane of zeros passes no power; as a port it would leave a variable that nothing decides.
    rows = [i for i, row in enumerate(K) if not is_zero_row(row)]
    columns = [j for j in range(len(left[0])) if not is_zero_row([row[j] for row in K])]
    if not rows:
        what = f"the matrix of '{block.name.text}' is zero"
        raise context.error(rules.LOOSE_CONNECTION, block.name, what, fix="remove the connection and what is behind it")
    ports = [(left, j) for j in columns] + [(right, i) for i in rows]
    domains = tuple(side[0][k].name for side, k in ports)
    nodes = tuple(node for side, k in ports for node in (side[2][k], side[0][k].reference))
    sides = [left[1][j] for j in columns], [right[1][i] for i in rows]
    relation = Multiport.of_sides(*sides, [[K[i][j] for j in columns] for i in rows])
    context.elements[block.name.text] = Element(
        block.name.text, multiport_kind(domains), nodes, multiport=relation, place=context.place(block.name)
    )


def is_zero_row(row: Sequence[Expression]) -> bool:
    """Whether all entries vanish."""
    return all(entry is ZERO or is_zero(entry) for entry in row)


MOST_COEFFICIENTS = 30
_ACCURACY = 1e-6
"""The largest relative difference between a function and its realisation."""


# -- transfer functions --------------------------------------------------------------------------------------------------------

RelatedBranch = tuple[tuple[str, str], Side, str]
"""The nodes of a branch, the power variable that the connection relates there, and the domain."""


@final
class TransferEmitter:
    """Adds the elements that realise a transfer function or matrix between the nodes of its lanes.

    Storages z and resistors at nodes of their own are joined to the lanes by one lossless connection. Lanes may be of several
    domains: what each is told follows from the letter there, or from `power` and `static` and its way.
    """

    def __init__(
        self,
        context: ReadingContext,
        item: ladder.LadderTransfer,
        domains: Sequence[Domain],
        ways: Sequence[ladder.Way],
        ends: Sequence[tuple[str, str]],
    ) -> None:
        context.require_new(item.name)
        self.context, self.item, self.domains, self.ends = context, item, domains, ends
        self.name, self.at = item.name.text, item.name
        self.told = [self._told(domain, way) for domain, way in zip(domains, ways, strict=True)]

    def _refuse(
        self, what: str, fix: str, rule: Rule = rules.NO_REALISATION, at: Scalar | None = None
    ) -> TellegenError:
        return self.context.error(rule, at or self.at, what, fix=fix, where=self.name)

    def _told(self, domain: Domain, way: ladder.Way) -> Side:
        """The variable of a lane that a transfer function is told; it gives the other one."""
        letter = self.item.letter
        if letter in ladder.MATRICES:
            return ladder.given_side(way) if letter == "power" else ladder.taken_side(way)
        law = next(iter(letter_kinds(letter, domain)), None)
        if law is None:
            what = f"'{letter}' stands for no {domain.name} element"
            raise self._refuse(what, f"it belongs to {domain_words(letter)}", rules.BAD_LETTER)
        return other_side(law.side)

    # Numbers

    def _realised(self) -> realisation.Realisation:
        denominator = self._polynomial(self.item.denominator)
        numerators = [[self._polynomial(entry) for entry in row] for row in self.item.numerator]
        found: realisation.Realisation | None
        try:
            if len(numerators) == 1:
                found = realisation.realise_function(positive_real(numerators[0][0], denominator))
            else:
                found = realisation.realise_matrix(numerators, denominator)
        except NotPositiveRealError as reason:
            fix = "a passive element takes at least as much energy as it gives: check the signs and the order of the coefficients"
            raise self._refuse(f"'{self.name}' is not positive real: {reason}", fix, rules.NOT_POSITIVE_REAL) from None
        except realisation.TooManyStatesError as reason:
            what = f"'{self.name}' has {reason}: more than {realisation.MOST_STATES} states"
            raise self._refuse(what, "write it as a sum of matrices or elements with fewer poles") from None
        except ArithmeticError:
            found = None
        if found is None or not _is_accurate(found, numerators, denominator):
            fix = "write it as a sum of elements with fewer poles, or scale its coefficients"
            raise self._refuse(f"the realisation of '{self.name}' loses too many digits", fix)
        return found

    def _polynomial(self, texts: Sequence[Scalar]) -> Polynomial:
        if not 0 < len(texts) <= MOST_COEFFICIENTS:
            fix = f"give between 1 and {MOST_COEFFICIENTS}, those of the highest power of s first"
            raise self._refuse(f"'{self.name}' has {len(texts)} coefficients", fix)
        return polynomial(reversed([self._number(text) for text in texts]))

    def _number(self, text: Scalar) -> Fraction:
        reading = self.context.quantity(text, f"a coefficient of {self.name}")
        try:
            return _value(self.context, reading.expression, {}, ())
        except KeyError as missing:
            what = f"a coefficient of '{self.name}' uses '{missing.args[0]}', which has no constant value"
            fix = "give numbers, or parameters with values: the realisation is made of them"
            raise self._refuse(what, fix, at=text) from None
        except ArithmeticError:
            what = f"a coefficient of '{self.name}' is not a finite number"
            raise self._refuse(what, "check its formula", at=text) from None

    # Elements

    def emit(self) -> None:
        """Add all elements."""
        found = self._realised()
        n, ports = len(found.g), len(self.ends)
        connected = bool(n or found.c or found.skewed or found.rates)
        if not connected and not found.rate:
            raise self._refuse(f"the transfer function '{self.name}' is zero", "remove it")
        spots = [
            self._spots(lane, connected=connected, turned=found.is_turned(lane), rate=bool(found.rate))
            for lane in range(ports)
        ]
        if found.rate:
            domain = self.domains[0].name
            kind = next((k for k in kinds_of(domain, "storage") if k.side == self.told[0] and not k.inverse), None)
            if kind is None:
                what = f"'{self.name}' is a storage at high frequencies that the {domain} domain has not"
                raise self._refuse(what, "give a proper function")
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

    def _connect(self, found: realisation.Realisation, spots: list[dict[str, tuple[str, str]]]) -> None:
        n, ports = len(found.g), len(self.ends)
        domain, storage, resistor = self._inner_kinds()
        reference = domain.reference
        own = [(f"{self.name}_z{k + 1}", reference) for k in range(n)]
        lost = [(f"{self.name}_e{k + 1}", reference) for k in range(len(found.c))]
        following = [(f"{self.name}_f{k + 1}", reference) for k in range(len(found.rates))]
        for k, nodes in enumerate(own):
            self._element(f"{self.name}_x{k + 1}", storage, nodes, 1)
        for k, nodes in enumerate(lost):
            # i = e/2 in the realisation: a conductance of one half, in whatever domain.
            self._element(f"{self.name}_r{k + 1}", resistor, nodes, Fraction(1, 2))
        for k, nodes in enumerate(following):
            self._element(f"{self.name}_s{k + 1}", storage, nodes, 1)
        lanes = list(zip(spots, self.told, self.domains, strict=True))
        given: list[RelatedBranch] = [(nodes, "across", domain.name) for nodes in own]
        given += [(spot["u"], told, own_domain.name) for spot, told, own_domain in lanes]
        answers: list[RelatedBranch] = [(nodes, "through", domain.name) for nodes in own]
        answers += [(nodes, "across", domain.name) for nodes in (*lost, *following)]
        # The lower half alone: its transpose, by which the conjugates run, is the upper half of the skew J.
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
        raise self._refuse(what, "put a connection before it that leads into a domain that has them")

    def _multiport(self, given: list[RelatedBranch], answers: list[RelatedBranch], rows: list[list[float]]) -> None:
        """The connection, without the ports that its zeros leave out."""
        left = [j for j, (_, side, _) in enumerate(given) if side == "through" or any(row[j] for row in rows)]
        right = [i for i, row in enumerate(rows) if any(row)]
        ports = [given[j] for j in left] + [answers[i] for i in right]
        domains = tuple(domain for _, _, domain in ports)
        sides = [given[j][1] for j in left], [answers[i][1] for i in right]
        K = [[self._modulus(rows[i][j], a, b) for b, j in enumerate(left, 1)] for a, i in enumerate(right, 1)]
        nodes = tuple(node for ends, _, _ in ports for node in ends)
        self.context.elements[self.name] = Element(
            self.name,
            multiport_kind(domains),
            nodes,
            multiport=Multiport.of_sides(*sides, K),
            place=self.context.place(self.at),
        )

    def _modulus(self, x: float, row: int, column: int) -> Expression:
        """An entry of the connection: a parameter, so that equations can be read; whole numbers stand for themselves."""
        if x == int(x):
            return number(int(x))
        name = f"{self.name}_k{row}_{column}"
        if name in self.context.parameters:
            what = f"the parameter '{name}' is an entry of '{self.name}' too"
            raise self.context.error(notations_rules.DESCRIBED_TWICE, self.at, what, fix="rename one of them")
        self.context.parameters[name] = Parameter(name, number(Fraction(x)), place=self.context.place(self.at))
        return symbol(name)

    def _element(self, name: str, kind: ElementKind, nodes: tuple[str, str], coefficient: float | Fraction) -> None:
        if name in self.context.elements:
            what = f"'{name}', a part of '{self.name}', is described twice"
            raise self.context.error(notations_rules.DESCRIBED_TWICE, self.at, what, fix="rename one of them")
        value = number(Fraction(coefficient))
        self.context.elements[name] = Element(name, kind, nodes, value, place=self.context.place(self.at))


def _value(
    context: ReadingContext, expression: Expression, known: dict[str, Fraction], above: tuple[str, ...]
) -> Fraction:
    """An exact value; functions and pi are taken as the nearest floating-point number. Raises KeyError for what has none."""
    for name in expression.free_symbols:
        if name not in known:
            parameter = context.parameters.get(name)
            if parameter is None or parameter.expression is None or name in above or name in context.displacements:
                raise KeyError(name)
            known[name] = _value(context, parameter.expression, known, (*above, name))
    try:
        # Whether a function is passive is decided exactly, so its coefficients must not be rounded before.
        return evaluate_exact(expression, known)
    except ValueError:
        return Fraction(finite_value(expression, {name: float(x) for name, x in known.items()}))


def _is_accurate(
    found: realisation.Realisation, numerators: Sequence[Sequence[Polynomial]], denominator: Polynomial
) -> bool:
    """Compare the realisation with the function at a few points near the imaginary axis."""
    degree = max(len(denominator) - 1, 1)
    scale = abs(float(denominator[0] / denominator[-1])) ** (1 / degree) if denominator[0] else 1.0
    # Near the imaginary axis, around the size of the poles: there resonances show every wrong digit.
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
