"""Functional mock-up units as signals: their libraries loaded, and called in C while a model runs."""
