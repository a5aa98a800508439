"""What happened: named channels with units, energy books, storage, plots."""

from tellegen.results.energy import EnergyBooks
from tellegen.results.records import Comparison, SavedRun, compare_runs, read_run
from tellegen.results.run import Run

__all__ = ["Comparison", "EnergyBooks", "Run", "SavedRun", "compare_runs", "read_run"]
