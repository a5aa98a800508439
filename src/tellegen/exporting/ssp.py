"""A system structure (SSP 1.0) around a functional mock-up unit, with its parameters as a set of values that others replace."""

import io
import zipfile
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import quoteattr

from tellegen.core.units import parse_unit
from tellegen.exporting.exchanged import Exchanged, ExchangedVariable, Sources
from tellegen.exporting.fmu.description import Version, base_units, whole_unit
from tellegen.exporting.fmu.unit import DATE, exchanged_unit, unit_bytes
from tellegen.model.model import Model

COMMON = "http://ssp-standard.org/SSP1/SystemStructureCommon"
STRUCTURE = "http://ssp-standard.org/SSP1/SystemStructureDescription"
VALUES = "http://ssp-standard.org/SSP1/SystemStructureParameterValues"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'


def ssp_files(
    model: Model,
    name: str,
    *,
    fmi: Version = "2",
    sources: Sources = "open",
    variables: Sequence[str] = (),
    platforms: Sequence[str] = (),
) -> dict[str, bytes]:
    """The package of a model, by the name of its file; its options are those of the unit.

    Raises: ExportError for what a unit cannot hold.
    """
    made = exchanged_unit(model, fmi, sources, variables)
    files = {
        "SystemStructure.ssd": "\n".join([*_structure(made, name), ""]).encode(),
        f"resources/{name}.ssv": "\n".join([*_values(made, name), ""]).encode(),
        f"resources/{name}.fmu": unit_bytes(made, name, fmi, platforms),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, content in files.items():
            archive.writestr(zipfile.ZipInfo(place, DATE), content, zipfile.ZIP_DEFLATED)
    return {f"{name}.ssp": packed.getvalue()}


def _structure(made: Exchanged, name: str) -> Iterator[str]:
    inputs = made.by_role.get("input", ())
    outputs = [v for v in made.variables if v.is_output]
    ends = [*((v, "input") for v in inputs), *((v, "output") for v in outputs)]
    parameters = [(v, "parameter") for v in _parameters(made)]
    yield HEAD
    yield (
        f"<ssd:SystemStructureDescription xmlns:ssd={quoteattr(STRUCTURE)} xmlns:ssc={quoteattr(COMMON)} "
        f'version="1.0" name={quoteattr(made.name)}>'
    )
    yield '  <ssd:System name="system">'
    yield from _connectors(ends, "    ")
    yield "    <ssd:Elements>"
    source = f"resources/{name}.fmu"
    yield f'      <ssd:Component name={quoteattr(name)} type="application/x-fmu-sharedlibrary" source={quoteattr(source)}>'
    yield from _connectors([*ends, *parameters], "        ")
    if parameters:
        values = f"resources/{name}.ssv"
        yield "        <ssd:ParameterBindings>"
        yield f'          <ssd:ParameterBinding type="application/x-ssp-parameter-set" source={quoteattr(values)}/>'
        yield "        </ssd:ParameterBindings>"
    yield "      </ssd:Component>"
    yield "    </ssd:Elements>"
    if ends:
        yield "    <ssd:Connections>"
        for v, kind in ends:
            own, outer = f"Element={quoteattr(name)}", quoteattr(v.name)
            inner, other = ("end", "start") if kind == "input" else ("start", "end")
            yield f"      <ssd:Connection {inner}{own} {inner}Connector={outer} {other}Connector={outer}/>"
        yield "    </ssd:Connections>"
    yield "  </ssd:System>"
    yield from _units([v for v, _ in (*ends, *parameters)], "ssd")
    yield f'  <ssd:DefaultExperiment startTime="0.0" stopTime={quoteattr(repr(float(made.setup.until)))}/>'
    yield "</ssd:SystemStructureDescription>"


def _connectors(variables: Sequence[tuple[ExchangedVariable, str]], indent: str) -> Iterator[str]:
    if not variables:
        return
    yield f"{indent}<ssd:Connectors>"
    for v, kind in variables:
        unit = f" unit={quoteattr(u)}" if (u := whole_unit(v)) else ""
        yield f'{indent}  <ssd:Connector name={quoteattr(v.name)} kind="{kind}"><ssc:Real{unit}/></ssd:Connector>'
    yield f"{indent}</ssd:Connectors>"


def _values(made: Exchanged, name: str) -> Iterator[str]:
    yield HEAD
    yield f'<ssv:ParameterSet xmlns:ssv={quoteattr(VALUES)} xmlns:ssc={quoteattr(COMMON)} version="1.0" name={quoteattr(name)}>'
    yield "  <ssv:Parameters>"
    for v in _parameters(made):
        unit = f" unit={quoteattr(u)}" if (u := whole_unit(v)) else ""
        yield f"    <ssv:Parameter name={quoteattr(v.name)}><ssv:Real value={quoteattr(repr(v.start))}{unit}/></ssv:Parameter>"
    yield "  </ssv:Parameters>"
    yield from _units(_parameters(made), "ssv")
    yield "</ssv:ParameterSet>"


def _units(variables: Sequence[ExchangedVariable], word: str) -> Iterator[str]:
    """What units mean, in base units."""
    units = dict.fromkeys(u for v in variables if (u := whole_unit(v)))
    if not units:
        return
    yield f"  <{word}:Units>"
    for unit in units:
        powers = base_units(unit, parse_unit(unit).dimension)
        base = "".join(f" {base}={quoteattr(str(power))}" for base, power in powers.items())
        yield f"    <ssc:Unit name={quoteattr(unit)}><ssc:BaseUnit{base}/></ssc:Unit>"
    yield f"  </{word}:Units>"


def _parameters(made: Exchanged) -> Sequence[ExchangedVariable]:
    return made.by_role.get("parameter", ())
