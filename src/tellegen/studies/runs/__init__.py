"""Many runs of one model: sweeps, draws, fits to measurements and designs."""
