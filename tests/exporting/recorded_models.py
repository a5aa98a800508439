"""Simulink models as the calls of a build program tell them, recorded by stubs while Octave runs it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tellegen.exporting.simulink import LIBRARY

KINDS = {path: kind for kind, path in LIBRARY.items()}
WITHOUT_INPUT = {"clock", "constant", "inport"}
WITHOUT_OUTPUT = {"outport"}


@dataclass
class RecordedBlock:
    """A block with its settings; of a function also its script and which arguments are parameters."""

    system: str
    name: str
    kind: str
    settings: dict[str, str]
    script: str = ""
    parameters: list[str] = field(default_factory=list)

    @property
    def position(self) -> tuple[int, ...]:
        return tuple(map(int, self.settings["Position"].strip("[]").split()))

    @property
    def arguments(self) -> list[str]:
        """The inputs of a function by name."""
        found = re.match(r"function tg_y = tg_block\((.*)\)\n", self.script)
        assert found is not None, self.script
        return [name for name in found[1].split(", ") if name not in self.parameters]


@dataclass
class RecordedModel:
    """Blocks by path, and lines by where they end: (system, block, port) -> (block, port)."""

    name: str
    blocks: dict[str, RecordedBlock] = field(default_factory=dict)
    lines: dict[tuple[str, str, int], tuple[str, int]] = field(default_factory=dict)
    parameters: dict[str, float] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)

    def inside(self, system: str, kind: str) -> list[RecordedBlock]:
        return [b for b in self.blocks.values() if b.system == system and b.kind == kind]

    def block(self, system: str, name: str) -> RecordedBlock:
        return self.blocks[f"{system}/{name}" if system else name]

    def inputs(self, block: RecordedBlock) -> int:
        """How many inputs a block has."""
        if block.kind in WITHOUT_INPUT:
            return 0
        if block.kind == "sum":
            return len(block.settings["Inputs"])
        if block.kind == "mux":
            return int(block.settings["Inputs"])
        if block.kind == "multiport switch":
            return 1 + int(block.settings["Inputs"])
        if block.kind == "integrator" and "ExternalReset" in block.settings:
            return 3 if block.settings["InitialConditionSource"] == "external" else 2
        if block.kind == "function":
            return len(block.arguments)
        return len(self.inside(block.name, "inport")) if block.kind == "subsystem" else 1

    def outputs(self, block: RecordedBlock) -> int:
        """How many outputs a block has."""
        if block.kind in WITHOUT_OUTPUT:
            return 0
        if block.kind == "demux":
            return int(block.settings["Outputs"])
        return len(self.inside(block.name, "outport")) if block.kind == "subsystem" else 1

    def sources(self, block: RecordedBlock) -> list[str]:
        """What arrives at the inputs of a block: the names of the blocks behind all ports, `name:k` for an output k beyond 1."""
        return [self._source(block.system, block.name, port) for port in range(1, self.inputs(block) + 1)]

    def _source(self, system: str, target: str, port: int) -> str:
        name, number = self.lines[system, target, port]
        block = self.block(system, name)
        if block.kind == "inport":
            return self._source("", system, int(block.settings["Port"]))
        if block.kind == "subsystem":
            (outport,) = [b for b in self.inside(name, "outport") if b.settings["Port"] == str(number)]
            return self._source(name, outport.name, 1)
        return name if number == 1 and block.kind != "demux" else f"{name}:{number}"


def read_calls(text: str) -> dict[str, RecordedModel]:
    """The models that the calls build, by name."""
    models: dict[str, RecordedModel] = {}
    for line in text.splitlines():
        call, *arguments = line.split("\t")
        if call == "new_system":
            models[arguments[0]] = model = RecordedModel(arguments[0])
        elif call == "add_block":
            _add_block(model, *arguments)
        elif call == "add_line":
            _add_line(model, *arguments)
        elif call == "script":
            model.blocks[_inside(model, arguments[0])].script = arguments[1].replace("\\n", "\n")
        elif call == "scope":
            assert arguments[2] == "Parameter"
            model.blocks[_inside(model, arguments[0])].parameters.append(arguments[1])
        elif call == "assignin":
            model.parameters[arguments[1]] = float(arguments[2])
        elif call == "set_param":
            assert arguments[0] == model.name
            model.settings |= dict(_pairs(arguments[1:]))
    return models


def _add_block(model: RecordedModel, library: str, path: str, *settings: str) -> None:
    inside = _inside(model, path)
    system, _, name = inside.rpartition("/")
    assert inside not in model.blocks, f"{inside} is added twice"
    assert not system or model.blocks[system].kind == "subsystem", f"{inside} has no system around it"
    model.blocks[inside] = RecordedBlock(system, name, KINDS[library], dict(_pairs(settings)))


def _add_line(model: RecordedModel, system: str, source: str, target: str, *_: str) -> None:
    where = "" if system == model.name else _inside(model, system)
    (start, out), (end, port) = source.rsplit("/", 1), target.rsplit("/", 1)
    place = (where, end, int(port))
    assert place not in model.lines, f"two lines end at {place}"
    model.lines[place] = (start, int(out))


def _inside(model: RecordedModel, path: str) -> str:
    head, _, inside = path.partition("/")
    assert head == model.name
    return inside


def _pairs(items: tuple[str, ...] | list[str]) -> Iterator[tuple[str, str]]:
    return zip(items[::2], items[1::2], strict=True)
