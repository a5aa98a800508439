"""Built-in systems that some notations and pages do not hold yet, with the reason."""

TOO_LONG_FOR_A_LADDER = frozenset({"trolley_folder"})
"""The moduli of several coupled loops are longer than a formula of a file may be, once they are one matrix."""

WIDER_THAN_TEX = frozenset({"andrews_squeezer", "trolley_folder"})
"""The equations of several coupled loops are wider than the largest dimension of TeX."""
