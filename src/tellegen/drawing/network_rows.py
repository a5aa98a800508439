"""Long schematics in rows: a node where nothing goes over the line ends one row and begins the next, with a letter at both."""

from dataclasses import replace
from itertools import accumulate, pairwise

from tellegen.drawing.network_layout import BODY, CELLS, RIGHT, Layout
from tellegen.drawing.network_plan import Link, Plan

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def split(plan: Plan, layout: Layout, width: float, used: int) -> list[Plan]:
    """The rows of a plan, as few as fit; one where it is narrow enough. `used` letters are taken by other plans."""
    last = len(plan.stations) - 1
    if layout.lefts[-1] + layout.widths[-1] <= width or last == 0:
        return [plan]
    cuts = [0]
    places = _places(layout)
    for k, following in pairwise([*places, last]):
        if _right(layout, following) - layout.lefts[CELLS * cuts[-1] + BODY] > width and k > cuts[-1]:
            cuts.append(k)
    return _rows(plan, [*cuts, last], used)


def letter(number: int) -> str:
    """A, B, ..., Z, A1, B1, ..."""
    turn, place = divmod(number, len(LETTERS))
    return LETTERS[place] + (str(turn) if turn else "")


def _right(layout: Layout, k: int) -> float:
    return layout.lefts[CELLS * k + RIGHT] + layout.widths[CELLS * k + RIGHT]


def _places(layout: Layout) -> list[int]:
    """The nodes over which no line goes."""
    over = [0] * (CELLS * len(layout.plan.stations) + 1)
    for arc in layout.arcs:
        over[arc.cells[0] + 1] += 1
        over[arc.cells[1]] -= 1
    covered = list(accumulate(over))
    inner = range(1, len(layout.plan.stations) - 1)
    over_lines = [range(min(held), max(held)) for held in _stations_of_lines(layout.plan)]
    return [
        k
        for k in inner
        if k in layout.bodies and covered[CELLS * k + RIGHT] == 0 and not any(k in line for line in over_lines)
    ]


def _stations_of_lines(plan: Plan) -> list[list[int]]:
    """The stations from which something leads to each return line, or hangs from it."""
    held: dict[str, list[int]] = {}
    for k, station in enumerate(plan.stations):
        nodes = station.element.nodes if station.element is not None else ()
        ends = [end for item in station.hanging for end in (item.line, item.reference)]
        for line in {*nodes, *ends} & plan.returns.keys():
            held.setdefault(line, []).append(k)
    return list(held.values())


def _rows(plan: Plan, cuts: list[int], used: int) -> list[Plan]:
    place = {station.key: k for k, station in enumerate(plan.stations)}
    rows: list[Plan] = []
    links: list[list[Link]] = [[] for _ in cuts[1:]]
    row_of = [row for row, (start, end) in enumerate(pairwise(cuts)) for _ in range(start, end)]
    for link in plan.links:
        links[row_of[min(place[link.first], place[link.second])]].append(link)
    for row, (start, end) in enumerate(pairwise(cuts)):
        stations = list(plan.stations[start : end + 1])
        if start:
            stations[0] = replace(stations[0], hanging=[], port="", before=letter(used + row - 1))
        if end < len(plan.stations) - 1:
            stations[-1] = replace(stations[-1], after=letter(used + row))
        rows.append(Plan(tuple(stations), tuple(links[row]), plan.rail_ports, plan.returns))
    return rows
