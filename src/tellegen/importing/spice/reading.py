"""`read_spice`: a SPICE deck as a model file, with a file for each subcircuit; a table tells what each card becomes."""

import math
import re
from collections.abc import Callable
from itertools import chain, combinations_with_replacement
from itertools import count as count_from
from pathlib import Path
from typing import Literal, NamedTuple, final, get_args

from tellegen.core.names import listing
from tellegen.core.union_find import strong_components
from tellegen.importing import rules as importing_rules
from tellegen.importing.imported import Imported, plain_name
from tellegen.importing.spice import rules
from tellegen.importing.spice.deck import (
    CARD_WORD,
    GROUND,
    Card,
    ElementCard,
    Findings,
    ReadDeck,
    node,
    read_deck,
    split_words,
    understand,
)
from tellegen.importing.spice.devices import write_bipolar, write_diode, write_mos, write_switch
from tellegen.importing.spice.values import (
    DeckValue,
    RefusedError,
    Span,
    ValueProblemError,
    of_number,
    read_course,
    read_formula,
)
from tellegen.importing.spice.writing import CircuitWriter, DeckJob, Skip
from tellegen.notations.yaml.writing import line_text, list_text

MOST_COILS = 200
"""Coupled with each other: their matrix is written out."""


@final
class _CardKind(NamedTuple):
    """A card of an element: how it is written, what it becomes, what of it is left out, and the function that writes it."""

    form: str
    becomes: str
    left_out: str
    write: Callable[[CircuitWriter, ElementCard], None]


_READS = re.compile(r"\b[vi]\s*\(", re.IGNORECASE)
"""Of a formula that reads a voltage or a current."""
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
    given = card.options.get("r") or (card.words[2] if len(card.words) > 2 else "")
    if _READS.search(given):
        # As SPICE itself does it: a current that follows its voltage.
        text = f"{writer.sensor(*ends)}/({_in_unit(_by_formula(writer, card, given), 'ohm')})"
        if not writer.is_shorted(card, ends):
            writer.add(writer.elements[card.name.lower()], "current source", ends, ("signal", text))
        return
    value = _value_of(writer, card, "r", "ohm")
    if writer.is_shorted(card, ends):
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
    if writer.is_shorted(card, ends):
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
    if writer.is_shorted(card, ends):
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


def _controlled(writer: CircuitWriter, card: ElementCard, kind: str, unit: str) -> None:
    """A source that follows voltages or currents: by a gain, a polynomial, a table or a formula.

    Raises: Skip where it is shorted, or follows what is not read.
    """
    ends = writer.ends(card)
    name = writer.elements[card.name.lower()]
    text = _followed(writer, card, name, unit)
    if not writer.is_shorted(card, ends):
        writer.add(name, kind, ends, ("signal", text), imposes=kind == "voltage source")


_FORMULA = re.compile(r"\b(value|vol|cur)\s*=?\s*(.*)$", re.IGNORECASE)
_TABLE = re.compile(r"\btable\s*=?\s*(\{[^{}]*\}|'[^']*')\s*=?\s*(.*)$", re.IGNORECASE)
_BY_FORMULA = re.compile(r"\b([vi])\s*=\s*(.*)$", re.IGNORECASE)
_FURTHER = ("laplace", "freq", "cheby", "and", "nand", "or", "nor", "delay")
MOST_FOLLOWED = 8
"""By a polynomial: its coefficients count what is followed together."""


def _followed(writer: CircuitWriter, card: ElementCard, name: str, unit: str) -> str:
    """What a controlled source follows, as a formula of signals."""
    behind = card.card.text.split(None, 3)[3:]
    text = behind[0] if behind else ""
    shape = next((word.upper() for word in (*card.words[2:3], *card.options) if word.lower() in _FURTHER), None)
    if shape is not None:
        writer.wrong(card.card, f"'{card.name}' follows {shape}", "give it a gain or a formula", rules.NOT_READ)
    if card.letter in "eg" and (table := _TABLE.match(text)) is not None:
        return _by_table(writer, card, name, table[1], table[2])
    if card.letter in "eg" and (formula := _FORMULA.match(text)) is not None:
        return _in_unit(_by_formula(writer, card, formula[2]), unit)
    if len(card.words) > 2 and card.words[2].lower() == "poly":
        return _by_polynomial(writer, card, unit)
    read, gain = (card.words[2:4], card.words[4:]) if card.letter in "eg" else (card.words[2:3], card.words[3:])
    if len(gain) != 1 or card.options:
        count = 5 if card.letter in "eg" else 4
        what = f"'{card.name}' has {len(card.words)} words behind its name, not {count}"
        writer.wrong(card.card, what, "write its nodes, what it reads, and its gain")
    size = writer.value(gain[0], card.card)
    # A conductance or a resistance: what follows is of another quantity than what is read.
    unit_of = {"g": "S", "h": "ohm"}.get(card.letter, "")
    factor = size.with_unit(unit_of) if size.is_number and unit_of else size.factor
    followed = _reading(writer, card, list(read))
    return f"-{factor}*{followed[1:]}".removeprefix("--") if followed[0] == "-" else f"{factor}*{followed}"


def _reading(writer: CircuitWriter, card: ElementCard, words: list[str]) -> str:
    """The voltage between two nodes, or the current of a source."""
    if len(words) == 1:
        return writer.current(words[0], card)
    return writer.sensor(writer.node(words[0]), writer.node(words[1]))


def _by_formula(writer: CircuitWriter, card: ElementCard, text: str) -> str:
    def measured(letter: str, words: list[str]) -> str:
        if letter == "v":
            ends = [writer.node(word) for word in words[:2]]
            return f"({writer.sensor(ends[0], ends[1] if len(ends) > 1 else GROUND)}/(1 V))"
        return f"({writer.current(words[0], card)}/(1 A))"

    return writer.value(text, card.card, measured).text


def _in_unit(text: str, unit: str) -> str:
    """Formulas of SPICE are of bare numbers."""
    return f"1 {unit}*({text})"


def _by_table(writer: CircuitWriter, card: ElementCard, name: str, argument: str, text: str) -> str:
    numbers = [writer.value(word, card.card).text for word in split_words(CARD_WORD.findall(text))[0]]
    if len(numbers) < 4 or len(numbers) % 2:
        writer.wrong(card.card, f"the table of '{card.name}' has no pairs", "write TABLE {v(a)} = (0, 0) (1, 5)")
    unit = "V" if card.letter == "e" else "A"
    points = [[x, f"{y} {unit}"] for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
    found = writer.names.give(f"{name}_table", "s")
    writer.signals[found] = {"table": points, "at": _by_formula(writer, card, argument)}
    return found


def _by_polynomial(writer: CircuitWriter, card: ElementCard, unit: str) -> str:
    """p0 + p1*x1 + p2*x2 + p3*x1^2 + p4*x1*x2 + ...: products in the order of SPICE; one coefficient alone is a gain."""
    count_word, *words = card.words[3:] or ("",)
    each = 2 if card.letter in "eg" else 1
    if not count_word.isdecimal() or not 0 < int(count_word) <= MOST_FOLLOWED or len(words) <= each * int(count_word):
        writer.wrong(card.card, f"'{card.name}' has a polynomial without its words", "write POLY(1) a b 0 2")
    count = int(count_word)
    quantity = "V" if card.letter in "eg" else "A"
    read = [f"({_reading(writer, card, list(words[each * k : each * (k + 1)]))}/(1 {quantity}))" for k in range(count)]
    factors = [writer.value(word, card.card) for word in words[each * count :]]
    if len(factors) == 1 and count == 1:
        return _in_unit(f"{factors[0].factor}*{read[0]}", unit)
    terms = chain.from_iterable(combinations_with_replacement(read, degree) for degree in count_from(0))
    written = [
        "*".join((factor.factor, *term))
        for factor, term in zip(factors, terms, strict=False)
        if not (factor.is_number and float(factor.text) == 0)
    ]
    return _in_unit(" + ".join(written) or "0", unit)


def _by_text(writer: CircuitWriter, card: ElementCard) -> None:
    """A source with a formula: `V=` is a voltage, `I=` a current."""
    ends = writer.ends(card)
    behind = card.card.text.split(None, 3)[3:]
    found = _BY_FORMULA.match(behind[0]) if behind else None
    if found is None:
        writer.wrong(card.card, f"'{card.name}' has no formula", "write B1 a b V={2*v(c)}, or I=")
        raise Skip
    unit, kind = ("V", "voltage source") if found[1].lower() == "v" else ("A", "current source")
    text = _in_unit(_by_formula(writer, card, found[2]), unit)
    if not writer.is_shorted(card, ends):
        writer.add(writer.elements[card.name.lower()], kind, ends, ("signal", text), imposes=unit == "V")


def _controlled_voltage(writer: CircuitWriter, card: ElementCard) -> None:
    _controlled(writer, card, "voltage source", "V")


def _controlled_current(writer: CircuitWriter, card: ElementCard) -> None:
    _controlled(writer, card, "current source", "A")


def _subcircuit(writer: CircuitWriter, card: ElementCard) -> None:
    writer.part(card)


CARDS: dict[str, _CardKind] = {
    "r": _CardKind(
        "`R1 a b 1k m=2`",
        "`resistor`; one that follows voltages is a `current source`",
        "temperature coefficients",
        _resistor,
    ),
    "c": _CardKind("`C1 a b 100n IC=5`", "`capacitor`, with its `initial` voltage", "", _capacitor),
    "l": _CardKind("`L1 a b 1m IC=2`", "`inductor`, with its `initial` current", "", _inductor),
    "k": _CardKind(
        "`K1 L1 L2 0.99`", "`inductor field` of all coils that belong together, `M = k*sqrt(L_1*L_2)`", "", _coupling
    ),
    "v": _CardKind(
        "`V1 a b DC 5 PULSE(...)`", "`voltage source`, with its course in the experiment", "`AC`", _voltage_source
    ),
    "i": _CardKind("`I1 a b SIN(...)`", "`current source`, with its course in the experiment", "`AC`", _current_source),
    "e": _CardKind(
        "`E1 a b c d 10`, `POLY`, `TABLE`, `VALUE`",
        "`voltage source` that follows voltages, by a gain, a polynomial, a table or a formula",
        "",
        _controlled_voltage,
    ),
    "g": _CardKind("`G1 a b c d 1m`, ...", "`current source` of the same kinds", "", _controlled_current),
    "f": _CardKind(
        "`F1 a b V1 10`, `POLY`", "`current source` that follows currents of sources", "", _controlled_current
    ),
    "h": _CardKind("`H1 a b V1 100`, `POLY`", "`voltage source` that follows them", "", _controlled_voltage),
    "b": _CardKind(
        "`B1 a b V={...}`, `I=`",
        "`voltage source` or `current source` with a formula of voltages, currents and `time`",
        "",
        _by_text,
    ),
    "s": _CardKind("`S1 a b c d NAME`", "`switch` that closes above `VT`, and `ROFF` beside it", "`VH`", write_switch),
    "w": _CardKind("`W1 a b V1 NAME`", "`switch` that closes above the current `IT`", "`IH`", write_switch),
    "d": _CardKind(
        "`D1 a b NAME`",
        "exponential `conductance` behind `RS`, with its breakdown, and a `capacitor` of its charge; or an ideal `diode`",
        "`CJSW`, ...",
        write_diode,
    ),
    "q": _CardKind(
        "`Q1 c b e NAME`",
        "Gummel and Poon's transistor: two junctions with their charge, and a `current source`",
        "`XTF`, `RBM`, ...",
        write_bipolar,
    ),
    "m": _CardKind(
        "`M1 d g s b NAME W= L=`",
        "level 1: a `current source`, the junctions of the bulk and the overlaps of the gate",
        "`TOX`, `NRD`, ...",
        write_mos,
    ),
    "x": _CardKind("`X1 a b NAME r=1k`", "a part, in a file of its own", "", _subcircuit),
}
"""The cards that are read, by the first letter of a name."""

REFUSED = {
    "j": "a junction transistor", "z": "a MESFET",
    "t": "a transmission line", "o": "a lossy transmission line", "u": "a distributed RC line",
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


Diodes = Literal["exponential", "static", "ideal"]

_SHOWN = re.compile(r"\b([vi])\s*\(\s*([^\s(),]+)\s*(?:,\s*([^\s(),]+)\s*)?\)", re.IGNORECASE)
_INITIAL = re.compile(r"\bv\s*\(\s*([^\s(),]+)\s*\)\s*=\s*(\{[^{}]*\}|'[^']*'|[^\s]+)", re.IGNORECASE)


def read_spice(path: Path, name: str, *, diodes: Diodes = "exponential") -> Imported:
    """A deck of SPICE as the text of a model file of the stem `name`, with a file for each of its subcircuits.

    Raises: DescriptionError with all that is not read (D307) or makes no sense (D313 to D319).
    """
    if diodes not in get_args(Diodes):
        fix = "choose exponential, static (exponential without charge) or ideal"
        raise importing_rules.UNKNOWN_OPTION.error(f"there are no diodes of the kind '{diodes}'", fix=fix)
    findings = Findings()
    found = understand(read_deck(path, findings), findings)
    if not found.circuit.elements:
        findings.raise_errors()
        place = found.transient.place if found.transient is not None else None
        raise rules.EMPTY.error(f"there is no element in '{path}'", fix="begin with a line for the title", place=place)
    if re.match(r"[rclvidx]\d\w*\s+\S+\s+\S+\s+\S+", found.title, re.IGNORECASE):
        fix = "put a line for the title before it"
        findings.left_out(f"the first line is the title, as always: '{found.title}' is no card", None, fix)
    writer = _writer(found, name, diodes)
    writer.write()
    experiment = _experiment(writer, found)
    findings.raise_errors()
    title = found.title or path.stem
    beside = {file: part.text(part.circuit.name) for file, part in writer.job.files.items()}
    return Imported(writer.text(title, experiment), beside, tuple(findings.warnings))


def _writer(deck: ReadDeck, name: str, diodes: Diodes) -> CircuitWriter:
    known = _known(deck)
    words, _ = split_words(deck.transient.words[1:]) if deck.transient is not None else ([], {})
    sizes: list[float | None] = []
    for word in words:
        if word.lower() == "uic":
            continue
        try:
            sizes.append(
                read_formula(word, lambda low: low if low in known else "", None, deck.circuit.function).number(known)
            )
        except ValueProblemError as problem:
            assert deck.transient is not None, "its words are being read"
            fix = "write .tran STEP STOP"
            deck.findings.error(rules.BAD_CARD, f"'.tran' has '{word}': {problem}", deck.transient.place, fix)
    if deck.transient is not None and (len(sizes) < 2 or not sizes[1] or sizes[1] <= 0):
        fix = "write .tran STEP STOP"
        deck.findings.error(rules.BAD_CARD, "'.tran' tells no time at which the run ends", deck.transient.place, fix)
    if deck.transient is not None and len(sizes) > 2 and sizes[2]:
        what = "the time from which '.tran' keeps results is left out: they begin at zero"
        deck.findings.left_out(what, deck.transient.place, "look at the end of the run")
    span = Span(*(sizes[:2] if len(sizes) > 1 else (None, None)))
    initial = {node(m[1]): m[2] for card in deck.initial for m in _INITIAL.finditer(card.text)}
    initial[GROUND] = "0"
    uic = any(word.lower() == "uic" for word in words)
    job = DeckJob(
        deck,
        plain_name(name, "deck"),
        diodes=diodes,
        span=span,
        uic=uic,
        initial=initial if len(initial) > 1 else {},
        known=known,
        writers=WRITERS,
    )
    return CircuitWriter(job, deck.circuit, {})


def _known(deck: ReadDeck) -> dict[str, float]:
    """The parameters of the deck itself with their sizes, as far as they are numbers or follow from numbers."""
    waiting: dict[str, DeckValue] = {}
    names = deck.circuit.parameters
    for low, parameter in names.items():
        try:
            waiting[low] = read_formula(
                parameter.text, lambda name: name if name in names else "", None, deck.circuit.function
            )
        except ValueProblemError:
            continue  # told where the parameter is written
    known: dict[str, float] = {}
    # Those in a circle need each other: they stay unknown, and the model file tells them.
    for group in strong_components({low: value.names & waiting.keys() for low, value in waiting.items()}):
        low = group[0]
        if len(group) == 1 and low in waiting and waiting[low].names <= known.keys():
            size = waiting[low].number(known)
            known[low] = math.nan if size is None else size
    return {low: size for low, size in known.items() if not math.isnan(size)}


def _experiment(writer: CircuitWriter, deck: ReadDeck) -> dict[str, object]:
    """The run over time: its end, its start, the courses of sources, and what the deck shows."""
    job = writer.job
    outputs: dict[str, None] = {}
    for card in deck.shown:
        outputs |= dict.fromkeys(_outputs(writer, card))
    found: dict[str, object] = {}
    if job.span.end is not None:
        found["until"] = f"{job.span.end:.15g} s"
    if not job.uic and not job.initial:
        # Every analysis of SPICE begins at the operating point.
        found["start"] = "steady"
    if writer.inputs:
        found["inputs"] = writer.inputs
    if outputs:
        found["outputs"] = list(outputs)
    if job.initial and not job.uic and writer.starts_at_zero:
        what = "with '.ic' and without 'uic' SPICE looks for an operating point; here other storages begin at zero"
        deck.findings.left_out(what, deck.initial[0].place, "give IC= of the others and '.tran ... uic'")
    return found


def _outputs(writer: CircuitWriter, card: Card) -> list[str]:
    """What a card shows: voltages of nodes and currents of sources; others are not told, as they change nothing."""
    found = []
    for kind, one, other in _SHOWN.findall(card.text):
        if kind.lower() == "v":
            ends = [node(word) for word in (one, other) if word]
            if (
                all(end == GROUND or end in writer.loaded | writer.imposed for end in ends) and ends[0] != ends[-1:][0]
            ) or len(ends) == 1:
                found.append(writer.sensor(ends[0], ends[1] if len(ends) > 1 else GROUND))
        elif one.lower() in writer.elements and one[0].lower() in "vrclid":
            found.append(f"I_{writer.elements[one.lower()]}")
    return found
