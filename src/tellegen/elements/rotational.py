"""Elements of rotational mechanics: inertias, torsion springs, friction and sources."""

from tellegen.elements.registering import register_kind, register_resistive, register_source, register_storage

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
