"""Built-in systems that some notations and pages do not hold yet, with the reason."""

from tellegen.description.model import MECHANISM
from tellegen.workflow import examples, load

MECHANISMS = frozenset(
    example.name for example in examples() if any(MECHANISM in element.notes for element in load(example.name).elements)
)
"""Written out as bond graphs and ladders, ideal sensors and weightless points lose that they are: these do not read back."""

WIDER_THAN_TEX = frozenset({"andrews_squeezer", "trolley_folder"})
"""The equations of several coupled loops are wider than the largest dimension of TeX."""
