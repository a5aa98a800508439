"""Models of 20-sim written for the tests, as files of version 5."""
# ruff: noqa: E501  a submodel stands on one line, as a reader thinks of it

from tellegen.importing.twenty_sim.rules import model_text


def component(name: str, ports: str, equations: str, *, knot: bool = False, kind: str = "X") -> str:
    """A submodel with equations."""
    lines = "".join(f"      {port};\n" for port in ports.split("; "))
    return (
        f"   {name} 10 20.5\n    description '<LibraryPath>Own\\{kind}.emx</LibraryPath> and more';\n"
        f"    {'knot' if knot else 'type'} {kind}\n     ports\n{lines}     restrictions\n      causality preferred in p;\n    end;\n"
        f"    icon bg ellipse\n     figures\n      group\n       line 1 2 3 4 color 0 end;\n      end;\n      text 'end;' 3 4;\n    end;\n"
        f"    implementation eq\n{equations}\nimplementation_end;\n"
    )


def one_junction(name: str) -> str:
    """A junction of one flow, which others may read."""
    ports = "power knot duplicatable none p [1]; signal knot out flow [1]"
    return component(
        name, ports, "equations\n\tsum (direct (p.e)) = 0;\n\tequal (collect (p.f));\n\tflow = first (p.f);", knot=True
    )


def wires(*lines: str) -> str:
    """Connections."""
    return "".join(f"   {line} 12 34;\n" for line in lines)


MOTOR = model_text(
    component(
        "Se",
        "power out p",
        "parameters\n\treal effort = 12;\nvariables\n\treal flow;\nequations\n\tp.e = effort;\n\tflow = p.f;",
    )
    + one_junction("i")
    + component(
        "L",
        "electric in p; signal out state",
        "parameters\n\treal i = 2 {mH};\nequations\n\tstate = int(p.u);\n\tp.i = state / i;",
    )
    + component("R", "power in p", "parameters\n\treal r = 0.5 {ohm}; // cold\nequations\n\tp.e = r * p.f;")
    + component(
        "GY",
        "power in p1; power out p2",
        "parameters\n\treal r = 0.15;\nequations\n\tp1.e = r * p2.f;\n\tp2.e = r * p1.f;",
    )
    + one_junction("w")
    + component(
        "J",
        "rotation in p; signal out state",
        "parameters\n\treal i = 1e-3;\nequations\n\tstate = int(p.T);\n\tp.omega = state / i;",
    )
    + component(
        "b",
        "power in p",
        "parameters\n\treal b = 2e-3;\n\treal Tc = 0.01;\nequations\n\tp.e = b*p.f + Tc*tanh(p.f/0.1);",
    ),
    wires(
        "Se\\p => i\\p",
        "i\\p => L\\p",
        "i\\p => R\\p",
        "i\\p => GY\\p1",
        "GY\\p2 => w\\p",
        "w\\p => J\\p",
        "w\\p => b\\p",
    ),
).replace(
    "</Model>",
    "</Model><Experiments><Experiment><ExpData><Variables><Parameters><Variable><Name>Se\\effort</Name><Value>10</Value></Variable>"
    "</Parameters><Initials><Variable><Name>J\\state_initial</Name><Value>0.02</Value></Variable></Initials></Variables>"
    "<RunSpecs><FinishTime>0.2</FinishTime></RunSpecs></ExpData></Experiment></Experiments>",
)
"""A motor as a bond graph, with friction that is not linear; it begins to turn at 20 rad/s."""

_GROUND = component("G", "electric psi in p", "equations\n\tp.u = 0;")
_NODE = component(
    "N",
    "electric knot psi duplicatable none p [1]",
    "equations\n\tsum (direct (p.t)) = 0;\n\tequal (collect (p.a));",
    knot=True,
)
_CONTROLLED = (
    "   Plant 1 2\n    description '';\n    type Submodel\n     ports\n      signal in u {V};\n      rotation psi out shaft;\n    end;\n"
    "    implementation bg\n     submodels\n"
    + component("V", "electric delta out p; signal in u", "equations\n\tp.u = u;")
    + component("L", "electric delta in p", "parameters\n\treal L = 5e-3 {H};\nequations\n\tp.u = L * ddt(p.i);")
    + component("R", "electric delta in p", "parameters\n\treal R = 1.5 {ohm};\nequations\n\tp.u = R * p.i;")
    + component("M", "electric delta in p1; rotation psi out p2", "parameters\n\treal k = 0.1 {N.m/A};\nequations\n\tp2.T = k * p1.i;\n\tp1.u = k * p2.omega;")
    + _NODE
    + _GROUND
    + "      plug u 1 2;\n      plug shaft 3 4;\n     end;\n     connections\n"
    + wires(
        "u -> V\\u", "V\\p_high => L\\p_high", "L\\p_low => R\\p_high", "R\\p_low => M\\p1_high", "M\\p1_low => N\\p", "V\\p_low <= N\\p",
        "N\\p => G\\p", "M\\p2 => shaft",
    )
    + "     end;\n     figures\n      text 'a motor' 1 2;\n    implementation_end;\n"
)  # fmt: skip
SERVO = model_text(
    _CONTROLLED
    + component("J", "rotation psi duplicatable in p", "parameters\n\treal J = 2e-3 {kg.m2};\nvariables\n\treal alpha;\nequations\n\talpha = p.T / J;\n\tp.omega = int (alpha);")
    + component("K", "rotation delta in p", "parameters\n\treal c = 4 {N.m/rad};\n\treal d = 0.02 {N.m.s/rad};\nequations\n\tp.T = c * int(p.omega) + d * p.omega;")
    + component("W", "rotation psi in p", "equations\n\tp.omega = 0;")
    + component("S", "rotation psi in p; signal out omega", "equations\n\tp.T = 0;\n\tomega = p.omega;")
    + component("Int", "signal in input; signal out output", "parameters\n\treal initial = 0.3;\nequations\n\toutput = int (input, initial);")
    + component("Ref", "signal out output", "parameters\n\treal a = 1;\nequations\n\toutput = a*step(0.1);")
    + component("Sum", "signal knot duplicatable in plus [1]; signal knot duplicatable in minus [1]; signal knot out output [1]",
                "equations\n\toutput = sum (collect (plus)) - sum (collect (minus));", knot=True)
    + component("Gain", "signal in input; signal out output", "parameters\n\treal K = 2;\nequations\n\toutput = limit (K * input, -5, 5);"),
    wires(
        "Plant\\shaft => J\\p", "J\\p => K\\p_high", "K\\p_low => W\\p", "J\\p => S\\p", "S\\omega -> Int\\input", "Ref\\output -> Sum\\plus",
        "Int\\output -> Sum\\minus", "Sum\\output -> Gain\\input", "Gain\\output -> Plant\\u",
    ),
)  # fmt: skip
"""A servo drive as an iconic diagram inside another one, with a spring against the world and a loop of signals."""
