"""The cards of devices with a model: switches, diodes and transistors, with the charge of their junctions."""

import math
from typing import NamedTuple, final

from tellegen.core.names import listing
from tellegen.importing.spice import rules
from tellegen.importing.spice.deck import GROUND, DeviceModel, ElementCard
from tellegen.importing.spice.values import DeckValue, of_number
from tellegen.importing.spice.writing import GMIN, V_T, CircuitWriter, Skip

LARGEST_CURRENT = 1e-3
"""The current at which an ideal diode has the voltage of the exponential one, in A."""


def _model(writer: CircuitWriter, card: ElementCard, place: int, *types: str) -> DeviceModel:
    """The model of a device, of one of these types.

    Raises: Skip.
    """
    name = card.words[place] if len(card.words) > place else ""
    found = writer.circuit.model(name) if name else None
    if found is None:
        what = f"'{card.name}' has the model '{name}', which there is not" if name else f"'{card.name}' names no model"
        writer.wrong(card.card, what, f"define it: .model NAME {types[0].upper()}(...)", rules.UNKNOWN_NAME)
        raise Skip
    if found.type not in types:
        what = f"'{card.name}' has the model '{name}' of the type {found.type.upper()}"
        writer.wrong(card.card, what, f"give it one of the type {' or '.join(types).upper()}", rules.NOT_READ)
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


def write_switch(writer: CircuitWriter, card: ElementCard) -> None:
    """A switch that a voltage controls (S), or a current (W)."""
    ends = writer.ends(card)
    by_voltage = card.letter == "s"
    model, key, unit = (
        (_model(writer, card, 4, "sw"), "vt", "V") if by_voltage else (_model(writer, card, 3, "csw"), "it", "A")
    )
    found = _settings(writer, model, {key: 0.0, "ron": 1.0, "roff": 1e12}, frozenset())
    name = writer.elements[card.name.lower()]
    if writer.is_shorted(card, ends):
        return
    if by_voltage:
        read = writer.sensor(writer.node(card.words[2]), writer.node(card.words[3]))
    else:
        read = writer.current(card.words[2], card)
    threshold = found[key]
    size = threshold.with_unit(unit)
    below = f"({size})" if size.startswith("-") or not threshold.is_number else size
    control = read if threshold.is_number and float(threshold.text) == 0 else f"{read} - {below}"
    writer.add(name, "switch", ends, ("control", control), ("R_on", found["ron"].with_unit("ohm")))
    writer.add(writer.names.give(f"{name}_off", "R"), "resistor", ends, ("R", found["roff"].with_unit("ohm")))


def _behind(writer: CircuitWriter, name: str, end: str, ohms: str) -> str:
    """The node behind a resistance in series."""
    inner = f"{name.lower()}#j"
    writer.add(writer.names.give(name, "R"), "resistor", [end, inner], ("R", ohms))
    return inner


_DIODE = {
    "is": 1e-14,
    "n": 1.0,
    "rs": 0.0,
    "bv": 0.0,
    "ibv": 1e-3,
    "cjo": 0.0,
    "vj": 1.0,
    "m": 0.5,
    "fc": 0.5,
    "tt": 0.0,
}
_CHARGE = ("cjo", "vj", "m", "fc", "tt")
_HARMLESS = frozenset({"level", "type", "mfg", "vpk", "iave", "xti", "eg", "tnom", "kf", "af"})
"""Keys of a diode that say nothing about a run at 27 degrees Celsius."""


def write_diode(writer: CircuitWriter, card: ElementCard) -> None:
    """A diode: an exponential law behind its resistance, or an element with modes."""
    ends = writer.ends(card)
    model = _model(writer, card, 2, "d")
    model = model._replace(settings={_SAME_OF_DIODES.get(key, key): text for key, text in model.settings.items()})
    values = _settings(writer, model, _DIODE, _HARMLESS if "bv" in model.settings else _HARMLESS | {"ibv"})
    area = _area(writer, card, 2)
    if writer.is_shorted(card, ends):
        return
    name = writer.elements[card.name.lower()]
    unseen = [key.upper() for key in ("bv", *_CHARGE) if key in model.settings]
    if writer.job.diodes == "ideal" and unseen:
        what = f"{listing(unseen)} of the model '{model.name}' {'is' if len(unseen) == 1 else 'are'} left out"
        writer.left_out(model.card, what, "import it without --diodes ideal")
    if writer.job.diodes == "ideal":
        _ideal_diode(writer, name, ends, values, area)
    else:
        _exponential_diode(writer, name, ends, (model.name, values, area))


def _series(values: dict[str, DeckValue], area: str) -> str:
    """The resistance in series; empty where there is none."""
    found = values["rs"]
    if not _is_given(found):
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
        anode = _behind(writer, f"{name}_s", anode, series)
    current = writer.setting(f"IS_{model}", values["is"].with_unit("A"))
    slope = writer.setting(f"N_{model}", values["n"].text)
    thermal = writer.setting("V_T", V_T)
    law = f"{current}*(exp(v/({slope}*{thermal})) - 1)"
    if _is_given(values["bv"]):
        voltage = writer.setting(f"BV_{model}", values["bv"].with_unit("V"))
        beyond = writer.setting(f"IBV_{model}", _current_at_breakdown(writer, values))
        law += f" - {beyond}*exp(-(v + {voltage})/({slope}*{thermal}))"
    law = f"{area}*({law})" if area else law
    _junction(writer, name, [anode, cathode], law)
    depletion = _layer(values, ("cjo", "vj", "m"), values["fc"], f"O_{model}")
    moving = f"{writer.setting(f'TT_{model}', values['tt'].with_unit('s'))}*({law})" if _is_given(values["tt"]) else ""
    _charge(writer, name, [anode, cathode], depletion, moving=moving, area=area)


def _current_at_breakdown(writer: CircuitWriter, values: dict[str, DeckValue]) -> str:
    """What the exponential of the breakdown carries at BV: IBV is what SPICE wants there with all that leaks, IS*BV/V_T, and where
    that alone is more it takes IS.
    """
    saturation, breakdown, wanted, slope = (writer.number(values[key]) for key in ("is", "bv", "ibv", "n"))
    if not saturation or breakdown is None or wanted is None or slope is None:
        return (
            f"{values['ibv'].with_unit('A')} + {values['is'].factor}" if values["ibv"].is_number else values["ibv"].text
        )
    thermal = 0.025864926
    if wanted < saturation * breakdown / thermal:
        return f"{saturation:.9g} A"
    begins = breakdown
    for _ in range(25):
        begins = breakdown - slope * thermal * math.log(wanted / saturation + 1 - begins / thermal)
    return f"{saturation * math.exp((breakdown - begins) / (slope * thermal)):.9g} A"


@final
class Depletion(NamedTuple):
    """What a junction keeps as its depleted layer: capacitance without voltage, voltage, grading, and the share of the voltage
    beyond which the charge goes on as a parabola; and the end of the names of their parameters.
    """

    capacitance: DeckValue
    voltage: DeckValue
    grading: DeckValue
    share: DeckValue
    names: str


def _charge(
    writer: CircuitWriter,
    name: str,
    ends: list[str],
    layer: Depletion,
    *,
    moving: str = "",
    area: str = "",
    pairs: tuple[tuple[str, str], ...] = (),
) -> None:
    """The capacitor beside a junction: the charge of its depleted layer (Antognetti and Massobrio, Semiconductor Device Modeling
    with SPICE, section 1.5), and that of what it carries.
    """
    if ends[0] == ends[1] or writer.job.diodes == "static":
        return
    parts = [moving] if moving else []
    if _is_given(layer.capacitance):
        c = writer.setting(f"CJ{layer.names}", layer.capacitance.with_unit("F"))
        v_j = writer.setting(f"VJ{layer.names}", layer.voltage.with_unit("V"))
        m, share = (value.factor for value in (layer.grading, layer.share))
        c = f"{area}*{c}" if area else c
        if not _is_given(layer.share):
            low, beyond, slope, further = "min(v, 0 V)", "max(v, 0 V)", "1", "max(v, 0 V)"
        else:
            low, beyond = f"min(v, {share}*{v_j})", f"max(v - {share}*{v_j}, 0 V)"
            slope, further = f"(1 - {share}*(1 + {m}))", f"({beyond} + 2*{share}*{v_j})"
            c_beyond = f"(1 - {share})^(1 + {m})"
        grows = (
            f"{slope}*{beyond} + {m}/(2*{v_j})*{beyond}*{further}" if _is_given(layer.grading) else f"{slope}*{beyond}"
        )
        grows = f"({grows})/{c_beyond}" if _is_given(layer.share) else grows
        kept = f"{v_j}/(1 - {m})*(1 - (1 - {low}/{v_j})^(1 - {m}))" if _is_given(layer.grading) else low
        parts.append(f"{c}*({kept} + {grows})")
    if parts:
        writer.add(writer.names.give(f"{name}_q", "C"), "capacitor", ends, ("law", f"q = {' + '.join(parts)}"), *pairs)


def _layer(values: dict[str, DeckValue], keys: tuple[str, str, str], share: DeckValue, names: str) -> Depletion:
    capacitance, voltage, grading = keys
    return Depletion(values[capacitance], values[voltage], values[grading], share, names)


def _junction(writer: CircuitWriter, name: str, ends: list[str], law: str) -> None:
    """An exponential conductance, and what SPICE puts beside it: not inside the law, which could not be inverted then."""
    writer.add(name, "conductance", ends, ("law", f"i = {law}"))
    writer.add(writer.names.give(f"{name}_gmin", "G"), "conductance", ends, ("G", GMIN))


# Transistors


def _of_level_one(writer: CircuitWriter, card: ElementCard, model: DeviceModel) -> None:
    """Other levels are other laws, with parameters of the same names among theirs."""
    level = model.settings.get("level", "1")
    if writer.number(writer.value(level, model.card)) != 1:
        writer.wrong(card.card, f"'{card.name}' has a model of level {level}", "give it one of level 1", rules.NOT_READ)
        raise Skip


_BIPOLAR = {"is": 1e-16, "bf": 100.0, "br": 1.0, "nf": 1.0, "nr": 1.0, "ise": 0.0, "ne": 1.5, "isc": 0.0, "nc": 2.0}
_BIPOLAR |= {
    "cje": 0.0,
    "vje": 0.75,
    "mje": 0.33,
    "cjc": 0.0,
    "vjc": 0.75,
    "mjc": 0.33,
    "fc": 0.5,
    "tf": 0.0,
    "tr": 0.0,
}
_BIPOLAR |= {"cjs": 0.0, "vjs": 0.75, "mjs": 0.0}
_BIPOLAR |= {"vaf": math.inf, "var": math.inf, "ikf": math.inf, "ikr": math.inf, "rb": 0.0, "re": 0.0, "rc": 0.0}
_SAME = {
    "va": "vaf",
    "vb": "var",
    "ik": "ikf",
    "c2": "ise",
    "c4": "isc",
    "pe": "vje",
    "me": "mje",
    "pc": "vjc",
    "mc": "mjc",
}
_SAME |= {"ccs": "cjs", "ps": "vjs", "ms": "mjs"}
_SAME_OF_DIODES = {"cj": "cjo", "cj0": "cjo", "pb": "vj", "mj": "m"}
"""Older words for the same."""
_COLD = frozenset({"level", "type", "mfg", "vceo", "icrating", "xtb", "xti", "eg", "tnom", "kf", "af", "tre1", "trc1"})
"""Keys of a transistor that say nothing about a run at 27 degrees Celsius."""


def write_bipolar(writer: CircuitWriter, card: ElementCard) -> None:
    """A bipolar transistor by Gummel and Poon: two junctions with what they store, and a current between them."""
    if len(card.words) < 4:
        writer.wrong(card.card, f"'{card.name}' has fewer than three nodes and a model", "write Q1 C B E MODEL")
    place = 3 if writer.circuit.model(card.words[3]) is not None else min(4, len(card.words) - 1)
    model = _model(writer, card, place, "npn", "pnp")
    _of_level_one(writer, card, model)
    values = _values_of(writer, model, _BIPOLAR, _COLD)
    area = _area(writer, card, place)
    name, which = writer.elements[card.name.lower()], model.name
    collector, base, emitter = (writer.node(word) for word in card.words[:3])
    for key, word in (("rc", "collector"), ("rb", "base"), ("re", "emitter")):
        if _is_given(values[key]):
            ohms = f"{values[key].factor}/({area})" if area else values[key].with_unit("ohm")
            found = {"collector": collector, "base": base, "emitter": emitter}[word]
            inner = _behind(writer, f"{name}_{key}", found, ohms)
            collector, base, emitter = (
                inner if word == w else e for w, e in (("collector", collector), ("base", base), ("emitter", emitter))
            )
    saturation = writer.setting(f"IS_{which}", values["is"].with_unit("A"))
    gains = [writer.setting(f"{key.upper()}_{which}", values[key].text) for key in ("bf", "br")]
    scale = f"{area}*" if area else ""
    junctions = [("be", base, emitter, "f", "ise", "ne"), ("bc", base, collector, "r", "isc", "nc")]
    flows, voltages = [], []
    for (word, one, other, way, leak, slope), gain in zip(junctions, gains, strict=True):
        ends = [one, other] if model.type == "npn" else [other, one]
        slow = _times_thermal(writer, values[f"n{way}"])
        law = f"{saturation}/{gain}*(exp(v/{slow}) - 1)"
        forward = f"{saturation}*(exp(v/{slow}) - 1)"
        if _is_given(values[leak]):
            leaking = writer.setting(f"{leak.upper()}_{which}", values[leak].with_unit("A"))
            law += f" + {leaking}*(exp(v/{_times_thermal(writer, values[slope])}) - 1)"
        own = writer.names.give(f"{name}_{word}", "D")
        if one == other:
            voltages.append("0 V")
            flows.append("0 A")
            continue
        _junction(writer, own, ends, f"{scale}({law})" if scale else law)
        moving = ""
        if _is_given(transit := values[f"t{way}"]):
            moving = f"{scale}{writer.setting(f'T{way.upper()}_{which}', transit.with_unit('s'))}*{forward}"
        layer = _layer(
            values, (f"cj{word[1]}", f"vj{word[1]}", f"mj{word[1]}"), values["fc"], f"{word[1].upper()}_{which}"
        )
        _charge(writer, own, ends, layer, moving=moving, area=area)
        voltages.append(writer.sensor(*ends))
        flows.append(f"{scale}{saturation}*(exp({voltages[-1]}/{slow}) - 1)")
    substrate = writer.node(card.words[3]) if place == 4 else GROUND
    layer = _layer(values, ("cjs", "vjs", "mjs"), of_number(0.0), f"S_{which}")
    # SPICE takes NPN for vertical, whose collector lies in the substrate, and PNP for lateral, whose base does.
    ends = [substrate, collector if model.type == "npn" else base]
    # In a loop of capacitances and supplies it takes what the others leave, so that no junction begins far forwards.
    own = writer.names.give(f"{name}_cs", "D")
    _charge(writer, own, ends, layer, area=area, pairs=(("causality", "derivative"),))
    moved = [key.upper() for key in ("vaf", "var", "ikf", "ikr") if _is_given(values[key])]
    if moved and _is_given(values["tf"]):
        what = f"what {listing(moved)} {'does' if len(moved) == 1 else 'do'} to the charge of TF of the model '{which}' is left out"
        writer.left_out(model.card, what, "compare with TF a little smaller and larger")
    through = f"({flows[0]} - {flows[1]}){_by_base_charge(values, flows, voltages, area)}"
    ends = [collector, emitter] if model.type == "npn" else [emitter, collector]
    writer.add(name, "current source", ends, ("signal", through))


def _by_base_charge(values: dict[str, DeckValue], flows: list[str], voltages: list[str], area: str) -> str:
    """What multiplies the current where the charge of the base moves, by Early voltages and knees; empty where it does not."""
    widened = [
        f"{voltage}/({values[key].with_unit('V')})"
        for voltage, key in ((voltages[1], "vaf"), (voltages[0], "var"))
        if _is_given(values[key])
    ]
    crowded = [
        f"{flow}/({values[key].with_unit('A')}{f'*{area}' if area else ''})"
        for flow, key in zip(flows, ("ikf", "ikr"), strict=True)
        if _is_given(values[key])
    ]
    early = f"*({' - '.join(['1', *widened])})" if widened else ""
    return f"{early}*2/(1 + sqrt(1 + 4*({' + '.join(crowded)})))" if crowded else early


def _times_thermal(writer: CircuitWriter, factor: DeckValue) -> str:
    """The voltage by which a junction carries e times more, as a divisor."""
    thermal = writer.setting("V_T", V_T)
    return thermal if factor.is_number and float(factor.text) == 1 else f"({factor.factor}*{thermal})"


_MOS = {
    "vto": 0.0,
    "kp": 2e-5,
    "gamma": 0.0,
    "phi": 0.6,
    "lambda": 0.0,
    "is": 1e-14,
    "n": 1.0,
    "rd": 0.0,
    "rs": 0.0,
    "ld": 0.0,
    **dict.fromkeys(("cgso", "cgdo", "cgbo", "cbd", "cbs", "cj", "cjsw"), 0.0),
    "pb": 0.8,
    "mj": 0.5,
    "mjsw": 0.5,
    "fc": 0.5,
    "tox": 0.0,
    "uo": 600.0,
}
_SURROUNDINGS = frozenset({"nrd", "nrs", "temp"})
"""Of drain and source: resistances of sheets, and a temperature, which are left out."""
_AREAS = frozenset({"ad", "as", "pd", "ps"})
_PERMITTIVITY = 3.9 * 8.854214871e-12
"""Of the oxide, in F/m, with the digits of SPICE."""
_SQUARE = 1e-4
"""Length and width where a card tells none, in metres."""


def write_mos(writer: CircuitWriter, card: ElementCard) -> None:
    """A MOS transistor of level 1 by Shichman and Hodges: a current, the junctions of its bulk, and what overlaps its gate."""
    if len(card.words) == 4 and writer.circuit.model(card.words[3]) is not None:
        _model(writer, card, 3, "nmos", "pmos")  # of another type, as a rule: VDMOS
    if len(card.words) < 5:
        writer.wrong(
            card.card, f"'{card.name}' has fewer than four nodes and a model", "write M1 D G S B MODEL W=10u L=1u"
        )
    model = _model(writer, card, 4, "nmos", "pmos")
    _of_level_one(writer, card, model)
    values = _values_of(writer, model, _MOS, _COLD)
    if further := card.options.keys() - {"w", "l", "m", "ic"} - _SURROUNDINGS - _AREAS:
        writer.wrong(card.card, f"'{card.name}' has {listing(sorted(further))}", "give it W and L", rules.NOT_READ)
    if told := card.options.keys() & _SURROUNDINGS:
        what = f"{listing([word.upper() for word in sorted(told)])} of '{card.name}' is left out"
        writer.left_out(card.card, what, "add an element for it where it matters")
    n_channel, name = model.type == "nmos", writer.elements[card.name.lower()]
    drain, gate, source, bulk = (writer.node(word) for word in card.words[:4])
    if _is_given(values["rd"]):
        drain = _behind(writer, f"{name}_rd", drain, values["rd"].with_unit("ohm"))
    if _is_given(values["rs"]):
        source = _behind(writer, f"{name}_rs", source, values["rs"].with_unit("ohm"))

    def between(one: str, other: str) -> str:
        """A voltage as an n-channel transistor has it."""
        return "0 V" if one == other else writer.sensor(*((one, other) if n_channel else (other, one)))

    def size(key: str) -> str:
        return writer.value(card.options[key], card.card).factor if key in card.options else f"{_SQUARE:g}"

    which, sign = model.name, "" if n_channel else "-"
    threshold = writer.setting(
        f"VTO_{which}", f"{sign}({values['vto'].with_unit('V')})" if sign else values["vto"].with_unit("V")
    )
    length = f"({size('l')} - 2*{values['ld'].factor})" if _is_given(values["ld"]) else size("l")
    gain = values["kp"]
    if _is_given(values["tox"]):
        if "kp" not in model.settings:
            gain = DeckValue(f"{values['uo'].factor}*1e-4*{_PERMITTIVITY:.12g}/{values['tox'].factor}*(1 A/V^2)")
        what = f"the charge of the channel under the oxide, TOX of the model '{model.name}', is left out"
        writer.left_out(model.card, what, "put capacitors at its gate where it matters")
    beta = f"{writer.setting(f'KP_{which}', gain.with_unit('A/V^2'))}*{size('w')}/{length}"
    beta += f"*{writer.value(card.options['m'], card.card).factor}" if "m" in card.options else ""
    across = between(drain, source)
    # It has no direction of its own: what is at the lower voltage is its source.
    below = f"if({across} >= 0 V, {between(gate, source)}, {between(gate, drain)}) - {threshold}"
    if _is_given(values["gamma"]):
        gamma, phi = values["gamma"].with_unit("V^0.5"), writer.setting(f"PHI_{which}", values["phi"].with_unit("V"))
        at = writer.names.give(f"{name}_vbs", "s")
        writer.signals[at] = f"if({across} >= 0 V, {between(bulk, source)}, {between(bulk, drain)})"
        root = f"if({at} <= 0 V, sqrt({phi} - min({at}, 0 V)), max(sqrt({phi}) - {at}/(2*sqrt({phi})), 0 V^0.5))"
        below += f" - {gamma}*({root} - sqrt({phi}))"
    driven, along = writer.names.give(f"{name}_vgst", "s"), writer.names.give(f"{name}_vds", "s")
    writer.signals[driven] = f"max({below}, 0 V)"
    writer.signals[along] = f"min(abs({across}), {driven})"
    longer = f"*(1 + {values['lambda'].factor}*abs({across})/(1 V))" if _is_given(values["lambda"]) else ""
    current = f"sign({across})*{beta}*{along}*({driven} - {along}/2){longer}"
    writer.add(name, "current source", [drain, source] if n_channel else [source, drain], ("signal", current))
    saturation = writer.setting(f"IS_{which}", values["is"].with_unit("A"))
    law = f"{saturation}*(exp(v/{_times_thermal(writer, values['n'])}) - 1)"
    many = writer.value(card.options["m"], card.card).factor if "m" in card.options else ""
    for word, end, area, edge in (("bs", source, "as", "ps"), ("bd", drain, "ad", "pd")):
        if end == bulk:
            continue
        own, ends = writer.names.give(f"{name}_{word}", "D"), [bulk, end] if n_channel else [end, bulk]
        _junction(writer, own, ends, f"{many}*{law}" if many else law)
        for key, times, grading in ((f"c{word}", "", "mj"), ("cj", area, "mj"), ("cjsw", edge, "mjsw")):
            # The whole capacitance of a junction goes before that of its area.
            given = not times or (times in card.options and not (key == "cj" and _is_given(values[f"c{word}"])))
            if not given or not _is_given(values[key]):
                continue
            kept = values[key]
            if times:
                kept = DeckValue(
                    f"{kept.factor}*{writer.value(card.options[times], card.card).factor}*(1 F)", kept.names
                )
            ends_of = f"_{which}_{name}_{word}" if times else f"_{which}_{word}"
            layer = Depletion(kept, values["pb"], values[grading], values["fc"], f"{grading[2:].upper()}{ends_of}")
            _charge(writer, own, ends, layer, area=many)
    overlaps = (("gs", "cgso", source, size("w")), ("gd", "cgdo", drain, size("w")), ("gb", "cgbo", bulk, length))
    for word, key, end, along_it in overlaps:
        if _is_given(values[key]) and end != gate:
            farads = f"{values[key].factor}*{along_it}{f'*{many}' if many else ''}*(1 F)"
            writer.add(writer.names.give(f"{name}_{word}", "C"), "capacitor", [gate, end], ("C", farads))


def _values_of(
    writer: CircuitWriter, model: DeviceModel, known: dict[str, float], harmless: frozenset[str]
) -> dict[str, DeckValue]:
    """The values of a transistor, by the newer words."""
    settings = {_SAME.get(key, key): text for key, text in model.settings.items()}
    finite = {key: 0.0 if math.isinf(size) else size for key, size in known.items()}
    return _settings(writer, model._replace(settings=settings), finite, harmless)


def _is_given(value: DeckValue) -> bool:
    """Whether a value says something; zero stands for what is not there, or has no end."""
    return not (value.is_number and float(value.text) == 0)


def _area(writer: CircuitWriter, card: ElementCard, place: int) -> str:
    """By what a device is larger than its model; empty where it is not."""
    extra = [word for word in card.words[place + 1 :] if word.lower() not in ("off", "on")]
    if len(extra) > 1 or card.options.keys() - {"area", "ic", "m"}:
        what = f"'{card.name}' has more than its area behind its model"
        writer.wrong(card.card, what, "write its nodes, its model and its area", rules.NOT_READ)
    given = [text for text in (*extra, card.options.get("area"), card.options.get("m")) if text]
    return "*".join(writer.value(text, card.card).factor for text in given)
