"""Couplings between domains, and within one.

Power goes from side 1 (first two nodes) to side 2 (last two nodes): across_1*through_1 = across_2*through_2, through_1 entering at
the first node and through_2 leaving at the third.
"""

from tellegen.elements.registering import register_coupling

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
