"""Hydraulic elements: accumulators, fluid inertia, leaks and sources."""

from tellegen.elements.registering import register_resistive, register_source, register_storage

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
