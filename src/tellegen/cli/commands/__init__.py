"""The commands: each a dataclass of options, and the function that reads them. A module is loaded when its command is called."""
