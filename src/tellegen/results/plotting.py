"""Runs as plots: variables over time in a panel for each unit, and variables over another one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

from tellegen.compiler.context import Array
from tellegen.expressions.symbols import written_with
from tellegen.plots import Line, Look, Panel, Plot, panels_plot
from tellegen.plots.texts import DASHES, variable_latex
from tellegen.results import rules
from tellegen.results.units import DisplayUnits

if TYPE_CHECKING:
    from tellegen.results.records import Recorded


def label(name: str, unit: str) -> str:
    """`I_a [A]`; the name alone where it has no unit."""
    return f"{name} [{unit}]" if unit and unit != "1" else name


TIME = "t"
IN_SI = DisplayUnits()


def plot(
    run: "Recorded",
    names: Iterable[str],
    *,
    against: str = TIME,
    panels: Sequence[Sequence[str]] = (),
    beside: "Mapping[str, Recorded] | None" = None,
    display: DisplayUnits = IN_SI,
    **look: Unpack[Look],
) -> Plot:
    """Variables over time or `against` another one; those of one unit share a panel, unless `panels` say who stands with whom.

    Other runs stand `beside` it in broken lines, each under its name.

    Raises: SimulationError for an unknown variable (S201) and for a panel of different quantities (S210); FigureError (F102) for
    what is no width or theme.
    """
    groups = [_one_unit(run, group, display) for group in panels] or list(_by_unit(run, names, display))
    runs = {"": run, **(beside or {})}
    tables = {title: _shown(one, {against, *(n for g in groups for n in g)}, display) for title, one in runs.items()}
    with written_with(run.symbols):
        x_title = variable_latex(against)
    found = [
        Panel(
            tuple(_lines(group, tables, against)),
            unit=_unit(run, group[0], display),
            x_title=x_title,
            x_unit=_unit(run, against, display),
            given=any(name in display.units for name in group),
            x_given=against in display.units,
            start=against != TIME,
        )
        for group in groups
        if group
    ]
    with written_with(run.symbols):
        return panels_plot(run.name, [[panel] for panel in found], **look)


def _unit(run: "Recorded", name: str, display: DisplayUnits) -> str:
    return display.unit(name, "s" if name == TIME else run.unit(name))


def _by_unit(run: "Recorded", names: Iterable[str], display: DisplayUnits) -> Iterator[Sequence[str]]:
    # Panels follow the units in the order in which the names bring them.
    of_unit: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        of_unit.setdefault(_unit(run, name, display), []).append(name)
    yield from of_unit.values()


def _one_unit(run: "Recorded", group: Sequence[str], display: DisplayUnits) -> Sequence[str]:
    """The names of a panel, which has one axis."""
    run.table(list(group))  # an unknown name is told before its unit
    units = {name: _unit(run, name, display) for name in group}
    first, *others = units
    for name in others:
        if units[name] != units[first]:
            raise rules.MIXED_PANEL.error(
                f"'{first}' is in {units[first] or '1'} and '{name}' in {units[name] or '1'}: a panel has one axis",
                where=run.name,
                fix=f"give each a panel: --panels '{first};{name}', or panels=[['{first}'], ['{name}']]",
            )
    return list(units)


def _shown(run: "Recorded", names: set[str], display: DisplayUnits) -> dict[str, Array]:
    """The numbers of variables in the units that are shown."""
    ordered = sorted(names - {TIME})
    # All at once: rows are then observed once.
    table = dict(zip(ordered, run.table(ordered).T, strict=True)) if ordered else {}
    return {name: display.shown(name, values) for name, values in {TIME: run.t, **table}.items()}


def _lines(group: Sequence[str], tables: Mapping[str, Mapping[str, Array]], against: str) -> Iterator[Line]:
    for tone, name in enumerate(group):
        for dash, (title, table) in enumerate(tables.items()):
            # The colour of the variable, so that curves that belong together are seen as such; the dash of its run.
            look = None if len(tables) == 1 else (tone, dash % len(DASHES))
            yield Line(name, table[against], table[name], title, look=look)
