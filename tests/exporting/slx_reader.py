"""A reader of `.slx` files that knows nothing of how they were written: it follows the lines and integrates the blocks."""

import math
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from scipy.integrate import solve_ivp

WORDS = {
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "abs", "floor", "ceil", "hypot")},
    **{name: getattr(np, name) for name in ("sinh", "cosh", "tanh")},
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "sgn": np.sign, "power": np.power,
    "inv": np.linalg.inv, "pi": math.pi,
}  # fmt: skip


KNOWN = {"Integrator", "Clock", "Constant", "Gain", "Sum", "Mux", "Demux", "Fcn", "SubSystem", "Inport", "Outport"}


@dataclass
class Block:
    kind: str
    name: str
    settings: dict[str, str]
    inputs: dict[int, tuple[str, int]] = field(default_factory=dict)
    inside: "System | None" = None


@dataclass
class System:
    blocks: dict[str, Block]


def parameters_of(root: ET.Element) -> dict[str, str]:
    return {p.attrib["Name"]: p.text or "" for p in root.findall("P")}


def system_of(root: ET.Element) -> System:
    blocks = {}
    for element in root.findall("Block"):
        inner = element.find("System")
        inside = None if inner is None else system_of(inner)
        blocks[element.attrib["SID"]] = Block(
            element.attrib["BlockType"], element.attrib["Name"], parameters_of(element), inside=inside
        )
    for line in root.findall("Line"):
        source, out = re.fullmatch(r"(\d+)#out:(\d+)", parameters_of(line)["Src"]).groups()  # type: ignore[union-attr]
        assert source in blocks
        for end in (line, *line.findall("Branch")):
            if "Dst" in (said := parameters_of(end)):
                target, port = re.fullmatch(r"(\d+)#in:(\d+)", said["Dst"]).groups()  # type: ignore[union-attr]
                assert int(port) not in blocks[target].inputs, "an input has one line"
                blocks[target].inputs[int(port)] = source, int(out)
    return System(blocks)


class SlxModel:
    """A file, ready to run."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            self.parts = {name: archive.read(name) for name in archive.namelist()}
        model = ET.fromstring(self.parts["simulink/blockdiagram.xml"]).find("Model")
        assert model is not None
        self.settings = parameters_of(model)
        top = model.find("System")
        assert top is not None
        self.top = system_of(top)
        self.values: dict[str, float] = {}
        for name, text in re.findall(r"(\w+) = ([^;]+);", self.settings["PostLoadFcn"]):
            self.values[name] = float(text)
        self.integrators: list[tuple[tuple[str, ...], Block]] = []
        self.kinds: set[str] = set()
        self._collect(self.top, ())

    def _collect(self, system: System, path: tuple[str, ...]) -> None:
        for sid, block in system.blocks.items():
            self.kinds.add(block.kind)
            if block.kind == "Integrator":
                self.integrators.append(((*path, sid), block))
            if block.inside is not None:
                self._collect(block.inside, (*path, sid))

    def number(self, text: str, **more: Any) -> Any:
        """An expression of MATLAB over parameters: our own file, in a test."""
        matrix = "[" in text
        text = re.sub(r"\^", "**", text).replace("&&", " and ").replace("||", " or ")
        text = re.sub(r"!(?!=)", " not ", text)
        text = re.sub(r"u\((\d+)\)", r"u[\1 - 1]", text)
        if matrix:
            text = re.sub(
                r"\[([^\]]*)\]", lambda m: f"array([{', '.join(f'[{row}]' for row in m[1].split(';'))}])", text
            )
        return eval(text, {"__builtins__": {}, "array": np.array, **WORDS, **self.values}, more)

    def run(self, until: float, times: Any, rtol: float = 1e-10) -> dict[str, Any]:
        """The outputs of the top system at given times."""
        first = np.array([float(self.number(b.settings["InitialCondition"])) for _, b in self.integrators])
        places = {path: k for k, (path, _) in enumerate(self.integrators)}

        def reader(t: float, y: Any) -> Callable[[System, tuple[str, ...], str, int], Any]:
            known: dict[tuple[tuple[str, ...], int], Any] = {}

            def value(system: System, path: tuple[str, ...], sid: str, port: int) -> Any:
                key = ((*path, sid), port)
                if key not in known:
                    known[key] = compute(system, path, sid, port)
                return known[key]

            def told(system: System, path: tuple[str, ...], block: Block) -> list[Any]:
                return [value(system, path, *block.inputs[k]) for k in sorted(block.inputs)]

            def compute(system: System, path: tuple[str, ...], sid: str, port: int) -> Any:
                block = system.blocks[sid]
                match block.kind:
                    case "Integrator":
                        return y[places[*path, sid]]
                    case "Clock":
                        return t
                    case "Constant":
                        return self.number(block.settings["Value"])
                    case "Gain":
                        (x,) = told(system, path, block)
                        k = self.number(block.settings["Gain"])
                        return k @ x if block.settings.get("Multiplication") else k * x
                    case "Sum":
                        signs = block.settings["Inputs"]
                        return sum(x if s == "+" else -x for s, x in zip(signs, told(system, path, block), strict=True))
                    case "Mux":
                        found = told(system, path, block)
                        assert len(found) == int(block.settings["Inputs"])
                        return np.array(found)
                    case "Demux":
                        return told(system, path, block)[0][port - 1]
                    case "Fcn":
                        given = told(system, path, block)
                        u: Any = np.atleast_1d(given[0]) if given else []
                        return self.number(block.settings["Expr"], u=u)
                    case "SubSystem":
                        assert block.inside is not None
                        (out,) = (
                            b for b in block.inside.blocks.values() if b.kind == "Outport" and int(b.settings["Port"]) == port
                        )  # fmt: skip
                        return value(block.inside, (*path, sid), *out.inputs[1])
                    case "Inport":
                        outer = self.top
                        for step in path[:-1]:
                            outer = outer.blocks[step].inside  # type: ignore[assignment]
                        return value(outer, path[:-1], *outer.blocks[path[-1]].inputs[int(block.settings["Port"])])
                raise AssertionError(f"'{block.kind}' is no block that is known")

            return value

        def system_at(path: tuple[str, ...]) -> System:
            found = self.top
            for step in path:
                found = found.blocks[step].inside  # type: ignore[assignment]
            return found

        def rates(t: float, y: Any) -> Any:
            value = reader(t, y)
            return [float(value(system_at(path[:-1]), path[:-1], *b.inputs[1])) for path, b in self.integrators]

        stops = [
            float(s) for s in re.findall(r"[\d.eE+-]+", self.settings.get("OutputTimes", "")) if 0.0 < float(s) < until
        ]
        t0, y, rows = 0.0, first, []
        for end in [*stops, until]:
            inside = [float(t) for t in times if t0 <= t < end or t == end == until]
            asked = sorted({*inside, end})
            made = solve_ivp(rates, (t0, end), y, method="LSODA", rtol=rtol, atol=1e-12, t_eval=asked)
            rows += [(t, made.y[:, asked.index(t)]) for t in inside]
            t0, y = end, made.y[:, -1]
        outports = {b.name: b for b in self.top.blocks.values() if b.kind == "Outport"}
        return {
            name.removesuffix("_out"): np.array([float(reader(t, y)(self.top, (), *b.inputs[1])) for t, y in rows])
            for name, b in outports.items()
        }
