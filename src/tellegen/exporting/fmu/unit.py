"""A functional mock-up unit: description, sources and binaries in one zip file."""

import io
import zipfile
from collections.abc import Sequence
from typing import Final, get_args
from uuid import NAMESPACE_URL, uuid5
from xml.sax.saxutils import quoteattr

from tellegen.core.names import did_you_mean
from tellegen.exporting import rules
from tellegen.exporting.exchanged import Exchanged, Sources, exchanged
from tellegen.exporting.fmu.description import Version, description_xml
from tellegen.exporting.fmu.platforms import binaries, chosen_platforms
from tellegen.exporting.fmu.source import source_text
from tellegen.model.model import Model

DATE: Final = (1980, 1, 1, 0, 0, 0)
"""Of every file in the zip, so that one model gives one file."""


def fmu_files(
    model: Model,
    name: str,
    *,
    fmi: Version = "2",
    sources: Sources = "open",
    variables: Sequence[str] = (),
    platforms: Sequence[str] = (),
) -> dict[str, bytes]:
    """The unit of a model, by the name of its file.

    Raises: ExportError for what a unit cannot hold (X401, X402, X409, X410), for a word that is not known (X407), or a platform
        that there is no compiler for (X411).
    """
    made = exchanged_unit(model, fmi, sources, variables)
    return {f"{name}.fmu": unit_bytes(made, name, fmi, platforms)}


def exchanged_unit(model: Model, fmi: Version, sources: Sources, variables: Sequence[str]) -> Exchanged:
    """The model as a unit has it. Raises: ExportError, as `fmu_files`."""
    _check("fmi", fmi, get_args(Version))
    _check("sources", sources, get_args(Sources))
    return exchanged(model, sources, variables, with_delays=True)


def unit_bytes(made: Exchanged, name: str, fmi: Version, platforms: Sequence[str]) -> bytes:
    """The file of a unit. Raises: ExportError (X411)."""
    systems = chosen_platforms(platforms)
    # Who asks for rates in any order, or goes back, cannot be told what was: then the unit makes the steps itself.
    both = not made.code.program.signals.delays
    written = source_text(made, fmi, "", model_exchange=both) + description_xml(
        made, fmi, name, "", model_exchange=both
    )
    # The token follows from what is in the unit: another model never has the same.
    token = f"{{{uuid5(NAMESPACE_URL, written)}}}"
    source = source_text(made, fmi, token, model_exchange=both)
    files: dict[str, bytes] = {
        "modelDescription.xml": description_xml(made, fmi, name, token, model_exchange=both).encode(),
        f"sources/{name}.c": source.encode("ascii"),
    }
    if fmi == "3":
        files["sources/buildDescription.xml"] = _build_description(name).encode()
    files |= binaries(source, name, systems, fmi)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, content in files.items():
            archive.writestr(zipfile.ZipInfo(place, DATE), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _check(option: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        fix = did_you_mean(given, known) or f"give {' or '.join(known)}"
        raise rules.UNKNOWN_OPTION.error(f"'{option}' is '{given}'", fix=fix)


def _build_description(name: str) -> str:
    """How the sources of FMI 3 are built."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiBuildDescription fmiVersion="3.0">
  <BuildConfiguration modelIdentifier={quoteattr(name)}>
    <SourceFileSet language="C99">
      <SourceFile name={quoteattr(name + ".c")}/>
    </SourceFileSet>
    <Library name="m"/>
  </BuildConfiguration>
</fmiBuildDescription>
"""
