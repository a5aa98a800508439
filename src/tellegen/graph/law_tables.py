"""The energy of storages whose law is given by points: exact, where a formula would need a quadrature."""

from tellegen.description.relations import LawTable
from tellegen.expressions import Expression
from tellegen.expressions.piecewise import interpolated_integral
from tellegen.graph.laws import argument


def output_energy(table: LawTable) -> Expression:
    """The energy of the energy variable: the integral of the output."""
    return interpolated_integral(table.points, argument(), smooth=table.smooth)


def content_energy(table: LawTable, content: Expression) -> Expression:
    """The energy of the output x: x q(x) less the integral of q, which is the co-energy."""
    return argument() * content - interpolated_integral(table.points, argument(), smooth=table.smooth)
