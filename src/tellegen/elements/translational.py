"""Elements of translational mechanics: masses, springs, dampers and sources."""

from tellegen.elements.registering import register_kind, register_resistive, register_source, register_storage

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
