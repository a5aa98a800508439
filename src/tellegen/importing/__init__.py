"""Files of other tools -> the text of a model file."""
