"""POG_Modeler netlists (`.txt`) as models: one line an element, `code, point, point` and then pairs `Par, Val`."""
