"""Routines as C99: every statement written out, and the C functions that generated code calls."""

from collections.abc import Container, Iterable, Sequence
from itertools import groupby
from pathlib import Path

from tellegen.compiler import statements
from tellegen.compiler.context import FIELDS, FUNCTIONS, function_of
from tellegen.compiler.steps import variable
from tellegen.expressions import C_PRELUDE, Expression
from tellegen.expressions.c import CWriter
from tellegen.expressions.nodes import Number


def c_text(name: str) -> str:
    """A file of C beside this module: what generated code shares is written there, where editors and compilers see it."""
    return Path(__file__).with_name(name).read_text(encoding="ascii")


SUPPORT = c_text("speed.h") + c_text("support.h") + c_text("loops.h")


def _declared(name: str, function: str) -> str:
    """The head of a C function with the arguments of one of model.h."""
    arrays = "".join(f"const double *{word}, " for word in FUNCTIONS[function])
    return f"int {name}(tg_context *c, double t, {arrays}double *out)"


def _called(name: str, function: str, out: str = "out") -> str:
    return f"{name}({', '.join(('c', 't', *FUNCTIONS[function], out))})"


def _chosen(name: str) -> str:
    """Tangents along parameters have a function of their own: most are asked without, and then cost less."""
    return f"  return dp ? {_called(f'{name}_p', name)} : {_called(f'{name}_y', name)};\n"


def _later(name: str) -> str:
    """Tangents that the context compiles when they are first asked for."""
    return (
        "  struct tg_slopes *s = c->slopes;\n"
        f"  if (!s || (!s->{name} && (s->make() || !s->{name}))) {{ c->failed = 1; return 1; }}\n"
        f"  return {_called(f's->{name}', name)};\n"
    )


LONG = 20_000
LONG_AND_SELDOM = 5_000
LONG_AND_RARE = 10_000
"""Characters of a function beyond which a compiler would spend too long on it: of one that every step calls, of one that only rows
of the output call or that has a quicker form, and of one that a run hardly calls."""

MANY = 32
"""Numbers that a function gives side by side, from which on they are a table."""


def c_source(
    routines: Sequence[statements.Routine], tables: Sequence[int], samples: int, *, slopes_later: bool = False
) -> str:
    """The translation unit of a model. `tables` are the places of its tables among `tables` of the context.

    With `slopes_later`, tangents are those that the context has compiled apart.
    """
    # One translation unit without includes beyond the standard headers: it can be read, mailed and compiled alone.
    return "\n".join([C_PRELUDE, SUPPORT, c_functions(routines, tables, samples, slopes_later=slopes_later)])


def c_functions(
    routines: Sequence[statements.Routine], tables: Sequence[int], samples: int, *, slopes_later: bool = False
) -> str:
    """The functions of a model without what they call."""
    names = {routine.name for routine in routines}
    # Sensitivities alone ask for slopes by parameters; runs of explicit models ask for those of f, not of F.
    rare = {name for name in names if name.endswith("_p") or (name == "tangent_y" and "rhs_tangent_y" in names)}
    seldom = {"observe", *(["residual"] if "rhs" in names else [])}
    parts = [_function(routine, tables, rare=rare, seldom=seldom) for routine in routines]
    for name in ("tangent", "rhs_tangent"):
        # Also where slopes come later: solvers see a tangent from the beginning, and calling it has it compiled.
        if f"{name}_y" in names or slopes_later:
            body = _chosen(name) if f"{name}_y" in names else _later(name)
            parts.append(f"{_declared(f'tg_{name}', name)} {{\n{body}}}\n")
    if "powers" in names:
        both = f"{_called('tg_powers', 'powers')} || {_called('stored', 'balance', 'out + 4')}"
        parts.append(f"{_declared('tg_balance', 'balance')} {{\n  return {both};\n}}\n")
    parts.append(_sample(samples))
    return "\n".join(parts)


def _function(
    routine: statements.Routine, tables: Sequence[int], *, rare: Container[str], seldom: Container[str]
) -> str:
    function = function_of(routine.name)
    own = function == routine.name
    head = _declared(f"tg_{function}" if own else routine.name, function)
    body = _Body(routine, tables)
    lines = "\n".join(f"  {line}" for line in body.lines())
    name = routine.name
    limit, word = (LONG_AND_RARE, "TG_RARE ") if name in rare else (LONG, "TG_LONG ")
    if name in seldom:
        limit = LONG_AND_SELDOM
    return f"{word if len(lines) > limit else ''}{'' if own else 'static '}{head} {{\n{lines}\n}}\n"


def _sample(groups: int) -> str:
    cases = "".join(f"    case {g}: return sample_{g}(c, t, y, yp, memory);\n" for g in range(groups))
    return (
        "int tg_sample(tg_context *c, double t, const double *y, const double *yp, int group, double *memory) {\n"
        f"  switch (group) {{\n{cases}    default: return 0;\n  }}\n}}\n"
    )


class _Body:
    """The lines of one function."""

    def __init__(self, routine: statements.Routine, tables: Sequence[int]) -> None:
        self.routine = routine
        self.tables = tables
        self.names: dict[str, str] = {}
        self.head: list[str] = []
        self._set_leaves()
        for statement in statements.all_statements(routine.statements):
            for k in statements.targets_of(statement):
                self.names[f"%{k}"] = f"v{k}"
        self.writer = CWriter(self.names)
        # Counted over the whole function: a part that appears twice gets a name where it first appears.
        self.writer.count(e for s in routine.statements for e in _outer_expressions(s))
        self.writer.count(routine.results)
        self.inner = 0

    def _set_leaves(self) -> None:
        used = {
            name
            for s in statements.all_statements(self.routine.statements)
            for e in statements.expressions_of(s)
            for name in e.free_symbols
        }
        used |= {name for e in self.routine.results for name in e.free_symbols}
        arrays: dict[str, None] = {}
        for k, (word, i) in self.routine.leaves.items():
            if f"%{k}" not in used:
                continue
            # A null pointer stands for zeros: solvers that move along y alone give no dp.
            if word.startswith("d"):
                self.head.append(f"const double {word}_{i} = {word} ? {word}[{i}] : 0.0;")
                self.names[f"%{k}"] = f"{word}_{i}"
            else:
                self.names[f"%{k}"] = "t" if word == "t" else f"{word}[{i}]"
                # Parameters, inputs and memory lie in the context; a local pointer saves the way there at every use.
                if word in FIELDS:
                    arrays[word] = None
        self.head[:0] = [f"const double *{word} = c->{FIELDS[word]};" for word in arrays]

    def lines(self) -> list[str]:
        """Everything between the braces."""
        # All functions of a kind have one type, so that some do not use all of their arguments: no warning for that.
        words = ("c", "t", *FUNCTIONS[function_of(self.routine.name)])
        lines = [" ".join(f"(void){word};" for word in words), *self.head]
        for statement in self.routine.statements:
            lines += self._statement(statement, self.writer)
        lines += self._results()
        if self.routine.checked:
            # A value that is not finite must end the step there: deeper inside a solver nobody could tell whose it was.
            lines.append(f"return tg_checked(c, out, {len(self.routine.results)}, {self.routine.first});")
        else:
            lines.append("return 0;")
        return lines

    def _results(self) -> Iterable[str]:
        """What a function gives; many numbers side by side, as the points of a long course, are data and no statements."""
        for constant, group in groupby(enumerate(self.routine.results), key=lambda entry: isinstance(entry[1], Number)):
            several = list(group)
            texts = [(i, self.writer.write(result)) for i, result in several]
            yield from self._flushed(self.writer)
            if constant and len(several) >= MANY:
                first = several[0][0]
                yield f"static const double numbers_{first}[] = {{{', '.join(text for _, text in texts)}}};"
                yield f"for (int i = 0; i < {len(several)}; i++) out[{first} + i] = numbers_{first}[i];"
            else:
                yield from (f"out[{i}] = {text};" for i, text in texts)

    def _flushed(self, writer: CWriter) -> list[str]:
        found, writer.lines = writer.lines, []
        return found

    def _text(self, expression: Expression, writer: CWriter, lines: list[str]) -> str:
        text = writer.write(expression)
        lines += self._flushed(writer)
        return text

    def _statement(self, statement: statements.Statement, writer: CWriter) -> list[str]:
        lines: list[str] = []
        match statement:
            case statements.Let():
                text = self._text(statement.value, writer, lines)
                lines.append(f"const double v{statement.target} = {text};")
            case statements.Read():
                self._read(statement, writer, lines)
            case statements.Solve():
                self._solve(statement, writer, lines)
            case statements.Newton():
                self._newton(statement, lines)
        return lines

    def _read(self, statement: statements.Read, writer: CWriter, lines: list[str]) -> None:
        texts = [self._text(e, writer, lines) for e in statement.arguments]
        k = statement.target
        if statement.kind in ("table", "slope"):
            place = self.tables[statement.number]
            lines.append(f"const double v{k} = tg_{statement.kind}(c->tables + {place}, {texts[0]});")
        elif statement.kind == "past":
            # Without a history the initial value holds: models are also evaluated outside of runs.
            past = f"c->past(c->history, {statement.number}, {texts[0]})"
            lines.append(f"const double v{k} = c->past ? {past} : {texts[1]};")
        else:
            lines.append(f"const double a{k}[] = {{{', '.join(texts) or '0.0'}}};")
            lines.append(f"const double v{k} = c->external(c->host, {statement.number}, a{k});")

    def _solve(self, statement: statements.Solve, writer: CWriter, lines: list[str]) -> None:
        n, k = len(statement.targets), statement.targets[0]
        matrix = [self._text(e, writer, lines) for row in statement.matrix for e in row]
        right = [self._text(e, writer, lines) for e in statement.right]
        lines.append(f"double a{k}[] = {{{', '.join(matrix)}}};")
        lines.append(f"double b{k}[] = {{{', '.join(right)}}};")
        lines.append(f"if (tg_solve({n}, a{k}, b{k})) {{ c->failed = {self.routine.first + 1}; return 1; }}")
        lines += [f"const double v{target} = b{k}[{i}];" for i, target in enumerate(statement.targets)]

    def _newton(self, statement: statements.Newton, lines: list[str]) -> None:
        """The loop that `loops.h` drives."""
        self.inner += 1
        self.names[f"%{statement.limit}"] = f"w{statement.unknowns[0]}.limit"
        statement = statements.limited(statement, variable(statement.limit))
        # Names of its own: shared parts inside the loop must not be taken from a round before.
        writer = CWriter(self.names, f"n{self.inner}_")
        inner = (*statement.body, *statement.slopes)
        slopes = [e for row in statement.jacobian for e in row]
        writer.count(e for s in inner for e in _outer_expressions(s))
        writer.count((*statement.residuals, *slopes))
        n, k = len(statement.unknowns), statement.unknowns[0]
        lines.append(f"tg_newton w{k};")
        lines.append(f"double x{k}[{n}], r{k}[{n}], j{k}[{n * n}], step{k}[{n}], more{k}[TG_ROOM({n})];")
        lines.append(f"tg_begin(&w{k}, {n}, x{k}, c->values + {statement.scratch}, {int(statement.linear)});")
        # The loop is written out around the body, for residuals and slopes are formulas of this place and no functions.
        lines.append("for (;;) {")
        body = [f"const double v{w} = x{k}[{i}];" for i, w in enumerate(statement.unknowns)]
        for one in statement.body:
            body += self._statement(one, writer)
        body += self._entries(f"r{k}", statement.residuals, writer)
        # Before the slopes: a step that was too long is halved at the cost of the residuals alone.
        body.append(f"if (tg_backs_up(&w{k}, {n}, x{k}, r{k}, step{k}, more{k})) continue;")
        body += self._measured(statement, f"w{k}", f"more{k}")
        for one in statement.slopes:
            body += self._statement(one, writer)
        body += self._entries(f"j{k}", slopes, writer)
        body.append(f"if (tg_steps(&w{k}, {n}, x{k}, r{k}, j{k}, step{k}, more{k})) break;")
        lines += [f"  {line}" for line in body]
        lines.append("}")
        lines.append(f"if (tg_end(&w{k}, {n}, x{k}, c->values + {statement.scratch})) {{")
        # What was not found is the unknown whose equation is furthest from closing; a finding names it.
        lines.append(f"  static const int places[] = {{{', '.join(map(str, statement.places))}}};")
        lines.append(f"  c->failed = {self.routine.unknown + 1} + places[w{k}.worst]; return 1;\n  }}")
        lines += [f"const double v{w} = x{k}[{i}];" for i, w in enumerate(statement.unknowns)]

    def _entries(self, array: str, entries: Iterable[Expression], writer: CWriter) -> list[str]:
        lines: list[str] = []
        for i, e in enumerate(entries):
            text = self._text(e, writer, lines)
            lines.append(f"{array}[{i}] = {text};")
        return lines

    def _measured(self, statement: statements.Newton, word: str, array: str) -> list[str]:
        """The terms, which are seldom asked for."""
        if not statement.terms:
            return []
        # Names of a block of its own: nothing outside can read them.
        writer = CWriter(self.names, f"m{self.inner}_")
        writer.count(e for s in statement.measures for e in _outer_expressions(s))
        writer.count(statement.terms)
        lines = [line for one in statement.measures for line in self._statement(one, writer)]
        lines += self._entries(array, statement.terms, writer)
        return [f"if ({word}.asks) {{", *(f"  {line}" for line in lines), "}"]


def _outer_expressions(statement: statements.Statement) -> Iterable[Expression]:
    return () if isinstance(statement, statements.Newton) else statements.expressions_of(statement)
