"""Power-Oriented Graphs as the user writes them: a ladder of sections, elaboration blocks and connection blocks."""

from tellegen.description.ladders.reading import read_ladder

__all__ = ["read_ladder"]
