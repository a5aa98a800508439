"""Many runs of one explicit model at a time: in vector registers, or on a graphics card."""
