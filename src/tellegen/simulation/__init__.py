"""Time advancing: one compiled model, several solvers, one `Trajectory`."""
