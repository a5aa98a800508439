"""A scheme rewritten by a rule of the algebra: what it is now, and what was done in one line."""

from dataclasses import dataclass
from typing import final

from tellegen.schemes.pog_scheme import PogScheme


@final
@dataclass(frozen=True, slots=True)
class Rewriting:
    """A scheme after one step, and the step in words."""

    scheme: PogScheme
    account: str

    def __str__(self) -> str:
        return self.account
