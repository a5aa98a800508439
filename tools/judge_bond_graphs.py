"""Compare runs of files of BondGraphTools with their own equations: `python tools/judge_bond_graphs.py FOLDER [--until SECONDS]`.

Every file (`.bg`) of a folder is imported and run. Beside that the relations of its components, as the libraries of
BondGraphTools state them, are put together, an equation for each, and solved by implicit steps (BDF2) with SciPy. Only the
reader of YAML is common.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve

import tellegen as tg
from tellegen.core.errors import TellegenError
from tellegen.importing.bond_graph_tools import read_bond_graph_tools
from tellegen.notations.reading import read_model
from tellegen.notations.yaml.document import MappingNode, Scalar, SequenceNode, read_document

Array = NDArray[np.float64]
STEPS = 4000
DEFAULTS = {"R": ["1000"], "C": ["1000"], "I": ["2000"], "TF": ["1"], "GY": ["1"], "Di": ["nan", "1", "0.0258563"]}


class RelationsOfLibraries:
    """Efforts and flows at both ends of each bond, contents of storages, and a row of the equations for each relation."""

    def __init__(self, path: Path) -> None:
        root = read_document(path).root
        models, top = root.get("models"), root.get("root")
        assert isinstance(models, MappingNode)
        self.models = models
        self.kinds: dict[str, tuple[str, list[float]]] = {}
        self.bonds: list[tuple[str, str]] = []
        self._add(top.text if isinstance(top, Scalar) and top.text in models else "/", "")
        self.storages = [name for name, (kind, _) in self.kinds.items() if kind in ("C", "I")]
        self.count = 4 * len(self.bonds) + len(self.storages)
        rows: list[tuple[dict[int, float], dict[int, float], float]] = []
        self.diodes: list[tuple[int, int, int, list[float]]] = []
        for k in range(len(self.bonds)):
            # What leaves one end enters the other.
            rows += [({self.e(k, 0): 1, self.e(k, 1): -1}, {}, 0.0), ({self.f(k, 0): 1, self.f(k, 1): 1}, {}, 0.0)]
        for name in self.kinds:
            self._relate(name, rows)
        assert len(rows) == self.count, f"{len(rows)} equations for {self.count} unknowns"
        self.now, self.rate = np.zeros((2, self.count, self.count))
        self.given = np.array([value for _, _, value in rows])
        for i, (now, rate, _) in enumerate(rows):
            for matrix, terms in ((self.now, now), (self.rate, rate)):
                for k, factor in terms.items():
                    matrix[i, k] += factor

    def e(self, bond: int, end: int) -> int:
        """The place of an effort."""
        return 4 * bond + 2 * end

    def f(self, bond: int, end: int) -> int:
        """The place of a flow, into the component at this end."""
        return 4 * bond + 2 * end + 1

    def _lines(self, model: MappingNode, key: str) -> list[list[str]]:
        found = model.get(key)
        return [i.text.split() for i in found.items if isinstance(i, Scalar)] if isinstance(found, SequenceNode) else []

    def _add(self, key: str, prefix: str) -> dict[str, str]:
        model = self.models.get(key)
        assert isinstance(model, MappingNode)
        inner: dict[str, dict[str, str]] = {}
        for name, what, *values in self._lines(model, "components"):
            if what in self.models:
                inner[name] = self._add(what, f"{prefix}{name}.")
                continue
            kind = what.split("/")[1]
            texts = [value.rpartition("=")[2] for value in values]
            texts += DEFAULTS.get(kind, [])[len(texts) :]
            self.kinds[f"{prefix}{name}"] = (kind, [float(text) for text in texts])
        for line in self._lines(model, "netlist"):
            ends = []
            for word in line:
                name, _, port = word.partition(".")
                ports = inner.get(name)
                ends.append(f"{prefix}{name}" if ports is None else ports[port or next(iter(ports))])
            self.bonds.append((ends[0], ends[1]))
        return {port: f"{prefix}{name}" for name, port in self._lines(model, "ports")}

    def _relate(self, name: str, rows: list[tuple[dict[int, float], dict[int, float], float]]) -> None:
        kind, values = self.kinds[name]
        mine = [(k, side) for k, bond in enumerate(self.bonds) for side in (0, 1) if bond[side] == name]
        efforts, flows = [self.e(*end) for end in mine], [self.f(*end) for end in mine]
        if kind in ("0", "1", "SS"):
            shared, summed = (flows, efforts) if kind == "1" else (efforts, flows)
            # At a 1-junction a bond that leaves counts the other way.
            signs = [-1.0 if kind == "1" and side == 0 else 1.0 for _, side in mine]
            rows += [({shared[0]: signs[0], shared[k]: -signs[k]}, {}, 0.0) for k in range(1, len(mine))]
            rows.append((dict(zip(summed, signs, strict=True)), {}, 0.0))
        elif kind == "R":
            rows.append(({efforts[0]: 1, flows[0]: -values[0]}, {}, 0.0))
        elif kind == "Di":
            self.diodes.append((len(rows), efforts[0], flows[0], values))
            rows.append(({flows[0]: 1}, {}, 0.0))
        elif kind in ("Se", "Sf"):
            # The flow of a source is counted out of it.
            rows.append(({efforts[0]: 1}, {}, values[0]) if kind == "Se" else ({flows[0]: 1}, {}, -values[0]))
        elif kind == "TF":
            rows += [({efforts[1]: 1, efforts[0]: -values[0]}, {}, 0.0), ({flows[0]: 1, flows[1]: values[0]}, {}, 0.0)]
        elif kind == "GY":
            rows += [({efforts[1]: 1, flows[0]: values[0]}, {}, 0.0), ({efforts[0]: 1, flows[1]: -values[0]}, {}, 0.0)]
        else:
            content = 4 * len(self.bonds) + self.storages.index(name)
            told, rate = (efforts, flows) if kind == "C" else (flows, efforts)
            rows += [({content: 1, told[0]: -values[0]}, {}, 0.0), ({rate[0]: 1}, {content: -1}, 0.0)]

    def solve(self, until: float) -> tuple[Array, Array]:
        """Times and rows of all unknowns, from empty storages."""
        h = until / STEPS
        found = [np.zeros(self.count)]
        for step in range(1, STEPS + 1):
            # The first step is one of first order.
            weight, past = (1 / h, found[-1]) if step == 1 else (1.5 / h, (4 * found[-1] - found[-2]) / 3)
            found.append(self._step(found[-1].copy(), weight, past))
        return np.linspace(0, until, STEPS + 1), np.array(found)

    def _step(self, x: Array, weight: float, past: Array) -> Array:
        for _ in range(100):
            slopes = self.now + weight * self.rate
            missing = self.now @ x + self.rate @ (weight * (x - past)) - self.given
            for row, effort, _, (scale, ideality, thermal) in self.diodes:
                size = scale * np.exp(x[effort] / (ideality * thermal))
                missing[row] -= size - scale
                slopes[row, effort] -= size / (ideality * thermal)
            change = lu_solve(lu_factor(slopes), missing)
            # A diode takes a few of its thermal voltages at a time.
            steep = max((abs(change[effort]) / (5 * n * v) for _, effort, _, (_, n, v) in self.diodes), default=0.0)
            x -= change / max(1.0, steep)
            if np.max(np.abs(change)) <= 1e-12 * (1 + np.max(np.abs(x))):
                break
        return x


class Verdict(NamedTuple):
    """The largest difference of a variable beside its largest value, and how many were compared."""

    worst: float
    variable: str
    compared: int


def compare(path: Path, until: float = 1.0) -> Verdict:
    """Run a file here and by its own equations.

    Raises: TellegenError where it is refused.
    """
    model = read_model(read_bond_graph_tools(path, "model").text)
    own = RelationsOfLibraries(path)
    times, rows = own.solve(until)
    run = tg.simulate(model, until=until, times=times, rtol=1e-10, progress=False)
    found: dict[str, float] = {}
    for name, (kind, _) in own.kinds.items():
        if kind not in ("R", "C", "I", "Di"):
            continue
        bond = next(k for k, ends in enumerate(own.bonds) if name in ends)
        end = own.bonds[bond].index(name)
        for letter, place in (("V", own.e(bond, end)), ("I", own.f(bond, end))):
            variable = f"{letter}_{name.replace('.', '_')}"
            if variable not in run:
                continue
            # The first rows are those of the step of first order.
            off = np.max(np.abs(run.values(variable) - rows[:, place])[20:])
            found[variable] = float(off) / max(float(np.max(np.abs(rows[:, place]))), 1e-9)
    worst = max(found, key=lambda variable: found[variable], default="")
    return Verdict(found.get(worst, 0.0), worst, len(found))


def main() -> int:
    """Compare every file of a folder, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--until", type=float, default=1.0)
    options = parser.parse_args()
    for path in sorted(options.folder.rglob("*.bg")):
        try:
            found = compare(path, options.until)
            print(f"{path.name:<44} {found.worst:8.1e} at {found.variable} of {found.compared} variables", flush=True)
        except TellegenError as error:
            print(f"{path.name:<44} {len(error.findings)} not read: {error.code} {error.what[:120]}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
