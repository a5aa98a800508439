"""Loads what workers need, draws one figure and makes one run, so that each of them is quick from its first piece of work on."""

from contextlib import suppress
from threading import Event

from tellegen.core.errors import TellegenError
from tellegen.server import gestures, results, views
from tellegen.server.protocol import View

_SMALL = """\
system: Warm
parameters: {R: 1 ohm, C: 1 F}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b]}
  C: {capacitor: [b, gnd]}
experiment: {until: 1 s, inputs: {V: 1 V}}
"""
_VIEWS: tuple[View, ...] = ("network", "bond", "pog", "equations")

with suppress(TellegenError):  # an import must not fail because of a figure
    views.structure(0, _SMALL, "warm.yaml", ".")
    for _view in _VIEWS:
        views.picture(_SMALL, "warm.yaml", ".", _view, "colour")
    results.limit(0, _SMALL, "warm.yaml", ".", {"C": "0"}, "colour")
    _source = _SMALL, "warm.yaml", "."
    results.run((0, 0, False), _source, {}, lambda _reached, _until: None, Event())

__all__ = ["gestures", "results", "views"]
