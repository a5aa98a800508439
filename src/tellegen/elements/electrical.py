"""Electrical elements: capacitors, inductors, resistors and sources."""

from tellegen.elements.registering import register_resistive, register_source, register_storage

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
