"""A model, or its controller, as one step in C for microcontrollers and hardware in the loop."""
