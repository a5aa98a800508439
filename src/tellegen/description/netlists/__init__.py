"""POG_Modeler netlists (`.txt`) as models: one line an element, `code, point, point` and then pairs `Par, Val`.

Signs. The across variable of every branch is that of its first point minus that of its second. The through variable of
a storage or a resistive element enters at the first point, that of a source leaves it there; `Pin, 1` on a source turns
it round. A connection block has two such branches; F1 enters it at its first top point, F2 leaves it at the second top
point, and E1*F1 = E2*F2.

Nothing in a netlist is run: values are numbers, or arithmetic that `tellegen.expressions` reads. What is about the
drawing is kept as text.
"""

from tellegen.description.netlists.lines import Wire
from tellegen.description.netlists.loading import Netlist, load_netlist, read_netlist

__all__ = ["Netlist", "Wire", "load_netlist", "read_netlist"]
