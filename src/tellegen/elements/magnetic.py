"""Magnetic elements: magnetomotive force across, flux rate through. A permeance keeps flux, a coil is a gyrator to a circuit."""

from tellegen.elements.kinds import ElementKind, Quantity, register

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
