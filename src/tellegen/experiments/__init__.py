"""From a model to a run or an analysis in one call: `simulate`, `analyse`, and the courses that inputs take."""
