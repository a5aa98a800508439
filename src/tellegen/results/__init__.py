"""What happened: named channels with units, energy books, storage, plots."""

from tellegen.results.energy import EnergyBooks
from tellegen.results.records import Comparison, compare_runs
from tellegen.results.run import Run
from tellegen.results.saving import SavedRun, read_run

__all__ = ["Comparison", "EnergyBooks", "Run", "SavedRun", "compare_runs", "read_run"]
