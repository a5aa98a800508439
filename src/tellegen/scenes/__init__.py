"""Pictures as values: shapes with places and meanings, how they are drawn, and in which formats."""
