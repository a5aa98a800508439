"""Models of 20-sim, judged by their own equations written out by hand and solved by SciPy."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.integrate
from numpy.typing import NDArray

import judge_twenty_sim
import tellegen as tg
from importing.twenty_sim.models import MOTOR, SERVO, component, wires
from tellegen.core.errors import DescriptionError
from tellegen.importing.twenty_sim.reading import read_twenty_sim
from tellegen.importing.twenty_sim.rules import model_text
from tellegen.notations.reading import read_model

Array = NDArray[np.float64]


def written(folder: Path, text: str) -> Path:
    path = folder / "model.emx"
    path.write_text(text, encoding="utf-8")
    return path


def model_of(folder: Path, text: str, *domains: str) -> tg.Model:
    return read_model(read_twenty_sim(written(folder, text), "model", domain_of=domains).text)


def errors(folder: Path, text: str) -> list[str]:
    with pytest.raises(DescriptionError) as caught:
        read_twenty_sim(written(folder, text), "model")
    return [f"{finding.code} {finding.what}" for finding in caught.value.findings]


def solved(rates: Callable[[float, Array], list[float]], start: list[float], times: Array) -> Array:
    found = scipy.integrate.solve_ivp(
        rates, (0, times[-1]), start, "LSODA", times, rtol=1e-10, atol=1e-12, max_step=1e-3
    )
    return np.asarray(found.y)


def test_a_bond_graph_runs_as_its_equations_say(tmp_path: Path) -> None:
    model = model_of(tmp_path, MOTOR)
    times = np.linspace(0, 0.2, 101)
    run = tg.simulate(model, times=times, rtol=1e-9)

    def rates(_: float, x: Array) -> list[float]:
        current, speed = x
        friction = 2e-3 * speed + 0.01 * math.tanh(speed / 0.1)
        return [(10 - 0.5 * current - 0.15 * speed) / 2e-3, (0.15 * current - friction) / 1e-3]

    current, speed = solved(rates, [0.0, 0.02 / 1e-3], times)
    np.testing.assert_allclose(run.values("I_L"), current, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(run.values("omega_J"), speed, rtol=1e-5, atol=1e-4)


def test_an_iconic_diagram_with_signals_runs_as_its_equations_say(tmp_path: Path) -> None:
    model = model_of(tmp_path, SERVO)
    times = np.linspace(0, 1, 101)
    run = tg.simulate(model, until=1.0, times=times, rtol=1e-9)

    def rates(t: float, x: Array) -> list[float]:
        current, speed, twist, angle = x
        u = min(max(2 * ((1 if t >= 0.1 else 0) - angle), -5), 5)
        return [
            (u - 1.5 * current - 0.1 * speed) / 5e-3,
            (0.1 * current - 4 * twist - 0.02 * speed) / 2e-3,
            speed,
            speed,
        ]

    current, speed, twist, angle = solved(rates, [0, 0, 0, 0.3], times)
    named = {element.name: element for element in model.elements}
    np.testing.assert_allclose(run.values("omega_J"), speed, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(run.values("I_L"), current, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(run.values("tau_K"), 4 * twist, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(run.values("Int"), angle, rtol=1e-4, atol=1e-6)
    assert named["J"].kind.name == "inertia"


@pytest.mark.slow
def test_the_judge_of_published_models_puts_the_same_equations_together(tmp_path: Path) -> None:
    found = judge_twenty_sim.compare(written(tmp_path, MOTOR))
    assert found.compared >= 9
    # What implicit steps of second order leave.
    assert found.worst < 1e-3


def test_generic_ports_take_the_domain_that_is_told(tmp_path: Path) -> None:
    text = (
        MOTOR.replace("electric in p", "power in p")
        .replace("p.u)", "p.e)")
        .replace("p.i =", "p.f =")
        .replace("2 {mH}", "2e-3")
    )
    told = errors(tmp_path, text)
    assert [line[:4] for line in told] == ["D324"]
    assert "'L'" in told[0]
    by_name = model_of(tmp_path, text, "L=electrical")
    assert "I_L" in tg.check(by_name).states
    with pytest.raises(DescriptionError, match="D311"):
        model_of(tmp_path, text, "Q=electrical")
    with pytest.raises(DescriptionError, match="D311"):
        model_of(tmp_path, text, "L=electric")


def test_a_modulated_transformer_and_source_follow_signals(tmp_path: Path) -> None:
    text = model_text(
        component("S", "electric out p; signal in effort", "equations\n\tp.u = effort;")
        + component("u", "signal out output", "equations\n\toutput = 3 + 2*sin(4*time);")
        + component("m", "signal out output", "equations\n\toutput = 2 + time;")
        + component(
            "T", "electric in p1; electric out p2; signal in m", "equations\n\tp1.u = m * p2.u;\n\tp2.i = m * p1.i;"
        )
        + component("R", "electric in p", "parameters\n\treal r = 5;\nequations\n\tp.u = r * p.i;"),
        wires("u\\output -> S\\effort", "m\\output -> T\\m", "S\\p => T\\p1", "T\\p2 => R\\p"),
    )
    run = tg.simulate(model_of(tmp_path, text), until=1.0, times=[0.0, 0.5, 1.0])
    t = np.array([0.0, 0.5, 1.0])
    np.testing.assert_allclose(run.values("I_R"), (3 + 2 * np.sin(4 * t)) / (2 + t) / 5, rtol=1e-9)


def test_the_active_version_of_a_submodel_counts(tmp_path: Path) -> None:
    one, other = (
        component("R", "electric in p", f"parameters\n\treal r = {r};\nequations\n\tp.u = r * p.i;") for r in (5, 7)
    )
    inside = [text.partition("\n")[2] for text in (one, other)]
    versions = "   R 1 2\n    specifications active 'b'\n" + "".join(
        f"     specification '{name}'\n{text}specification_end;\n" for name, text in zip("ab", inside, strict=True)
    )
    text = model_text(
        component("S", "electric out p", "equations\n\tp.u = 21;") + versions + "    end;\n", wires("S\\p => R\\p")
    )
    assert tg.equilibrium(model_of(tmp_path, text)).run.values("I_R")[0] == pytest.approx(3.0)


def test_a_block_diagram_whose_integrals_stand_in_each_other_runs_as_its_equations_say(tmp_path: Path) -> None:
    spring = "parameters\n\treal c = 30;\n\treal d = 2;\nequations\n\tfk = c*(x2 - x1) + d*(v2 - v1);\n"
    text = model_text(
        component("A", "signal out x; signal out v; signal in f", "equations\n\tx = int(v, 0.5);\n\tv = int(f - 4*x);")
        + component(
            "B",
            "signal out fk; signal in x1; signal in v1",
            f"{spring}\tx2 = int(v2);\n\tv2 = int((-x2 - 0.1*v2 - fk)/2);",
        ),
        wires("A\\x -> B\\x1", "A\\v -> B\\v1", "B\\fk -> A\\f"),
    )
    model = model_of(tmp_path, text)
    times = np.linspace(0, 5, 101)
    run = tg.simulate(model, until=5.0, times=times, rtol=1e-9)

    def rates(_: float, s: Array) -> list[float]:
        x1, v1, x2, v2 = s
        fk = 30 * (x2 - x1) + 2 * (v2 - v1)
        return [v1, fk - 4 * x1, v2, (-x2 - 0.1 * v2 - fk) / 2]

    x1, v1, x2, v2 = solved(rates, [0.5, 0.0, 0.0, 0.0], times)
    np.testing.assert_allclose(run.values("A_x"), x1, atol=1e-7)
    np.testing.assert_allclose(run.values("A_v"), v1, atol=1e-6)
    np.testing.assert_allclose(
        run.values("B_fk") if "B_fk" in run else run.values("B"), 30 * (x2 - x1) + 2 * (v2 - v1), atol=1e-5
    )


STATE_SPACE = """parameters
\treal hidden A [2,2] = [-1, 2; -3, -0.5];
\treal B [2,1] = [0.5; 1], C [2];
\treal x0 [2] = [0.2; 0];
variables
\treal x [2];
equations
\tddt (x, x0) = A * x + B * u;
\ty = x;
"""


def test_vectors_and_matrices_run_as_their_equations_say(tmp_path: Path) -> None:
    text = model_text(
        component("Ref", "signal out output", "equations\n\toutput = sin (time);")
        + component("Plant", "signal in u; signal out y [2,1]", STATE_SPACE.replace(", C [2]", ""))
        + component(
            "Split",
            "signal knot in input [2,1]; signal knot duplicatable out output [2,1]",
            "equations\n\tcollect (output) = input;",
            knot=True,
        )
        + component("Demux", "signal in input [2,1]; signal out o1; signal out o2", "equations\n\t[o1; o2] = input;")
        + component("Turn", "signal in v [2,1]; signal out w [2,1]", "equations\n\tw = [v[2]; -v[1]] * 2 + transpose ([1, 2]);")
        + component(
            "Read",
            "signal in w [2,1]; signal in o1; signal in o2; signal out z",
            "equations\n\tz = inner (w, [o1; o2]) + norm (w) + sum (w[1:2]) + if o1 > 0 and not (o2 > 1) then 1 else 0 end;",
        ),
        wires(
            "Ref\\output -> Plant\\u", "Plant\\y -> Split\\input", "Split\\output -> Demux\\input", "Split\\output -> Turn\\v",
            "Turn\\w -> Read\\w", "Demux\\o1 -> Read\\o1", "Demux\\o2 -> Read\\o2",
        ),
    )  # fmt: skip
    sink = component("Look", "signal in z; signal out seen", "equations\n\tseen = z;")
    last = component("End", "signal in seen", "equations\n\tshown = seen;")
    text = text.replace("  end;\n  connections", f"{sink}{last}  end;\n  connections").replace(
        "Ref\\output ->", "Read\\z -> Look\\z;\n   Look\\seen -> End\\seen;\n   Ref\\output ->"
    )
    times = np.linspace(0, 4, 81)
    run = tg.simulate(model_of(tmp_path, text), until=4.0, times=times, rtol=1e-9)
    a, b = np.array([[-1, 2], [-3, -0.5]]), np.array([0.5, 1])
    x = solved(lambda t, x: list(a @ x + b * math.sin(t)), [0.2, 0.0], times)
    w = np.array([2 * x[1] + 1, -2 * x[0] + 2])
    z = np.sum(w * x, axis=0) + np.linalg.norm(w, axis=0) + np.sum(w, axis=0) + ((x[0] > 0) & ~(x[1] > 1))
    np.testing.assert_allclose(run.values("Demux_o1"), x[0], atol=1e-7)
    np.testing.assert_allclose(run.values("Look"), z, atol=1e-6)


SAMPLED = (
    "</Model><Experiments><Experiment><DiscreteSystems><DiscreteSystem><TimeInterval>0.1</TimeInterval></DiscreteSystem>"
    "</DiscreteSystems></Experiment></Experiments>"
)
CONTROLLED = model_text(
    component("Plant", "signal in u; signal out y", "equations\n\ty = int (u - 0.5*y, 0.3);")
    + component("S", "signal in input; signal out output", "equations\n\toutput = sample (input);")
    + component(
        "D",
        "signal in e; signal out d",
        """parameters
\treal initial = 0.25;
variables
\treal first;
\tboolean begun;
initialequations
\tbegun = false;
equations
\tif not begun then
\t\tfirst = initial - e / sampletime;
\t\tbegun = true;
\telse
\t\tfirst = 0;
\tend;
\td = (e - previous (e, 0)) / sampletime + first;
""",
    )
    + component(
        "Law",
        "signal in e; signal in d; signal out u",
        """parameters
\treal A [2,2] = [0.9, 0.1; 0, 0.8];
\treal B [2,1] = [0.2; 0.3];
\treal x0 [2] = [0.1; 0];
variables
\treal x [2];
equations
\tnext (x, x0) = A * x + B * e;
\tif d < 0 then
\t\tpart = 0.1*d;
\t\tu = part - 2*x[1] - e;
\telse
\t\tu = 0.2*d - x[2] - e;
\tend;
""",
    )
    + component("H", "signal in input; signal out output", "equations\n\toutput = hold (input, 0);"),
    wires(
        "Plant\\y -> S\\input",
        "S\\output -> D\\e",
        "S\\output -> Law\\e",
        "D\\d -> Law\\d",
        "Law\\u -> H\\input",
        "H\\output -> Plant\\u",
    ),
).replace("</Model>", SAMPLED)


def test_a_sampled_controller_runs_as_its_equations_say(tmp_path: Path) -> None:
    times = np.arange(1, 40) * 0.1 - 0.05
    run = tg.simulate(model_of(tmp_path, CONTROLLED), until=4.0, times=times, rtol=1e-10)
    a, b = np.array([[0.9, 0.1], [0, 0.8]]), np.array([0.2, 0.3])
    y, x, before = 0.3, np.array([0.1, 0.0]), None
    for k in range(39):
        e = y
        d = 0.25 if before is None else (e - before) / 0.1
        u = 0.1 * d - 2 * x[0] - e if d < 0 else 0.2 * d - x[1] - e
        x, before = a @ x + b * e, e
        half = 2 * u + (y - 2 * u) * math.exp(-0.5 * 0.05)
        assert run.values("Plant")[k] == pytest.approx(half, abs=1e-8)
        assert run.values("H")[k] == pytest.approx(u, abs=1e-7)
        y = 2 * u + (y - 2 * u) * math.exp(-0.5 * 0.1)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (CONTROLLED.replace("<TimeInterval>0.1</TimeInterval>", ""), "no experiment tells how often"),
        (
            CONTROLLED.replace("</DiscreteSystem>", "<TimeInterval>0.2</TimeInterval></DiscreteSystem>", 1),
            "not all of them equally often",
        ),
        (CONTROLLED.replace("[0.2; 0.3]", "[0.2; 0.3; 0.4]"), "2 entries are given 3"),
        (CONTROLLED.replace("A * x", "x * A"), "multiplies 2 rows"),
        (CONTROLLED.replace("x[2]", "x[3]"), "has no entry [3,1]"),
        (CONTROLLED.replace("begun = false", "ended = false"), "'begun' is given in one branch of a choice alone"),
        (CONTROLLED.replace("0.2*d -", "0.2*part -"), "'part' is given in one branch of a choice alone"),
        (CONTROLLED.replace("A [2,2]", "A [2000,2000]"), "has a size that is no number, or too large"),
        (CONTROLLED.replace("0.2*d", "(" * 500 + "0.2*d" + ")" * 500), "more than 60 levels"),
        (CONTROLLED.replace("0.2*d", "if d > 1 then " * 100 + "0.2*d" + " else 0 end" * 100), "more than 60 levels"),
        (CONTROLLED.replace("0.2*d", "0.2*d)"), "is no plain formula"),
        # Each product doubles the length of each entry.
        (CONTROLLED.replace("A * x", "A * " * 400 + "x"), "its formula is too long"),
        (CONTROLLED.replace("\tif d", "\tif d < 1 then\n" * 100 + "\tif d").replace("H 0", "H 0"), "levels inside each other"),
        (CONTROLLED.replace("\tif d", "\tq = 1;\n" * 20_001 + "\tif d"), "more than 20000 equations"),
    ],
)  # fmt: skip
def test_vectors_and_samples_that_make_no_sense_are_told(tmp_path: Path, text: str, what: str) -> None:
    assert any(what in line for line in errors(tmp_path, text))


def test_all_that_is_not_read_is_told_with_its_name(tmp_path: Path) -> None:
    text = model_text(
        component("A", "power in p", "equations\n\tp.e = dll('a.dll', 'f', p.f);")
        + component("B", "power in p", "code\n\tp.e = p.f;")
        + component("C", "power in p [3,1]", "equations\n\tp.e = p.f;")
        + component("D", "pneumatic in p", "equations\n\tp.e = p.f;")
        + component(
            "E", "signal in u; signal out y", "equations\n\tif u > 0 then\n\t\ty = 1;\n\telse\n\t\ty = 0;\n\tend;"
        ),
        "",
    )
    told = errors(tmp_path, text)
    # What E gives nobody reads.
    assert [line.split("'")[1] for line in told] == ["A", "B", "C", "D"]


def test_what_no_law_needs_is_not_refused_and_choices_are_read(tmp_path: Path) -> None:
    law = "parameters\n\treal r = 0.5 {ohm}; // cold\nequations\n\tp.e = r * p.f;"
    other = """parameters
\treal r = 0.25 {ohm};
\tboolean broken = 0;
\tstring file = 'a; b.txt';
\treal several[3] = [1; 2; 3];
variables
\treal shown, double;
initialequations
\tdouble = 2*r;
code
\tcounted = counted + 1;
equations
\t"the law" p.e = if p.f < -10 then 7*p.f elseif broken then 1e6*p.f else if p.f <> 1e9 then double*p.f else 0 end end;
\tif p.f > 0 then
\t\tshown = table(file, several[1]);
\telse
\t\tshown = 0;
\tend;
"""
    assert law in MOTOR
    times = np.linspace(0, 0.2, 51)
    one, two = (
        tg.simulate(model_of(tmp_path, text), times=times, rtol=1e-9) for text in (MOTOR, MOTOR.replace(law, other))
    )
    np.testing.assert_allclose(one.values("I_L"), two.values("I_L"), rtol=1e-7, atol=1e-7)
    assert (
        "it has a section 'code'" in errors(tmp_path, MOTOR.replace(law, other.replace("double*p.f", "counted*p.f")))[0]
    )
    assert (
        "1 entries, and its formula 3"
        in errors(tmp_path, MOTOR.replace(law, other.replace("double*p.f", "several*p.f")))[0]
    )
    follows = MOTOR.replace(law, other.replace("double = 2*r", "double = p.f"))
    assert "initial equations that follow variables" in errors(tmp_path, follows)[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<Document></Document>",
        "<Document><Model><Sidops>model 1 2 implementation bg submodels</Sidops></Model></Document>",
        "<Document><Model><Sidops><![CDATA[model 1 2 type X end; implementation eq p.e = 1;]]></Sidops></Model></Document>",
        '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;&b;&b;">]><Document>&d;</Document>',
        "<a>" * 200 + "</a>" * 200,
        "not <xml",
        '<?xml version="1.0" encoding="UTF-9"?><a/>',
        MOTOR.replace("Se\\p =>", "Xe\\p =>"),
        MOTOR[: len(MOTOR) // 2],
        model_text("".join(f"s{k} 1 2 type X end; implementation bg submodels\n" for k in range(60)), ""),
    ],
    ids=[
        "nothing",
        "no model",
        "no end",
        "equations",
        "entities",
        "depth",
        "no xml",
        "encoding",
        "nowhere",
        "half",
        "levels",
    ],
)
def test_a_hostile_or_broken_file_ends_in_an_error(tmp_path: Path, text: str) -> None:
    assert {line[:4] for line in errors(tmp_path, text)} == {"D323"}


def test_the_command_takes_the_domains(tmp_path: Path) -> None:
    text = (
        MOTOR.replace("electric in p", "power in p")
        .replace("p.u)", "p.e)")
        .replace("p.i =", "p.f =")
        .replace("2 {mH}", "2e-3")
    )
    target = tmp_path / "motor.yaml"
    tg.import_model(written(tmp_path, text), target, domain_of=["L=electrical"])
    assert tg.check(target).ok
