"""The text of runs in lanes: a model's straight lines, a method with its coefficients, what is kept, and the loop of lanes.h."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from tellegen.compiler.straight import StraightCode, support
from tellegen.simulation import batches
from tellegen.simulation.solvers.coefficients import (
    BOGACKI_SHAMPINE_3,
    CLASSIC_4,
    DORMAND_PRINCE_8,
    TSITOURAS_5,
    Row,
    Tableau,
)

PAIRS: Final[Mapping[str, Tableau]] = {
    "dormand-prince": DORMAND_PRINCE_8,
    "tsitouras": TSITOURAS_5,
    "bogacki-shampine": BOGACKI_SHAMPINE_3,
    "classic": CLASSIC_4,
}
"""The methods, by the words that a study keeps. What tells no error of a step takes steps that are given."""

SHARE: Final = 0.25
"""Of the tolerance: what a single step may use, for errors of steps add up."""
CAUTION: Final = 0.8
PI_SHARE: Final = 0.04
PI_PARTS: Final = {"dormand-prince": 0.2}
"""Those of higher order; the others have"""
PI_PART: Final = 0.75
"""How the control of steps weighs the step before: as codes of Hairer and Wanner have it for these orders."""


@final
@dataclass(frozen=True)
class Keeping:
    """What is kept of each run: numbers as (kind, channel, time), those of kind `AT` in order of time, and the channels of rows."""

    numbers: tuple[tuple[int, int, float], ...]
    rows: tuple[int, ...] = ()

    @property
    def channels(self) -> tuple[int, ...]:
        """The channels that are told, each once."""
        return tuple(dict.fromkeys((*(place for _, place, _ in self.numbers), *self.rows)))


def lanes_text(code: StraightCode, pair: str, keeping: Keeping, host: str, *, rolled: bool = False) -> str:
    """The whole text; `host` says what it runs on, as macros. The functions of `code` tell the channels of `keeping`.

    `rolled` stages are a loop: the rates stand in the program once, and not once for each stage.
    """
    tableau = PAIRS[pair]
    told = {place: k for k, place in enumerate(keeping.channels)}
    ats = [k for k, (kind, _, _) in enumerate(keeping.numbers) if kind == batches.AT]
    kinds = [kind for kind, _, _ in keeping.numbers]
    sizes = {
        "N": code.size,
        "N_VALUES": code.values,
        "N_CONSTANTS": code.constants,
        "N_TOLD": code.told,
        "BENDS": code.bends,
        "KEPT": len(keeping.numbers),
        "ATS": len(ats),
        "EXTREMES": sum(batches.MAX <= kind <= batches.TIME_OF_MIN for kind in kinds),
        "SUMS": sum(kind >= batches.INTEGRAL for kind in kinds),
        "ROW_WIDTH": len(keeping.rows),
    }
    lists = [
        _listed("int", "KIND", kinds),
        _listed("int", "PLACE", [told[place] for _, place, _ in keeping.numbers]),
        _listed("double", "AT_TIME", [keeping.numbers[k][2] for k in ats]),
        _listed("int", "AT_NUMBER", ats),
        _listed("int", "ROW_PLACE", [told[place] for place in keeping.rows]),
    ]
    macros = {**{name: str(value) for name, value in sizes.items()}, **_method(tableau, pair)}
    if _reads_one_before(tableau):
        macros["STAGE_CODE"] = _block(_stages_in_place(tableau, rolled=rolled))
        lists += _stages_in_place_tables(tableau)
    elif rolled:
        macros["STAGE_CODE"] = _block(_rolled_stages(tableau))
        lists += _stage_tables(tableau)
    defined = "\n".join(f"#define TG_{name} {text}" for name, text in macros.items())
    loop = Path(__file__).with_name("lanes.h").read_text(encoding="ascii")
    return "\n".join((host, defined, *lists, support(), _HEADS, code.text, loop))


def _listed(kind: str, name: str, values: Sequence[float]) -> str:
    return f"TG_TABLE {kind} TG_{name}[] = {{{', '.join(map(repr, values or [0]))}}};"


_HEADS: Final = """\
typedef double tg_wide[TG_WIDTH];
#define TG_T t[l]
#define TG_Y(i) y[i][l]
#define TG_OUT(i) out[i][l]
#define TG_VALUE(i) values[i]
#define TG_CONSTANT(i) constants[i][l]
#define TG_SETTLE_BEGIN(name) static TG_APART void name(const double *values, tg_wide *constants, int l) { \\
  (void)values; (void)constants; (void)l;
#define TG_SETTLE_END }
#define TG_RATES_BEGIN(name) static TG_APART void name(const double *TG_ALONE t, const tg_wide *TG_ALONE y, \\
  const tg_wide *TG_ALONE constants, tg_wide *TG_ALONE out) { (void)t; (void)y; (void)constants; (void)out; TG_EACH {
#define TG_RATES_END } }
#define TG_TOLD_BEGIN TG_RATES_BEGIN
#define TG_TOLD_END } }
"""


def _method(tableau: Tableau, pair: str) -> dict[str, str]:
    stages = _rows_of_stages(tableau)
    return {
        "STAGES": str(stages),
        "KEEPS_STEP": str(int(not tableau.error)),
        "ROWS_OF_RATES": str(stages + 1 + max(len(tableau.dense_a), int(_reads_one_before(tableau)))),
        "DENSE_ROWS": str(3 + len(tableau.dense_b)),
        "ORDER": f"{float(tableau.order)}f",
        "SHARE": repr(SHARE),
        "CAUTION": f"{CAUTION}f",
        "PI_SHARE": f"{PI_SHARE}f",
        "PI_PART": f"{PI_PARTS.get(pair, PI_PART)}f",
        "HAS_COARSE": str(int(bool(tableau.second_error))),
        "ERROR": f"({_error(tableau)})",
        "COARSE": f"({_sum(tableau.second_error)})",
        "STAGE_CODE": _block(_stage_code(tableau)),
        "DENSE_CODE": _block(_dense_code(tableau)),
        "DENSE_VALUE": _dense_value(3 + len(tableau.dense_b)),
    }


def _rows_of_stages(tableau: Tableau) -> int:
    """How many rows of rates a step needs: all stages, or the present one beside the first."""
    return 1 if _reads_one_before(tableau) else len(tableau.a)


def _reads_one_before(tableau: Tableau) -> bool:
    """Whether each stage reads the one before alone, and nothing is asked for between."""
    alone = all(row == {k - 1: c} for k, (c, row) in enumerate(zip(tableau.c, tableau.a, strict=True)) if k)
    return alone and not (tableau.second_error or tableau.dense_c or tableau.dense_b)


_OVER = "TG_UNROLL_ALL for (int i = 0; i < TG_N; i++) TG_EACH"


def _stage_code(tableau: Tableau) -> Iterable[str]:
    for i, row in enumerate(tableau.a):
        if i:
            yield from _stage(i, tableau.c[i], row)
    yield f"{_OVER} w->y1[i][l] = w->y[i][l] + w->step[l] * ({_sum(tableau.b)});"
    yield "TG_EACH w->at[l] = w->t[l] + w->step[l];"
    yield "tg_rates(w->at, w->y1, w->constants, w->k[TG_STAGES]);"


def _stage_tables(tableau: Tableau) -> list[str]:
    rows = [*tableau.a[1:], tableau.b]
    stages = len(tableau.a)
    return [
        _listed("double", "STAGE_SHARES", [row.get(j, 0.0) for row in rows for j in range(stages)]),
        _listed("double", "STAGE_TIMES", [*tableau.c[1:], 1.0]),
    ]


def _rolled_stages(tableau: Tableau) -> Iterable[str]:
    """All stages by one loop. Places in arrays are known beforehand all the same, or registers could not hold them."""
    stages = len(tableau.a)
    shares = " + ".join(f"TG_STAGE_SHARES[{stages} * q + {j}] * w->k[{j}][i][l]" for j in range(stages))
    # what a stage before it has left would count with a share of zero, and be no number perhaps
    yield f"{_OVER} {{ {' '.join(f'w->k[{j}][i][l] = 0.0;' for j in range(1, stages))} }}"
    yield f"TG_ROLLED for (int q = 0; q < {stages}; q++) {{"
    yield f"{_OVER} w->s[i][l] = w->y[i][l] + w->step[l] * ({shares});"
    yield "TG_EACH w->at[l] = w->t[l] + TG_STAGE_TIMES[q] * w->step[l];"
    yield "tg_rates(w->at, w->s, w->constants, w->k[TG_STAGES]);"
    kept = " ".join(
        f"w->k[{j}][i][l] = q == {j - 1} ? w->k[TG_STAGES][i][l] : w->k[{j}][i][l];" for j in range(1, stages)
    )
    yield f"{_OVER} {{ {kept} }}"
    yield "}"
    yield f"{_OVER} w->y1[i][l] = w->s[i][l];"


def _stages_in_place(tableau: Tableau, *, rolled: bool) -> Iterable[str]:
    """Stages of which each reads the one before alone: the sums of the step and of its error grow beside them, and none is kept.

    So 20 variables and what their rates need in between fit into the registers of a thread.
    """
    last = len(tableau.a) - 1
    yield f"{_OVER} {{ w->y1[i][l] = w->y[i][l]; w->k[1][i][l] = w->k[0][i][l]; w->k[2][i][l] = 0.0; }}"
    yield f"{'TG_ROLLED' if rolled else 'TG_UNROLL_ALL'} for (int q = 0; q < {last + 1}; q++) {{"
    yield "tg_wide part, far;"
    yield "TG_EACH { part[l] = w->step[l] * TG_STAGE_SHARES[q]; far[l] = w->step[l] * TG_STAGE_TIMES[q]; }"
    if tableau.error:
        yield f"{_OVER} w->k[2][i][l] = w->k[2][i][l] + TG_STAGE_ERRORS[q] * w->k[1][i][l];"
    yield f"{_OVER} w->y1[i][l] = w->y1[i][l] + part[l] * w->k[1][i][l];"
    yield f"{_OVER} w->s[i][l] = q == {last} ? w->y1[i][l] : w->y[i][l] + far[l] * w->k[1][i][l];"
    yield "TG_EACH w->at[l] = w->t[l] + far[l];"
    yield "tg_rates(w->at, w->s, w->constants, w->k[1]);"
    yield "}"


def _stages_in_place_tables(tableau: Tableau) -> list[str]:
    return [
        _listed("double", "STAGE_SHARES", [tableau.b[j] for j in range(len(tableau.a))]),
        _listed("double", "STAGE_TIMES", [*tableau.c[1:], 1.0]),
        _listed("double", "STAGE_ERRORS", [tableau.error.get(j, 0.0) for j in range(len(tableau.a))]),
    ]


def _error(tableau: Tableau) -> str:
    if not _reads_one_before(tableau) or not tableau.error:
        return _sum(tableau.error)
    return f"w->k[2][i][l] + {tableau.error[len(tableau.a)]!r} * w->k[1][i][l]"


def _stage(number: int, c: float, row: Row) -> Iterable[str]:
    yield f"{_OVER} w->s[i][l] = w->y[i][l] + w->step[l] * ({_sum(row)});"
    yield f"TG_EACH w->at[l] = w->t[l] + {c!r} * w->step[l];"
    yield f"tg_rates(w->at, w->s, w->constants, w->k[{number}]);"


def _dense_code(tableau: Tableau) -> Iterable[str]:
    end = _rows_of_stages(tableau)
    for i, (c, row) in enumerate(zip(tableau.dense_c, tableau.dense_a, strict=True), start=end + 1):
        yield from _stage(i, c, row)
    yield f"{_OVER} {{"
    yield "const double d = w->y1[i][l] - w->y[i][l];"
    yield "w->dense[0][i][l] = d;"
    yield "w->dense[1][i][l] = w->step[l] * w->k[0][i][l] - d;"
    yield f"w->dense[2][i][l] = 2.0 * d - w->step[l] * (w->k[{end}][i][l] + w->k[0][i][l]);"
    for i, row in enumerate(tableau.dense_b, start=3):
        yield f"w->dense[{i}][i][l] = w->step[l] * ({_sum(row)});"
    yield "}"


def _dense_value(rows: int) -> str:
    """The interpolant as nested products, alternately by x and 1 - x."""
    text = f"w->dense[{rows - 1}][i][l]"
    for i in range(rows - 2, -1, -1):
        text = f"(w->dense[{i}][i][l] + {'z' if i % 2 == 0 else 'x'} * {text})"
    return f"x * {text}"


def _sum(row: Row) -> str:
    return " + ".join(f"{value!r} * w->k[{j}][i][l]" for j, value in row.items()) or "0.0"


def _block(lines: Iterable[str]) -> str:
    return " \\\n  ".join(lines)
