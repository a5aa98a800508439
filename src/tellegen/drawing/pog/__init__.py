"""Figures of Power-Oriented Graphs: the plan of a scheme as ladders, their places and their shapes."""
