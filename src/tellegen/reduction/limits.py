"""What a user asks for: parameters that tend to zero, to infinity, or to a value that makes the energy matrix singular."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.expressions import ZERO, Expression, Number, number, parse, to_text
from tellegen.reduction import rules

Target = float | int | str | Expression
Limits = Mapping[str, Target] | Iterable[str]
"""`{"J_m": 0, "K": inf, "M_0": "L_e"}`, or the same as texts: `["J_m=0", "K=inf", "M_0=L_e"]`; `"J_m=0"` is one limit."""

_INFINITE = {"inf", "infinity", "oo", "+inf", "∞"}


@final
@dataclass(frozen=True)
class Limit:
    """A name and what it tends to; None stands for infinity."""

    name: str
    to: Expression | None

    @property
    def order(self) -> int:
        """1 for zero, -1 for infinity, 0 for a value: the power of something small that the parameter is like."""
        if self.to is None:
            return -1
        return 1 if self.to is ZERO else 0

    @property
    def value(self) -> str:
        """What it tends to, as a text."""
        return "inf" if self.to is None else to_text(self.to)

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


def read_limits(limits: Limits) -> tuple[Limit, ...]:
    """The limits that a mapping or texts stand for, each once.

    Raises: ReductionError when one cannot be read, when two contradict each other, or when there is none.
    """
    texts = [limits] if isinstance(limits, str) else limits  # one text is one limit, not its letters
    pairs = texts.items() if isinstance(texts, Mapping) else [_split(text) for text in texts]
    found: dict[str, Limit] = {}
    for name, target in pairs:
        limit = Limit(name.strip(), _target(name, target))
        earlier = found.setdefault(limit.name, limit)
        if earlier != limit:
            raise rules.CONTRADICTING_LIMITS.error(
                f"'{limit.name}' would tend to {earlier.value} and to {limit.value}",
                where=limit.name,
                fix="give one of them",
            )
    if not found:
        raise rules.BAD_LIMIT.error("no limit is given", fix="write a limit such as 'J_m=0' or 'K=inf'")
    return tuple(found.values())


def _split(text: str) -> tuple[str, str]:
    name, equals, target = text.partition("=")
    if not equals or not name.strip() or not target.strip():
        raise rules.BAD_LIMIT.error(f"'{text}' is not a limit", fix="write a limit such as 'J_m=0' or 'K=inf'")
    return name, target


def _target(name: str, target: Target) -> Expression | None:
    if isinstance(target, Expression):
        found = target
    elif isinstance(target, str):
        if target.strip().lower() in _INFINITE:
            return None
        try:
            found = parse(target)
        except TellegenError as reason:
            raise rules.BAD_LIMIT.error(
                f"'{name}={target}' is not a limit: {reason.what}",
                where=name,
                fix=f"write '{name}=0', '{name}=inf', or another parameter",
            ) from reason
    elif target == math.inf:
        return None
    elif math.isfinite(target):
        found = number(target)
    else:
        raise rules.BAD_LIMIT.error(f"'{name}' cannot tend to {target}", where=name, fix=f"write '{name}=inf'")
    if name in found.free_symbols:
        raise rules.BAD_LIMIT.error(
            f"'{name}' would tend to '{to_text(found)}', which contains it", where=name, fix="give another parameter"
        )
    return ZERO if isinstance(found, Number) and found.rational == 0 else found
