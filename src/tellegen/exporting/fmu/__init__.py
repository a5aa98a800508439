"""Functional mock-up units: a model as one file that other simulators run, in FMI 2.0 and 3.0."""
