"""Results shown in figures: powers and energies laid over a scheme, Sankey diagrams, and animations."""
