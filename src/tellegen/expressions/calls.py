"""The calls of functions in a formula: their arguments, by place or by name, and what is said about wrong ones."""

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn

from tellegen.core.errors import Place
from tellegen.core.names import NAME, did_you_mean, listing
from tellegen.expressions.functions import ALIASES, FUNCTIONS, call
from tellegen.expressions.nodes import Condition, Expression
from tellegen.expressions.operands import AbstractOperands, UnitReader
from tellegen.expressions.rules import ARGUMENTS, CONDITION, UNKNOWN_FUNCTION
from tellegen.expressions.tokens import shortened

_KEYWORD = re.compile(rf"({NAME.pattern})[ \t\r\n]*=(?!=)")


class Macro(NamedTuple):
    """A function that the caller adds to formulas: its least and most number of arguments, and what it stands for.

    Arguments may be given by the `names` of their places, as in `step(24 V, start=1 s)`; `build` gets None for one left out before
    another that is given.
    """

    least: int
    most: int
    build: Callable[..., Expression]
    names: tuple[str, ...] = ()


class AbstractCalls(AbstractOperands):
    """Reads the arguments of functions and macros."""

    def __init__(
        self,
        text: str,
        place: Place | None,
        unit: UnitReader | None,
        *,
        is_unit: Callable[[str], bool] | None,
        indices: Mapping[str, int],
        macros: Mapping[str, Macro],
    ) -> None:
        super().__init__(text, place, unit, is_unit=is_unit, indices=indices)
        self.macros = macros

    @abstractmethod
    def formula(self) -> Expression:
        """Read a value, or conditions joined by `and` and `or`."""

    def function(self, name: str, start: int) -> Expression:
        """Read the arguments of a function or a macro, and build what it stands for."""
        known = ALIASES.get(name, name)
        if known not in FUNCTIONS and name not in self.macros:
            self.unknown_function(name, start)
        if name == "if":
            self.advance()
        self.take("(", f"after '{name}'")
        self.enter()
        args: list[tuple[Expression, int]] = []
        named: dict[str, tuple[Expression, int]] = {}
        while not (self.kind == "sign" and self.word == ")"):
            if args or named:
                self.take(",", f"or ')' after an argument of {name}")
            offset = self.start
            word = self._keyword(name, offset)
            if word is None and named:
                self.fail(ARGUMENTS, offset, f"an argument of '{name}' without a name follows one with a name")
            found = (self.formula(), offset)
            if word is None:
                args.append(found)
            elif word in named or word in self.macros[name].names[: len(args)]:
                self.fail(ARGUMENTS, offset, f"'{name}' has its '{word}' twice", "leave one of them out")
            else:
                named[word] = found
        self.advance()
        self.depth -= 1
        return self._applied(name, known, args, start) if not named else self._expanded(name, args, named, start)

    def _keyword(self, function: str, offset: int) -> str | None:
        """The name of the argument that follows, with its `=` read; None where the argument has no name."""
        macro = self.macros.get(function)
        match = _KEYWORD.match(self.text, offset) if macro is not None and macro.names else None
        if macro is None or match is None:
            return None
        if match[1] not in macro.names:
            fix = did_you_mean(match[1], macro.names) or f"its arguments are {listing(macro.names)}"
            self.fail(ARGUMENTS, offset, f"'{function}' has no argument '{match[1]}'", fix)
        self.end = match.end()
        self.advance()
        return match[1]

    def _expanded(
        self, name: str, args: list[tuple[Expression, int]], named: dict[str, tuple[Expression, int]], start: int
    ) -> Expression:
        """A macro with arguments given by name."""
        macro = self.macros[name]
        values: list[Expression | None] = [arg for arg, _ in args]
        for arg, offset in (*args, *named.values()):
            self.refuse_condition(arg, offset)
        values += [named[word][0] if word in named else None for word in macro.names[len(args) :]]
        missing = [word for word, value in zip(macro.names[: macro.least], values, strict=False) if value is None]
        if missing or len(values) > macro.most:
            self.fail(ARGUMENTS, start, f"'{name}' lacks its {listing(missing)}", f"expected {_span(macro)}")
        while values and values[-1] is None:
            values.pop()
        return self.build(start, macro.build, *values)

    def _applied(self, name: str, known: str, args: list[tuple[Expression, int]], start: int) -> Expression:
        macro = self.macros.get(name)
        row = FUNCTIONS[known] if macro is None else None
        fits = row.takes(len(args)) if row else macro is not None and macro.least <= len(args) <= macro.most
        if not fits:
            wanted = row.arity if row else _span(macro)
            self.fail(ARGUMENTS, start, f"'{name}' has {len(args)}, expected {wanted}")
        for position, (arg, offset) in enumerate(args):
            if known == "if" and position == 0:
                if not isinstance(arg, Condition):
                    what = f"found the value '{shortened(str(arg))}', expected a condition"
                    self.fail(CONDITION, offset, what, "compare it: if(x > 0, a, b)")
            else:
                self.refuse_condition(arg, offset)
        values = [arg for arg, _ in args]
        return self.build(start, macro.build, *values) if macro else self.build(start, call, known, *values)

    def unknown_function(self, name: str, start: int) -> NoReturn:
        """Raise that there is no such function, with the nearest one."""
        words = [*FUNCTIONS, *ALIASES, *self.macros]
        fix = did_you_mean(name, words) or f"the functions are {listing(words, 40)}; a product is written {name}*(...)"
        self.fail(UNKNOWN_FUNCTION, start, f"unknown function '{shortened(name)}'", fix)


def _span(macro: Macro | None) -> str:
    assert macro is not None, "a function is in the table or a macro"
    if macro.least == macro.most:
        return f"{macro.least} argument{'s' if macro.least != 1 else ''}"
    return f"{macro.least} to {macro.most} arguments"
