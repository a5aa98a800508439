"""A model file of Simulink (`.slx`) written without it: experimental, for no MATLAB of ours has opened one.

The file is an OPC package (ECMA-376, part 2) with the single-part layout that releases R2012b to R2019b saved. Laws are Fcn blocks
behind a Mux, parameters stand in the program that runs when the model is loaded.
"""

import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, final
from xml.sax.saxutils import escape, quoteattr

from tellegen.exporting import rules
from tellegen.exporting.diagram import Diagram
from tellegen.exporting.diagram_building import block_diagram
from tellegen.exporting.fmu.unit import DATE
from tellegen.exporting.matlab_program import ATOL, RTOL, number_text, row_text
from tellegen.exporting.simulink import DiagramBuilder, SimulinkBlock, SimulinkLine, SimulinkWiring
from tellegen.expressions import ZERO, Expression, postorder, printing
from tellegen.expressions.matlab import matlab_name
from tellegen.expressions.nodes import Call, Constant, Mul, Number, Pow, Rational, Relation
from tellegen.expressions.printing import ATOM, PRODUCT, SUM, PrintedPiece
from tellegen.model.model import Model

TYPES: Final = {
    "algebraic constraint": "AlgebraicConstraint",
    "clock": "Clock",
    "constant": "Constant",
    "demux": "Demux",
    "gain": "Gain",
    "inport": "Inport",
    "integrator": "Integrator",
    "law": "Fcn",
    "lookup table": "Lookup_n-D",
    "memory": "Memory",
    "mux": "Mux",
    "outport": "Outport",
    "subsystem": "SubSystem",
    "sum": "Sum",
    "transport delay": "TransportDelay",
    "zero-order hold": "ZeroOrderHold",
}
"""How the file calls the kinds of blocks."""

NOTICE: Final = "experimental: never opened in MATLAB by us"

HEAD: Final = '<?xml version="1.0" encoding="utf-8"?>\n'
RELATIONS: Final = "http://schemas.openxmlformats.org/package/2006/relationships"
CORE: Final = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
MATHWORKS: Final = "http://schemas.mathworks.com"

CONTENT_TYPES: Final = f"""{HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
  <Default Extension="xml" ContentType="application/vnd.mathworks.simulink.mdl+xml"/>
  <Override PartName="/metadata/coreProperties.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>
  <Override PartName="/metadata/mwcoreProperties.xml" ContentType="application/vnd.mathworks.package.coreProperties+xml"/>
  <Override PartName="/simulink/blockdiagram.xml" ContentType="application/vnd.mathworks.simulink.mdl+xml"/>
</Types>
"""
ROOT_RELATIONS: Final = f"""{HEAD}<Relationships xmlns="{RELATIONS}">
  <Relationship Id="blockDiagram" Target="simulink/blockdiagram.xml"
    Type="http://schemas.mathworks.com/simulink/2010/relationships/blockDiagram"/>
  <Relationship Id="rId1" Target="metadata/mwcoreProperties.xml"
    Type="http://schemas.mathworks.com/package/2012/relationships/coreProperties"/>
  <Relationship Id="rId2" Target="metadata/coreProperties.xml"
    Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"/>
</Relationships>
"""


def slx_files(model: Model, name: str) -> dict[str, bytes]:
    """The file of a model.

    Raises: ExportError for what such blocks cannot hold (X401, X402, X414).
    """
    diagram = replace(block_diagram(model), scheme=())
    _refuse(diagram)
    # A Fcn block calls its input u: a parameter of that name stands there by its value.
    hidden = {n: f"({number_text(value)})" for n, value in diagram.parameters.items() if matlab_name(n) == "u"}
    wiring = DiagramBuilder(diagram, law=lambda e, names: law_text(e, {**hidden, **names})).built()
    parts = {
        "[Content_Types].xml": CONTENT_TYPES,
        "_rels/.rels": ROOT_RELATIONS,
        "metadata/coreProperties.xml": _properties(diagram),
        "metadata/mwcoreProperties.xml": f"{HEAD}<mwcoreProperties xmlns={quoteattr(MATHWORKS + '/package/2012/coreProperties')}>"
        "<contentType>application/vnd.mathworks.simulink.model</contentType><matlabRelease>R2016a</matlabRelease></mwcoreProperties>\n",
        "simulink/blockdiagram.xml": "\n".join([*_model(diagram, wiring), ""]),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, content in parts.items():
            archive.writestr(zipfile.ZipInfo(place, DATE), content.encode(), zipfile.ZIP_DEFLATED)
    return {f"{name}_model.slx": packed.getvalue()}


def _refuse(diagram: Diagram) -> None:
    """Raises: ExportError (X414)."""

    def refused(what: str) -> Exception:
        fix = "export it to simulink, or as a functional mock-up unit, which Simulink imports"
        return rules.NO_SUCH_BLOCK.error(f"'{diagram.name}' {what}", where=diagram.name, fix=fix)

    inertia = diagram.inertia
    if inertia is not None:
        n = len(inertia.rates)
        coupled = (
            any(inertia.matrix[i][j] is not ZERO for i in range(n) for j in range(n) if i != j) if n > 1 else False
        )
        moving = any(not e.free_symbols <= diagram.parameters.keys() for row in inertia.matrix for e in row)
        if coupled and moving:
            raise refused("has inertias that are coupled and move, which no block in one line solves for")
    for item in diagram.formulas:
        if getattr(item, "interpolation", "") == "cubic":
            raise refused("has a table with cubics, which Simulink draws otherwise")
    if any(hold.offset > 0 for hold in diagram.holds):
        raise refused("takes its first samples later than at the start")
    for e in diagram.expressions():
        for node in postorder(e):
            if isinstance(node, Call) and node.name == "if" and any(map(_may_fail, node.args[1:])):
                raise refused("chooses between formulas of which one may have no value where the other holds")


def _may_fail(expression: Expression) -> bool:
    """Whether a formula may have no value somewhere: as a term it would spoil the choice."""
    return any(
        (isinstance(n, Call) and n.name in ("log", "asin", "acos"))
        or (isinstance(n, Pow) and not (isinstance(n.exponent, Number) and _is_whole(n.exponent.rational)))
        or (isinstance(n, Mul) and not all(_is_whole(q) for base, q in n.factors if base.free_symbols))
        for n in postorder(expression)
    )


def _is_whole(exponent: Rational) -> bool:
    return exponent.denominator == 1 and exponent > 0


@final
class _LawPrinter(printing.AbstractPrinter):
    """One line of a Fcn block, which knows neither choices nor extremes."""

    words = {"and": "&&", "or": "||", "not": "!", "true": "1", "false": "0"}  # noqa: RUF012

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def name(self, name: str) -> str:
        return self.names.get(name) or matlab_name(name)

    def number(self, q: Rational) -> tuple[str, str]:
        return number_text(float(q)), ""

    def constant(self, node: Constant) -> str:
        return repr(node.value)

    def power(self, base: PrintedPiece, exponent: PrintedPiece) -> PrintedPiece:
        return PrintedPiece(f"power({base.text}, {exponent.text})", ATOM, base.size + exponent.size)

    def call(self, name: str, args: Sequence[PrintedPiece]) -> PrintedPiece:
        size = 1 + sum(arg.size for arg in args)
        if name == "if":
            condition, yes, no = (arg.text for arg in args)
            return PrintedPiece(f"(({condition})*({yes}) + (!({condition}))*({no}))", ATOM, 2 * size)
        if name in ("min", "max"):
            one, two = args[0], args[1] if len(args) == 2 else self.call(name, args[1:])
            sign = "-" if name == "min" else "+"
            text = f"(({one.text}) + ({two.text}) {sign} abs(({one.text}) - ({two.text})))/2"
            return PrintedPiece(text, PRODUCT, 2 * size)
        return printing.listed({"sign": "sgn"}.get(name, name), args)

    def condition(self, node: Expression, pieces: printing.Pieces) -> PrintedPiece:
        if isinstance(node, Relation):
            left, right = (self.enclosed(pieces[arg], SUM) for arg in node.args)
            return PrintedPiece(f"({left} {node.operator} {right})", ATOM, 2)
        made = super().condition(node, pieces)
        return PrintedPiece(f"({made.text})", ATOM, made.size)


def law_text(expression: Expression, names: Mapping[str, str]) -> str:
    """A formula in the words of a Fcn block."""
    return _LawPrinter(names).print(expression)


def _properties(diagram: Diagram) -> str:
    return (
        f'{HEAD}<cp:coreProperties xmlns:cp="{CORE}" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{escape(diagram.name)}</dc:title><dc:description>{NOTICE}</dc:description>"
        "<dc:creator>Tellegen</dc:creator><cp:version>1.0</cp:version></cp:coreProperties>\n"
    )


def _model(diagram: Diagram, wiring: SimulinkWiring) -> Iterator[str]:
    yield HEAD.rstrip()
    yield '<ModelInformation Version="1.0">'
    yield "  <Model>"
    load = " ".join(f"{matlab_name(n)} = {number_text(value)};" for n, value in diagram.parameters.items())
    settings = {
        "Version": "8.7",
        "Description": f"{diagram.name} ({NOTICE})",
        "PostLoadFcn": load,
        "StopTime": number_text(diagram.until),
        "SolverType": "Variable-step",
        "Solver": "ode15s" if diagram.stiff else "ode45",
        "RelTol": repr(RTOL),
        "AbsTol": repr(ATOL),
    }
    if diagram.stops:
        settings |= {"OutputOption": "AdditionalOutputTimes", "OutputTimes": row_text(diagram.stops)}
    yield from _settings(settings.items(), "    ")
    numbers = {(b.system, b.name): k for k, b in enumerate(wiring.blocks, 1)}
    yield from _system("", wiring, numbers, "    ")
    yield "  </Model>"
    yield "</ModelInformation>"


def _settings(settings: Iterable[tuple[str, str]], indent: str) -> Iterator[str]:
    for key, value in settings:
        yield f"{indent}<P Name={quoteattr(key)}>{escape(value)}</P>"


def _system(path: str, wiring: SimulinkWiring, numbers: Mapping[tuple[str, str], int], indent: str) -> Iterator[str]:
    yield f"{indent}<System>"
    for block in wiring.blocks:
        if block.system == path:
            yield from _block(block, wiring, numbers, indent + "  ")
    lines: dict[tuple[str, int], list[SimulinkLine]] = {}
    for line in wiring.lines:
        if line.system == path:
            lines.setdefault((line.source, line.source_port), []).append(line)
    for (source, port), found in lines.items():
        targets = [f"{numbers[path, line.target]}#in:{line.target_port}" for line in found]
        yield f"{indent}  <Line>"
        yield from _settings([("Src", f"{numbers[path, source]}#out:{port}")], indent + "    ")
        if len(targets) == 1:
            yield from _settings([("Dst", targets[0])], indent + "    ")
        else:
            for target in targets:
                yield f"{indent}    <Branch>"
                yield from _settings([("Dst", target)], indent + "      ")
                yield f"{indent}    </Branch>"
        yield f"{indent}  </Line>"
    yield f"{indent}</System>"


def _block(
    block: SimulinkBlock, wiring: SimulinkWiring, numbers: Mapping[tuple[str, str], int], indent: str
) -> Iterator[str]:
    kind, number = TYPES[block.kind], numbers[block.system, block.name]
    yield f'{indent}<Block BlockType="{kind}" Name={quoteattr(block.name)} SID="{number}">'
    settings = [("Position", f"[{', '.join(map(str, block.position))}]"), *block.settings]
    if block.kind == "subsystem":
        inside = [b.kind for b in wiring.blocks if b.system == block.path]
        settings.insert(0, ("Ports", f"[{inside.count('inport')}, {inside.count('outport')}]"))
    yield from _settings(settings, indent + "  ")
    if block.kind == "subsystem":
        yield from _system(block.path, wiring, numbers, indent + "  ")
    yield f"{indent}</Block>"
