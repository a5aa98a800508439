"""Words that all layers share: domains, names, units, errors and findings."""
