"""Compare runs of 20-sim models with their own equations: `python tools/judge_twenty_sim.py FOLDER [NAME=DOMAIN ...]`.

Every model of a folder is imported and run. Beside that its equations are put together as they stand in the file, one for each
formula, wire, junction and node, and solved by implicit steps (BDF2). Only the parser is common to both ways. Where an input
jumps the steps are of first order: differences there are those of the judge.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import tellegen as tg
from tellegen.core.domains import DOMAINS as OUR_DOMAINS
from tellegen.core.errors import TellegenError
from tellegen.expressions import Expression
from tellegen.importing.twenty_sim.laws import DOMAINS, PRODUCT, read_equations
from tellegen.importing.twenty_sim.parsing import FlatModel, PortEnd, TwentySimFile, flatten, read_file
from tellegen.importing.twenty_sim.reading import read_twenty_sim
from tellegen.notations.reading import read_model

Array = NDArray[np.float64]
Key = tuple[object, ...]
STEPS = 2000
LONGEST = 2.0
"""Longer experiments are compared up to here, in s."""


class OwnEquations:
    """The equations of a model as they stand: residuals of unknowns, their rates and the time."""

    def __init__(self, file: TwentySimFile) -> None:
        self.file, self.flat = file, flatten(file.model, "")
        self.index: dict[Key, int] = {}
        self.rows: list[Callable[[Array, Array, float], float]] = []
        self.start: dict[Key, float] = {}
        self.parameters = self._parameters()
        for path in self.flat.components:
            self._component(path)
        self._bonds()
        self._nodes()

    def unknown(self, key: Key) -> int:
        """The place of an unknown."""
        return self.index.setdefault(key, len(self.index))

    def equal(self, terms: Mapping[Key, float]) -> None:
        """An equation: a sum of unknowns with factors is zero."""
        places = [(self.unknown(key), factor) for key, factor in terms.items()]
        self.rows.append(lambda x, _, __: sum(factor * x[k] for k, factor in places))

    def _parameters(self) -> dict[Key, float]:
        found: dict[Key, float] = {}
        shared: dict[str, float] = {}
        for path, component in (*self.flat.composites.items(), *self.flat.components.items()):
            for name, parameter in read_equations(component).parameters.items():
                text = self.file.parameters.get("\\".join((*path, name)), parameter.text).split()
                if not text:
                    continue
                size = float(text[0]) * {"mH": 1e-3, "mm": 1e-3, "uF": 1e-6}.get(parameter.unit, 1.0)
                found[path, name] = size
                if parameter.shared:
                    shared[name] = size
        for path, component in self.flat.components.items():
            for name in read_equations(component).parameters:
                if (path, name) not in found:
                    found[path, name] = shared[name]
        return found

    def _component(self, path: tuple[str, ...]) -> None:
        component = self.flat.components[path]
        found = read_equations(component)
        if found.samples:
            raise ValueError(f"{path} takes samples")
        if not (component.knot and any(port.shape for port in component.ports.values())):
            for name, formula in found.formulas.items():
                self._formula(path, (path, name), formula)
        for name in component.ports:
            if (
                component.ports[name].domain == "signal"
                and component.ports[name].way == "out"
                and name not in found.formulas
            ):
                raise ValueError(f"{path} does not give {name}")
        for name, (inner, begin) in found.integrals.items():
            self._formula(path, (path, name), inner, rate=True)
            given = (
                begin.evaluate({str(p): v for (q, p), v in self.parameters.items() if q == path})
                if begin is not None
                else 0.0
            )
            self.start[path, name] = self._initial(path, name, found.formulas, given)
        for name, inner in found.slopes.items():
            held = (path, f"{name} of")
            self._formula(path, held, inner)
            place, slope = self.unknown(held), self.unknown((path, name))
            self.rows.append(partial(_slope, place, slope))
            self.start[held] = 0.0

    def _initial(self, path: tuple[str, ...], memory: str, formulas: Mapping[str, Expression], given: float) -> float:
        for key, text in self.file.initial.items():
            if not key.startswith("\\".join(path) + "\\"):
                continue
            variable = key.removeprefix("\\".join(path) + "\\").removesuffix("_initial")
            formula = formulas.get(variable)
            if formula is not None and str(formula) == memory:
                return float(text.split()[0])
        return given

    def _formula(self, path: tuple[str, ...], left: Key, formula: Expression, *, rate: bool = False) -> None:
        """The equation of a formula: what it gives, or the rate of that, less its value."""
        place = self.unknown(left)
        component = self.flat.components[path]
        values: dict[str, float] = {}
        read: dict[str, list[int]] = {}
        products: dict[str, list[int]] = {}
        for name in formula.free_symbols:
            plain = name.removeprefix(PRODUCT)
            port = component.ports.get(plain)
            if (path, name) in self.parameters:
                values[name] = self.parameters[path, name]
            elif port is not None and port.domain == "signal" and port.way != "out":
                sources = [self.unknown((end.path, end.port)) for end in self.flat.sources(PortEnd(path, plain))]
                (products if name != plain else read)[name] = sources
            elif name != "time":
                read[name] = [self.unknown((path, name))]

        def residual(x: Array, rates: Array, t: float) -> float:
            known = values | {"time": t} | {name: sum(x[k] for k in places) for name, places in read.items()}
            known |= {name: float(np.prod([x[k] for k in places])) for name, places in products.items()}
            return float((rates if rate else x)[place] - formula.evaluate(known))

        self.rows.append(residual)

    def _is_junction(self, end: PortEnd) -> str:
        component = self.flat.components.get(end.path)
        return read_equations(component).junction if component is not None and component.knot else ""

    def _bonds(self) -> None:
        """Ports of efforts and flows: what a bond joins is equal, and junctions share or sum."""
        at: dict[object, list[tuple[int, int]]] = defaultdict(list)
        for number, wire in enumerate(self.flat.bonds):
            for end, sign in ((wire.tail, -1), (wire.head, 1)):
                if end in self.flat.nodes:
                    across = "f" if _is_mechanical(self.flat, end) else "e"
                    self.equal({("bond", number, across): 1, ("node", self.flat.nodes[end]): -1})
                    at["node", self.flat.nodes[end]].append((number, sign))
                elif self._is_junction(end) in ("0", "1"):
                    at[end.path].append((number, sign))
                elif end.path in self.flat.components:
                    for letter in "ef":
                        self.equal({("bond", number, letter): 1, (end.path, f"{end.port}.{letter}"): -1})
                else:
                    at[end].append((number, sign))
        self.on_nodes = {
            key[1]: bonds for key, bonds in at.items() if isinstance(key, tuple) and key and key[0] == "node"
        }
        for key, bonds in at.items():
            if isinstance(key, tuple) and key and key[0] == "node":
                continue
            kind = "0" if isinstance(key, PortEnd) else read_equations(self.flat.components[key]).junction  # type: ignore[index]
            shared, summed = ("e", "f") if kind == "0" else ("f", "e")
            first = bonds[0][0]
            for number, _ in bonds[1:]:
                self.equal({("bond", first, shared): 1, ("bond", number, shared): -1})
            self.equal({("bond", number, summed): float(sign) for number, sign in bonds})
            if not isinstance(key, PortEnd):
                port = next(name for name, one in self.flat.components[key].ports.items() if one.domain != "signal")  # type: ignore[index]
                self.equal({(key, f"{port}.{shared}"): 1, ("bond", first, shared): -1})

    def _nodes(self) -> None:
        """Ports of iconic diagrams: differences of what nodes share, and what flows together at each."""
        sums: dict[int, dict[Key, float]] = defaultdict(dict)
        for end, node in self.flat.nodes.items():
            sums.setdefault(node, {})
            component = self.flat.components.get(end.path)
            if component is None or (component.knot and component.ports[end.port].shape):
                continue
            port = component.ports[end.port]
            across, through = ("f", "e") if _is_mechanical(self.flat, end) else ("e", "f")
            sign = -1.0 if port.way == "out" else 1.0
            sums[node][end.path, f"{end.port}.{through}"] = sums[node].get((end.path, f"{end.port}.{through}"), 0.0) + (
                -sign if end.end == "low" else sign
            )
            if end.end != "low":
                low = self.flat.nodes.get(PortEnd(end.path, end.port, "low")) if end.end == "high" else None
                terms: dict[Key, float] = {(end.path, f"{end.port}.{across}"): 1.0, ("node", node): -1.0}
                if low is not None and low != node:
                    terms["node", low] = 1.0
                self.equal(terms)
        for node, terms in sums.items():
            for number, sign in self.on_nodes.get(node, ()):
                end = next(e for e, n in self.flat.nodes.items() if n == node)
                terms["bond", number, "e" if _is_mechanical(self.flat, end) else "f"] = -float(sign)
            if terms:
                self.equal(terms)

    def solve(self, until: float) -> tuple[Array, Array]:
        """Times and rows of all unknowns."""
        n, h = len(self.index), until / STEPS
        if len(self.rows) != n:
            raise ValueError(f"{len(self.rows)} equations for {n} unknowns")
        kept = {self.index[key]: value for key, value in self.start.items()}
        x = np.array([kept.get(k, 0.0) for k in range(n)])
        rows = [x]
        factors: Array | None = None

        def residual(y: Array, rates: Array, t: float) -> Array:
            return np.array([row(y, rates, t) for row in self.rows])

        for step in range(1, STEPS + 1):
            before = rows[-1]
            # The first step is one of first order.
            weight, past = (1.0 / h, before) if step == 1 else (1.5 / h, (4 * before - rows[-2]) / 3)
            y = before.copy()
            for attempt in range(30):
                missing = residual(y, weight * (y - past), step * h)
                if factors is None or attempt in (8, 16):
                    moved = 1e-7 * (1 + np.abs(y))
                    columns = [
                        (residual(y + d * e, weight * (y + d * e - past), step * h) - missing) / d
                        for d, e in zip(moved, np.eye(n), strict=True)
                    ]
                    factors = np.linalg.pinv(np.column_stack(columns))
                change = factors @ missing
                y = y - change
                if np.max(np.abs(change) / (1e-3 + np.abs(y))) < 1e-9:
                    break
            factors = factors if step > 1 else None
            rows.append(y)
        return np.linspace(0, until, STEPS + 1), np.array(rows)


def _slope(place: int, slope: int, x: Array, rates: Array, _: float) -> float:
    return float(rates[place] - x[slope])


def _is_mechanical(flat: FlatModel, end: PortEnd) -> bool:
    return DOMAINS[flat.port(end).domain].name in ("translational", "rotational")


class Verdict(NamedTuple):
    """The largest difference of a variable beside its largest value, and how many were compared."""

    worst: float
    variable: str
    compared: int


def compare(path: Path, domains: tuple[str, ...] = ()) -> Verdict:
    """Run a model here and by its own equations.

    Raises: TellegenError where it is refused.
    """
    model = read_model(read_twenty_sim(path, "model", domain_of=domains).text)
    file = read_file(path)
    own = OwnEquations(file)
    until = min(float(file.until or 1.0), LONGEST)
    times, rows = own.solve(until)
    run = tg.simulate(model, until=until, times=times, rtol=1e-9)
    by_element = {element.name: element for element in model.elements}
    found: dict[str, float] = {}
    for key, place in own.index.items():
        if len(key) != 2 or not isinstance(key[0], tuple) or str(key[1])[-2:] not in (".e", ".f"):
            continue
        element = by_element.get(str(key[0][-1])) or by_element.get("_".join(map(str, key[0])))
        # A spring with a damper is two elements here.
        if element is None or element.kind.role == "coupling" or f"{element.name}_R" in by_element:
            continue
        domain = OUR_DOMAINS[element.kind.domains[0]]
        side = domain.effort if str(key[1]).endswith(".e") else domain.flow
        name = element.variables.get(side) or f"{domain.power(side).symbol}_{element.name}"
        try:
            ours = np.interp(times, run.t, run.values(name))
        except TellegenError:
            continue
        theirs = rows[:, place]
        # The first rows are those of the first step, which is of first order.
        found[name] = float(np.max(np.abs(ours - theirs)[20:])) / max(float(np.max(np.abs(theirs))), 1e-9)
    found |= _signals_apart(own, model, run, times, rows)
    worst = max(found, key=lambda name: found[name], default="")
    return Verdict(found.get(worst, 0.0), worst, len(found))


def _signals_apart(
    own: OwnEquations, model: tg.Model, run: tg.Run, times: NDArray[np.float64], rows: NDArray[np.float64]
) -> dict[str, float]:
    """The same of signals that have the name of their component and port here."""
    found = {}
    for key, place in own.index.items():
        if (
            len(key) == 2
            and isinstance(key[0], tuple)
            and (name := "_".join(map(str, (*key[0], key[1])))) in model.signals
        ):
            ours, theirs = np.interp(times, run.t, run.values(name)), rows[:, place]
            found[name] = float(np.max(np.abs(ours - theirs)[20:])) / max(float(np.max(np.abs(theirs))), 1e-9)
    return found


def main() -> int:
    """Compare every model of a folder, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("domains", nargs="*", metavar="NAME=DOMAIN")
    options = parser.parse_args()
    for path in sorted(options.folder.rglob("*.emx")):
        try:
            found = compare(path, tuple(options.domains))
            print(f"{path.name:<44} {found.worst:8.1e} at {found.variable} of {found.compared} variables", flush=True)
        except ValueError as error:
            print(f"{path.name:<44} no judgement: {error}", flush=True)
        except TellegenError as error:
            print(f"{path.name:<44} {len(error.findings)} not read: {error.code} {error.what[:120]}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
