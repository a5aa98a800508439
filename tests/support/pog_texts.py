"""Random POG schemes as texts, chained, branched and vectorial, with the equations that each entry stands for.

The equations are written down entry by entry while the text is drawn: sections have an across and a through variable in each lane,
the through variable flowing to the right. Nothing of the package is used.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from hypothesis import strategies as st

from support import exact

Way = Literal["series", "parallel"]
Coefficient = tuple[Fraction, Fraction]
"""a + b*s."""
ONE, MINUS = (Fraction(1), Fraction(0)), (Fraction(-1), Fraction(0))

# By domain: the letters of what stores the across and the through variable, of across = r*through and through = g*across.
LETTERS = {
    "electrical": ("C", "L", "R", "G"),
    "translational": ("M", "E", "d", "b"),
    "rotational": ("J", "E", "d", "b"),
    "hydraulic": ("C", "L", "R", "G"),
}


@dataclass
class Equations:
    """Rows of coefficients by unknown; inputs and outputs by name."""

    count: int = 0
    rows: list[dict[int, Coefficient]] = field(default_factory=list)
    sources: dict[str, tuple[int, int]] = field(
        default_factory=dict
    )  # name -> column of the input, column of the output
    signs: dict[str, int] = field(default_factory=dict)

    def unknown(self) -> int:
        self.count += 1
        return self.count - 1

    def add(self, *terms: tuple[int, Coefficient]) -> None:
        row: dict[int, Coefficient] = {}
        for column, (a, b) in terms:
            old = row.get(column, (Fraction(0), Fraction(0)))
            row[column] = (old[0] + a, old[1] + b)
        self.rows.append(row)

    def transfer_matrix(self, s: Fraction) -> exact.Rows | None:
        """Outputs by inputs, in the order of the sources; None at a pole."""
        names, inputs = list(self.sources), [column for column, _ in self.sources.values()]
        place = {column: k for k, column in enumerate(c for c in range(self.count) if c not in inputs)}
        unknowns = len(place)
        rows = []
        for row in self.rows:
            numbers = {c: a + b * s for c, (a, b) in row.items() if a + b * s}
            rows.append({place[c] if c in place else unknowns + inputs.index(c): e for c, e in numbers.items()})
        # Columns behind the unknowns are right sides: what is known moves over with its sign changed.
        turned = [{c: -e if c >= unknowns else e for c, e in row.items()} for row in rows]
        found = exact.solve(turned, unknowns, len(inputs))
        if found is None:
            return None
        outputs = [place[self.sources[name][1]] for name in names]
        return [[self.signs[name] * e for e in found[k]] for name, k in zip(names, outputs, strict=True)]


@dataclass(repr=False)
class Pog:
    """A text with the numbers of its parameters and its equations."""

    text: str
    values: dict[str, Fraction]
    equations: Equations

    def __repr__(self) -> str:
        return f"{self.text}# {self.values}"


class _Drawer:
    def __init__(self, draw: st.DrawFn, lanes: int, branches: bool) -> None:
        self.draw = draw
        self.most_lanes = lanes
        self.branches = branches
        self.values: dict[str, Fraction] = {}
        self.equations = Equations()
        self.lines: list[str] = []
        self.names = 0

    def name(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def value(self) -> Fraction:
        return Fraction(self.draw(st.integers(1, 9)), self.draw(st.integers(1, 4)))

    def parameter(self, letter: str = "p") -> str:
        name = self.name(letter)
        self.values[name] = self.value()
        return name

    def chance(self, one_in: int) -> bool:
        return self.draw(st.integers(1, one_in)) == 1

    # -- ladders ---------------------------------------------------------------------------------------------------------------

    def ladder(self) -> None:
        width = self.draw(st.integers(1, self.most_lanes))
        domains = [self.draw(st.sampled_from(sorted(LETTERS))) for _ in range(width)]
        v = [self.equations.unknown() for _ in range(width)]
        f = [self.equations.unknown() for _ in range(width)]
        ways = self.ways(width)
        self.line("  ", "domain", domains)
        self.section(v, f, ways, left=True)
        for stage in range(self.draw(st.integers(1, 3))):
            if stage:
                v, f, domains, ways = self.connection(v, f, domains, ways)
            for k in range(self.draw(st.integers(1, 2))):
                ways = ways if k == 0 else self.ways(width=len(v))
                v, f = self.block("  ", v, f, domains, ways)
                if self.branches and self.chance(3):
                    ways = self.ways(len(v), uniform=True)
                    v, f = self.branch("  ", v, f, domains, ways[0])
        self.section(v, f, ways, left=False)

    def ways(self, width: int, *, uniform: bool = False) -> list[Way]:
        first: Way = self.draw(st.sampled_from(("series", "parallel")))
        if uniform or width == 1 or not self.chance(3):
            return [first] * width
        return [self.draw(st.sampled_from(("series", "parallel"))) for _ in range(width)]

    def line(self, indent: str, word: str, value: object, more: str = "") -> None:
        self.lines.append(f"{indent}- {word}: {_flow(value)}\n" + (f"{indent}  {more}\n" if more else ""))

    # -- sections --------------------------------------------------------------------------------------------------------------

    def section(self, v: list[int], f: list[int], ways: Sequence[Way], *, left: bool) -> None:
        """The sources of an end: what the block takes, or anything where the section says what is given; or none."""
        usual = self.chance(2)
        if not usual and self.chance(3):
            for lane, way in enumerate(ways):
                self.equations.add((v[lane] if way == "series" else f[lane], ONE))
            return
        across, through, given = [], [], []
        for lane, way in enumerate(ways):
            a, t = self.name("a"), self.name("t")
            across.append(a)
            through.append(t)
            side = "across" if way == "series" else "through"
            sign = 1
            if not usual:
                side = self.draw(st.sampled_from(("across", "through", side)))
                sign = self.draw(st.sampled_from((1, -1)))
                if len(ways) > 1 and self.chance(3):
                    self.equations.add((v[lane] if way == "series" else f[lane], ONE))
                    continue
            name = a if side == "across" else t
            given.append(("-" if sign < 0 else "") + name)
            self.source(name, side, v[lane], f[lane], sign, left=left)
        rows: list[object] = [across[0], through[0]] if len(ways) == 1 else [across, through]
        if usual:
            self.line("  ", "section", rows)
        else:
            self.line("  ", "section", {"across": rows[0], "through": rows[1], "given": given})

    def source(self, name: str, side: str, v: int, f: int, sign: int, *, left: bool) -> None:
        u = self.equations.unknown()
        inwards = 1 if left else -1
        # Across variables are those of the section, through variables come in; power that is supplied comes in.
        column, answer, direction = (v, f, 1) if side == "across" else (f, v, inwards)
        self.equations.add((column, ONE), (u, (Fraction(-sign * direction), Fraction(0))))
        self.equations.sources[name] = (u, answer)
        self.equations.signs[name] = sign * direction * inwards

    # -- blocks ----------------------------------------------------------------------------------------------------------------

    def block(
        self, indent: str, v: list[int], f: list[int], domains: Sequence[str], ways: Sequence[Way]
    ) -> tuple[list[int], list[int]]:
        """A block of one to three elements."""
        width = len(ways)
        shares: list[list[int]] = [[] for _ in ways]
        items: list[object] = []
        for _ in range(self.draw(st.integers(1, 2))):
            if width > 1 and self.chance(3):
                items.append(self.field(v, f, ways, shares))
            else:
                items.append(self.row(v, f, domains, ways, shares))
        mixed = len(set(ways)) > 1
        self.line(indent, "mixed" if mixed else ways[0], items, f"ways: {_flow(list(ways))}" if mixed else "")
        v_2, f_2 = list(v), list(f)
        for lane, way in enumerate(ways):
            moved = self.equations.unknown()
            old, new = (v, v_2) if way == "series" else (f, f_2)
            new[lane] = moved
            self.equations.add((old[lane], ONE), (moved, MINUS), *((share, MINUS) for share in shares[lane]))
        return v_2, f_2

    def row(
        self, v: list[int], f: list[int], domains: Sequence[str], ways: Sequence[Way], shares: list[list[int]]
    ) -> object:
        present = [self.chance(4) is False for _ in ways]
        if not any(present):
            present[0] = True
        texts = []
        for lane, way in enumerate(ways):
            if not present[lane]:
                texts.append("none")
                continue
            kind = self.draw(st.integers(0, 3))
            name = self.parameter()
            x, zero = self.values[name], Fraction(0)
            coefficient = (zero, x) if kind < 2 else (x, zero)
            own, shared = self.equations.unknown(), f[lane] if way == "series" else v[lane]
            across, through = (own, shared) if way == "series" else (shared, own)
            # kinds 0 and 3: through = x s across or x across; 1 and 2: across = x s through or x through
            told, decided = (across, through) if kind in (0, 3) else (through, across)
            self.equations.add((decided, ONE), (told, (-coefficient[0], -coefficient[1])))
            shares[lane].append(own)
            minus = "-" if self.chance(4) else ""
            texts.append(f"{minus}{LETTERS[domains[lane]][kind]}:{name}")
        return texts[0] if len(texts) == 1 else texts

    def field(self, v: list[int], f: list[int], ways: Sequence[Way], shares: list[list[int]]) -> object:
        """An energy matrix, or a power matrix with a skew part."""
        width, energy = len(ways), self.chance(2)
        root = [[self.draw(st.integers(-2, 2)) for _ in ways] for _ in ways]
        matrix = [
            [sum(a * b for a, b in zip(r, q, strict=True)) + (i == j) for j, q in enumerate(root)]
            for i, r in enumerate(root)
        ]
        if not energy:
            for i in range(width):
                for j in range(i):
                    turn = self.draw(st.integers(-2, 2))
                    matrix[i][j] += turn
                    matrix[j][i] -= turn
        own = [self.equations.unknown() for _ in ways]
        shared = [f[lane] if way == "series" else v[lane] for lane, way in enumerate(ways)]
        for i in range(width):
            terms = [
                (shared[j], (Fraction(0), -Fraction(m)) if energy else (-Fraction(m), Fraction(0)))
                for j, m in enumerate(matrix[i])
            ]
            self.equations.add((own[i], ONE), *terms)
            shares[i].append(own[i])
        return {
            "energy" if energy else "power": self.name("field"),
            "matrix": [[str(m) for m in row] for row in matrix],
        }

    # -- connections and branches ----------------------------------------------------------------------------------------------

    def connection(
        self, v: list[int], f: list[int], domains: Sequence[str], ways: Sequence[Way]
    ) -> tuple[list[int], list[int], list[str], list[Way]]:
        width = self.draw(st.integers(1, self.most_lanes))
        after = self.ways(width)
        domains_2 = [self.draw(st.sampled_from(sorted(LETTERS))) for _ in range(width)]
        v_2, f_2 = ([self.equations.unknown() for _ in range(width)] for _ in range(2))
        x_1 = [(f[k], v[k]) if way == "series" else (v[k], f[k]) for k, way in enumerate(ways)]
        x_2 = [(v_2[k], f_2[k]) if way == "series" else (f_2[k], v_2[k]) for k, way in enumerate(after)]
        name = self.name("k")
        if width == len(v) == 1:
            self.values[name] = self.value()
            K = [[self.values[name]]]
            self.line("  ", "connect", name)
        else:
            K = [[Fraction(self.draw(st.integers(-2, 3))) for _ in v] for _ in v_2]
            if not any(e for row in K for e in row):
                K[0][0] = Fraction(1)
            self.line("  ", "connect", {"name": name, "K": [[str(e) for e in row] for row in K]})
        for i, (own, _) in enumerate(x_2):
            self.equations.add((own, ONE), *((x_1[j][0], (-K[i][j], Fraction(0))) for j in range(len(v))))
        for j, (_, conjugate) in enumerate(x_1):
            self.equations.add((conjugate, ONE), *((x_2[i][1], (-K[i][j], Fraction(0))) for i in range(width)))
        self.line("  ", "domain", domains_2)
        return v_2, f_2, domains_2, after

    def branch(
        self, indent: str, v: list[int], f: list[int], domains: Sequence[str], way: Way
    ) -> tuple[list[int], list[int]]:
        self.lines.append(f"{indent}- {'branch' if way == 'parallel' else 'series branch'}:\n")
        side_v, side_f, v_2, f_2 = list(v), list(f), list(v), list(f)
        for lane in range(len(v)):
            mine, moved = self.equations.unknown(), self.equations.unknown()
            (side_v if way == "series" else side_f)[lane] = mine
            (v_2 if way == "series" else f_2)[lane] = moved
            old = v[lane] if way == "series" else f[lane]
            self.equations.add((old, ONE), (mine, MINUS), (moved, MINUS))
        ways: list[Way] = [way] * len(v)
        for _ in range(self.draw(st.integers(1, 2))):
            ways = self.ways(len(v))
            side_v, side_f = self.block(indent + "    ", side_v, side_f, domains, ways)
        for lane, last in enumerate(ways):
            self.equations.add((side_v[lane] if last == "series" else side_f[lane], ONE))
        return v_2, f_2


def _flow(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return str(value)


@st.composite
def pogs(draw: st.DrawFn, *, lanes: int = 3, branches: bool = True) -> Pog:
    """A random POG of at most so many lanes."""
    drawer = _Drawer(draw, lanes, branches)
    drawer.ladder()
    head = "system: random\nparameters:\n" + "".join(f"  {name}:\n" for name in drawer.values)
    head = head if drawer.values else "system: random\n"
    return Pog(head + "pog:\n" + "".join(drawer.lines), drawer.values, drawer.equations)
