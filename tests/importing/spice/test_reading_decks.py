"""What the cards of a deck become, and what is said where they are not read."""

import contextlib
import math
from pathlib import Path

import pytest

import tellegen as tg
from tellegen.core.errors import DescriptionError
from tellegen.importing.imported import Imported
from tellegen.importing.spice.deck import MOST_LINES
from tellegen.importing.spice.reading import REFUSED, Diodes, read_spice


def deck(folder: Path, cards: str, *, diodes: Diodes = "exponential", title: str = "A deck") -> Imported:
    path = folder / "deck.cir"
    path.write_text(f"{title}\n{cards}\n.end\n", encoding="utf-8")
    return read_spice(path, "deck", diodes=diodes)


def lines(found: Imported) -> list[str]:
    return [" ".join(line.split()) for line in found.text.splitlines()]


def errors(folder: Path, cards: str) -> list[tuple[str, str]]:
    with pytest.raises(DescriptionError) as caught:
        deck(folder, cards)
    return [(finding.code, finding.what) for finding in caught.value.findings]


# What cards become


@pytest.mark.parametrize(
    ("card", "line"),
    [
        ("R1 a 0 4.7k", "R1: {resistor: [a, gnd], R: 4.7 kohm}"),
        ("R1 a 0 1MEG", "R1: {resistor: [a, gnd], R: 1 Mohm}"),
        ("R1 a 0 1m", "R1: {resistor: [a, gnd], R: 1 mohm}"),
        ("R1 a 0 R=10ohm", "R1: {resistor: [a, gnd], R: 10 ohm}"),
        ("c1 a GND 100n", "c1: {capacitor: [a, gnd], C: 100 nF}"),
        ("L1 a 0 2.5e-3", "L1: {inductor: [a, gnd], L: 2.5e-3 H}"),
        ("L1 a 0 10uH", "L1: {inductor: [a, gnd], L: 10 uH}"),
        ("R+in net-1 0 1", "R_in: {resistor: [net_1, gnd], R: 1 ohm}"),
        ("R1 frame 0 1", "R1: {resistor: [frame_1, gnd], R: 1 ohm}"),
        ("I1 a 0 2m", "I1: {current source: [a, gnd]}"),
    ],
)
def test_a_card_keeps_its_digits_and_its_name(tmp_path: Path, card: str, line: str) -> None:
    assert line in lines(deck(tmp_path, f"V1 a 0 1\n{card}"))


@pytest.mark.parametrize(
    ("course", "text"),
    [
        ("5", "5 V"),
        ("DC 5 AC 1 90", "5 V"),
        ("AC 1", "0 V"),
        ("PULSE(0 5 1u 2u 3u 1m 2m)", '"trapezoid(5 V, 1 us, 2 us, 1 ms, 3 us, 2 ms)"'),
        ("PULSE(-1 1 0 0 0 1m 2m)", '"-1 V + trapezoid(2 V, 0 s, 1e-06 s, 1 ms, 1e-06 s, 2 ms)"'),
        ("PULSE(0 1)", '"trapezoid(1 V, 0 s, 1e-06 s, 0.004 s, 1e-06 s)"'),
        ("SIN(1 2 1k)", '"sine(2 V, 1 kHz, offset=1 V)"'),
        ("SIN 0 2 1k 0 0 90", '"sine(2 V, 1 kHz, phase=90 deg)"'),
        ("SINE(1 2 1k)", '"sine(2 V, 1 kHz, offset=1 V)"'),
        ("PWL(0 0 1m 5)", '"table(0 s, 0 V, 1 ms, 5 V)"'),
    ],
)
def test_the_course_of_a_source(tmp_path: Path, course: str, text: str) -> None:
    found = deck(tmp_path, f"V1 a 0 {course}\nR1 a 0 1k\n.tran 1u 4m")
    assert f"inputs: {{V1: {text}}}".replace('{V1: "', '{V1: "') in " ".join(lines(found))


def test_a_long_table_is_a_signal_of_its_own(tmp_path: Path) -> None:
    points = " ".join(f"{k}m {k % 3}" for k in range(80))
    found = deck(tmp_path, f"V1 a 0 PWL({points})\nR1 a 0 1k\n.tran 1u 80m")
    assert "inputs: {V1: V1_course}" in lines(found)
    model = tg.import_model(tmp_path / "deck.cir", tmp_path / "deck.yaml")
    run = tg.simulate(tmp_path / "deck.yaml", times=[0.0, 0.0255, 0.08])
    assert "V1_course: {table:" in model
    assert run.values("V1")[1] == pytest.approx(1.5)


def test_a_run_starts_at_the_operating_point_unless_the_deck_says_uic(tmp_path: Path) -> None:
    circuit = "V1 a 0 5\nR1 a b 1k\nC1 b 0 1u IC=2\n"
    steady, given = deck(tmp_path, circuit + ".tran 1u 1m"), deck(tmp_path, circuit + ".tran 1u 1m UIC")
    assert "start: steady" in lines(steady)
    assert "start: steady" not in lines(given)
    assert "C1: {capacitor: [b, gnd], C: 1 uF}" in lines(steady)
    assert "C1: {capacitor: [b, gnd], C: 1 uF, initial: 2 V}" in lines(given)
    assert [finding.code for finding in steady.findings] == ["D308"]


def test_what_the_deck_prints_are_the_outputs(tmp_path: Path) -> None:
    found = deck(tmp_path, "V1 a 0 5\nR1 a b 1k\nR2 b 0 1k\n.tran 1u 1m\n.print tran v(b) v(a,b) i(V1)")
    assert "outputs: [v_b, v_a_b, I_V1]" in lines(found)
    tg.import_model(tmp_path / "deck.cir", tmp_path / "deck.yaml")
    final = tg.simulate(tmp_path / "deck.yaml").final()
    # The current of a source enters at its first node in SPICE; here it leaves there.
    assert final["v_b"] == pytest.approx(2.5)
    assert final["I_V1"] == pytest.approx(2.5e-3)


def test_a_parameter_may_have_the_name_of_an_element_or_of_a_function(tmp_path: Path) -> None:
    cards = ".param R1=1k C1=1u sin=2 t=3 V1=4\nV1 a 0 {V1}\nR1 a b {R1}\nR2 b 0 {sin*t}\nC1 b 0 2u"
    found = deck(tmp_path, cards)
    tg.import_model(tmp_path / "deck.cir", tmp_path / "deck.yaml")
    assert not [f for f in tg.check(tmp_path / "deck.yaml").findings if f.severity == "error"], found.text
    assert tg.equilibrium(tmp_path / "deck.yaml")["I_V1"] == pytest.approx(4 / 1006)


def first_values(folder: Path, cards: str) -> tg.Run:
    found = deck(folder, cards)
    path = folder / "deck.yaml"
    path.write_text(found.text, encoding="utf-8")
    return tg.simulate(path, until=1e-9, samples=1, progress=False)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        # As ngspice prints them at v(a) = -2 V, v(e) = 4 V.
        ("B1 b 0 V=v(a)^3", 8.0),
        ("B1 b 0 V={v(a)**3 - v(a)^2}", 4.0),
        ("B1 b 0 V='pow(v(a),3)'", 8.0),
        ("B1 b 0 V = pwr(v(a), 3)", -8.0),
        ("B1 b 0 V=u(v(a))+10*sgn(v(a))+ 100*uramp(-v(a))", 190.0),
        ("B1 b 0 V=v(a) > -3 ? 5 : 6", 5.0),
        ("B1 b 0 V=v(a,e) + i(Va)", -5.998),
        ("B1 0 b I={-v(e)/2k}", -2.0),
        ("E1 b 0 POLY(1) a 0 3", -6.0),
        ("E1 b 0 POLY(1) a 0 3 1", 1.0),
        ("E1 b 0 POLY(2) (a,0) (e,0) 1 2 3 4 5 6", 81.0),
        ("E1 b 0 TABLE {v(a)} = (-3, 1) (-1, 5)", 3.0),
        ("E1 b 0 TABLE {v(e)} (0,0) (1,5)", 5.0),
        ("E1 b 0 value={time*3+v(a,e)}", -6.0),
        ("G1 0 b VALUE {v(e)/1k}", 4.0),
        ("F1 0 b POLY(2) Va Ve 0 1 2 3", -5.988),
        ("H1 b 0 POLY(1) Va 1 1000", 3.0),
    ],
)
def test_sources_follow_formulas_polynomials_and_tables(tmp_path: Path, source: str, value: float) -> None:
    run = first_values(tmp_path, f"Va a 0 -2\nRa a 0 1k\nVe e 0 4\nRe e 0 1k\n{source}\nR1 b 0 1k\n.print v(b)")
    assert run.values("v_b")[0] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("kind", ["npn", "pnp", "nmos", "pmos"])
def test_transistors_obey_their_laws(tmp_path: Path, kind: str) -> None:
    sign = 1 if kind[0] == "n" else -1
    if "mos" in kind:
        text = f"Vc c 0 {5 * sign}\nVb b 0 {2 * sign}\nM1 c b 0 0 QX W=20u L=2u"
        model = f".model QX {kind}(VTO={0.8 * sign} KP=50u LAMBDA=0.1)"
        current = 50e-6 * 10 / 2 * 1.2**2 * 1.5
    else:
        bias = f"Vc c 0 {5 * sign}\nVb b 0 {0.65 * sign}"
        text, model = f"{bias}\nQ1 c b 0 QX 3", f".model QX {kind}(IS=1e-15 BF=100 VAF=50)"
        current = 3e-15 * (math.exp(0.65 / 25.864926e-3) - math.exp(-4.35 / 25.864926e-3)) * (1 + 4.35 / 50)
    run = first_values(tmp_path, f"{text}\n{model}\n.save i(Vc)")
    assert run.values("I_Vc")[0] == pytest.approx(sign * current, rel=1e-6)


@pytest.mark.parametrize(
    ("cards", "what"),
    [
        ("Q1 c b 0", "'Q1' has fewer than three nodes and a model"),
        ("Q1 c b 0 QX", "'Q1' has the model 'QX', which there is not"),
        ("Q1 c b 0 QX\n.model QX D", "'Q1' has the model 'QX' of the type D"),
        ("M1 c b 0 QX\n.model QX NMOS", "'M1' has fewer than four nodes and a model"),
        ("M1 c b 0 QX\n.model QX VDMOS", "'M1' has the model 'QX' of the type VDMOS"),
        ("M1 c b 0 0 QX\n.model QX NMOS(LEVEL=8)", "'M1' has a model of level 8"),
        ("M1 c b 0 0 QX NF=3\n.model QX NMOS", "'M1' has 'nf'"),
        ("B1 c 0 2*v(b)", "'B1' has no formula"),
        ("B1 c 0 V=2*ddt(v(b))", "the value '2*ddt(v(b))' of 'B1': there is no function 'ddt'"),
        ("B1 c 0 V=i(R9)", "'B1' reads the current of 'R9', which is no voltage source of this circuit"),
        ("E1 c 0 POLY(2) b 0 1", "'E1' has a polynomial without its words"),
        ("E1 c 0 POLY(99) b 0 1 2", "'E1' has a polynomial without its words"),
        ("E1 c 0 TABLE {v(b)} = (1", "the table of 'E1' has no pairs"),
        ("W1 c 0 R1 WX\n.model WX CSW", "'W1' reads the current of 'R1', which is no voltage source of this circuit"),
    ],
)
def test_devices_and_formulas_that_make_no_sense_are_told(tmp_path: Path, cards: str, what: str) -> None:
    told = errors(tmp_path, f"V1 b 0 1\nR1 c 0 1k\n{cards}")
    assert [text for _, text in told] == [what]


def test_diodes_may_be_ideal(tmp_path: Path) -> None:
    found = deck(tmp_path, "V1 a 0 5\nD1 a b DX\nR1 b 0 1k\n.model DX D(IS=1e-12 RS=2)", diodes="ideal")
    assert "D1: {diode: [a, b], V_f: 0.536006 V, R_on: 2 ohm}" in lines(found)


@pytest.mark.parametrize(
    ("cards", "what"),
    [
        (".func f(x) {f(x)+1}\nR9 c 0 {f(1)}", "uses functions more than 16 levels deep"),
        (".func f(x)", "'.func f(x)' defines no function"),
        (".func f(x,y) {x+y}\nR9 c 0 {f(1)}", "'f' takes 2 arguments, not 1"),
        (
            "\n".join(f".func f{k}(x) {{{'+'.join([f'f{k - 1}(x)'] * 30) if k else 'x'}}}" for k in range(9))
            + "\nR9 c 0 {f8(1)}",
            "written out has more than 50000 characters",
        ),
        (".if (1 > 0)\nR9 c 0 1", "an '.if' has no end"),
        (".endif", "'.endif' belongs to no '.if'"),
        (".if (n > 0)\n.endif", "the condition '(n > 0)' cannot be decided: there is no parameter 'n'"),
        (
            ".subckt s p\nR1 p 0 1k\n.ends\n.subckt t p r=1\n.if (r > 0)\nR1 p 0 1\n.endif\n.ends\nX1 c t",
            "cannot be decided",
        ),
        ("X1 c b s\n.subckt s p gnd\nR1 p gnd 1k\n.ends", "joins a port of 's' that is the ground to something else"),
        ("Q1 c b 0 QM\n.model QM NPN(LEVEL=4)", "'Q1' has a model of level 4"),
    ],
)
def test_functions_and_choices_that_make_no_sense_are_told(tmp_path: Path, cards: str, what: str) -> None:
    (told,) = [text for _, text in errors(tmp_path, f"V1 b 0 1\nR1 c 0 1k\n{cards}")]
    assert what in told


def test_choices_stand_inside_each_other(tmp_path: Path) -> None:
    cards = "\n".join(
        f".if ({one})\n.if ({other})\nR1 a 0 1\n.else\nR1 a 0 2\n.endif\n.elseif (n == 3)\nR1 a 0 3\n.else\nR1 a 0 4\n.endif"
        for one, other in [("n == 2", "n > 5")]
    )
    for n, ohms in ((2, "2 ohm"), (3, "3 ohm"), (7, "4 ohm")):
        assert f"R1: {{resistor: [a, gnd], R: {ohms}}}" in lines(
            deck(tmp_path, f".param m=1 n={{m*{n}}}\nV1 a 0 1\n{cards}")
        )


def test_charge_is_left_out_where_diodes_are_static(tmp_path: Path) -> None:
    cards = "V1 a 0 5\nD1 a b DX\nR1 b 0 1k\n.model DX D(IS=1e-12 CJO=2p TT=1n)"
    kept, left = (" ".join(lines(deck(tmp_path, cards, diodes=kind))) for kind in ("exponential", "static"))
    assert "D1_q: {capacitor:" in kept
    assert "capacitor" not in left


def test_a_subcircuit_is_a_file_that_is_used_with_other_values(tmp_path: Path) -> None:
    cards = ".param c0=1u\nV1 a 0 1\nX1 a b half r=2k\nX2 b c half\nR1 c 0 1\n.subckt half p q r=1k\nR1 p q {r}\nC1 q 0 {c0}\n.ends"
    found = deck(tmp_path, cards)
    assert list(found.beside) == ["deck_half.yaml"]
    assert "X1: {use: deck_half.yaml, ports: {p: a, q: b}, parameters: {c0: c0, r: 2000}}" in lines(found)
    assert "X2: {use: deck_half.yaml, ports: {p: b, q: c}, parameters: {c0: c0}}" in lines(found)


def test_ports_that_meet_make_a_part_of_their_own(tmp_path: Path) -> None:
    cards = "V1 a 0 1\nX1 a b tee\nX2 b b tee\nX3 b 0 tee\n.subckt tee p q\nR1 p q 1k\nR2 q m 1k\nR3 m 0 1k\n.ends\n.tran 1u 1m"
    assert len(deck(tmp_path, cards).beside) == 3
    tg.import_model(tmp_path / "deck.cir", tmp_path / "deck.yaml")
    # From b to the ground: 2k of each of three parts, and 1k.
    assert tg.equilibrium(tmp_path / "deck.yaml")["I_V1"] == pytest.approx(1 / (1000 + 1000 / (2 * 0.5 + 1)))


def test_what_only_sensors_meet_gets_the_conductance_of_spice(tmp_path: Path) -> None:
    found = deck(tmp_path, "V1 a 0 5\nVg g 0 1\nE1 b 0 g 0 2\nR1 b a 1k")
    assert "gmin_g: {conductance: [g, gnd], G: 1e-12 S}" in lines(found)


# What is told


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        ("", True),
        ("C9 b 0 1n", False),
        ("R9 b 0 1k", False),
        ("Rs b e 1\nR9 e f 2", True),
        ("X9 b open\n.subckt open p\nC1 p 0 1n\n.ends", False),
        ("X9 b e dead\nC9 e 0 1n\n.subckt dead p q\nR1 p m 1k\nL1 m q 1m\n.ends", True),
        ("X9 b e through\nC9 e 0 1n\n.subckt through p q\nR1 p q 1k\n.ends", False),
    ],
)
def test_a_coil_that_drives_a_diode_alone_is_told(tmp_path: Path, beside: str, told: bool) -> None:
    cards = f"V1 a 0 SIN(0 5 1k)\nL1 a b 1m\nD1 b c DX\nR1 c 0 1k\n{beside}\n.model DX D"
    found = [finding.what for finding in deck(tmp_path, cards).findings]
    assert any("no capacitance" in what for what in found) is told
    assert not deck(tmp_path, cards, diodes="ideal").findings


def test_a_coil_and_a_diode_may_stand_in_different_subcircuits(tmp_path: Path) -> None:
    cards = "V1 a 0 SIN(0 5 1k)\nX1 a b line\nX2 b c valve\nR1 c 0 1k\n.model DX D"
    parts = ".subckt line p q\nR1 p m 1\nL1 m q 1m\n.ends\n.subckt valve p q\nR1 p m 1\nD1 m q DX\n.ends"
    (told,) = [finding.what for finding in deck(tmp_path, f"{cards}\n{parts}").findings]
    assert told.startswith("'X1.L1' drives its current through 'X2.D1'")


def test_devices_side_by_side_are_one(tmp_path: Path) -> None:
    found = lines(deck(tmp_path, ".param n=4\nV1 a 0 1\nR1 a 0 1k m=2\nC1 a 0 {2n} m={n}\nL1 a 0 3m scale=2 m=3"))
    assert [line for line in found if line[:2] in ("R1", "C1", "L1")] == [
        "R1: {resistor: [a, gnd], R: 1000/2}",
        "C1: {capacitor: [a, gnd], C: (2e-9)*n}",
        "L1: {inductor: [a, gnd], L: (((3e-3)*2))/3}",
    ]


def test_a_file_that_is_included_twice_defines_its_subcircuits_once(tmp_path: Path) -> None:
    (tmp_path / "lib.inc").write_text(".subckt half p q\nR1 p q 1k\n.ends\n", encoding="utf-8")
    found = deck(tmp_path, ".include lib.inc\n.include lib.inc\nV1 a 0 1\nX1 a 0 half")
    assert [f.what for f in found.findings] == [
        "the subcircuit 'half' is read once, although its file is included again"
    ]
    assert ("D313", "there are two subcircuits 'half'") in errors(
        tmp_path, ".include lib.inc\n.subckt half a b\nR1 a b 2k\n.ends\nV1 a 0 1\nX1 a 0 half"
    )


def test_the_run_of_a_program_is_taken_where_there_is_no_card(tmp_path: Path) -> None:
    circuit = "V1 a 0 5\nR1 a b 1k\nC1 b 0 1u\n"
    program = ".control\nop\ntran 1u 3m uic\ntran 1u 9m\n.endc\n"
    found = deck(tmp_path, circuit + program)
    assert "until: 0.003 s" in " ".join(lines(found))
    assert "start: steady" not in lines(found)
    assert [f.what for f in found.findings] == [
        "the run is 'tran 1u 3m uic' of '.control', the first of 2; what else the program does is left out"
    ]
    assert "until: 0.001 s" in " ".join(lines(deck(tmp_path, circuit + program + ".tran 1u 1m")))
    (told,) = deck(tmp_path, circuit + ".control\nlet s = 1m\ntran 1u $&s\n.endc").findings
    assert told.code == "D308"
    assert "reads variables of the program" in told.what


def test_all_that_is_not_read_is_told_at_once(tmp_path: Path) -> None:
    cards = "\n".join(f"{letter.upper()}1 a b c d e" for letter in REFUSED)
    told = errors(
        tmp_path,
        f"R1 a 0 1k\n{cards}\nE9 a 0 LAPLACE {{v(b)}} = {{1/s}}\nV9 a 0 TRNOISE(0 1 1k)\nR8 a 0 rmod\n.model rmod R",
    )
    assert {code for code, _ in told} == {"D307"}
    assert len(told) == len(REFUSED) + 3


@pytest.mark.parametrize(
    ("cards", "code"),
    [
        ("R1 a 0", "D313"),
        ("R1 a 0 {x", "D313"),
        ("R1 a 0 {2*}", "D313"),
        ("R1 a 0 1k\nR1 a 0 2k", "D313"),
        ("V1 a 0 PULSE(1)\nR1 a 0 1", "D313"),
        ("V1 a 0 PWL(0 0 1m 1 1m 2)\nR1 a 0 1", "D313"),
        ("V1 a a 1\nR1 a 0 1", "D313"),
        ("R1 a 0 1k\n.ends", "D313"),
        ("R1 a 0 1k\n.subckt s a b\nR1 a b 1", "D313"),
        ("R1 a 0 1k\n.tran 1u", "D313"),
        ("X1 a b half\n.subckt half a\nR1 a 0 1\n.ends", "D313"),
        ("R1 a 0 {unknown}", "D314"),
        ("D1 a 0 nothing", "D314"),
        ("X1 a b nothing", "D314"),
        ("F1 a 0 V9 2\nR1 a 0 1", "D314"),
        ("L1 a 0 1m\nK1 L1 L2 0.5", "D314"),
        ("X1 a 0 half q=2\n.subckt half a b\nR1 a b 1\n.ends", "D314"),
        ("X1 a loop\n.subckt loop a\nX1 a other\n.ends\n.subckt other a\nX1 a loop\n.ends", "D315"),
        ("R1 a 0 1k\n.include /etc/hosts", "D316"),
        ("R1 a 0 1k\n.include ../elsewhere.lib", "D316"),
        ("R1 a 0 1k\n.lib not_there.lib tt", "D316"),
        ("L1 a 0 1m\nL2 a 0 1m\nK1 L1 L2 1", "D318"),
        ("\u00b51 a 0 1k\nR1 a 0 1k", "D307"),
        ("", "D319"),
    ],
)
def test_a_wrong_deck_is_told_what_is_wrong(tmp_path: Path, cards: str, code: str) -> None:
    assert [found for found, _ in errors(tmp_path, cards)] == [code]


# Decks from elsewhere


def test_a_deck_with_a_zero_byte_is_no_text(tmp_path: Path) -> None:
    assert errors(tmp_path, "R1 a 0 1\0k")[0][0] == "D312"


def test_a_file_that_includes_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.inc").write_text("R1 a 0 1k\n.include b.inc\n", encoding="utf-8")
    (tmp_path / "b.inc").write_text(".include a.inc\n", encoding="utf-8")
    assert errors(tmp_path, ".include a.inc")[0][0] == "D315"


def test_a_long_chain_of_parameters_and_a_circle_are_read_in_linear_time(tmp_path: Path) -> None:
    # One pass for each link of this chain would take a minute.
    count = 4000
    chain = "".join(f".param p{k}={{p{k + 1}*1.0001}}\n" for k in range(count))
    circle = ".param a={b}\n.param b={a}\n"
    found = deck(tmp_path, f"V1 a 0 1\nR1 a 0 {{p0}}\n{chain}{circle}.param p{count}=0\nC1 a 0 {{p0}}")
    assert [f.what for f in found.findings] == [
        "'R1' is 0 ohm, for which SPICE takes 1 mohm, as it is taken here",
        "'C1' is 0 F: it is left out",
    ]


def test_a_value_without_end_is_told_in_short(tmp_path: Path) -> None:
    ((code, what),) = errors(tmp_path, f"R1 a 0 {{{'-' * 20_000}1}}")
    assert code == "D313"
    assert len(what) < 250


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.inc").write_text("R1 a 0 1k\n", encoding="utf-8")
    (inside / "link.inc").symlink_to(tmp_path / "secret.inc")
    assert errors(inside, ".include link.inc")[0][0] == "D316"


@pytest.mark.parametrize(
    "cards",
    [
        "R1 a 0 1k\n" * (MOST_LINES + 1),
        "R1 a 0 1k\n" + "+ 1\n" * 60_000,
        "".join(f".subckt s{k} a b\n" for k in range(40)) + "R1 a b 1\n",
        "X1 a s0\n"
        + "".join(f".subckt s{k} a\n" + f"X1 a s{k + 1}\n" * 1 + ".ends\n" for k in range(40))
        + ".subckt s40 a\nR1 a 0 1\n.ends\n",
        "X1 a s0\n"
        + "".join(f".subckt s{k} a\n" + "".join(f"X{j} a s{k + 1}\n" for j in range(40)) + ".ends\n" for k in range(8))
        + ".subckt s8 a\nR1 a 0 1\n.ends\n",
        "".join(f"L{k} n{k} 0 1m\n" for k in range(400)) + "K1 " + " ".join(f"L{k}" for k in range(400)) + " 0.5\n",
    ],
    ids=["lines", "one card", "definitions", "uses", "uses of uses", "coils"],
)
def test_a_deck_without_end_ends_in_an_error(tmp_path: Path, cards: str) -> None:
    assert errors(tmp_path, cards)[0][0] == "D317"


@pytest.mark.parametrize(
    "formula", ["(" * 5000 + "1" + ")" * 5000, "-" * 5000 + "1", "1+" * 5000 + "1", "2^" * 500 + "2", "1?" * 500 + "1"]
)
def test_a_formula_without_end_is_a_value_or_an_error(tmp_path: Path, formula: str) -> None:
    path = tmp_path / "deck.cir"
    path.write_text(f"A deck\nR1 a 0 {{{formula}}}\n", encoding="utf-8")
    # Either a value, or one error that says so: no other exception.
    with contextlib.suppress(DescriptionError):
        read_spice(path, "deck")


def test_includes_inside_each_other_are_counted(tmp_path: Path) -> None:
    for k in range(30):
        (tmp_path / f"{k}.inc").write_text(f".include {k + 1}.inc\n", encoding="utf-8")
    (tmp_path / "30.inc").write_text("R1 a 0 1k\n", encoding="utf-8")
    assert errors(tmp_path, ".include 0.inc")[0][0] == "D317"


@pytest.mark.parametrize("title", ["* Low pass", ".title Low pass", "Low pass"])
def test_the_first_line_names_the_system(tmp_path: Path, title: str) -> None:
    assert lines(deck(tmp_path, "R1 a 0 1k", title=title))[0] == "system: Low pass"


def test_a_title_that_looks_like_a_card_is_told(tmp_path: Path) -> None:
    found = deck(tmp_path, "R2 a 0 1k", title="R1 a 0 1k")
    assert [finding.code for finding in found.findings] == ["D308"]


def test_a_card_that_gives_its_name_a_value_is_refused(tmp_path: Path) -> None:
    assert errors(tmp_path, "V1 a 0 1\nR1 = 1 a 0\n.tran 1m 10m") == [("D313", "'R1 = 1 a 0' gives its name a value")]


def test_a_sine_without_a_frequency_in_a_run_of_no_time_is_refused(tmp_path: Path) -> None:
    assert errors(tmp_path, "V1 a 0 SIN(0 1)\nR1 a 0 1\n.tran 1m 0") == [
        ("D313", "'.tran' tells no time at which the run ends"),
        ("D313", "'V1': the frequency is left out, and there is no .tran that would give it"),
    ]
