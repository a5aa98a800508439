"""Files for other tools: block diagrams for Simulink, and m-files that run without it."""
