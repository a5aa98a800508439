"""An analysis as text and as a record."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tellegen.analysis.poles import Pole
from tellegen.analysis.power_split import PowerSplit
from tellegen.core.names import identifier
from tellegen.results.units import ratio

if TYPE_CHECKING:
    from tellegen.analysis.summary import Analysis, ClosedLoop

OF_PLANT = "poles of the plant; controlled sources are inputs"


def to_text(found: "Analysis") -> str:
    """The analysis as an engineer reads it on a terminal."""
    model = found.model
    lines = [model.name]
    if model.point:
        lines += [
            "",
            "linearised at",
            *_pairs((n, f"{v:.6g} {found.units.get(n, '')}") for n, v in model.point.items()),
        ]
    if found.modes:
        lines += ["", "in the mode", *_pairs(found.modes.items())]
    title = "poles" if found.closed_loop is None else OF_PLANT
    lines += ["", title if found.poles else "no poles: the model is static", *_table(_pole_rows(found.poles))]
    if found.poles:
        lines += ["", f"stiffness ratio  {found.stiffness_ratio:.4g}"]
    if found.closed_loop is not None:
        lines += ["", *_closed_loop_lines(found.closed_loop)]
    lines += ["", "channels", *_table([("from", "to", "gain at rest", "unit", "zeros [1/s]"), *_channel_rows(found)])]
    lines += ["", *_structure(found)]
    if found.power is not None:
        lines += ["", "power in steady state [W]", *_table(_power_rows(found.power))]
    return "\n".join(line.rstrip() for line in lines)


def to_record(found: "Analysis", points: int) -> dict[str, object]:
    """Names, numbers and units; what is infinite is null."""
    model, passivity = found.model, found.passivity
    record: dict[str, object] = {
        "name": model.name,
        "states": _identifiers(model.states),
        "inputs": _identifiers(model.inputs),
        "outputs": _identifiers(model.outputs),
        "units": {
            identifier(n): found.units.get(n, "") for n in dict.fromkeys((*model.states, *model.inputs, *model.outputs))
        },
    }
    if model.point:
        record["point"] = {identifier(n): v for n, v in model.point.items()}
    if found.modes:
        record["modes"] = {identifier(n): mode for n, mode in found.modes.items()}
    record |= {
        "poles": [pole_record(p) for p in found.poles],
        "zeros": [_complex(z.value) for z in found.zeros()],
        "stiffness_ratio": _finite(found.stiffness_ratio),
        "channels": [*_channel_records(found)],
        "controllable": {"rank": found.controllability.rank, "states": found.controllability.states},
        "observable": {"rank": found.observability.rank, "states": found.observability.states},
        "passive": passivity.passive,
        "bode": _bode_record(found, points),
    }
    if (loop := found.closed_loop) is not None:
        record["controlled_inputs"] = _identifiers(loop.driven)
        record["closed_loop_poles"] = None if loop.poles is None else [pole_record(p) for p in loop.poles]
    if found.power is not None:
        record["power"] = {
            "unit": "W",
            "given": {identifier(n): p for n, p in found.power.given.items()},
            "taken": {identifier(n): p for n, p in found.power.taken.items()},
        }
    return record


def poles_to_text(poles: Sequence[Pole], *, controlled: bool = False) -> str:
    """A table of poles; `controlled` tells that they are those of a plant without its controllers."""
    return "\n".join(line.rstrip() for line in [OF_PLANT if controlled else "poles", *_table(_pole_rows(poles))])


def pole_record(pole: Pole) -> dict[str, object]:
    """A pole in numbers: 1/s, rad/s, s; a time constant that is infinite is null."""
    return {
        **_complex(pole.value),
        "natural_frequency": pole.natural_frequency,
        "damping": pole.damping,
        "time_constant": _finite(pole.time_constant),
    }


def _closed_loop_lines(loop: "ClosedLoop") -> list[str]:
    if loop.poles is None:
        return [f"no poles of the closed loop: {loop.reason}"]
    return [f"poles of the closed loop; {', '.join(loop.driven)} controlled", *_table(_pole_rows(loop.poles))]


def _channel_records(found: "Analysis") -> Iterator[dict[str, object]]:
    model, gains = found.model, found.dc_gain
    for i, y in enumerate(model.outputs):
        for j, u in enumerate(model.inputs):
            yield {
                "output": identifier(y),
                "input": identifier(u),
                "dc_gain": _finite(gains[i, j]),
                "unit": ratio(found.units.get(y, ""), found.units.get(u, "")),
                "zeros": [_complex(z.value) for z in found.zeros(y, u)],
            }


def _bode_record(found: "Analysis", points: int) -> dict[str, object]:
    bode = found.bode(points=points)
    channels = [
        {
            "output": identifier(y),
            "input": identifier(u),
            "magnitude": bode.magnitude[:, i, j].tolist(),
            "phase": bode.phase[:, i, j].tolist(),
        }
        for i, y in enumerate(bode.outputs)
        for j, u in enumerate(bode.inputs)
    ]
    return {
        "units": {"frequency": "rad/s", "phase": "deg"},
        "frequency": bode.frequency.tolist(),
        "channels": channels,
    }


def _pole_rows(poles: Sequence[Pole]) -> list[tuple[str, ...]]:
    head = ("value [1/s]", "natural frequency [rad/s]", "[Hz]", "damping", "time constant [s]")
    return (
        []
        if not poles
        else [
            head,
            *(
                (
                    complex_text(p.value, both=p.is_pair),
                    f"{p.natural_frequency:.5g}",
                    f"{p.natural_frequency / (2 * math.pi):.5g}",
                    f"{p.damping:.4g}",
                    f"{p.time_constant:.5g}" if math.isfinite(p.time_constant) else "-",
                )
                for p in poles
            ),
        ]
    )


def _channel_rows(found: "Analysis") -> Iterator[tuple[str, ...]]:
    model, gains = found.model, found.dc_gain
    for j, u in enumerate(model.inputs):
        for i, y in enumerate(model.outputs):
            zeros = ", ".join(complex_text(z.value, both=True) for z in found.zeros(y, u)) or "-"
            yield u, y, f"{gains[i, j]:.5g}", ratio(found.units.get(y, ""), found.units.get(u, "")), zeros


def _structure(found: "Analysis") -> list[str]:
    control, observe = found.controllability, found.observability
    words = {True: "yes", False: "no", None: "not decided by W"}
    return [
        f"controllable  {control.rank} of {control.states} states",
        f"observable    {observe.rank} of {observe.states} states",
        f"passive       {words[found.passivity.passive]}",
    ]


def _power_rows(power: PowerSplit) -> list[tuple[str, ...]]:
    given = [(f"{name} gives", f"{p:.5g}", f"{100 * p / power.total:.1f} %") for name, p in power.given.items()]
    taken = [(f"{name} takes", f"{p:.5g}", f"{100 * power.share(name):.1f} %") for name, p in power.taken.items()]
    return [*given, *taken] or [("nothing flows",)]


def complex_text(value: complex, *, both: bool = False) -> str:
    """`-3 + 4j`; with `both`, `-3 ± 4j` for a conjugate pair; a real number without its imaginary part."""
    if value.imag == 0:
        return f"{value.real:.5g}"
    sign = "±" if both else "+" if value.imag > 0 else "-"
    return f"{value.real:.5g} {sign} {abs(value.imag):.5g}j"


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    return ["  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)) for row in rows]


def _pairs(rows: Iterable[tuple[str, str]]) -> list[str]:
    return _table(list(rows))


def _identifiers(names: Sequence[str]) -> list[str]:
    return [identifier(name) for name in names]


def _complex(value: complex) -> dict[str, object]:
    return {"re": value.real, "im": value.imag}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
