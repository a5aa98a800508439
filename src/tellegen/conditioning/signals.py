"""Signals of conditioned models, with the units of what they stand for."""

from dataclasses import replace

from tellegen.core.domains import DOMAINS, Side
from tellegen.core.units import Dimension, parse_unit
from tellegen.description.model import Element
from tellegen.description.signals.values import SignalDefinition
from tellegen.elements import kinds_of
from tellegen.expressions import ZERO, Expression
from tellegen.graph import Port


def formula_signal(name: str, formula: Expression, unit: str = "") -> SignalDefinition:
    """A signal given by a formula."""
    return SignalDefinition(name, "formula", {"formula": formula}, _dimension(unit), unit=unit)


def integral_signal(name: str, rate: Expression, domain: str, side: Side) -> SignalDefinition:
    """A power variable that is the integral of a rate."""
    settings = {"integral": rate, "initial": ZERO}
    unit = unit_of(domain, side)
    return SignalDefinition(name, "integral", settings, _dimension(unit), unit=unit)


def starting_at(signal: SignalDefinition, value: Expression) -> SignalDefinition:
    """An integral that starts elsewhere."""
    return replace(signal, settings={**signal.settings, "initial": value})


def unit_of(domain: str, side: Side) -> str:
    """The unit of a power variable."""
    return DOMAINS[domain].power(side).unit


def _dimension(unit: str) -> Dimension | None:
    return parse_unit(unit).dimension if unit else None


def driven_source(element: Element, port: Port, signal: Expression) -> Element:
    """A source in the place of a storage, which imposes what the storage decided."""
    side = port.law.side
    kind = next(k for k in kinds_of(port.domain, "source") if k.side == side)
    return replace(element, kind=kind, value=None, prefer=None, forced=False, signal=signal)
