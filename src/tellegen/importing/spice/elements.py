"""The cards of elements: a table of what each becomes, and the functions that write them."""

import math
from collections.abc import Callable
from typing import NamedTuple, final

from tellegen.core.names import listing
from tellegen.importing.spice import rules
from tellegen.importing.spice.courses import RefusedError, read_course
from tellegen.importing.spice.deck import GROUND, DeviceModel, ElementCard
from tellegen.importing.spice.values import DeckValue, ValueProblemError, of_number
from tellegen.importing.spice.writing import GMIN, V_T, CircuitWriter, Skip
from tellegen.notations.yaml.writing import line_text, list_text

LARGEST_CURRENT = 1e-3
"""The current at which an ideal diode has the voltage of the exponential one, in A."""
MOST_COILS = 200
"""Coupled with each other: their matrix is written out."""


@final
class CardKind(NamedTuple):
    """A card of an element: how it is written, what it becomes, what of it is left out, and the function that writes it."""

    form: str
    becomes: str
    left_out: str
    write: Callable[[CircuitWriter, ElementCard], None]


def _is_shorted(writer: CircuitWriter, card: ElementCard, ends: list[str]) -> bool:
    """Whether both nodes are one; where the card itself says so, it is told."""
    if ends[0] != ends[1]:
        return False
    if card.words[0].lower() == card.words[1].lower():
        writer.left_out(card.card, f"'{card.name}' has both ends at one node and is left out", "remove the card")
    return True


_BRACES = "{}'\""


def _value_of(writer: CircuitWriter, card: ElementCard, key: str, unit: str) -> DeckValue:
    """The value of a resistor, a capacitor or an inductor.

    Raises: Skip.
    """
    text = card.options.get(key) or (card.words[2] if len(card.words) > 2 else "")
    if not text:
        writer.wrong(card.card, f"'{card.name}' has no value", "write it behind the nodes")
    further = (
        card.options.keys() - {key, "ic", "m", "scale", "tc", "tc1", "tc2", "temp", "dtemp", "noisy", "noise", "ac"}
    ) | set(card.words[3:])
    told = card.options.keys() & {"tc", "tc1", "tc2", "temp", "dtemp"}
    if writer.circuit.model(text) is not None:
        writer.wrong(
            card.card,
            f"'{card.name}' takes its value from the model '{text}'",
            "write its value on its card",
            rules.NOT_READ,
        )
    if further:
        unread = listing([f"'{word}'" for word in sorted(further)])
        what = f"'{card.name}' has {unread}, which there is nothing for"
        writer.wrong(card.card, what, f"give it a value in {unit} alone", rules.NOT_READ)
    if told:
        writer.left_out(card.card, "what temperatures do to values is left out", "give the values of that temperature")
    for word, sign in (("scale", "*"), ("m", "*" if key == "c" else "/")):
        if word in card.options:
            text = f"{{({text.strip(_BRACES)}){sign}({card.options[word].strip(_BRACES)})}}"
    return writer.value(text, card.card)


def _resistor(writer: CircuitWriter, card: ElementCard) -> None:
    ends = writer.ends(card)
    value = _value_of(writer, card, "r", "ohm")
    if _is_shorted(writer, card, ends):
        return
    text = value.with_unit("ohm")
    if writer.number(value) == 0:
        writer.left_out(
            card.card, f"'{card.name}' is 0 ohm, for which SPICE takes 1 mohm, as it is taken here", "join its nodes"
        )
        text = "1 mohm"
    writer.add(writer.elements[card.name.lower()], "resistor", ends, ("R", text))


def _storage(writer: CircuitWriter, card: ElementCard, kind: str, unit: str, initial: str) -> None:
    ends = writer.ends(card)
    value = _value_of(writer, card, card.letter, unit)
    if writer.number(value) == 0:
        writer.left_out(card.card, f"'{card.name}' is 0 {unit}: it is left out", "remove the card")
        if card.letter == "l":
            writer.add(writer.elements[card.name.lower()], "resistor", ends, ("R", "1 uohm"))
        return
    if _is_shorted(writer, card, ends):
        return
    pairs = [(card.letter.upper(), value.with_unit(unit))]
    started = _initial(writer, card, ends, initial)
    writer.starts_at_zero |= not started
    pairs += [("initial", started)] if started else []
    writer.add(writer.elements[card.name.lower()], kind, ends, *pairs)


def _initial(writer: CircuitWriter, card: ElementCard, ends: list[str], unit: str) -> str:
    """The value at the start: that of the card, which counts with `uic` alone, else those of `.ic`."""
    held = card.options.get("ic")
    if held is not None and not writer.job.uic:
        writer.left_out(card.card, "IC= counts only where .tran has 'uic', here as in SPICE", "add 'uic' to .tran")
    elif held is not None:
        return writer.value(held, card.card).with_unit(unit)
    given = writer.job.initial
    if card.letter != "c" or not writer.is_top or not given.keys() & set(ends):
        return ""
    if any(end != GROUND and end not in given for end in ends):
        writer.left_out(
            card.card,
            f"'.ic' sets capacitors between nodes that it names and the ground, not '{card.name}'",
            "give it IC= and .tran 'uic'",
        )
        return ""
    sizes = [writer.value(given[end], card.card) if end != GROUND else of_number(0.0) for end in ends]
    if ends[1] == GROUND:
        return sizes[0].with_unit(unit)
    return f"{sizes[0].factor} - {sizes[1].factor}"


def _capacitor(writer: CircuitWriter, card: ElementCard) -> None:
    _storage(writer, card, "capacitor", "F", "V")


def _inductor(writer: CircuitWriter, card: ElementCard) -> None:
    if card.name.lower() not in writer.coupled:
        _storage(writer, card, "inductor", "H", "A")


def _coupling(writer: CircuitWriter, card: ElementCard) -> None:
    """All coils that belong together, written where the first card that couples them stands."""
    if len(card.words) < 3:
        writer.wrong(card.card, f"'{card.name}' couples fewer than two coils", "write K1 L1 L2 0.99")
    together = writer.coupled[card.words[0].lower()]
    if together[0] is card:
        _write_coils(writer, card, together)


def _write_coils(writer: CircuitWriter, first: ElementCard, couplings: list[ElementCard]) -> None:
    if len({word.lower() for card in couplings for word in card.words[:-1]}) > MOST_COILS:
        what = f"more than {MOST_COILS} coils are coupled with each other"
        raise rules.TOO_LARGE.error(what, fix="couple fewer of them", place=first.card.place)
    factors: dict[frozenset[str], str] = {}
    coils: dict[str, ElementCard] = {}
    for card in couplings:
        names = [word.lower() for word in card.words[:-1]]
        for name in names:
            coil = writer.circuit.elements.get(name)
            if coil is None or coil.letter != "l":
                writer.wrong(
                    card.card,
                    f"'{card.name}' couples '{name}', which is no coil of this circuit",
                    "name inductors",
                    rules.UNKNOWN_NAME,
                )
                raise Skip
            coils[name] = coil
        factor = writer.value(card.words[-1], card.card)
        size = writer.number(factor)
        if size is not None and abs(size) >= 1:
            what = f"'{card.name}' couples its coils with a factor of {size:g}"
            fix = "write 0.999, or use the element 'transformer' of a model file"
            writer.wrong(card.card, what, fix, rules.PERFECT)
        known = writer.setting(f"k_{card.name}", factor.text)
        for place, one in enumerate(names):
            for other in names[:place]:
                factors[frozenset((one, other))] = known
    _write_field(writer, first, [coil for low, coil in writer.circuit.elements.items() if low in coils], factors)


def _write_field(
    writer: CircuitWriter, first: ElementCard, coils: list[ElementCard], factors: dict[frozenset[str], str]
) -> None:
    ends = [end for coil in coils for end in writer.ends(coil)]
    sizes = []
    for coil in coils:
        value = _value_of(writer, coil, "l", "H")
        name = writer.elements[coil.name.lower()]
        if name not in writer.settings and value.text != name:
            writer.settings[name] = value.with_unit("H")
        sizes.append(name)
    rows = []
    for one, row in zip(coils, sizes, strict=True):
        entries = []
        for other, column in zip(coils, sizes, strict=True):
            factor = factors.get(frozenset((one.name.lower(), other.name.lower())))
            entries.append(row if one is other else f"{factor}*sqrt({row}*{column})" if factor else "0")
        rows.append(entries)
    starts = [_initial(writer, coil, [], "A") for coil in coils]
    writer.starts_at_zero |= not all(starts)
    pairs = [("inductor field", list_text(map(writer.node_name, ends)))]
    pairs += [("current", list_text(f"I_{name}" for name in sizes))]
    pairs += [("initial", list_text(start or "0 A" for start in starts))] if any(starts) else []
    pairs += [("matrix", "[" + ", ".join(list_text(row) for row in rows) + "]")]
    writer.loaded |= set(ends)
    writer.stiff["coil"] += [(first.name, end) for end in ends]
    writer.network.append((writer.elements[first.name.lower()], line_text(pairs)))


# Sources


def _source(writer: CircuitWriter, card: ElementCard, kind: str, unit: str) -> None:
    ends = writer.ends(card)
    name = writer.elements[card.name.lower()]
    if kind == "voltage source" and ends[0] == ends[1]:
        writer.wrong(
            card.card, f"'{card.name}' imposes a voltage between a node and itself", "remove the card, or change a node"
        )
    if _is_shorted(writer, card, ends):
        return
    try:
        course = read_course(
            card.words[2:], card.options, unit, writer.job.span, lambda text: writer.value(text, card.card)
        )
    except RefusedError as shape:
        writer.wrong(card.card, f"'{card.name}' follows {shape}", "use PULSE, SIN, EXP or PWL", rules.NOT_READ)
        raise
    except ValueProblemError as problem:
        writer.wrong(card.card, f"'{card.name}': {problem}", "see the order of values in the manual of SPICE")
        raise
    text = writer.course(name, course)
    measures = course.without_course or text == f"0 {unit}"
    # Who measures a current puts a source of zero there: it is no input.
    if writer.is_top and not (measures and card.name.lower() in writer.read_currents):
        writer.inputs[name] = text
        writer.add(name, kind, ends, imposes=kind == "voltage source")
    else:
        writer.add(name, kind, ends, ("signal", text), imposes=kind == "voltage source")


def _voltage_source(writer: CircuitWriter, card: ElementCard) -> None:
    _source(writer, card, "voltage source", "V")


def _current_source(writer: CircuitWriter, card: ElementCard) -> None:
    _source(writer, card, "current source", "A")


def _controlled(writer: CircuitWriter, card: ElementCard, words: int) -> list[str]:
    """The nodes of a linear controlled source.

    Raises: Skip where it is shorted, or not linear.
    """
    shape = next((word.upper() for word in (*card.words[2:3], *card.options) if word.lower() in _NOT_LINEAR), None)
    if shape is not None:
        writer.wrong(card.card, f"'{card.name}' follows {shape}", "give it a gain", rules.NOT_READ)
    if len(card.words) != words or card.options:
        writer.wrong(
            card.card,
            f"'{card.name}' has {len(card.words)} words behind its name, not {words}",
            "write its nodes, what it reads, and its gain",
        )
    ends = writer.ends(card)
    if _is_shorted(writer, card, ends):
        raise Skip
    return ends


_NOT_LINEAR = ("poly", "value", "vol", "cur", "table", "laplace", "freq", "cheby", "and", "nand", "or", "nor", "delay")


def _by_voltage(writer: CircuitWriter, card: ElementCard, kind: str) -> None:
    ends = _controlled(writer, card, 5)
    gain = writer.value(card.words[4], card.card)
    read = writer.sensor(writer.node(card.words[2]), writer.node(card.words[3]))
    name = writer.elements[card.name.lower()]
    writer.add(name, kind, ends, ("signal", f"{gain.factor}*{read}"), imposes=kind == "voltage source")


def _by_current(writer: CircuitWriter, card: ElementCard, kind: str) -> None:
    ends = _controlled(writer, card, 4)
    gain = writer.value(card.words[3], card.card)
    source = writer.circuit.elements.get(card.words[2].lower())
    if source is None or source.letter != "v":
        what = f"'{card.name}' reads the current of '{card.words[2]}', which is no voltage source of this circuit"
        writer.wrong(card.card, what, "put a voltage source of 0 V where the current is to be read", rules.UNKNOWN_NAME)
        raise Skip
    name = writer.elements[card.name.lower()]
    # The current of a source enters at its first node in SPICE, and leaves there here.
    text = f"-{gain.factor}*I_{writer.elements[source.name.lower()]}"
    writer.add(name, kind, ends, ("signal", text.removeprefix("--")), imposes=kind == "voltage source")


def _voltage_by_voltage(writer: CircuitWriter, card: ElementCard) -> None:
    _by_voltage(writer, card, "voltage source")


def _current_by_voltage(writer: CircuitWriter, card: ElementCard) -> None:
    _by_voltage(writer, card, "current source")


def _current_by_current(writer: CircuitWriter, card: ElementCard) -> None:
    _by_current(writer, card, "current source")


def _voltage_by_current(writer: CircuitWriter, card: ElementCard) -> None:
    _by_current(writer, card, "voltage source")


# Switches and diodes


def _model(writer: CircuitWriter, card: ElementCard, place: int, type_: str) -> DeviceModel:
    """The model of a device.

    Raises: Skip.
    """
    name = card.words[place] if len(card.words) > place else ""
    found = writer.circuit.model(name) if name else None
    if found is None:
        what = f"'{card.name}' has the model '{name}', which there is not" if name else f"'{card.name}' names no model"
        writer.wrong(card.card, what, f"define it: .model NAME {type_.upper()}(...)", rules.UNKNOWN_NAME)
        raise Skip
    if found.type != type_:
        what = f"'{card.name}' has the model '{name}' of the type {found.type.upper()}"
        writer.wrong(card.card, what, f"give it one of the type {type_.upper()}", rules.NOT_READ)
    return found


def _settings(
    writer: CircuitWriter, model: DeviceModel, known: dict[str, float], ignored: frozenset[str]
) -> dict[str, DeckValue]:
    """The values of a model; what is left out of it is told."""
    further = [key for key in model.settings if key not in known and key not in ignored]
    if further:
        verb = "is" if len(further) == 1 else "are"
        what = f"{listing([key.upper() for key in further])} of the model '{model.name}' {verb} left out"
        writer.left_out(model.card, what, "add an element for it where it matters")
    return {
        key: writer.value(model.settings[key], model.card) if key in model.settings else of_number(size)
        for key, size in known.items()
    }


def _switch(writer: CircuitWriter, card: ElementCard) -> None:
    ends = writer.ends(card)
    model = _model(writer, card, 4, "sw")
    found = _settings(writer, model, {"vt": 0.0, "ron": 1.0, "roff": 1e12}, frozenset())
    name = writer.elements[card.name.lower()]
    if _is_shorted(writer, card, ends):
        return
    read = writer.sensor(writer.node(card.words[2]), writer.node(card.words[3]))
    threshold = found["vt"]
    size = threshold.with_unit("V")
    below = f"({size})" if size.startswith("-") or not threshold.is_number else size
    control = read if threshold.is_number and float(threshold.text) == 0 else f"{read} - {below}"
    writer.add(name, "switch", ends, ("control", control), ("R_on", found["ron"].with_unit("ohm")))
    writer.add(writer.names.give(f"{name}_off", "R"), "resistor", ends, ("R", found["roff"].with_unit("ohm")))


_DIODE = {"is": 1e-14, "n": 1.0, "rs": 0.0}
_HARMLESS = frozenset({"level", "type", "mfg", "vpk", "iave", "xti", "eg", "tnom", "kf", "af"})
"""Keys of a diode that say nothing about a run at 27 degrees Celsius."""


def _diode(writer: CircuitWriter, card: ElementCard) -> None:
    ends = writer.ends(card)
    model = _model(writer, card, 2, "d")
    values = _settings(writer, model, _DIODE, _HARMLESS)
    extra = [word for word in card.words[3:] if word.lower() not in ("off", "on")]
    if len(extra) > 1 or card.options.keys() - {"area", "ic", "m"}:
        writer.wrong(
            card.card,
            f"'{card.name}' has more than its area behind its model",
            "write D1 ANODE CATHODE MODEL AREA",
            rules.NOT_READ,
        )
    if _is_shorted(writer, card, ends):
        return
    given = [text for text in (*extra, card.options.get("area"), card.options.get("m")) if text]
    area = "*".join(writer.value(text, card.card).factor for text in given)
    name = writer.elements[card.name.lower()]
    if writer.job.ideal_diodes:
        _ideal_diode(writer, name, ends, values, area)
    else:
        _exponential_diode(writer, name, ends, (model.name, values, area))


def _series(values: dict[str, DeckValue], area: str) -> str:
    """The resistance in series; empty where there is none."""
    found = values["rs"]
    if found.is_number and float(found.text) == 0:
        return ""
    return f"{found.factor}/({area})" if area else found.with_unit("ohm")


def _ideal_diode(writer: CircuitWriter, name: str, ends: list[str], values: dict[str, DeckValue], area: str) -> None:
    factor = f"{area}*" if area else ""
    sizes = [writer.number(values[key]) for key in ("is", "n")]
    drop = f"{values['n'].factor}*0.025864926*log(0.001/({factor}{values['is'].factor}) + 1)"
    if not area and sizes[0] and sizes[1]:
        drop = f"{sizes[1] * 0.025864926 * math.log(LARGEST_CURRENT / sizes[0] + 1):.6g} V"
    pairs = [("V_f", drop)]
    pairs += [("R_on", series)] if (series := _series(values, area)) else []
    writer.add(name, "diode", ends, *pairs)
    # Beside it the resistance that keeps what it blocks from floating.
    writer.add(writer.names.give(f"{name}_gmin", "G"), "conductance", ends, ("G", GMIN))


def _exponential_diode(
    writer: CircuitWriter, name: str, ends: list[str], device: tuple[str, dict[str, DeckValue], str]
) -> None:
    model, values, area = device
    anode, cathode = ends
    if series := _series(values, area):
        inner = f"{name.lower()}#j"
        writer.add(writer.names.give(f"{name}_s", "R"), "resistor", [anode, inner], ("R", series))
        anode = inner
    current = writer.setting(f"IS_{model}", values["is"].with_unit("A"))
    slope = writer.setting(f"N_{model}", values["n"].text)
    thermal = writer.setting("V_T", V_T)
    factor = f"{area}*" if area else ""
    writer.add(
        name, "conductance", [anode, cathode], ("law", f"i = {factor}{current}*(exp(v/({slope}*{thermal})) - 1)")
    )
    # Beside it and not inside the law, which could not be inverted then.
    writer.add(writer.names.give(f"{name}_gmin", "G"), "conductance", [anode, cathode], ("G", GMIN))


def _subcircuit(writer: CircuitWriter, card: ElementCard) -> None:
    writer.part(card)


CARDS: dict[str, CardKind] = {
    "r": CardKind("`R1 a b 1k m=2`", "`resistor`", "temperature coefficients", _resistor),
    "c": CardKind("`C1 a b 100n IC=5`", "`capacitor`, with its `initial` voltage", "", _capacitor),
    "l": CardKind("`L1 a b 1m IC=2`", "`inductor`, with its `initial` current", "", _inductor),
    "k": CardKind(
        "`K1 L1 L2 0.99`", "`inductor field` of all coils that belong together, `M = k*sqrt(L_1*L_2)`", "", _coupling
    ),
    "v": CardKind(
        "`V1 a b DC 5 PULSE(...)`", "`voltage source`, with its course in the experiment", "`AC`", _voltage_source
    ),
    "i": CardKind("`I1 a b SIN(...)`", "`current source`, with its course in the experiment", "`AC`", _current_source),
    "e": CardKind(
        "`E1 a b c d 10`", "`voltage source` that follows the voltage between `c` and `d`", "", _voltage_by_voltage
    ),
    "g": CardKind(
        "`G1 a b c d 1m`", "`current source` that follows the voltage between `c` and `d`", "", _current_by_voltage
    ),
    "f": CardKind("`F1 a b V1 10`", "`current source` that follows the current of `V1`", "", _current_by_current),
    "h": CardKind("`H1 a b V1 100`", "`voltage source` that follows the current of `V1`", "", _voltage_by_current),
    "s": CardKind("`S1 a b c d NAME`", "`switch` that closes above `VT`, and `ROFF` beside it", "`VH`", _switch),
    "d": CardKind(
        "`D1 a b NAME`", "exponential `conductance` behind `RS`, or an ideal `diode`", "`CJO`, `TT`, `BV`, ...", _diode
    ),
    "x": CardKind("`X1 a b NAME r=1k`", "a part, in a file of its own", "", _subcircuit),
}
"""The cards that are read, by the first letter of a name."""

REFUSED = {
    "m": "a MOS transistor", "q": "a bipolar transistor", "j": "a junction transistor", "z": "a MESFET",
    "b": "a source with a formula",
    "t": "a transmission line", "o": "a lossy transmission line", "u": "a distributed RC line",
    "w": "a switch that a current controls",
    "a": "a block of code", "y": "a lossy line", "p": "coupled lines", "n": "a device of a compiled model",
}  # fmt: skip
"""The cards that are refused, with what they are."""


def _refuse(writer: CircuitWriter, card: ElementCard) -> None:
    what = f"'{card.name}' is {REFUSED[card.letter]}, which is not read"
    writer.wrong(card.card, what, "replace it by elements that are read (see the page on import)", rules.NOT_READ)


WRITERS: dict[str, Callable[[CircuitWriter, ElementCard], None]] = {
    **{letter: kind.write for letter, kind in CARDS.items()},
    **dict.fromkeys(REFUSED, _refuse),
}
"""The function for each first letter of a name."""
