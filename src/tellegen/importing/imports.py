"""`imported`: a file of another tool as the text of a model file, by its ending. Each reader is a function of the path."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tellegen.core.names import did_you_mean, listing
from tellegen.importing import rules
from tellegen.importing.bond_graph_tools.reading import read_bond_graph_tools
from tellegen.importing.imported import Imported
from tellegen.importing.spice.reading import read_spice
from tellegen.importing.twenty_sim.reading import read_twenty_sim
from tellegen.importing.units import read_unit_file
from tellegen.notations.loading import FOREIGN, NETLIST_SUFFIX, SPICE, holds_spice_deck
from tellegen.notations.netlist.loading import read_netlist
from tellegen.notations.writing import to_yaml


def _pog_netlist(path: Path, name: str) -> Imported:
    return Imported(to_yaml(read_netlist(path)))


READERS: dict[str, Callable[..., Imported]] = {
    "POG_Modeler netlist": _pog_netlist,
    SPICE: read_spice,
    "20-sim model": read_twenty_sim,
    "functional mock-up unit": read_unit_file,
    "BondGraphTools model": read_bond_graph_tools,
}
"""The reader of each kind of file, by its word in `FOREIGN`. It takes the path and the stem of the file to be written, after which
it names the files beside it; its keywords are its options."""


def imported(path: Path, name: str, **options: Any) -> Imported:
    """A file of another tool as the text of a model file of the stem `name`.

    Raises: DescriptionError for an ending that no tool has (D309), an option that its reader does not know (D311), and with
    everything that is wrong in the file.
    """
    word = FOREIGN.get(path.suffix.lower())
    # A deck has any name: what stands in it tells.
    if word in (None, FOREIGN[NETLIST_SUFFIX]) and holds_spice_deck(path):
        word = SPICE
    if word is None:
        fix = f"these are read: {listing([f'{end} ({word})' for end, word in FOREIGN.items()], 20)}"
        closed = path.suffix.lower() in _AS_UNITS
        fix = "export it there as a functional mock-up unit (.fmu), and import that" if closed else fix
        raise rules.UNKNOWN_ENDING.error(f"'{path}' has the ending of no file that is read", fix=fix)
    reader = READERS[word]
    known = inspect.getfullargspec(reader).kwonlyargs
    for option in options:
        if option not in known:
            fix = did_you_mean(option, known) or (f"it takes {listing(known)}" if known else "leave it out")
            raise rules.UNKNOWN_OPTION.error(f"the reader of a {word} has no option '{option}'", fix=fix)
    found = reader(path, name, **options)
    told = "".join(
        f"# {line}\n" for finding in found.findings for line in f"{finding.severity}: {finding.what}".splitlines()
    )
    return replace(found, text=told + found.text)


_AS_UNITS = {".mo", ".moe", ".slx", ".mdl", ".ame", ".ssc"}
"""Files of languages and of closed formats, whose tools all write functional mock-up units."""
