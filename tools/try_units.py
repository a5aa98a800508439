"""Import every functional mock-up unit of a folder, run it, and run it in FMPy too: a table of who agrees.

    python tools/try_units.py FOLDER

The units are machine code of whoever made them: run this where that may be. Each one has its own process and a minute.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import fmpy
import numpy as np

import tellegen as tg

SECONDS = 60


def one(unit: Path, kind: str) -> str:
    """What one unit does in one kind, in a line."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "unit.yaml"
        described = fmpy.read_model_description(str(unit), validate=False)
        until = float((described.defaultExperiment and described.defaultExperiment.stopTime) or 1.0)
        step = until / 500
        try:
            if kind == "CoSimulation":
                tg.import_model(unit, path, every=f"{step!r} s")
            else:
                tg.import_model(unit, path)
            model = tg.read(path)
            run = tg.simulate(model, until=until, times=np.arange(501) * step, rtol=1e-9, progress=False)
        except tg.TellegenError as error:
            return f"refused: {error.finding.what[:100]}"
        more = {"relative_tolerance": 1e-9} if kind == "ModelExchange" else {}
        names = {s.texts["output"]: n for n, s in model.signals.items() if s.block == "output"}
        told = fmpy.simulate_fmu(
            str(unit),
            fmi_type=kind,
            stop_time=until,
            output_interval=step,
            output=list(names),
            record_events=False,
            **more,
        )
        places = np.searchsorted(run.t, told["time"] + 1e-3 * step) - 1
        off = {
            n: np.sort(np.abs(run.values(own)[places] - told[n]))[-5:].min() / max(1e-9, np.max(np.abs(told[n])))
            for n, own in names.items()
        }
        # Rows at an event may show either side of it: the four that differ most are left out.
        return f"agrees with FMPy to {max(off.values()):.1e}" if off else "runs; it has no outputs"


def main() -> None:
    """The table."""
    if len(sys.argv) == 4:
        print(one(Path(sys.argv[2]), sys.argv[3]))
        return
    for unit in sorted(Path(sys.argv[1]).glob("*.fmu")):
        for kind in ("ModelExchange", "CoSimulation"):
            command = [sys.executable, __file__, "one", str(unit), kind]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
                said = (done.stdout.strip() or done.stderr.strip() or f"ended with {done.returncode}").splitlines()[-1]
            except subprocess.TimeoutExpired:
                said = f"not done in {SECONDS} s"
            print(f"{unit.name:24} {kind:14} {said[:120]}", flush=True)


if __name__ == "__main__":
    main()
