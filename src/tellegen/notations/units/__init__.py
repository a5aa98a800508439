"""Descriptions of functional mock-up units, as they stand in a file of anybody."""
