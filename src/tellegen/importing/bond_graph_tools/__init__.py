"""Files of BondGraphTools -> bond graphs."""
