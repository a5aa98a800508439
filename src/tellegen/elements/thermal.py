"""Thermal elements, in both readings.

`heat`: temperature and heat flow, as engineers use them. Their product is no power: a heat flow is one by itself, and heat is
what the books count. `thermal`: absolute temperature and entropy flow, the true pair. There a conductor is a coupling, because it
passes all its power on and only adds entropy. Neither has a second storage: nothing keeps the integral of a temperature.
"""

from tellegen.elements.kinds import ElementKind, Quantity, register

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
