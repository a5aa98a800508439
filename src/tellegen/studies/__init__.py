"""What models cost and what they lose: reduced beside full models, orders of convergence, activities, projections."""
