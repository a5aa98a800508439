"""Modelica text: a package with the parameters and the system, as a network of elements or as equations."""
