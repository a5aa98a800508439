"""The catalogue of kinds, by domain: electrical, mechanical, hydraulic, couplings, magnetic and thermal. Its order is that of
messages, schema and reference.

Power goes from side 1 (first two nodes) to side 2 (last two nodes): across_1*through_1 = across_2*through_2, through_1 entering at
the first node and through_2 leaving at the third.

`heat`: temperature and heat flow, as engineers use them. Their product is no power: a heat flow is one by itself, and heat is
what the books count. `thermal`: absolute temperature and entropy flow, the true pair. There a conductor is a coupling, because it
passes all its power on and only adds entropy. Neither has a second storage: nothing keeps the integral of a temperature.
"""

from tellegen.elements.kinds import (
    ElementKind,
    Quantity,
    register,
    register_coupling,
    register_kind,
    register_resistive,
    register_source,
    register_storage,
)

register_storage(
    "capacitor",
    "electrical",
    "across",
    "C",
    "capacitance",
    "F",
    netlist="eC",
    summary="stores charge between its plates",
)
register_storage(
    "inductor", "electrical", "through", "L", "inductance", "H", netlist="eL", summary="stores flux in its coil"
)
register_resistive(
    "resistor", "electrical", "across", "R", "resistance", "ohm", netlist="eR", summary="turns electric power into heat"
)
register_resistive(
    "conductance",
    "electrical",
    "through",
    "G",
    "conductance",
    "S",
    netlist="eG",
    summary="a resistor given by its conductance",
)
register_source(
    "voltage source",
    "electrical",
    "across",
    netlist="eV",
    summary="imposes the voltage of its first node against its second",
)
register_source(
    "current source",
    "electrical",
    "through",
    netlist="eI",
    summary="drives a current from its first node to its second",
)


register_storage(
    "mass",
    "translational",
    "across",
    "m",
    "mass",
    "kg",
    netlist="mM",
    grounded=True,
    summary="stores momentum, against the frame",
)
register_kind(
    "storage",
    "weightless point",
    ("translational",),
    "p = 0",
    "across",
    None,
    grounded=True,
    summary="a point without mass whose velocity is a state, because what moves with it has inertia",
)
register_storage(
    "spring",
    "translational",
    "through",
    "K",
    "stiffness",
    "N/m",
    inverse=True,
    netlist="mK",
    summary="stores displacement; F = K x",
)
register_storage(
    "compliance",
    "translational",
    "through",
    "E",
    "compliance",
    "m/N",
    netlist="mE",
    summary="a spring given by its compliance",
)
register_resistive(
    "damper", "translational", "through", "b", "damping", "N*s/m", netlist="mB", summary="linear friction; F = b v"
)
register_resistive(
    "mobility", "translational", "across", "d", "mobility", "m/(N*s)", netlist="mD", summary="a damper given by v = d F"
)
register_source(
    "velocity source", "translational", "across", netlist="mV", summary="imposes a velocity between its nodes"
)
register_source(
    "force source", "translational", "through", netlist="mF", summary="pushes its second node away from its first"
)


register_storage(
    "inertia",
    "rotational",
    "across",
    "J",
    "moment of inertia",
    "kg*m^2",
    netlist="rJ",
    grounded=True,
    summary="stores angular momentum, against the frame",
)
register_kind(
    "storage",
    "weightless shaft",
    ("rotational",),
    "p = 0",
    "across",
    None,
    grounded=True,
    summary="a shaft without inertia whose angular velocity is a state, because what moves with it has inertia",
)
register_storage(
    "torsion spring",
    "rotational",
    "through",
    "K",
    "stiffness",
    "N*m/rad",
    inverse=True,
    netlist="rK",
    aliases=("rotational spring",),
    summary="stores angle; tau = K theta",
)
register_storage(
    "torsion compliance",
    "rotational",
    "through",
    "E",
    "compliance",
    "rad/(N*m)",
    netlist="rE",
    aliases=("rotational compliance",),
    summary="a torsion spring given by its compliance",
)
register_resistive(
    "friction",
    "rotational",
    "through",
    "b",
    "friction",
    "N*m*s",
    netlist="rB",
    aliases=("rotational damper",),
    summary="linear friction; tau = b omega",
)
register_resistive(
    "rotational mobility",
    "rotational",
    "across",
    "d",
    "mobility",
    "rad/(N*m*s)",
    netlist="rD",
    summary="friction given by omega = d tau",
)
register_source(
    "speed source",
    "rotational",
    "across",
    netlist="rW",
    aliases=("angular velocity source",),
    summary="imposes an angular velocity between its nodes",
)
register_source(
    "torque source", "rotational", "through", netlist="rT", summary="turns its second node against its first"
)


register_storage(
    "accumulator",
    "hydraulic",
    "across",
    "C",
    "capacity",
    "m^3/Pa",
    netlist="iC",
    aliases=("hydraulic capacitor", "chamber"),
    summary="stores volume under pressure; V = C P",
)
register_storage(
    "stiff chamber",
    "hydraulic",
    "across",
    "K",
    "stiffness",
    "Pa/m^3",
    inverse=True,
    netlist="iK",
    summary="an accumulator given by its stiffness; P = K V",
)
register_storage(
    "fluid inertia",
    "hydraulic",
    "through",
    "L",
    "inertance",
    "Pa*s^2/m^3",
    netlist="iL",
    aliases=("hydraulic inductor",),
    summary="stores the momentum of the fluid in a line",
)
register_resistive(
    "hydraulic resistor",
    "hydraulic",
    "across",
    "R",
    "resistance",
    "Pa*s/m^3",
    netlist="iR",
    aliases=("restriction",),
    summary="laminar restriction; P = R Q",
)
register_resistive(
    "leak",
    "hydraulic",
    "through",
    "G",
    "conductance",
    "m^3/(Pa*s)",
    netlist="iG",
    aliases=("hydraulic conductance",),
    summary="laminar leakage; Q = G P",
)
register_source(
    "pressure source",
    "hydraulic",
    "across",
    netlist="iP",
    summary="imposes the pressure of its first node against its second",
)
register_source(
    "flow source", "hydraulic", "through", netlist="iQ", summary="drives a flow from its first node to its second"
)


register_coupling(
    "transformer",
    ("electrical", "electrical"),
    "transformer",
    "across_1 = n*across_2",
    "n",
    "turns ratio",
    "1",
    summary="voltage down and current up by the turns ratio",
)
register_coupling(
    "gyrator",
    ("electrical", "electrical"),
    "gyrator",
    "across_1 = r*through_2",
    "r",
    "gyration resistance",
    "ohm",
    reciprocal=True,
    summary="turns voltage into current and back",
)
register_coupling(
    "lever",
    ("translational", "translational"),
    "transformer",
    "across_1 = n*across_2",
    "n",
    "arm ratio",
    "1",
    summary="velocity down and force up by the ratio of its arms",
)
register_coupling(
    "gear",
    ("rotational", "rotational"),
    "transformer",
    "across_1 = n*across_2",
    "n",
    "gear ratio",
    "1",
    aliases=("belt",),
    summary="speed down and torque up by the gear ratio",
)
register_coupling(
    "pressure intensifier",
    ("hydraulic", "hydraulic"),
    "transformer",
    "across_1 = n*across_2",
    "n",
    "area ratio",
    "1",
    summary="pressure down and flow up by the ratio of its areas",
)
register_coupling(
    "dc machine",
    ("electrical", "rotational"),
    "transformer",
    "across_1 = K*across_2",
    "K",
    "torque constant",
    "N*m/A",
    summary="voltage K omega, torque K I",
)
register_coupling(
    "voice coil",
    ("electrical", "translational"),
    "transformer",
    "across_1 = K*across_2",
    "K",
    "force constant",
    "N/A",
    aliases=("linear motor",),
    summary="voltage K v, force K I",
)
register_coupling(
    "rack",
    ("rotational", "translational"),
    "transformer",
    "across_2 = r*across_1",
    "r",
    "pinion radius",
    "m/rad",
    reciprocal=True,
    aliases=("pulley", "wheel"),
    summary="velocity r omega, torque r F",
)
register_coupling(
    "screw",
    ("rotational", "translational"),
    "transformer",
    "across_2 = h*across_1",
    "h",
    "lead per radian",
    "m/rad",
    reciprocal=True,
    aliases=("ball screw",),
    summary="velocity h omega, torque h F",
)
register_coupling(
    "pump",
    ("rotational", "hydraulic"),
    "gyrator",
    "through_2 = K*across_1",
    "K",
    "displacement per radian",
    "m^3/rad",
    summary="flow K omega, torque K P",
)
register_coupling(
    "hydraulic motor",
    ("hydraulic", "rotational"),
    "gyrator",
    "through_2 = K*across_1",
    "K",
    "displacement per radian",
    "m^3/rad",
    summary="torque K P, flow K omega",
)
register_coupling(
    "piston",
    ("hydraulic", "translational"),
    "gyrator",
    "through_2 = A*across_1",
    "A",
    "area",
    "m^2",
    aliases=("cylinder",),
    summary="force A P, flow A v",
)


register(
    ElementKind(
        "permeance",
        "storage",
        ("magnetic",),
        "keeps flux: a path through iron or air",
        "Phi = P*F",
        quantity=Quantity("P", "permeance", "H"),
    )
)
register(
    ElementKind(
        "reluctance",
        "storage",
        ("magnetic",),
        "a permeance given by its reciprocal; F = R Phi",
        "F = R*Phi",
        quantity=Quantity("R", "reluctance", "1/H"),
        inverse=True,
        aliases=("air gap",),
    )
)
register(
    ElementKind(
        "magnetic resistor",
        "resistive",
        ("magnetic",),
        "eddy currents that oppose a change of flux; F = R dPhi",
        "F = R*dPhi",
        quantity=Quantity("R", "magnetic resistance", "S"),
    )
)
register(
    ElementKind(
        "shorted turn",
        "resistive",
        ("magnetic",),
        "one closed turn round the path, by its electrical resistance",
        "dPhi = r*F",
        side="through",
        quantity=Quantity("r", "resistance", "ohm"),
        aliases=("eddy loop",),
    )
)
register(
    ElementKind(
        "mmf source",
        "source",
        ("magnetic",),
        "imposes a magnetomotive force, such as that of a magnet",
        "F = input",
        aliases=("magnetomotive force source",),
    )
)
register(
    ElementKind(
        "flux rate source",
        "source",
        ("magnetic",),
        "drives flux from its first node to its second",
        "dPhi = input",
        side="through",
    )
)
register(
    ElementKind(
        "coil",
        "coupling",
        ("electrical", "magnetic"),
        "voltage N dPhi, magnetomotive force N I",
        "across_1 = N*through_2",
        quantity=Quantity("N", "turns", "1"),
        coupling="gyrator",
        reciprocal=True,
        aliases=("winding",),
    )
)


register(
    ElementKind(
        "heat capacity",
        "storage",
        ("heat",),
        "keeps heat; its temperature counts from the ambient",
        "H = C*T",
        quantity=Quantity("C", "capacity", "J/K"),
        grounded=True,
        aliases=("thermal mass",),
    )
)
register(
    ElementKind(
        "thermal conductor",
        "resistive",
        ("heat",),
        "lets heat pass; Q = G T",
        "Q = G*T",
        side="through",
        quantity=Quantity("G", "conductance", "W/K"),
    )
)
register(
    ElementKind(
        "thermal resistor",
        "resistive",
        ("heat",),
        "a thermal conductor given by its resistance",
        "T = R*Q",
        quantity=Quantity("R", "resistance", "K/W"),
    )
)
register(ElementKind("temperature source", "source", ("heat",), "imposes a temperature", "T = input"))
register(
    ElementKind(
        "heat flow source",
        "source",
        ("heat",),
        "brings heat from its first node to its second",
        "Q = input",
        side="through",
        aliases=("heat source",),
    )
)

# The true pair
register(
    ElementKind(
        "entropy capacity",
        "storage",
        ("thermal",),
        "keeps entropy; its energy is C T, T absolute: give it an initial temperature",
        "S = C*log(T)",
        quantity=Quantity("C", "capacity", "J/K"),
        grounded=True,
        energy="C*T",
    )
)
register(ElementKind("absolute temperature source", "source", ("thermal",), "imposes a temperature", "T = input"))
register(
    ElementKind(
        "entropy flow source",
        "source",
        ("thermal",),
        "brings entropy from its first node to its second",
        "dS = input",
        side="through",
    )
)
register(
    ElementKind(
        "entropy conductor",
        "coupling",
        ("thermal", "thermal"),
        "passes on the heat G (T_1 - T_2), and adds entropy",
        "across_1*through_1 = G*(across_1 - across_2)",
        quantity=Quantity("G", "conductance", "W/K"),
        coupling="gyrator",
        heat="G*(T_1 - T_2)",
    )
)
register(
    ElementKind(
        "radiator",
        "coupling",
        ("thermal", "thermal"),
        "passes on the heat k (T_1^4 - T_2^4), and adds entropy",
        "across_1*through_1 = k*(across_1^4 - across_2^4)",
        quantity=Quantity("k", "radiation constant", "W/K^4"),
        coupling="gyrator",
        heat="k*(T_1^4 - T_2^4)",
    )
)
