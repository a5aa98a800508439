"""Replace columns of ladders, side ladders included."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from tellegen.schemes.pog_scheme import Column, Ladder, PogScheme


def ladder_with(scheme: PogScheme, wanted: Callable[[Column], bool]) -> tuple[Ladder, list[int]] | None:
    """The only ladder that has such columns, with their places; None where several have, or none."""
    found = [(ladder, places) for ladder in _all(scheme.ladders) if (places := _places(ladder, wanted))]
    return found[0] if len(found) == 1 else None


def _places(ladder: Ladder, wanted: Callable[[Column], bool]) -> list[int]:
    return [k for k, column in enumerate(ladder.columns) if wanted(column)]


def _all(ladders: Iterable[Ladder]) -> Iterable[Ladder]:
    for ladder in ladders:
        yield ladder
        yield from _all(column.branch for column in ladder.columns if column.branch is not None)


def with_ladder(scheme: PogScheme, old: Ladder, columns: Sequence[Column]) -> PogScheme:
    """The scheme with the columns of one ladder replaced."""

    def changed(ladder: Ladder) -> Ladder:
        if ladder is old:
            return replace(ladder, columns=tuple(columns))
        return replace(ladder, columns=tuple(_with_branch(column) for column in ladder.columns))

    def _with_branch(column: Column) -> Column:
        return column if column.branch is None else replace(column, branch=changed(column.branch))

    return replace(scheme, ladders=tuple(map(changed, scheme.ladders)))
